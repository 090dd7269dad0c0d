//! Pushes a difference that `closc diff --out` saved, in the order of its waves.
//!
//! Both sides are read again, and must not have changed. Every switch that changes must have the state of the old
//! side, of a wave, or of the new side. An interrupted push can therefore be repeated. Waves that install equipment
//! without using it yet are pushed first, one after the other. For these, the new side is compiled with the equipment
//! drained.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::bail;
use closc_deploy::{
    CarrierOptions, DeviceDrift, DevicePlan, Fleet, Member, Plan, PushOptions, PushReport, SonicOptions,
    SwitchConnections, drift, plan, push_plan,
};
use closc_diff::{Report, WaveText as Wave};

use super::{audit_result, finish, gate, name_push, show_preview};
use crate::args::Args;
use crate::args::control::PushArgs;
use crate::audit::Audit;
use crate::commands::{control, diff};
use crate::output::Outcome;

/// Maximum number of switches named in a message.
const SHOWN: usize = 5;

const STALE: &str = "the saved difference is stale: the state of switches has changed; compare again";

/// Pushes a saved difference.
pub fn push(
    args: &Args,
    command: &PushArgs,
    (text, report): (&str, &Report),
    options: &PushOptions,
) -> anyhow::Result<Outcome> {
    if report.new.source == diff::LIVE {
        bail!("the new side of `{}` is the live state, so there is nothing to push", command.fleet.source);
    }
    let new = diff::read_unchanged_side(args, &report.new)?;
    let is_live = report.old.source == diff::LIVE;
    let old = if is_live { None } else { Some(diff::read_unchanged_side(args, &report.old)?) };
    let site = control::inventory_of(&report.new.fabric, &command.fleet.inventory)?;
    let over_ssh = super::ssh_options(command);
    let fleet = |side: &diff::Side, is_new| fleet((command, &over_ssh), &site, side, is_new);
    let new_fleet = fleet(&new, true)?;
    control::warn_left_alone(&new_fleet);
    if new_fleet.n_switches() == 0 {
        bail!("no selected switch of `{}` has an address in the inventory", report.new.source);
    }
    super::check_planes(command, new_fleet.n_switches(), new_fleet.planes().len())?;
    let lacks_config_db = |member: &&Member| {
        let name = &member.target.name;
        site.inventory.has_rule_for(name) && !new_fleet.configured.contains(name)
    };
    if let Some(member) = new_fleet.members.iter().find(lacks_config_db) {
        bail!(
            "the inventory expects CONFIG_DB of `{}`, which fabric files do not contain: compile both sides \
             and compare the trees, or remove the switch from the rules under `sonic`",
            member.target.name
        );
    }
    let plan = compare_state(args, &new_fleet, options)?;
    let mut stages = Vec::new();
    for wave in report.waves.iter().filter(|wave| !wave.apart.is_empty()) {
        let side = diff::with_drained(&new, &wave.apart)?;
        stages.push((wave, fleet(&side, true)?));
    }
    match &old {
        None => {
            let configured = diff::configurations(args, &new_fleet, options)?;
            if diff::digest(&plan, &configured).to_string() != report.old.digest {
                bail!("{STALE}")
            }
        }
        Some(old) => {
            let old = fleet(old, false)?;
            let mut mismatched = unexpected_switches(&plan, &old, &stages)?;
            mismatched.extend(mismatched_switches(args, &plan, &old, options)?);
            refuse(mismatched)?;
        }
    }
    if command.dry_run {
        return show_preview(args, &plan);
    }
    let audit = Audit::begin(args, "push", &command.fleet.source, text.as_bytes())?;
    let run = || push_stages((args, &audit), command, (&new_fleet, plan, &stages), report, options);
    let done = audit.record(run, audit_result)?;
    finish(args, &name_push(done, new_fleet.has_backups(), over_ssh))
}

/// Reads the state of switches and compares it with the desired state.
fn compare_state(args: &Args, fleet: &Fleet, options: &PushOptions) -> anyhow::Result<Plan> {
    let (observer, bar) = control::observer(args, fleet.n_switches(), "comparing");
    let made = control::block_on(async { Ok(plan(fleet, options, observer).await) })?;
    bar.finish_and_clear();
    made.map_err(|faults| control::faults(&faults))
}

