//! Replaced equipment: switches, NICs and modules.
//!
//! In: two plans. Out: switches, NICs and modules by kind. Invariants: only elements of both fabrics count as
//! replaced. NICs and modules are visited only if settings that affect them differ.

use std::collections::{BTreeMap, BTreeSet};

use closc_cabling::modules::{ModuleKind, modules};
use closc_fabric::{Fabric, Port, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, Switch, TierId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::population::{MovedCable, is_replaced, moved_ends, old_cable, old_nic, same_nic};
use crate::words::plural;

/// Switches of a tier that are replaced by other hardware.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplacedSwitches {
    /// `t0`, `t1` or `t2`.
    #[schemars(with = "String")]
    pub tier: &'static str,
    /// Platform in the old fabric.
    pub old: String,
    /// Platform in the new fabric.
    pub new: String,
    /// Number of switches.
    pub switches: u64,
    /// Cables that stay and are plugged into the new switches.
    pub cables: u64,
}

/// Tier, and platform before and after.
type SwitchKind = (TierId, String, String);

/// NICs that are replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplacedNics {
    /// Speed, lanes and cages in the old fabric.
    pub old: String,
    /// Speed, lanes and cages in the new fabric.
    pub new: String,
    /// Number of NICs.
    pub nics: u64,
}

/// Modules of one kind to remove from or add to existing devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedModules {
    /// Devices with these modules: `NIC`, `T0`, `T1` or `T2`.
    #[schemars(with = "String")]
    pub place: &'static str,
    /// Medium of the cables.
    pub medium: String,
    /// Lanes of a cage.
    pub lanes: u8,
    /// Speed of each lane.
    pub lane: String,
    /// Modules to remove.
    pub removed: u64,
    /// Modules to plug in.
    pub added: u64,
}

/// Returns the switches that are replaced, by kind.
pub(crate) fn replaced_switches(old: &Fabric, new: &Fabric) -> BTreeMap<SwitchKind, Vec<Switch>> {
    let is_other = |switch: &Switch| old.has_switch(*switch) && is_replaced(old, new, *switch);
    let platform = |fabric: &Fabric, switch| fabric.topology().hardware(switch).0.id.to_string();
    let mut found: BTreeMap<SwitchKind, Vec<Switch>> = BTreeMap::new();
    for switch in new.switches().filter(is_other) {
        let key = (switch.tier, platform(old, switch), platform(new, switch));
        found.entry(key).or_default().push(switch);
    }
    found
}

/// Two fabrics, and the cables of both that are replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CableChanges<'a> {
    pub(crate) old: &'a Fabric,
    pub(crate) new: &'a Fabric,
    pub(crate) replaced: &'a BTreeSet<MovedCable>,
}

impl CableChanges<'_> {
    /// Returns the cables to replug into a replaced switch: those that stay, and whose end at the switch is at a port
    /// of the same place.
    pub(crate) fn replugged_cables(&self, switch: Switch) -> impl Iterator<Item = MovedCable> + '_ {
        let CableChanges { old, new, replaced } = *self;
        let replugged = move |port: Port| {
            let PortUse::Link { link, .. } = port.usage else { return None };
            let cable = MovedCable { old: old_cable(old, new, link)?, new: link };
            let [lower, upper] = moved_ends(old, new, cable);
            let is_lower = matches!(link, Link::Fabric { lower, .. } if lower == switch);
            let has_moved = if is_lower { lower } else { upper };
            (!replaced.contains(&cable) && !has_moved).then_some(cable)
        };
        new.ports(switch).filter_map(replugged)
    }
}

impl ReplacedSwitches {
    /// Compares the hardware of the switches of both fabrics.
    pub(crate) fn compare(cables: CableChanges<'_>) -> Vec<ReplacedSwitches> {
        let found = replaced_switches(cables.old, cables.new).into_iter();
        found.map(|(kind, switches)| ReplacedSwitches::of(kind, &switches, cables)).collect()
    }

    /// Counts switches of a kind and the cables to replug.
    pub(crate) fn of(
        (tier, before, after): SwitchKind,
        switches: &[Switch],
        cables: CableChanges<'_>,
    ) -> ReplacedSwitches {
        ReplacedSwitches {
            tier: tier.keyword(),
            old: before,
            new: after,
            switches: switches.len() as u64,
            cables: switches.iter().map(|switch| cables.replugged_cables(*switch).count() as u64).sum(),
        }
    }

    /// Returns the number of switches with the name of their tier.
    pub(crate) fn count(&self) -> String {
        let tier = self.tier.to_uppercase();
        plural(self.switches, &tier, &format!("{tier}s"))
    }

    /// Returns the number of cables to plug into the new switches; `None` if all of their cables are other ones.
    pub(crate) fn cables(&self) -> Option<String> {
        (self.cables > 0).then(|| format!("{} to replug", plural(self.cables, "cable", "cables")))
    }

    /// Returns the line of a work order that describes these switches.
    pub(crate) fn line(&self) -> String {
        let ReplacedSwitches { old, new, .. } = self;
        let cables = self.cables().map_or_else(String::new, |cables| format!(", {cables}"));
        format!("replace {}: `{old}` -> `{new}`{cables}", self.count())
    }
}

