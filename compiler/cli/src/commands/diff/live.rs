//! `live`: compares the state of running switches with a fabric file or tree.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_deploy::{
    CarrierOptions, DeviceDrift, Difference, DriftReport, Fleet, Plan, PushOptions, SonicOptions,
    StateDigest, drift, plan, read_config_digests,
};
use closc_diff::live::{Device, Entry, waves};
use closc_diff::{Options, Report, Sign};

use super::side::{self, Side};
use crate::args::Args;
use crate::args::diff::DiffArgs;
use crate::commands::control;

/// Keyword for running switches.
pub const LIVE: &str = "live";

/// Compares switches with a side; `None` if the side has faults, which were shown.
pub fn compare(args: &Args, command: &DiffArgs, other: &str, is_old: bool) -> anyhow::Result<Option<Report>> {
    if command.text {
        bail!("entries of switches have no text difference: omit `--text`");
    }
    let Some(side) = side::read_side(args, other)? else { return Ok(None) };
    let [programmed, fleet] = fleets(command, &side)?;
    // If a switch changes between the two reads, the saved difference is stale, because its digest covers the earlier
    // state.
    let configured = configurations(args, &fleet, &PushOptions::default())?;
    let (found, held) = read(args, &programmed, &fleet)?;
    let own = closc_diff::Side {
        source: LIVE.to_owned(),
        fabric: fleet.fabric.clone(),
        digest: digest(&held, &configured).to_string(),
    };
    let devices = devices(&found, &fleet, is_old)?;
    if let Some(uncarried) = found.uncarried.first().filter(|_| devices.is_empty()) {
        bail!("{}; nothing else differs", uncarried.line());
    }
    let (old, new) = if is_old { (own, side.side().clone()) } else { (side.side().clone(), own) };
    let mut report = closc_diff::live::compare(&devices, old, new, Options { list: command.list });
    if command.waves {
        report.waves = waves(&devices);
    }
    Ok(Some(report))
}

/// Rejects a saved difference if the state of a switch has changed since.
pub fn check_unchanged(
    args: &Args,
    command: &DiffArgs,
    then: &closc_diff::Side,
    other: &closc_diff::Side,
) -> anyhow::Result<()> {
    let side = side::read_unchanged_side(args, other)?;
    let [programmed, fleet] = fleets(command, &side)?;
    let configured = configurations(args, &fleet, &PushOptions::default())?;
    let (_, held) = read(args, &programmed, &fleet)?;
    if digest(&held, &configured).to_string() != then.digest {
        bail!("the saved difference is stale: the state of switches has changed; compare again");
    }
    Ok(())
}

/// Returns the switches with P4Runtime, and all switches.
fn fleets(command: &DiffArgs, side: &Side) -> anyhow::Result<[Fleet; 2]> {
    let path = command.inventory.as_deref();
    let path: &Utf8Path = path.context("`live` needs `--inventory`, with the addresses of the switches")?;
    let site = control::inventory_of(&side.side().fabric, path)?;
    if let (Side::Plan(_), true) = (side, site.inventory.has_sonic() || site.inventory.has_ssh()) {
        bail!(
            "switches can only be compared with a compiled tree: run `closc compile {} --out DIR`, and name \
             `DIR` here",
            side.side().source
        );
    }
    let tree = std::sync::Arc::new(side.entries()?);
    let programmed = Fleet::new(&site.inventory, &*site.files, &tree, |_| true)?;
    let overlay = command.overlay.as_deref().map(|folder| control::overlay_of(folder, &tree, true));
    let overlay = overlay.transpose()?.unwrap_or_default();
    let ssh_config = command.ssh_config.as_ref().map(ToString::to_string);
    let over_ssh = CarrierOptions { ssh_config: ssh_config.clone(), ..CarrierOptions::default() };
    let options = SonicOptions { overlay, ssh_config, ..SonicOptions::default() };
    let all = programmed.clone().with_sonic(&site.inventory, &*site.files, &tree, options, |_| true)?;
    let all = all.with_carried(&site.inventory, &*site.files, &tree, over_ssh, |_| true)?;
    let all = all.with_left_alone(&site.inventory, &tree, control::instead, |_| true);
    control::warn_left_alone(&all);
    Ok([programmed, all])
}