/// Pushes the stages, each to the switches of its wave, and then the rest of the plan.
fn push_stages(
    (args, audit): (&Args, &Audit),
    command: &PushArgs,
    (fleet, plan, stages): (&Fleet, Plan, &[(&Wave, Fleet)]),
    report: &Report,
    options: &PushOptions,
) -> anyhow::Result<PushReport> {
    let push = |plan: &Plan, reached: &SwitchConnections| -> anyhow::Result<PushReport> {
        let (observer, bar) = super::observer(args, plan.n_switches(), audit);
        let work = async { Ok(push_plan(reached, plan, options, observer, gate(command)).await?) };
        let done = control::block_on(work);
        bar.finish_and_clear();
        done
    };
    let reached = reached_stages(&plan, stages)?;
    for (at, (wave, fleet)) in stages.iter().enumerate() {
        let of_wave: BTreeSet<&str> = wave.switches.iter().map(String::as_str).collect();
        let mut stage = fleet.clone();
        stage.members.retain(|member| {
            let name = member.target.name.as_str();
            of_wave.contains(name) && reached.get(name).is_none_or(|reached| *reached < at)
        });
        if stage.members.is_empty() {
            continue;
        }
        let done = push(&compare_state(args, &stage, options)?, &SwitchConnections::of(&stage))?;
        if !done.is_good() {
            return Ok(done);
        }
    }
    let plan = if stages.is_empty() { plan } else { compare_state(args, fleet, options)? };
    push(&plan, &in_waves(fleet, report))
}

/// Returns the switches of a side. Switches of the old side that are no longer in the inventory are omitted.
fn fleet(
    (command, over_ssh): (&PushArgs, &CarrierOptions),
    site: &control::Site,
    side: &diff::Side,
    is_new: bool,
) -> anyhow::Result<Fleet> {
    let tree = Arc::new(side.entries()?);
    let inventory = &site.inventory;
    let both = |name: &str| tree.devices().contains_key(name) && inventory.programs(name);
    let names = tree.devices().keys().map(String::as_str).filter(|name| inventory.programs(name));
    let names = names.chain(tree.carried_switches().filter(|name| inventory.knows(name)));
    let names = names.map(|name| (name, tree.plane(name)));
    let planes = control::Planes::of_saved(&command.fleet, inventory, names)?;
    let selected = |name: &str| control::is_selected(&command.fleet, &planes, name);
    let is_ruled = |name: &&String| inventory.configures(name) && selected(name);
    if let Some(name) = tree.fileless_switches().keys().find(is_ruled).filter(|_| is_new) {
        bail!(
            "`{name}` is configured by files, which a fabric file does not have: compile both sides and \
             compare the trees, or select other switches (`--device`, `--select`)"
        );
    }
    let ruled = |name: &str| !inventory.programs(name) && inventory.has_rule_for(name);
    let select = |name: &str| selected(name) && (is_new || both(name) || ruled(name));
    let overlay = command.fleet.overlay.as_deref().map(|folder| control::overlay_of(folder, &tree, is_new));
    let options = SonicOptions { overlay: overlay.transpose()?.unwrap_or_default(), ..super::sonic(command) };
    let fleet = Fleet::new(inventory, &*site.files, &tree, select)?;
    let fleet = fleet.with_sonic(inventory, &*site.files, &tree, options, select)?;
    // The old side omits switches that the inventory no longer contains.
    let select = |name: &str| selected(name) && (is_new || inventory.knows(name));
    let fleet = fleet.with_carried(inventory, &*site.files, &tree, over_ssh.clone(), select)?;
    Ok(fleet.with_left_alone(inventory, &tree, control::instead, select))
}

/// Returns the switches whose CONFIG_DB changes, but does not match the old side.
fn mismatched_switches(
    args: &Args,
    plan: &Plan,
    old: &Fleet,
    options: &PushOptions,
) -> anyhow::Result<Vec<String>> {
    let changing: BTreeSet<&str> = plan.reconfigured_switches().collect();
    let old = old.select_configurations(|name| changing.contains(name));
    if !old.has_configurations() {
        return Ok(Vec::new());
    }
    let (observer, bar) = control::observer(args, old.n_switches(), "comparing");
    let found = control::block_on(async { Ok(drift(&old, options, observer).await) })?;
    bar.finish_and_clear();
    let mut mismatched = Vec::new();
    for (name, found) in found.devices {
        match found {
            DeviceDrift::None => {}
            DeviceDrift::Unknown(fault) => bail!("`{name}`: {fault}"),
            DeviceDrift::Pipeline { .. } | DeviceDrift::Entries { .. } => {
                mismatched.push(format!("`{name}`"));
            }
        }
    }
    Ok(mismatched)
}

