//! The counts of a fabric, from the positions of its devices.
//!
//! In: positions. Out: counts that include every device, the most likely first. There are several if the
//! wiring to T2s is ambiguous. Invariants: the counts are the smallest ones that include every device.

use std::collections::{BTreeMap, HashMap};

use closc_topology::{Node, PortStage, Switch, TierId};
use smol_str::SmolStr;

use crate::fit::Fit;
use crate::network::ExistingNetwork;
use crate::position::{Place, Positions, Reading};

/// The counts of a fabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) planes: u16,
    pub(crate) zones: u16,
    pub(crate) groups: u16,
    pub(crate) groups_by_zone: BTreeMap<u16, u16>,
    pub(crate) per_group: u16,
    pub(crate) per_group_by_zone: BTreeMap<u16, u16>,
    pub(crate) nics_per_node: u16,
    pub(crate) rails: u16,
    /// Number of zones of a node's NICs.
    pub(crate) zones_per_node: u16,
    /// Cages of a NIC by zone, if there are several.
    pub(crate) nic_cages: BTreeMap<u16, u16>,
    pub(crate) t1_count: u16,
    pub(crate) t0_parallel: u16,
    /// The port order of the cables between T0s and T1s, if it is not the order of switch numbers.
    pub(crate) order: Option<Order>,
    pub(crate) third: Option<ThirdTierCounts>,
}

/// The port order of a fabric that has grown, or is wired for growth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    /// The stages of growth whose port order is kept.
    pub(crate) stages: Vec<PortStage>,
    /// Reserved uplinks of a T0 that this order needs.
    pub(crate) up_spare: u16,
    /// Reserved downlinks of a T1 that this order needs.
    pub(crate) down_spare: u16,
}

/// The counts of the third tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThirdTierCounts {
    pub(crate) parallel: u16,
    /// Uplinks of a T1.
    pub(crate) up: u16,
    /// Rows of T2s, if T1s do not reach all T2s.
    pub(crate) rows: Option<u16>,
    pub(crate) ports_per_zone: u16,
}

impl Numbers {
    /// Returns the number of cables at the T0s of a fabric with these counts.
    pub(crate) fn t0_cables(&self) -> u64 {
        let t0s = u64::from(self.planes) * u64::from(self.zones) * u64::from(self.groups);
        let ports = u64::from(self.per_group) + u64::from(self.t1_count) * u64::from(self.t0_parallel);
        t0s.saturating_mul(ports)
    }

    /// Returns the number of cages of a NIC in a zone.
    pub(crate) fn nic_cages_of(&self, zone: u16) -> u16 {
        self.nic_cages.get(&zone).copied().unwrap_or(1)
    }

    /// Returns the number of cages of a NIC in most zones.
    pub(crate) fn usual_nic_cages(&self) -> u16 {
        let mut counts: BTreeMap<u16, u16> = BTreeMap::new();
        (0..self.zones).for_each(|zone| *counts.entry(self.nic_cages_of(zone)).or_default() += 1);
        counts.into_iter().max_by_key(|(_, zones)| *zones).map_or(1, |(cages, _)| cages)
    }

    /// Returns the counts that determine the ports between T0s and T1s.
    pub(crate) fn stage(&self) -> PortStage {
        PortStage {
            groups: self.groups,
            up: self.t1_count.saturating_mul(self.t0_parallel),
            parallel: self.t0_parallel,
        }
    }
}

/// A cable between switches, the lower one first.
struct Step {
    lower: Switch,
    upper: Switch,
    upper_port: u32,
}

fn steps<'a>(network: &'a ExistingNetwork, positions: &'a Positions) -> impl Iterator<Item = Step> + 'a {
    network.cables.iter().filter_map(|cable| {
        let [a, b] = cable.ends;
        let (lower, upper) = (positions.switch(a.device)?, positions.switch(b.device)?);
        Some(if lower.tier < upper.tier {
            Step { lower, upper, upper_port: b.port }
        } else {
            Step { lower: upper, upper: lower, upper_port: a.port }
        })
    })
}

