//! NICs: which one of its node a cable is of.
//!
//! In: places of devices. Out: rails, NICs of a node, and a number for each cable of a node. Ports of nodes in closc's own form
//! (`nic2p3`) say it; else NICs are counted by the T0 group they are on, and there by the T0's ports. A node can be in several
//! zones, and has the place of the first.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use closc_topology::{Node, Switch};

use super::Place;
use crate::pattern::natural;
use crate::plant::Plant;

/// The NICs of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nics {
    /// NICs of a node.
    pub(crate) per_node: u16,
    /// T0 groups that they are spread over.
    pub(crate) rails: u16,
    /// Consecutive zones that these groups are in, the same number in each.
    pub(crate) zones: u16,
    /// The NIC of each cable of a node, by the cable's number.
    pub(crate) numbers: HashMap<u32, u16>,
}

/// A cable of a node.
struct Attached {
    cable: u32,
    node: Node,
    t0: Switch,
    node_port: u32,
    t0_port: u32,
}

fn attached(plant: &Plant, places: &[Place]) -> Vec<Attached> {
    let cables = plant.cables.iter().zip(0..);
    let of = |(cable, number): (&crate::plant::Cable, u32)| {
        let [a, b] = cable.ends;
        let (node, t0) = if matches!(places[a.device as usize], Place::Node(_)) { (a, b) } else { (b, a) };
        match (places[node.device as usize], places[t0.device as usize]) {
            (Place::Node(at), Place::Switch(switch)) => {
                Some(Attached { cable: number, node: at, t0: switch, node_port: node.port, t0_port: t0.port })
            }
            _ => None,
        }
    };
    cables.filter_map(of).collect()
}

/// Reads `nic2p3`.
fn named(port: &str) -> Option<(u16, u8)> {
    let (nic, plane) = port.strip_prefix("nic")?.split_once('p')?;
    let (number, plane): (u8, u8) = (nic.parse().ok()?, plane.parse().ok()?);
    (format!("nic{number}p{plane}") == port).then_some((u16::from(number), plane))
}

/// Finds the NICs.
pub(super) fn nics(plant: &Plant, places: &[Place]) -> Nics {
    let cables = attached(plant, places);
    let by_name: Option<Vec<u16>> =
        cables.iter().map(|cable| Some(named(plant.ports.name(cable.node_port))?.0)).collect();
    match by_name {
        Some(numbers) => {
            let last = numbers.iter().max().map_or(1, |last| last + 1);
            let spans = cables.iter().any(|cable| cable.t0.zone != cable.node.zone);
            // A NIC that every node lacks may be the last one of a zone.
            let most = if spans { last.saturating_mul(2) } else { last };
            let spreads = (1..=most).flat_map(|rails| {
                let zones =
                    (1..=if spans { rails } else { 1 }).filter(move |zones| rails.is_multiple_of(*zones));
                zones.map(move |zones| Spread { rails, zones })
            });
            let wrong = |spread: &Spread| {
                cables.iter().zip(&numbers).filter(|(cable, nic)| !spread.places(cable, **nic)).count()
            };
            let Spread { rails, zones } = spreads
                .min_by_key(|spread| (wrong(spread), spread.rails, spread.zones))
                .unwrap_or(Spread { rails: 1, zones: 1 });
            let per_node = last.checked_next_multiple_of(rails).unwrap_or(last);
            let numbers = cables.iter().zip(&numbers).map(|(cable, nic)| (cable.cable, *nic)).collect();
            Nics { per_node, rails, zones, numbers }
        }
        None => counted(plant, &cables),
    }
}

/// How the NICs of a node are spread over T0 groups and zones.
#[derive(Clone, Copy)]
struct Spread {
    rails: u16,
    zones: u16,
}

impl Spread {
    /// Whether the cable of a NIC of this number ends at the group of its rail.
    fn places(self, cable: &Attached, nic: u16) -> bool {
        let (in_zone, rail) = (self.rails / self.zones, nic % self.rails);
        let group = u32::from(cable.node.unit) * u32::from(in_zone) + u32::from(rail % in_zone);
        let zone = u32::from(cable.node.zone.0) + u32::from(rail / in_zone);
        u32::from(cable.t0.index) == group
            && u32::from(cable.t0.zone.0) == zone
            && cable.node.zone.0.is_multiple_of(self.zones)
    }
}

/// Counts NICs group by group, plane by plane.
fn counted(plant: &Plant, cables: &[Attached]) -> Nics {
    let mut groups: BTreeMap<(Node, Switch), Vec<&Attached>> = BTreeMap::new();
    let mut reached: BTreeMap<(Node, u16), BTreeSet<u16>> = BTreeMap::new();
    for cable in cables {
        groups.entry((cable.node, cable.t0)).or_default().push(cable);
        reached.entry((cable.node, offset(cable.node, cable.t0))).or_default().insert(cable.t0.index);
    }
    let in_zone = reached.values().map(BTreeSet::len).max().unwrap_or(1);
    let in_zone = u16::try_from(in_zone).unwrap_or(u16::MAX);
    let zones = reached.keys().map(|(_, zone)| zone.saturating_add(1)).max().unwrap_or(1);
    let rails = in_zone.saturating_mul(zones);
    let share = groups.values().map(Vec::len).max().unwrap_or(1);
    let mut numbers = HashMap::new();
    for ((node, t0), group) in &mut groups {
        group.sort_by_key(|cable| natural(plant.ports.name(cable.t0_port)));
        let rail = offset(*node, *t0).saturating_mul(in_zone).saturating_add(t0.index % in_zone);
        for (at, cable) in group.iter().zip(0_u16..).map(|(cable, at)| (at, cable)) {
            numbers.insert(cable.cable, at.saturating_mul(rails).saturating_add(rail));
        }
    }
    let per_node = u16::try_from(share).unwrap_or(u16::MAX).saturating_mul(rails);
    Nics { per_node, rails, zones, numbers }
}

/// Zones from the node's first one to that of a T0.
fn offset(node: Node, t0: Switch) -> u16 {
    t0.zone.0.saturating_sub(node.zone.0)
}
