//! Places from the graph. A plane is a connected component without the nodes, and a zone is one without the T2s.
//! Within them, devices are numbered in order.
//!
//! In: tiers of devices, and which ports hardware has. Out: a place for each device. The order is that of the ports of
//! the tier above or below, if all of them agree; otherwise that of names. Devices that differ only in their names (an
//! automorphism of the plant exchanges them) are in the order of names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use closc_topology::{Node, PlaneId, Switch, ZoneId};
use smol_str::SmolStr;

use super::{Place, tier};
use crate::fit::Fit;
use crate::pattern::natural;
use crate::plant::{Fault, Level, Plant, Refused};

/// The most planes of a fabric.
const PLANES_MAX: usize = 16;

/// Sets of connected devices.
struct Sets(Vec<u32>);

impl Sets {
    fn new(count: usize) -> Self {
        Sets((0..count as u32).collect())
    }

    fn root(&mut self, mut of: u32) -> u32 {
        while self.0[of as usize] != of {
            let next = self.0[of as usize];
            self.0[of as usize] = self.0[next as usize];
            of = next;
        }
        of
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// A plant with its tiers.
pub(super) struct Graph<'a> {
    plant: &'a Plant,
    levels: &'a [Level],
    /// Numbers of ports by name, of T0s, T1s and T2s, downwards and upwards.
    ports: [[HashMap<SmolStr, u16>; 2]; 3],
    planes: Vec<u16>,
    zones: Vec<u16>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(plant: &'a Plant, levels: &'a [Level], fits: &[Option<Fit>; 3]) -> Self {
        let of = |fit: &Option<Fit>| {
            let named = fit.as_ref().filter(|fit| fit.is_named);
            [false, true].map(|is_up| named.map(|fit| fit.indices(is_up)).unwrap_or_default())
        };
        let ports = [of(&fits[0]), of(&fits[1]), of(&fits[2])];
        let none = vec![0; plant.device_count()];
        Graph { plant, levels, ports, planes: none.clone(), zones: none }
    }

    fn name(&self, device: u32) -> &SmolStr {
        self.plant.devices.name(device)
    }

    fn of_level(&self, level: Level) -> Vec<u32> {
        let mut found: Vec<u32> =
            (0..).zip(self.levels).filter(|(_, own)| **own == level).map(|(device, _)| device).collect();
        found.sort_by_key(|device| natural(self.name(*device)));
        found
    }

    /// Joins devices that selected cables connect, and numbers the sets in the order of the given devices.
    fn sets(&self, is_meant: impl Fn(Level, Level) -> bool, ordered: &[u32]) -> Vec<Option<u16>> {
        let mut sets = Sets::new(self.plant.device_count());
        for cable in &self.plant.cables {
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
        (0..self.plant.device_count() as u32).map(|device| numbers.get(&sets.root(device)).copied()).collect()
    }

    /// Finds the places.
    pub(super) fn places(mut self) -> Result<Vec<Place>, Refused> {
        let t0s = self.of_level(Level::T0);
        let planes = self.sets(|a, b| a != Level::Node && b != Level::Node, &t0s);
        let zones = self.sets(|a, b| a != Level::T2 && b != Level::T2, &t0s);
        let has_zones = self.levels.contains(&Level::T2);
        for device in 0..self.plant.device_count() {
            let level = self.levels[device];
            let plane = if level == Level::Node { Some(0) } else { planes[device] };
            let zone = if level == Level::T2 || !has_zones { Some(0) } else { zones[device] };
            let (Some(plane), Some(zone)) = (plane, zone) else {
                let text = format!("not a Clos: `{}` hangs together with no T0", self.name(device as u32));
                return Err(Fault { place: None, text }.into());
            };
            (self.planes[device], self.zones[device]) = (plane, zone);
        }
        let count = self.planes.iter().max().map_or(0, |last| usize::from(*last) + 1);
        if count > PLANES_MAX {
            let text = format!(
                "not a Clos of planes: without the nodes there are {count} parts, and planes are at most {PLANES_MAX}"
            );
            return Err(Fault { place: None, text }.into());
        }
        let mut indices = vec![0_u16; self.plant.device_count()];
        let t0_t1 = self.parallel(Level::T0);
        self.number(Level::T0, Level::T1, t0_t1, &mut indices);
        self.number(Level::T1, Level::T0, t0_t1, &mut indices);
        if has_zones {
            let t1_t2 = self.parallel(Level::T1);
            self.number(Level::T2, Level::T1, t1_t2, &mut indices);
        }
        self.align(&mut indices)?;
        let nodes = self.nodes(&indices);
        let place = |device: usize| match tier(self.levels[device]) {
            None => Place::Node(nodes[&(device as u32)]),
            Some(tier) => Place::Switch(Switch {
                plane: PlaneId(self.planes[device] as u8),
                tier,
                zone: ZoneId(self.zones[device]),
                index: indices[device],
            }),
        };
        Ok((0..self.plant.device_count()).map(place).collect())
    }

    /// The most cables between a switch of a tier and one above.
    fn parallel(&self, lower: Level) -> u16 {
        let mut counts: HashMap<(u32, u32), u16> = HashMap::new();
        for cable in &self.plant.cables {
            let [a, b] = cable.ends.map(|plug| plug.device);
            let (a, b) = if self.levels[a as usize] < self.levels[b as usize] { (a, b) } else { (b, a) };
            if self.levels[a as usize] == lower && self.levels[b as usize] != Level::Node {
                let count = counts.entry((a, b)).or_default();
                *count = count.saturating_add(1);
            }
        }
        counts.into_values().max().unwrap_or(1)
    }

    /// Numbers the devices of a level by the ports of another that they are plugged into, or by names.
    fn number(&self, level: Level, by: Level, parallel: u16, indices: &mut [u16]) {
        let is_up = level > by;
        let Some(names) = tier(by).map(|tier| &self.ports[usize::from(tier.level())][usize::from(is_up)])
        else {
            return;
        };
        let mut seen: HashMap<u32, BTreeSet<Option<u16>>> = HashMap::new();
        for cable in &self.plant.cables {
            for (own, other) in [(0, 1), (1, 0)] {
                let (own, other) = (cable.ends[own], cable.ends[other]);
                if self.levels[own.device as usize] == level && self.levels[other.device as usize] == by {
                    let index = names.get(self.plant.ports.name(other.port)).map(|port| port / parallel);
                    seen.entry(own.device).or_default().insert(index);
                }
            }
        }
        let devices = self.of_level(level);
        let place = |device: u32| (self.planes[device as usize], self.zones[device as usize]);
        let mut taken = BTreeSet::new();
        let by_port: Option<Vec<(u32, u16)>> = devices
            .iter()
            .map(|device| {
                let indices = seen.get(device)?;
                let index = (*indices.first()?)?;
                (indices.len() == 1 && taken.insert((place(*device), index))).then_some((*device, index))
            })
            .collect();
        if let Some(found) = by_port {
            for (device, index) in found {
                indices[device as usize] = index;
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

    /// Gives the T0s of a group the same number in all planes: that of the first plane, as the nodes connect them.
    fn align(&self, indices: &mut [u16]) -> Result<(), Refused> {
        let mut reached: BTreeMap<u32, BTreeMap<u16, Vec<u32>>> = BTreeMap::new();
        for cable in &self.plant.cables {
            let [a, b] = cable.ends.map(|plug| plug.device);
            let (node, t0) = if self.levels[a as usize] == Level::Node { (a, b) } else { (b, a) };
            if self.levels[node as usize] == Level::Node {
                reached.entry(node).or_default().entry(self.planes[t0 as usize]).or_default().push(t0);
            }
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
                            "not a Clos of planes: node `{}` is on T0 group {} in one plane and, with `{}`, on {} in another",
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

    /// Units and numbers of nodes: by the T0's port where hardware is known and ports agree, else by names.
    fn nodes(&self, indices: &[u16]) -> HashMap<u32, Node> {
        let names = &self.ports[0][0];
        let mut cables: HashMap<u32, Vec<(u32, Option<u16>)>> = HashMap::new();
        for cable in &self.plant.cables {
            for (own, other) in [(0, 1), (1, 0)] {
                let (own, other) = (cable.ends[own], cable.ends[other]);
                if self.levels[own.device as usize] == Level::Node {
                    let port = names.get(self.plant.ports.name(other.port)).copied();
                    cables.entry(own.device).or_default().push((other.device, port));
                }
            }
        }
        let groups = |device: &u32| -> BTreeSet<u16> {
            cables[device].iter().map(|(t0, _)| indices[*t0 as usize]).collect()
        };
        let nodes = self.of_level(Level::Node);
        let rails =
            nodes.iter().map(|node| groups(node).len()).max().unwrap_or(1).clamp(1, usize::from(u16::MAX))
                as u16;
        let mut on_one: HashMap<(u32, u32), u16> = HashMap::new();
        for (node, cables) in &cables {
            for (t0, _) in cables {
                let count = on_one.entry((*node, *t0)).or_default();
                *count = count.saturating_add(1);
            }
        }
        let share = on_one.into_values().max().unwrap_or(1);
        let unit =
            |node: &u32| (self.zones[*node as usize], groups(node).first().copied().unwrap_or(0) / rails);
        let mut taken = BTreeSet::new();
        let by_port: Option<Vec<(u32, Node)>> = nodes
            .iter()
            .map(|node| {
                let found: BTreeSet<Option<u16>> =
                    cables[node].iter().map(|(_, port)| port.map(|port| port / share)).collect();
                let index = (*found.first()?)?;
                let (zone, unit) = unit(node);
                let fresh = found.len() == 1 && taken.insert((zone, unit, index));
                fresh.then_some((*node, Node { zone: ZoneId(zone), unit, index }))
            })
            .collect();
        if let Some(found) = by_port {
            return found.into_iter().collect();
        }
        let mut next: BTreeMap<(u16, u16), u16> = BTreeMap::new();
        let number = |node: u32| {
            let (zone, unit) = unit(&node);
            let next = next.entry((zone, unit)).or_default();
            let index = *next;
            *next = next.saturating_add(1);
            (node, Node { zone: ZoneId(zone), unit, index })
        };
        nodes.into_iter().map(number).collect()
    }
}
