//! Cables between racks.
//!
//! In: a fabric and the rack of each device. Out: for each rack, the racks that it has cables to and their number.
//! Invariants: every existing cable is counted once at both of its racks.

use std::collections::{BTreeMap, HashMap};

use closc_fabric::Fabric;
use closc_topology::{Link, Node, Switch};

/// Cables between devices.
pub(super) struct DeviceLinks {
    /// All devices: nodes, then switches in the order of the fabric.
    pub(super) nodes: Vec<Node>,
    pub(super) switches: Vec<Switch>,
    /// Indices of the lower and the upper device, and their cables. A pair may occur several times.
    pairs: Vec<(u32, u32, u32)>,
}

impl DeviceLinks {
    pub(super) fn of(fabric: &Fabric) -> Self {
        let nodes: Vec<Node> = fabric.nodes().collect();
        let switches: Vec<Switch> = fabric.switches().collect();
        let of_node: HashMap<Node, u32> = nodes.iter().copied().zip(0..).collect();
        let of_switch: HashMap<Switch, u32> = switches.iter().copied().zip(nodes.len() as u32..).collect();
        let mut pairs: Vec<(u32, u32, u32)> = Vec::new();
        for link in fabric.links() {
            let lower = match link {
                Link::Host(port) => of_node.get(&fabric.topology().node_of(port.nic).0),
                Link::Fabric { lower, .. } => of_switch.get(&lower),
            };
            let upper = fabric.upper_end(link).and_then(|(switch, _)| of_switch.get(&switch));
            let Some((lower, upper)) = lower.copied().zip(upper.copied()) else { continue };
            match pairs.last_mut() {
                Some(last) if (last.0, last.1) == (lower, upper) => last.2 += 1,
                _ => pairs.push((lower, upper, 1)),
            }
        }
        DeviceLinks { nodes, switches, pairs }
    }
}

/// Racks at the other ends of a rack's cables, in ascending order, with the number of cables.
pub(super) type Neighbors = Vec<(u32, u32)>;

/// Cables between racks.
pub(super) struct RackLinks {
    /// Racks of the lower and of the upper devices, and their cables.
    pub(super) pairs: Vec<(u32, u32, u32)>,
    /// For each rack: neighbours with lower devices and with upper devices.
    pub(super) neighbors: Vec<[Neighbors; 2]>,
}

impl RackLinks {
    /// Counts the cables between racks. `rack_of` has the rack of each device, if it has one.
    pub(super) fn new(links: &DeviceLinks, rack_of: &[Option<u32>], racks: usize) -> Self {
        let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut row = RackRow { lower: u32::MAX, cables: vec![0; racks], upper: Vec::new() };
        for &(lower, upper, cables) in &links.pairs {
            let Some((lower, upper)) = rack_of[lower as usize].zip(rack_of[upper as usize]) else { continue };
            if lower != row.lower {
                row.flush(&mut counts);
                row.lower = lower;
            }
            row.add(upper, cables);
        }
        row.flush(&mut counts);
        let pairs: Vec<(u32, u32, u32)> =
            counts.into_iter().map(|((lower, upper), cables)| (lower, upper, cables)).collect();
        let mut neighbors = vec![[Vec::new(), Vec::new()]; racks];
        for &(lower, upper, cables) in &pairs {
            neighbors[upper as usize][0].push((lower, cables));
            neighbors[lower as usize][1].push((upper, cables));
        }
        RackLinks { pairs, neighbors }
    }

    /// Returns the number of cables between two racks, of which the first has the lower devices.
    pub(super) fn cables(&self, lower: usize, upper: usize) -> u32 {
        let row = &self.neighbors[lower][1];
        row.binary_search_by_key(&(upper as u32), |(rack, _)| *rack).map_or(0, |at| row[at].1)
    }
}

/// Cables of the devices of one rack, which usually follow each other in the list of links.
struct RackRow {
    lower: u32,
    cables: Vec<u32>,
    upper: Vec<u32>,
}

impl RackRow {
    fn add(&mut self, upper: u32, cables: u32) {
        let sum = &mut self.cables[upper as usize];
        if *sum == 0 {
            self.upper.push(upper);
        }
        *sum += cables;
    }

    fn flush(&mut self, counts: &mut BTreeMap<(u32, u32), u32>) {
        for upper in self.upper.drain(..) {
            *counts.entry((self.lower, upper)).or_default() +=
                std::mem::take(&mut self.cables[upper as usize]);
        }
    }
}
