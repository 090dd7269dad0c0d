//! Switches that a push reloads.
//!
//! In: two plans and switches. Out: the change of CONFIG_DB of a switch, and the switches that need a reload with the
//! reason. Invariants: `--patches`, the rollout and its waves use the same change, so they agree on the method.

use std::collections::BTreeMap;

use closc_artefacts::paths;
use closc_compile::Unit;
use closc_plan::Plan;
use closc_render::Templates;
use closc_sonic::{Change, ConfigDb, Entry, Field, Method, Overlay};
use closc_topology::Switch;
use rayon::prelude::*;

/// The files of a switch, keyed by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Returns those of the given switches that a push reloads, each with the reason.
pub(super) fn reload_reasons(old: &Plan, new: &Plan, switches: &[Switch]) -> BTreeMap<Switch, String> {
    let templates = Templates::builtin();
    let has_config_db = |plan: &Plan, switch: Switch| plan.topology().hardware(switch).1.has_hwskus();
    let reason = |switch: &Switch| {
        if ![old, new].iter().all(|plan| has_config_db(plan, *switch)) {
            return None;
        }
        let change = || -> anyhow::Result<Option<(ConfigDb, Change)>> {
            let (before, after) = (render(old, *switch, &templates)?, render(new, *switch, &templates)?);
            compare((old, &before), (new, &after), *switch)
        };
        match change() {
            Ok(None) => None,
            Ok(Some((_, change))) => match change.method {
                Method::Nothing | Method::Patch => None,
                Method::Reload { reasons } => Some((*switch, reasons.first()?.to_string())),
            },
            // Only a known patch is hitless.
            Err(error) => Some((*switch, format!("the change cannot be computed: {error:#}"))),
        }
    };
    switches.par_iter().filter_map(reason).collect()
}

/// Returns the previous configuration of a switch and its change; `None` if it does not have CONFIG_DB on both sides.
pub(super) fn compare(
    (old, before): (&Plan, &Files),
    (new, after): (&Plan, &Files),
    switch: Switch,
) -> anyhow::Result<Option<(ConfigDb, Change)>> {
    let (Some(held), Some(wanted)) = (before.get(paths::CONFIG_DB), after.get(paths::CONFIG_DB)) else {
        return Ok(None);
    };
    let parse =
        |bytes: &[u8]| -> anyhow::Result<ConfigDb> { Ok(ConfigDb::parse(std::str::from_utf8(bytes)?)?) };
    let (mut held, wanted) = (parse(held)?, parse(wanted)?);
    held.insert("VERSIONS", "DATABASE", version(old, switch));
    let change = closc_sonic::change(&new.switch_name(switch), &held, &wanted, &Overlay::default(), false)?;
    Ok(Some((held, change)))
}

/// Renders the files of a switch.
pub(super) fn render(plan: &Plan, switch: Switch, templates: &Templates) -> anyhow::Result<Files> {
    let files = Unit::Switch(switch).render(plan, templates)?;
    let named = files.into_iter().filter_map(|file| Some((file.path.file_name()?.to_owned(), file.bytes)));
    Ok(named.collect())
}

/// Returns the CONFIG_DB entry with the release of a switch. The updater of that release applies the patch.
fn version(plan: &Plan, switch: Switch) -> Entry {
    let topology = plan.topology();
    let release = topology.release(topology.hardware(switch).1).expect("SONiC has releases");
    Entry::from([("VERSION".to_owned(), Field::Text(format!("version_{release}_01")))])
}