/// Returns the NICs that are replaced, by speed, lanes and cages before and after.
pub(crate) fn replaced_nics(old: &Plan, new: &Plan) -> BTreeMap<(String, String), Vec<Nic>> {
    let kind = |plan: &Plan, zone| {
        let topology = plan.topology();
        let lanes = plural(topology.nic_lanes(zone).into(), "lane", "lanes");
        let cages = plural(topology.nic_cages(zone).into(), "cage", "cages");
        let nics = topology.hosts.nics_per_adapter;
        let adapter = if nics > 1 { format!(", {nics} per adapter") } else { String::new() };
        format!("{}, {lanes}, {cages}{adapter}", topology.nic_speed(zone))
    };
    let kinds =
        |plan: &Plan| plan.topology().zone_ids().map(|zone| kind(plan, zone)).collect::<Vec<String>>();
    let (before, after) = (kinds(old), kinds(new));
    let mut found: BTreeMap<(String, String), Vec<Nic>> = BTreeMap::new();
    let common = before.len().min(after.len());
    let is_same = before[..common] == after[..common] && before.iter().all(|kind| *kind == before[0]);
    if is_same {
        return found;
    }
    for nic in new.fabric().nics() {
        let Some(other) = old_nic(old.fabric(), new.fabric(), nic) else { continue };
        let [one, other] = [&before[usize::from(other.zone.0)], &after[usize::from(nic.zone.0)]];
        if one != other {
            found.entry((one.clone(), other.clone())).or_default().push(nic);
        }
    }
    found
}

impl ReplacedNics {
    /// Compares speed, lanes and cages of the NICs of both fabrics.
    pub(crate) fn compare(old: &Plan, new: &Plan) -> Vec<ReplacedNics> {
        let row = |((old, new), nics): ((String, String), Vec<Nic>)| ReplacedNics {
            old,
            new,
            nics: nics.len() as u64,
        };
        replaced_nics(old, new).into_iter().map(row).collect()
    }

    /// Returns the line of a work order that describes these NICs.
    pub(crate) fn line(&self) -> String {
        let ReplacedNics { old, new, nics } = self;
        format!("replace {}: {old} -> {new}", plural(*nics, "NIC", "NICs"))
    }
}

impl ChangedModules {
    /// Compares the modules of the devices at the ends of replaced cables. Media with plugs that are part of
    /// the cable have no modules.
    pub(crate) fn between(old: &Plan, new: &Plan, replaced: &[MovedCable]) -> Vec<ChangedModules> {
        let (mut nics, mut switches) = (BTreeSet::new(), BTreeSet::new());
        for cable in replaced {
            match cable.new {
                Link::Host(port) => drop(nics.insert(new.topology().adapter(port.nic))),
                Link::Fabric { lower, .. } => drop(switches.insert(lower)),
            }
            switches.extend(new.fabric().upper_end(cable.new).map(|(switch, _)| switch));
        }
        let mut found: BTreeMap<ModuleKind, [u64; 2]> = BTreeMap::new();
        for switch in switches.into_iter().filter(|switch| old.fabric().has_switch(*switch)) {
            add(&mut found, &modules(old, switch), &modules(new, switch));
        }
        for nic in nics {
            let before = same_nic(old.topology(), new.topology(), nic);
            let before = before.map_or_else(BTreeMap::new, |nic| nic_modules(old, nic));
            add(&mut found, &before, &nic_modules(new, nic));
        }
        let row = |(kind, [removed, added]): (ModuleKind, [u64; 2])| ChangedModules {
            place: kind.place,
            medium: kind.medium.to_string(),
            lanes: kind.lanes,
            lane: kind.lane.to_string(),
            removed,
            added,
        };
        found.into_iter().map(row).collect()
    }

    /// Describes the modules without their number: `dr4, 4 lanes of 100G`.
    pub(crate) fn kind(&self) -> String {
        let ChangedModules { medium, lanes, lane, .. } = self;
        format!("{medium}, {} of {lane}", plural((*lanes).into(), "lane", "lanes"))
    }

    /// Returns the lines of a work order that describe these modules.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> + use<> {
        let (place, kind) = (self.place, self.kind());
        let works = [("remove", self.removed), ("plug in", self.added)];
        let line = move |(work, count): (&str, u64)| {
            let one = format!("module of {place}s");
            format!("{work} {} ({kind})", plural(count, &one, &one.replacen("module", "modules", 1)))
        };
        works.into_iter().filter(|(_, count)| *count > 0).map(line)
    }
}

/// Adds the modules that a device has in only one fabric, but only if the device loses some. If it only gains
/// modules, this is growth.
fn add(
    found: &mut BTreeMap<ModuleKind, [u64; 2]>,
    old: &BTreeMap<ModuleKind, u64>,
    new: &BTreeMap<ModuleKind, u64>,
) {
    let surplus = |own: &BTreeMap<ModuleKind, u64>, other: &BTreeMap<ModuleKind, u64>| {
        let more = |(kind, count): (&ModuleKind, &u64)| {
            let more = count.saturating_sub(other.get(kind).copied().unwrap_or(0));
            (more > 0).then(|| (kind.clone(), more))
        };
        own.iter().filter_map(more).collect::<Vec<_>>()
    };
    let lost = surplus(old, new);
    if lost.is_empty() {
        return;
    }
    for (at, kinds) in [lost, surplus(new, old)].into_iter().enumerate() {
        for (kind, count) in kinds.into_iter().filter(|(kind, _)| !kind.is_assembly()) {
            found.entry(kind).or_default()[at] += count;
        }
    }
}

/// Counts the cages of a NIC or its adapter that contain a cable, by kind of module.
fn nic_modules(plan: &Plan, nic: Nic) -> BTreeMap<ModuleKind, u64> {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let mut seen = BTreeSet::new();
    let mut counts = BTreeMap::new();
    let of_nic = |nic| topology.plane_ids().map(move |plane| NicPort { plane, nic });
    for port in topology.adapter_nics(nic).flat_map(of_nic) {
        let link = Link::Host(port);
        if fabric.has_link(link) && seen.insert(topology.nic_cage(port)) {
            let kind = ModuleKind::in_zone(plan, nic.zone, &fabric.cable(link).medium);
            *counts.entry(kind).or_default() += 1;
        }
    }
    counts
}
