//! `closc diff --patches`: what changes on SONiC switches, as patches for `config apply-patch`.
//!
//! In: two plans. Out: a folder with patches, and `patches.json`, which says of each for which switches it is and what it takes.
//! Invariants: a switch is rendered on both sides, compared and dropped; switches that are alike are compared once, and the
//! last of them too.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_artefacts::{disk, paths};
use closc_compile::{Plain, Unit};
use closc_diff::{Change, Difference, Setting, Touched};
use closc_plan::Plan;
use closc_render::Templates;
use closc_sonic::{ConfigDb, Method, Overlay, Patch, Reason};
use closc_topology::{PlaneId, Switch, TierId, ZoneId};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::side::Side;
use crate::args::Args;
use crate::output::{self, Document};

/// The index of patches.
pub(crate) const PATCHES: Document<Index<'static>> = Document::new("closc-patches/1");

/// What changes on some switches, all alike.
#[derive(Serialize, JsonSchema)]
struct Group {
    switches: Vec<String>,
    /// `patch` or `reload`.
    method: &'static str,
    /// Why a patch will not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<Reason>,
    /// The patches, one after the other.
    files: Vec<String>,
    operations: usize,
    /// The ports that go down and come up again.
    bounces: Vec<String>,
    /// How long a switch takes.
    seconds: u64,
}

/// What `patches.json` says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Index<'a> {
    old: &'a closc_diff::Side,
    new: &'a closc_diff::Side,
    groups: &'a [Group],
}