/// Returns the switches that change, but have neither the state of the old side nor that of a wave.
fn unexpected_switches(plan: &Plan, old: &Fleet, stages: &[(&Wave, Fleet)]) -> anyhow::Result<Vec<String>> {
    let by_name = |fleet: &Fleet| -> BTreeMap<String, Member> {
        fleet.members.iter().map(|member| (member.target.name.clone(), member.clone())).collect()
    };
    let fleets: Vec<_> =
        [old].into_iter().chain(stages.iter().map(|(_, fleet)| fleet)).map(by_name).collect();
    let mut mismatched = Vec::new();
    for (name, device) in plan.devices.iter().filter(|(_, device)| device.changes()) {
        let wanted: Vec<&Member> = fleets.iter().filter_map(|members| members.get(name)).collect();
        // A switch that is not in the old side can have any state.
        if !fleets[0].contains_key(name) {
            continue;
        }
        let mut is_known = false;
        for member in wanted {
            is_known |= holds(plan, device, member)?.unwrap_or(true);
        }
        if !is_known {
            mismatched.push(format!("`{name}`"));
        }
    }
    Ok(mismatched)
}

/// Fails if switches have an unexpected state.
fn refuse(mismatched: Vec<String>) -> anyhow::Result<()> {
    let mut mismatched: Vec<String> = BTreeSet::from_iter(mismatched).into_iter().collect();
    if mismatched.is_empty() {
        return Ok(());
    }
    let more = if mismatched.len() > SHOWN {
        format!(" and {} more", mismatched.len() - SHOWN)
    } else {
        String::new()
    };
    mismatched.truncate(SHOWN);
    bail!(
        "the live state has changed: {}{more} match neither side, nor an intermediate wave; inspect them with `closc diff live NEW --inventory FILE`, and compare again",
        mismatched.join(", ")
    );
}

/// Returns whether a switch has the state of `member`; `None` if that state is for a P4 program other than the
/// plan's.
fn holds(plan: &Plan, device: &DevicePlan, member: &Member) -> anyhow::Result<Option<bool>> {
    let wanted = (member.target_state)()?;
    let program = plan.programs.get(&device.program);
    if program.is_none_or(|program| program.pipeline().cookie() != wanted.program.pipeline().cookie()) {
        return Ok(None);
    }
    let held = wanted.state.digest(wanted.program.info());
    Ok(Some(!device.set_pipeline && device.live == held))
}

/// Returns the stage that each switch reached in an interrupted push; for an up-to-date switch, the number of stages.
fn reached_stages(plan: &Plan, stages: &[(&Wave, Fleet)]) -> anyhow::Result<BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    for (name, _) in plan.devices.iter().filter(|(_, device)| !device.changes()) {
        found.insert(name.clone(), stages.len());
    }
    for (at, (_, fleet)) in stages.iter().enumerate() {
        for member in &fleet.members {
            let name = &member.target.name;
            let Some(device) = plan.devices.get(name).filter(|device| device.changes()) else { continue };
            if holds(plan, device, member)? == Some(true) {
                found.insert(name.clone(), at);
            }
        }
    }
    Ok(found)
}

/// Assigns each switch to the first wave that configures it. Switches without a wave come last.
fn in_waves(fleet: &Fleet, report: &Report) -> SwitchConnections {
    let mut waves: BTreeMap<&str, usize> = BTreeMap::new();
    // The other waves were already pushed as stages.
    for (at, wave) in report.waves.iter().enumerate().filter(|(_, wave)| wave.apart.is_empty()) {
        for name in &wave.switches {
            waves.entry(name).or_insert(at);
        }
    }
    let wave = |name: &str| waves.get(name).copied().unwrap_or(report.waves.len());
    SwitchConnections::of(fleet).in_waves(wave)
}