/// Returns the number of parallel cables between a switch of the lower tier and one above. It is the largest
/// number over all pairs or, with [`Reading::Majority`], the most frequent one.
pub(crate) fn parallel(network: &ExistingNetwork, positions: &Positions, lower: TierId) -> u16 {
    let mut counts: HashMap<(Switch, Switch), u16> = HashMap::new();
    for step in steps(network, positions).filter(|step| step.lower.tier == lower) {
        let count = counts.entry((step.lower, step.upper)).or_default();
        *count = count.saturating_add(1);
    }
    positions.reading.count(counts.into_values()).unwrap_or(1)
}

/// Returns the largest index plus one.
fn count(indices: impl Iterator<Item = u16>) -> u16 {
    indices.max().map_or(0, |last| last.saturating_add(1))
}

fn node(place: Place) -> Option<Node> {
    match place {
        Place::Node(node) => Some(node),
        Place::Switch(_) => None,
    }
}

pub(crate) fn numbers(
    network: &ExistingNetwork,
    positions: &Positions,
    fits: &[Option<Fit>; 3],
) -> Vec<Numbers> {
    let switches: Vec<Switch> =
        (0..positions.places.len() as u32).filter_map(|device| positions.switch(device)).collect();
    let of = |tier: TierId| switches.iter().filter(move |switch| switch.tier == tier);
    let nodes = || positions.places.iter().copied().filter_map(node);
    let (rails, nics_per_node) = (positions.nics.rails.max(1), positions.nics.per_node.max(1));
    let share = (nics_per_node / rails).max(1);
    let zones_per_node = positions.nics.zones.max(1);
    let in_zone = (rails / zones_per_node).max(1);
    let mut groups: BTreeMap<u16, u16> = BTreeMap::new();
    let mut per_group: BTreeMap<u16, u16> = BTreeMap::new();
    for t0 in of(TierId::T0) {
        let groups = groups.entry(t0.zone.0).or_default();
        *groups =
            (*groups).max(t0.index.saturating_add(1).checked_next_multiple_of(in_zone).unwrap_or(u16::MAX));
    }
    for (node, zone) in nodes().flat_map(|node| (0..zones_per_node).map(move |zone| (node, zone))) {
        let zone = node.zone.0.saturating_add(zone);
        let groups = groups.entry(zone).or_default();
        *groups = (*groups).max(node.unit.saturating_add(1).saturating_mul(in_zone));
        let per_group = per_group.entry(zone).or_default();
        *per_group = (*per_group).max(node.index.saturating_add(1).saturating_mul(share));
    }
    let last_zone = |node: Node| node.zone.0.saturating_add(zones_per_node - 1);
    let zones = count(switches.iter().map(|switch| switch.zone.0).chain(nodes().map(last_zone)));
    let fewer = |all: &BTreeMap<u16, u16>| -> (u16, BTreeMap<u16, u16>) {
        let most = all.values().copied().max().unwrap_or(1);
        let of_zone = |zone: u16| (zone, all.get(&zone).copied().unwrap_or(0));
        (most, (0..zones).map(of_zone).filter(|(_, count)| *count < most).collect())
    };
    let (groups, groups_by_zone) = fewer(&groups);
    let (per_group, mut per_group_by_zone) = fewer(&per_group);
    // Zones without nodes do not count.
    per_group_by_zone.retain(|_, count| *count > 0);
    let base = Numbers {
        planes: count(switches.iter().map(|switch| u16::from(switch.plane.0))),
        zones,
        groups,
        groups_by_zone,
        per_group,
        per_group_by_zone,
        nics_per_node,
        rails,
        zones_per_node,
        nic_cages: nic_cages(positions),
        t1_count: count(of(TierId::T1).map(|t1| t1.index)),
        t0_parallel: parallel(network, positions, TierId::T0),
        order: None,
        third: None,
    };
    match count(of(TierId::T2).map(|t2| t2.index)) {
        0 => vec![base],
        t2_count => with_t2s(network, positions, (&base, t2_count), fits[2].as_ref()),
    }
}

/// Returns the number of cages of a NIC by zone, if all NICs are regular.
fn nic_cages(positions: &Positions) -> BTreeMap<u16, u16> {
    let cages = &positions.nics.cages;
    let several = cages.by_zone.iter().filter(|(_, count)| **count > 1 && cages.irregular == 0);
    several.map(|(zone, count)| (*zone, *count)).collect()
}