/// Writes the patches of all switches that both plans have.
pub(super) fn write(args: &Args, folder: &Utf8Path, old: &Side, new: &Side) -> anyhow::Result<()> {
    let (Side::Plan(before), Side::Plan(after)) = (old, new) else {
        bail!("`--patches` compares two fabric files, not trees");
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{folder}`"))?;
    if folder.read_dir_utf8().with_context(|| format!("`{folder}`"))?.next().is_some() {
        bail!("`{folder}` is not empty: patches of another change could be taken for those of this one");
    }
    let sides = Sides { old: &before.plan, new: &after.plan, templates: Templates::shipped() };
    let groups = sides.classes().into_par_iter().map(|class| sides.groups(folder, class));
    let groups = groups.collect::<anyhow::Result<Vec<Vec<Group>>>>()?;
    let groups: Vec<Group> = groups.into_iter().flatten().collect();
    let index = Index { old: &before.side, new: &after.side, groups: &groups };
    let place = folder.join("patches.json");
    output::replace(&place, &output::document(&PATCHES, &index)?)?;
    if !args.quiet {
        let by = |method: &str| -> usize {
            groups.iter().filter(|group| group.method == method).map(|group| group.switches.len()).sum()
        };
        let files: usize = groups.iter().map(|group| group.files.len()).sum();
        output::say(format!(
            "note: {} SONiC switches change by a patch ({files} in `{folder}`), {} by a reload",
            by("patch"),
            by("reload")
        ));
    }
    Ok(())
}

/// Tells whether a change is the same for every switch of a tier, zone and plane that no exception touches: its values are
/// those of classes, sizes and servers, and none of a name, address or segment.
fn is_placeless(change: &Change) -> bool {
    match change {
        Change::Setting(setting) => {
            matches!(**setting, Setting::Qos(_) | Setting::LinkMtu(_) | Setting::Services(_))
        }
        _ => false,
    }
}

/// Two plans.
struct Sides<'p> {
    old: &'p Plan,
    new: &'p Plan,
    templates: Templates,
}

impl Sides<'_> {
    /// Returns the switches that may change, those together whose change is the same by rule.
    fn classes(&self) -> Vec<Vec<Switch>> {
        let (old, new) = (self.old, self.new);
        let difference = Difference::between(old.fabric(), new.fabric());
        let touched = Touched::of(&difference, old, new);
        let switches = new.switches().filter(|s| old.fabric().has_switch(*s) && touched.switch(*s));
        if !(difference.along.is_empty() && difference.changes.iter().all(is_placeless)) {
            return switches.map(|switch| vec![switch]).collect();
        }
        let (plain, was_plain) = (Plain::of(new), Plain::of(old));
        let rows = new.topology().t2_rows();
        let mut alike: BTreeMap<(TierId, PlaneId, ZoneId, u16), Vec<Switch>> = BTreeMap::new();
        let mut classes = Vec::new();
        for switch in switches {
            if plain.has(switch) && was_plain.has(switch) {
                let at = (switch.tier, switch.plane, switch.zone, switch.index % rows);
                alike.entry(at).or_default().push(switch);
            } else {
                classes.push(vec![switch]);
            }
        }
        classes.extend(alike.into_values());
        classes
    }

    /// Writes the patches of switches that are alike; of each by itself where the first and the last show otherwise.
    fn groups(&self, folder: &Utf8Path, class: Vec<Switch>) -> anyhow::Result<Vec<Group>> {
        let (Some(first), Some(last)) = (class.first(), class.last()) else { return Ok(Vec::new()) };
        let made = self.work(*first)?;
        if class.len() > 1 && self.work(*last)? != made {
            let each = class.into_iter().map(|switch| self.groups(folder, vec![switch]));
            return Ok(each.collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
        let Some(work) = made else { return Ok(Vec::new()) };
        let name = self.new.switch_name(*first);
        let mut files = Vec::new();
        for (number, patch) in work.steps.iter().enumerate() {
            let more = if number == 0 { String::new() } else { format!("-{}", number + 1) };
            let file = format!("{name}{more}.json");
            disk::replace(&folder.join(&file), patch.to_json().as_bytes())
                .with_context(|| format!("cannot write `{file}`"))?;
            files.push(file);
        }
        Ok(vec![Group {
            switches: class.iter().map(|switch| self.new.switch_name(*switch).to_string()).collect(),
            method: if work.reasons.is_empty() { "patch" } else { "reload" },
            reasons: work.reasons,
            files,
            operations: work.operations,
            bounces: work.bounces,
            seconds: work.seconds,
        }])
    }

    /// Works out what changes on a switch; nothing where that is not SONiC on both sides, or nothing changes.
    fn work(&self, switch: Switch) -> anyhow::Result<Option<Work>> {
        let (Some(old), Some(new)) = (self.config(self.old, switch)?, self.config(self.new, switch)?) else {
            return Ok(None);
        };
        if old == new {
            return Ok(None);
        }
        let parse =
            |bytes: &[u8]| -> anyhow::Result<ConfigDb> { Ok(ConfigDb::parse(std::str::from_utf8(bytes)?)?) };
        let (old, new) = (parse(&old)?, parse(&new)?);
        let name = self.new.switch_name(switch);
        let change = closc_sonic::change(&name, &old, &new, &Overlay::default(), false)?;
        let (steps, reasons) = match &change.method {
            Method::Nothing => return Ok(None),
            Method::Patch => (change.steps(&old), Vec::new()),
            Method::Reload { reasons } => (Vec::new(), reasons.clone()),
        };
        Ok(Some(Work {
            steps,
            reasons,
            operations: change.patch.operations.len(),
            bounces: change.bounces.into_iter().map(|bounce| bounce.port).collect(),
            seconds: change.estimate.seconds,
        }))
    }

    fn config(&self, plan: &Plan, switch: Switch) -> anyhow::Result<Option<Vec<u8>>> {
        let files = Unit::Switch(switch).render(plan, &self.templates)?;
        let mut files = files.into_iter();
        Ok(files.find(|file| file.path.file_name() == Some(paths::CONFIG_DB)).map(|file| file.bytes))
    }
}

/// What is to be done to a switch.
#[derive(PartialEq)]
struct Work {
    steps: Vec<Patch>,
    reasons: Vec<Reason>,
    operations: usize,
    bounces: Vec<String>,
    seconds: u64,
}
