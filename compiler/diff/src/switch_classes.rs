//! Classes of switches whose configurations change in the same way.
//!
//! In: two plans and their population. Out: classes of switches. Invariants: the switches of a class have the same
//! tier, hardware, ports and kinds of cables. They also have the same numbers of changed cables, and of exceptions of
//! each kind. So a switch that an exception names is never in a class with switches that none names.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_fabric::{Fabric, PortUse};
use closc_plan::Plan;
use closc_platform::Os;
use closc_topology::{Link, Switch, TierId, ZoneId};
use smol_str::SmolStr;

use crate::population::{MovedCable, Population, is_drained};

/// A kind of exception at a switch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ExceptionKind {
    /// A NIC of a T0 is absent.
    AbsentNic,
    /// A neighbour is absent.
    AbsentNeighbour,
    /// A cable is absent.
    AbsentCable,
    /// A neighbour is drained, so routes avoid it.
    DrainedNeighbour,
    /// A cable is drained.
    DrainedCable,
    /// A cable is isolated.
    IsolatedCable,
    /// A cable has another length or medium.
    OtherCable(String),
}

/// Number of exceptions of each kind.
type ExceptionCounts = BTreeMap<ExceptionKind, usize>;

/// Properties of a switch in one plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SideKey {
    hardware: (SmolStr, Os),
    /// Ports, NICs and cables of its tier and zone.
    zone: Arc<str>,
    is_drained: bool,
    exceptions: ExceptionCounts,
}

/// Properties that decide how the configuration of a switch changes. The numbers are those of added, removed and moved
/// cables.
type ClassKey = (TierId, [SideKey; 2], [usize; 3]);

/// Properties of both plans that decide the classes of switches.
pub(crate) struct SwitchClasses<'a> {
    sides: [PlanSide<'a>; 2],
    /// Number of added, removed and moved cables of each switch.
    cables: [BTreeMap<Switch, usize>; 3],
}

/// One of the two plans.
struct PlanSide<'a> {
    fabric: &'a Fabric,
    exceptions: BTreeMap<Switch, ExceptionCounts>,
    zones: BTreeMap<(TierId, ZoneId), Arc<str>>,
}

impl<'a> SwitchClasses<'a> {
    /// Counts cables and exceptions of each switch.
    pub(crate) fn new(old: &'a Plan, new: &'a Plan, population: &Population) -> Self {
        let (old, new) = (old.fabric(), new.fabric());
        let moved = |cable: &MovedCable| cable.old;
        let cables = [
            count_ends(new, population.cables.added.iter().copied()),
            count_ends(old, population.cables.removed.iter().copied()),
            count_ends(old, population.moved.iter().map(moved)),
        ];
        SwitchClasses { sides: [old, new].map(PlanSide::new), cables }
    }

    /// Groups switches of both plans, in the order of switches.
    pub(crate) fn split(mut self, switches: &[Switch]) -> Vec<Vec<Switch>> {
        let mut classes: BTreeMap<ClassKey, Vec<Switch>> = BTreeMap::new();
        for switch in switches {
            let sides = self.sides.each_mut().map(|side| side.key(*switch));
            let cables = self.cables.each_ref().map(|ends| ends.get(switch).copied().unwrap_or(0));
            classes.entry((switch.tier, sides, cables)).or_default().push(*switch);
        }
        classes.into_values().collect()
    }
}

impl<'a> PlanSide<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        PlanSide { fabric, exceptions: count_exceptions(fabric), zones: BTreeMap::new() }
    }

    fn key(&mut self, switch: Switch) -> SideKey {
        let topology = self.fabric.topology();
        let (platform, os) = topology.hardware(switch);
        let zone = self.zones.entry((switch.tier, switch.zone));
        SideKey {
            hardware: (platform.id.clone(), os),
            zone: Arc::clone(zone.or_insert_with(|| zone_text(self.fabric, switch.tier, switch.zone))),
            is_drained: is_drained(&topology.exceptions, switch),
            exceptions: self.exceptions.get(&switch).cloned().unwrap_or_default(),
        }
    }
}

/// Describes what can differ between the zones of a tier.
fn zone_text(fabric: &Fabric, tier: TierId, zone: ZoneId) -> Arc<str> {
    let topology = fabric.topology();
    let ports = topology.tier(tier).map(|tier| [tier.down_ports(zone), tier.up_ports(zone)]);
    let nic = topology.hosts.nic_by_zone.get(&zone);
    let cable = topology.cables.t1_t2_by_zone.get(&zone);
    format!("{ports:?} {nic:?} {cable:?}").into()
}

/// Counts the exceptions of each kind at each switch.
fn count_exceptions(fabric: &Fabric) -> BTreeMap<Switch, ExceptionCounts> {
    let (topology, mut found) = (fabric.topology(), BTreeMap::new());
    let exceptions = &topology.exceptions;
    let mut add = |switch: Switch, kind: ExceptionKind| {
        *found.entry(switch).or_insert_with(ExceptionCounts::new).entry(kind).or_default() += 1;
    };
    for nic in &exceptions.absent_nics {
        topology.plane_ids().for_each(|plane| add(nic.t0(plane), ExceptionKind::AbsentNic));
    }
    let links = [
        (&exceptions.absent_links, ExceptionKind::AbsentCable),
        (&exceptions.drained_links, ExceptionKind::DrainedCable),
        (&exceptions.isolated_links, ExceptionKind::IsolatedCable),
    ];
    for (links, kind) in links {
        links.iter().flat_map(|link| ends(fabric, *link)).for_each(|switch| add(switch, kind.clone()));
    }
    for (link, cable) in &exceptions.cables {
        let kind = ExceptionKind::OtherCable(format!("{} {}", cable.length, cable.medium));
        ends(fabric, *link).for_each(|switch| add(switch, kind.clone()));
    }
    // All switches of an absent plane are absent, so none of them has a class.
    let absent_planes = topology.absent_planes();
    let absent = exceptions.absent_switches.iter().filter(|switch| !absent_planes.contains(&switch.plane));
    for switch in absent {
        neighbours(fabric, *switch).for_each(|other| add(other, ExceptionKind::AbsentNeighbour));
    }
    for switch in &exceptions.drained_switches {
        neighbours(fabric, *switch).for_each(|other| add(other, ExceptionKind::DrainedNeighbour));
    }
    found
}

/// Returns the switches to which the ports of a switch lead, once per cable.
fn neighbours(fabric: &Fabric, switch: Switch) -> impl Iterator<Item = Switch> + '_ {
    let has_tier = fabric.topology().tier(switch.tier).is_some();
    let ports = has_tier.then(|| fabric.ports(switch)).into_iter().flatten();
    let links = ports.filter_map(|port| match port.usage {
        PortUse::Link { link, .. } | PortUse::Absent { link } => Some(link),
        PortUse::Spare => None,
    });
    links.flat_map(|link| ends(fabric, link)).filter(move |other| *other != switch)
}

/// Returns the switches at the ends of a cable.
fn ends(fabric: &Fabric, link: Link) -> impl Iterator<Item = Switch> + use<> {
    let lower = match link {
        Link::Fabric { lower, .. } => Some(lower),
        Link::Host(_) => None,
    };
    fabric.upper_end(link).map(|(switch, _)| switch).into_iter().chain(lower)
}

/// Returns the number of cables that end at each switch.
fn count_ends(fabric: &Fabric, links: impl Iterator<Item = Link>) -> BTreeMap<Switch, usize> {
    let mut found = BTreeMap::new();
    for switch in links.flat_map(|link| ends(fabric, link)) {
        *found.entry(switch).or_default() += 1;
    }
    found
}