/// Reads every switch: its differences, and for P4Runtime also its state.
fn read(args: &Args, programmed: &Fleet, fleet: &Fleet) -> anyhow::Result<(DriftReport, Plan)> {
    let options = PushOptions::default();
    let (observer, bar) = control::observer(args, fleet.n_switches(), "comparing");
    let read = control::block_on(async {
        let found = drift(fleet, &options, observer).await;
        // For other switches the difference is sufficient, and planning a push to them may fail.
        Ok((found, plan(programmed, &options, closc_deploy::silent()).await))
    });
    bar.finish_and_clear();
    let (found, held) = read?;
    let held = held.map_err(|faults| control::faults(&faults))?;
    Ok((found, held))
}

/// Digests of the CONFIG_DBs of switches, by switch.
pub(crate) type Configurations = BTreeMap<String, StateDigest>;

/// Reads the CONFIG_DBs of a fleet, and returns their digests.
pub fn configurations(args: &Args, fleet: &Fleet, options: &PushOptions) -> anyhow::Result<Configurations> {
    if !fleet.has_configurations() {
        return Ok(Configurations::new());
    }
    let (observer, bar) = control::observer(args, fleet.n_switches(), "reading");
    let read = control::block_on(async { Ok(read_config_digests(fleet, options, observer).await) });
    bar.finish_and_clear();
    read?.map_err(|faults| control::faults(&faults))
}

/// Returns a digest of the state of switches: entries and CONFIG_DB.
pub fn digest(held: &Plan, configured: &Configurations) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (name, device) in &held.devices {
        let held = (name, device.set_pipeline, &device.live);
        hasher.update(&serde_json::to_vec(&held).expect("names and numbers are JSON"));
    }
    for held in configured {
        hasher.update(&serde_json::to_vec(&held).expect("names and numbers are JSON"));
    }
    hasher.finalize()
}

fn devices(found: &DriftReport, fleet: &Fleet, is_old: bool) -> anyhow::Result<BTreeMap<String, Device>> {
    let planes = fleet.planes();
    let mut devices = BTreeMap::new();
    for (name, drift) in &found.devices {
        let plane = planes.get(name.as_str()).copied();
        let device = match drift {
            DeviceDrift::None => continue,
            DeviceDrift::Unknown(fault) => bail!("`{name}`: {fault}"),
            DeviceDrift::Pipeline { wanted, live } => {
                let live = live.map_or_else(|| "none".to_owned(), |live| live.to_string());
                let (a, b) = if is_old { (live, wanted.to_string()) } else { (wanted.to_string(), live) };
                Device {
                    plane,
                    switch_action: Some(format!("{a} -> {b}, with every entry")),
                    entries: Vec::new(),
                }
            }
            DeviceDrift::Entries { differences, .. } => {
                let entries = differences.iter().map(|difference| entry(difference, is_old)).collect();
                Device { plane, switch_action: None, entries }
            }
        };
        devices.insert(name.clone(), device);
    }
    Ok(devices)
}

/// Converts a difference of an entry, whose text begins with its table.
fn entry(difference: &Difference, is_old: bool) -> Entry {
    let (sign, old, new) = match difference {
        Difference::Missing { wanted } => (Sign::Add, None, Some(wanted)),
        Difference::Unexpected { live } => (Sign::Remove, Some(live), None),
        Difference::Changed { wanted, live } => (Sign::Change, Some(live), Some(wanted)),
    };
    let (old, new) = if is_old { (old, new) } else { (new, old) };
    let sign = match (sign, is_old) {
        (Sign::Add, false) => Sign::Remove,
        (Sign::Remove, false) => Sign::Add,
        (sign, _) => sign,
    };
    let split = |text: &str| {
        // `table key` of P4, `TABLE|key` of CONFIG_DB.
        let (object, rest) = text.split_once([' ', '|']).unwrap_or((text, ""));
        (object.to_owned(), rest.trim_start().to_owned())
    };
    match (old, new) {
        (Some(old), Some(new)) => {
            let ((object, old), (_, new)) = (split(old), split(new));
            Entry { sign, object, text: format!("{old} -> {new}") }
        }
        (Some(one), None) | (None, Some(one)) => {
            let (object, text) = split(one);
            Entry { sign, object, text }
        }
        (None, None) => Entry { sign, object: String::new(), text: String::new() },
    }
}