/// Returns the counts of a fabric for each possible number of rows of T2s.
fn with_t2s(
    network: &ExistingNetwork,
    positions: &Positions,
    (base, t2_count): (&Numbers, u16),
    fit: Option<&Fit>,
) -> Vec<Numbers> {
    let parallel = parallel(network, positions, TierId::T1);
    let with = |rows: Option<u16>| {
        let up = rows.map_or(t2_count, |rows| t2_count.div_ceil(rows)).saturating_mul(parallel);
        let (strides, t1) = (rows.unwrap_or(1), base.t1_count);
        let ports_per_zone = zone_ports(network, positions, fit, strides, parallel, t1);
        Numbers { third: Some(ThirdTierCounts { parallel, up, rows, ports_per_zone }), ..base.clone() }
    };
    rows(network, positions, base.t1_count).into_iter().map(with).collect()
}

/// Returns the possible numbers of rows of T2s, the most likely first. `None` means that every T1 reaches
/// every T2.
fn rows(network: &ExistingNetwork, positions: &Positions, t1_count: u16) -> Vec<Option<u16>> {
    let ways = steps(network, positions).filter(|step| step.lower.tier == TierId::T1);
    let mut distances: BTreeMap<u16, u32> = BTreeMap::new();
    for step in ways {
        *distances.entry(step.lower.index.abs_diff(step.upper.index)).or_default() += 1;
    }
    if positions.reading == Reading::Majority {
        // A swapped cable has an unusual difference between the indices of its T1 and T2.
        let most = distances.values().copied().max().unwrap_or(0);
        distances.retain(|_, count| *count * 4 > most);
    }
    let common = distances.into_keys().fold(0_u16, gcd);
    match common {
        1 => vec![None],
        0 if t1_count <= 1 => vec![None],
        0 => vec![Some(t1_count), None],
        common => {
            let divides = |rows: &u16| {
                common.is_multiple_of(*rows) && (*rows >= t1_count || t1_count.is_multiple_of(*rows))
            };
            (2..=common).rev().filter(divides).map(Some).chain([None]).collect()
        }
    }
}

/// Returns the greatest common divisor.
fn gcd(mut a: u16, mut b: u16) -> u16 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the number of T2 downlinks that are reserved for each zone: the number that fits most cables, or
/// else the number in use.
fn zone_ports(
    network: &ExistingNetwork,
    positions: &Positions,
    t2: Option<&Fit>,
    rows: u16,
    parallel: u16,
    t1_count: u16,
) -> u16 {
    let least = t1_count.div_ceil(rows).saturating_mul(parallel).max(1);
    let Some(names) = t2.filter(|fit| fit.is_named).map(|fit| fit.indices(false)) else { return least };
    let names: HashMap<SmolStr, u16> = names;
    let mut votes: BTreeMap<u16, u32> = BTreeMap::new();
    let mut first: BTreeMap<u16, u16> = BTreeMap::new();
    for step in
        steps(network, positions).filter(|step| step.upper.tier == TierId::T2 && step.lower.zone.0 > 0)
    {
        let Some(port) = names.get(network.ports.name(step.upper_port)) else { continue };
        let first = first.entry(step.lower.zone.0).or_insert(*port);
        *first = (*first).min(*port);
        for cable in 0..parallel {
            let within = (step.lower.index / rows).saturating_mul(parallel).saturating_add(cable);
            let before = port.checked_sub(within).filter(|before| before.is_multiple_of(step.lower.zone.0));
            if let Some(ports) =
                before.map(|before| before / step.lower.zone.0).filter(|ports| *ports >= least)
            {
                *votes.entry(ports).or_default() += 1;
            }
        }
    }
    // The lowest port of each zone has an additional vote, which decides between numbers with equal votes.
    for (zone, port) in first.into_iter().filter(|(zone, port)| port.is_multiple_of(*zone)) {
        if let Some(votes) = votes.get_mut(&(port / zone)) {
            *votes += 1;
        }
    }
    let best = votes.into_iter().max_by_key(|(ports, votes)| (*votes, std::cmp::Reverse(*ports)));
    best.map_or(least, |(ports, _)| ports)
}
