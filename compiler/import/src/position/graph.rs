//! Positions from the graph. Planes are the connected components of the graph without nodes. Zones are those
//! of the graph without T2s. Within these components, devices are numbered in order.
//!
//! In: tiers of devices, and port numbers of the hardware. Out: a position for each device. Devices are in
//! the order of the ports of the tier above or below, if these agree. Otherwise they are in the order of
//! names. With [`Reading::Majority`], only most ports must agree. Devices that differ only in their names (an
//! automorphism of the network exchanges them) are in the order of names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use closc_topology::{Node, PlaneId, Switch, ZoneId};
use smol_str::SmolStr;

use super::sets::Sets;
use super::vote::{Votes, assign, majority};
use super::{Place, Reading, by_nic, one_tier, parts, tier};
use crate::fit::Fit;
use crate::level::is_one_tier;
use crate::network::{ExistingNetwork, Fault, ImportError, Level};
use crate::pattern::natural;

/// Plane and zone of a switch, or zone and unit of a node.
type Set = (u16, u16);

/// Maximum number of planes of a fabric.
const PLANES_MAX: usize = 16;

/// An existing network with its tiers.
pub(super) struct Graph<'a> {
    network: &'a ExistingNetwork,
    levels: &'a [Level],
    reading: Reading,
    /// Port numbers by port name. The outer index is the tier from T0. The inner index is 0 for downlinks and
    /// 1 for uplinks.
    ports: [[HashMap<SmolStr, u16>; 2]; 3],
    planes: Vec<u16>,
    zones: Vec<u16>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(
        network: &'a ExistingNetwork,
        levels: &'a [Level],
        fits: &[Option<Fit>; 3],
        reading: Reading,
    ) -> Self {
        let of = |fit: &Option<Fit>| {
            let named = fit.as_ref().filter(|fit| fit.is_named);
            [false, true].map(|is_up| named.map(|fit| fit.indices(is_up)).unwrap_or_default())
        };
        let ports = [of(&fits[0]), of(&fits[1]), of(&fits[2])];
        let none = vec![0; network.device_count()];
        Graph { network, levels, reading, ports, planes: none.clone(), zones: none }
    }

    fn name(&self, device: u32) -> &SmolStr {
        self.network.devices.name(device)
    }

    fn of_level(&self, level: Level) -> Vec<u32> {
        let mut found: Vec<u32> =
            (0..).zip(self.levels).filter(|(_, own)| **own == level).map(|(device, _)| device).collect();
        found.sort_by_key(|device| natural(self.name(*device)));
        found
    }

    /// Joins devices that are connected by selected cables, and numbers the resulting sets in the order of
    /// the given devices.
    fn sets(&self, is_meant: impl Fn(Level, Level) -> bool, ordered: &[u32]) -> Vec<Option<u16>> {
        let mut sets = Sets::new(self.network.device_count());
        for cable in &self.network.cables {
            let [a, b] = cable.ends.map(|plug| plug.device);
            if is_meant(self.levels[a as usize], self.levels[b as usize]) {
                sets.join(a, b);
            }
        }
        let mut numbers: HashMap<u32, u16> = HashMap::new();
        for device in ordered {
            let next = u16::try_from(numbers.len()).unwrap_or(u16::MAX);
            numbers.entry(sets.root(*device)).or_insert(next);
        }
        (0..self.network.device_count() as u32)
            .map(|device| numbers.get(&sets.root(device)).copied())
            .collect()
    }

    pub(super) fn places(mut self) -> Result<Vec<Place>, ImportError> {
        if is_one_tier(self.levels) {
            return Ok(self.one_tier_places());
        }
        let t0s = self.of_level(Level::T0);
        let (planes, zones) = match self.reading {
            Reading::Exact => (
                self.sets(|a, b| a != Level::Node && b != Level::Node, &t0s),
                self.sets(|a, b| a != Level::T2 && b != Level::T2, &t0s),
            ),
            Reading::Majority => {
                let found = parts::parts(self.network, self.levels, &t0s);
                (found.planes, found.zones)
            }
        };
        let has_zones = self.levels.contains(&Level::T2);
        for device in 0..self.network.device_count() {
            let level = self.levels[device];
            let plane = if level == Level::Node { Some(0) } else { planes[device] };
            let zone = if level == Level::T2 || !has_zones { Some(0) } else { zones[device] };
            let (Some(plane), Some(zone)) = (plane, zone) else {
                let text = format!("not a Clos: `{}` is not connected to a T0", self.name(device as u32));
                return Err(Fault { place: None, text }.into());
            };
            (self.planes[device], self.zones[device]) = (plane, zone);
        }
        let nic_of_plane =
            if has_zones { None } else { by_nic::nic_of_plane(self.network, self.levels, &self.planes) };
        let count = self.planes.iter().max().map_or(0, |last| usize::from(*last) + 1);
        if count > PLANES_MAX && nic_of_plane.is_none() {
            let text = format!(
                "not a Clos of planes: without the nodes there are {count} separate parts; expected at most \
                 {PLANES_MAX} planes"
            );
            return Err(Fault { place: None, text }.into());
        }
        let mut indices = vec![0_u16; self.network.device_count()];
        let t0_t1 = self.parallel(Level::T0);
        self.number(Level::T0, Level::T1, t0_t1, &mut indices);
        self.number(Level::T1, Level::T0, t0_t1, &mut indices);
        if has_zones {
            let t1_t2 = self.parallel(Level::T1);
            self.number(Level::T2, Level::T1, t1_t2, &mut indices);
        }
        self.align(&mut indices)?;
        if let Some(nics) = nic_of_plane {
            self.planes_to_zones(&nics, &t0s);
        }
        Ok(self.device_places(&indices))
    }

    /// Turns planes by NIC into zones. Zones of the same nodes are consecutive, in the order of NICs.
    fn planes_to_zones(&mut self, nic_of_plane: &BTreeMap<u16, u16>, t0s: &[u32]) {
        let sets = self.sets(|_, _| true, t0s);
        let mut planes: BTreeMap<u16, BTreeSet<(u16, u16)>> = BTreeMap::new();
        for t0 in t0s {
            let plane = self.planes[*t0 as usize];
            let nic = nic_of_plane.get(&plane).copied().unwrap_or(u16::MAX);
            planes.entry(sets[*t0 as usize].unwrap_or(0)).or_default().insert((nic, plane));
        }
        let zones = planes.values().map(BTreeSet::len).max().unwrap_or(1) as u16;
        let of_set = |(set, planes): (&u16, &BTreeSet<(u16, u16)>)| {
            let first = set.saturating_mul(zones);
            planes.iter().zip(first..).map(|((_, plane), zone)| (*plane, zone)).collect::<Vec<_>>()
        };
        let zone_of: HashMap<u16, u16> = planes.iter().flat_map(of_set).collect();
        for (device, set) in sets.into_iter().enumerate() {
            self.zones[device] = match self.levels[device] {
                Level::Node => set.unwrap_or(0).saturating_mul(zones),
                Level::T0 | Level::T1 | Level::T2 => zone_of.get(&self.planes[device]).copied().unwrap_or(0),
            };
        }
        self.planes.fill(0);
    }

    /// Returns the positions in a network without T1s.
    fn one_tier_places(mut self) -> Vec<Place> {
        let found = one_tier::places(self.network, self.levels, &self.of_level(Level::T0));
        self.planes = found.planes;
        self.device_places(&found.indices)
    }

    /// Returns the positions of all devices, given the indices of the switches.
    fn device_places(&self, indices: &[u16]) -> Vec<Place> {
        let nodes = self.nodes(indices);
        let place = |device: usize| match tier(self.levels[device]) {
            None => Place::Node(nodes[&(device as u32)]),
            Some(tier) => Place::Switch(Switch {
                plane: PlaneId(self.planes[device] as u8),
                tier,
                zone: ZoneId(self.zones[device]),
                index: indices[device],
            }),
        };
        (0..self.network.device_count()).map(place).collect()
    }

    /// Returns the number of parallel cables between a switch of a tier and one above. It is the largest
    /// number over all pairs or, with [`Reading::Majority`], the most frequent one.
    fn parallel(&self, lower: Level) -> u16 {
        let mut counts: HashMap<(u32, u32), u16> = HashMap::new();
        for cable in &self.network.cables {
            let [a, b] = cable.ends.map(|plug| plug.device);
            let (a, b) = if self.levels[a as usize] < self.levels[b as usize] { (a, b) } else { (b, a) };
            if self.levels[a as usize] == lower && self.levels[b as usize] != Level::Node {
                let count = counts.entry((a, b)).or_default();
                *count = count.saturating_add(1);
            }
        }
        self.reading.count(counts.into_values()).unwrap_or(1)
    }

    /// Numbers the devices of a level by the ports of the level `by` to which they are connected, or else by
    /// their names.
    fn number(&self, level: Level, by: Level, parallel: u16, indices: &mut [u16]) {
        let is_up = level > by;
        let Some(names) = tier(by).map(|tier| &self.ports[usize::from(tier.level())][usize::from(is_up)])
        else {
            return;
        };
        let mut seen: HashMap<u32, (Votes, u32)> = HashMap::new();
        for cable in &self.network.cables {
            for (own, other) in [(0, 1), (1, 0)] {
                let (own, other) = (cable.ends[own], cable.ends[other]);
                if self.levels[own.device as usize] == level && self.levels[other.device as usize] == by {
                    let index = names.get(self.network.ports.name(other.port)).map(|port| port / parallel);
                    let (votes, total) = seen.entry(own.device).or_default();
                    *total += 1;
                    if let Some(index) = index {
                        *votes.entry(index).or_default() += 1;
                    }
                }
            }
        }
        let devices = self.of_level(level);
        let place = |device: u32| (self.planes[device as usize], self.zones[device as usize]);
        let votes = |device: &u32| (place(*device), seen.get(device).cloned().unwrap_or_default());
        let by_port = self.by_port(&devices.iter().map(votes).collect::<Vec<_>>());
        if let Some(found) = by_port {
            for (device, index) in devices.iter().zip(found) {
                indices[*device as usize] = index;
            }
            return;
        }
        let mut next: BTreeMap<(u16, u16), u16> = BTreeMap::new();
        for device in devices {
            let next = next.entry(place(device)).or_default();
            indices[device as usize] = *next;
            *next = next.saturating_add(1);
        }
    }

    /// Numbers the devices of each set by the ports at the other ends of their cables. Returns `None` if
    /// cables contradict each other. With [`Reading::Majority`], returns `None` only if more than half of the
    /// cables contradict the numbers.
    fn by_port(&self, devices: &[(Set, (Votes, u32))]) -> Option<Vec<u16>> {
        let mut found = vec![0; devices.len()];
        let mut sets: BTreeMap<Set, Vec<usize>> = BTreeMap::new();
        for (at, (set, _)) in devices.iter().enumerate() {
            sets.entry(*set).or_default().push(at);
        }
        for set in sets.into_values() {
            let all: Vec<(Votes, u32)> = set.iter().map(|at| devices[*at].1.clone()).collect();
            let numbers = match self.reading {
                Reading::Majority => assign(&all)?,
                Reading::Exact => {
                    let only = |(votes, total): &(Votes, u32)| {
                        votes
                            .first_key_value()
                            .filter(|(_, count)| *count == total)
                            .map(|(number, _)| *number)
                    };
                    let numbers: Vec<u16> = all.iter().map(only).collect::<Option<_>>()?;
                    let distinct: BTreeSet<u16> = numbers.iter().copied().collect();
                    (distinct.len() == numbers.len()).then_some(numbers)?
                }
            };
            for (at, number) in set.into_iter().zip(numbers) {
                found[at] = number;
            }
        }
        Some(found)
    }

    /// Gives all T0s of a group the number of the T0 in the first plane. T0s of different planes are in the
    /// same group if the same nodes are connected to them.
    fn align(&self, indices: &mut [u16]) -> Result<(), ImportError> {
        let mut reached: BTreeMap<u32, BTreeMap<u16, Vec<u32>>> = BTreeMap::new();
        for cable in &self.network.cables {
            let [a, b] = cable.ends.map(|plug| plug.device);
            let (node, t0) = if self.levels[a as usize] == Level::Node { (a, b) } else { (b, a) };
            if self.levels[node as usize] == Level::Node {
                reached.entry(node).or_default().entry(self.planes[t0 as usize]).or_default().push(t0);
            }
        }
        if self.reading == Reading::Majority {
            return self.align_most(reached, indices);
        }
        let mut decided: HashMap<u32, u16> = HashMap::new();
        for (node, planes) in &mut reached {
            let mut groups: Option<BTreeSet<u16>> = None;
            for t0s in planes.values_mut() {
                t0s.sort_unstable();
                t0s.dedup();
                t0s.sort_by_key(|t0| (indices[*t0 as usize], natural(self.name(*t0))));
                let known = groups.get_or_insert_with(|| {
                    t0s.iter().map(|t0| decided.get(t0).copied().unwrap_or(indices[*t0 as usize])).collect()
                });
                for (t0, group) in t0s.iter().zip(known.iter()) {
                    let before = *decided.entry(*t0).or_insert(*group);
                    if !known.contains(&before) {
                        let text = format!(
                            "not a Clos of planes: node `{}` is on T0 group {} in one plane, and on `{}` of T0 group {} in another",
                            self.name(*node),
                            group + 1,
                            self.name(*t0),
                            before + 1
                        );
                        return Err(Fault { place: None, text }.into());
                    }
                }
            }
        }
        for (t0, group) in decided {
            indices[t0 as usize] = group;
        }
        Ok(())
    }

    /// Like [`Self::align`], for networks where nodes may be connected to wrong T0s. The group of a T0 is the
    /// one indicated by most of its nodes.
    fn align_most(
        &self,
        reached: BTreeMap<u32, BTreeMap<u16, Vec<u32>>>,
        indices: &mut [u16],
    ) -> Result<(), ImportError> {
        let mut votes: BTreeMap<u32, Votes> = BTreeMap::new();
        for planes in reached.into_values() {
            let mut groups: Option<BTreeSet<u16>> = None;
            for mut t0s in planes.into_values() {
                t0s.sort_unstable();
                t0s.dedup();
                t0s.sort_by_key(|t0| (indices[*t0 as usize], natural(self.name(*t0))));
                let known =
                    groups.get_or_insert_with(|| t0s.iter().map(|t0| indices[*t0 as usize]).collect());
                for (t0, group) in t0s.iter().zip(known.iter()) {
                    *votes.entry(*t0).or_default().entry(*group).or_default() += 1;
                }
            }
        }
        let mut taken: BTreeMap<(u16, u16, u16), u32> = BTreeMap::new();
        for (t0, votes) in votes {
            let own = indices[t0 as usize];
            let group = majority(&votes, own).unwrap_or(own);
            let place = (self.planes[t0 as usize], self.zones[t0 as usize], group);
            if let Some(other) = taken.insert(place, t0) {
                let text = format!(
                    "not a Clos of planes: most nodes of `{}` and of `{}` are on T0 group {} in another plane",
                    self.name(other),
                    self.name(t0),
                    group + 1
                );
                return Err(Fault { place: None, text }.into());
            }
            indices[t0 as usize] = group;
        }
        Ok(())
    }

    /// Returns units and numbers of nodes. The unit follows from the T0s to which a node is connected. If the
    /// hardware is known and ports agree, the number follows from the T0 port, otherwise from the name.
    fn nodes(&self, indices: &[u16]) -> HashMap<u32, Node> {
        let names = &self.ports[0][0];
        let mut cables: HashMap<u32, Vec<(u32, Option<u16>)>> = HashMap::new();
        for cable in &self.network.cables {
            for (own, other) in [(0, 1), (1, 0)] {
                let (own, other) = (cable.ends[own], cable.ends[other]);
                if self.levels[own.device as usize] == Level::Node {
                    let port = names.get(self.network.ports.name(other.port)).copied();
                    cables.entry(own.device).or_default().push((other.device, port));
                }
            }
        }
        let nodes = self.of_level(Level::Node);
        let units = self.units(&nodes, &cables, indices);
        let mut on_one: HashMap<(u32, u32), u16> = HashMap::new();
        for (node, cables) in &cables {
            for (t0, _) in cables {
                let count = on_one.entry((*node, *t0)).or_default();
                *count = count.saturating_add(1);
            }
        }
        let share = self.reading.count(on_one.into_values()).unwrap_or(1);
        let place = |at: usize| (self.zones[nodes[at] as usize], units[at]);
        let votes = |at: usize| {
            let mut votes = Votes::new();
            for port in cables[&nodes[at]].iter().filter_map(|(_, port)| *port) {
                *votes.entry(port / share).or_default() += 1;
            }
            (place(at), (votes, cables[&nodes[at]].len() as u32))
        };
        let by_port = self.by_port(&(0..nodes.len()).map(votes).collect::<Vec<_>>());
        let mut next: BTreeMap<(u16, u16), u16> = BTreeMap::new();
        let number = |at: usize| {
            let (zone, unit) = place(at);
            let index = by_port.as_ref().map_or_else(
                || {
                    let next = next.entry((zone, unit)).or_default();
                    let index = *next;
                    *next = next.saturating_add(1);
                    index
                },
                |by_port| by_port[at],
            );
            (nodes[at], Node { zone: ZoneId(zone), unit, index })
        };
        (0..nodes.len()).map(number).collect()
    }

    /// Returns the unit of each node. `nodes` is in the order of names. With [`Reading::Majority`], it is the
    /// unit indicated by most cables of the node. In a tie, the last earlier node with a clear majority for
    /// one of these units decides, or else the first later one.
    fn units(
        &self,
        nodes: &[u32],
        cables: &HashMap<u32, Vec<(u32, Option<u16>)>>,
        indices: &[u16],
    ) -> Vec<u16> {
        let groups = |device: &u32| -> BTreeSet<u16> {
            cables[device].iter().map(|(t0, _)| indices[*t0 as usize]).collect()
        };
        let counts = nodes.iter().map(|node| u16::try_from(groups(node).len()).unwrap_or(u16::MAX));
        let rails = self.reading.count(counts).unwrap_or(1).max(1);
        if self.reading == Reading::Exact {
            return nodes.iter().map(|node| groups(node).first().copied().unwrap_or(0) / rails).collect();
        }
        let votes: Vec<Votes> = nodes
            .iter()
            .map(|node| {
                let mut votes = Votes::new();
                for (t0, _) in &cables[node] {
                    *votes.entry(indices[*t0 as usize] / rails).or_default() += 1;
                }
                votes
            })
            .collect();
        let clear = |votes: &Votes| {
            let total: u32 = votes.values().sum();
            votes.iter().find(|(_, count)| **count * 2 > total).map(|(unit, _)| *unit)
        };
        let known: Vec<Option<u16>> = votes.iter().map(clear).collect();
        let unit = |at: usize| {
            let beside = known[..at].iter().rev().chain(&known[at..]).copied().flatten();
            let near = beside.clone().find(|unit| votes[at].contains_key(unit));
            known[at].or(majority(&votes[at], near.unwrap_or(0))).unwrap_or(0)
        };
        (0..nodes.len()).map(unit).collect()
    }
}
