//! Planes and zones by majority: sets of switches that are connected by most cables. A few wrong cables do
//! not join two sets.
//!
//! In: an existing network with its tiers. Out: a part for each T0 and T1, and planes and zones of parts. A
//! part contains T0s that share most of their T1s. Parts that share most of their T2s form a plane, and those
//! that share most of their nodes form a zone. Invariants: parts are in the order of the names of T0s.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sets::Sets;
use crate::network::{ExistingNetwork, Level};

/// Plane and zone of each device, by device number.
pub(super) struct Parts {
    /// Plane of each device.
    pub(super) planes: Vec<Option<u16>>,
    /// Zone of each device.
    pub(super) zones: Vec<Option<u16>>,
}

/// Returns the neighbours of each device of a level on another level, with the number of cables.
fn neighbours(
    network: &ExistingNetwork,
    levels: &[Level],
    of: Level,
    to: Level,
) -> BTreeMap<u32, BTreeMap<u32, u32>> {
    let mut found: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for cable in &network.cables {
        let [a, b] = cable.ends.map(|plug| plug.device);
        for (own, far) in [(a, b), (b, a)] {
            if levels[own as usize] == of && levels[far as usize] == to {
                *found.entry(own).or_default().entry(far).or_default() += 1;
            }
        }
    }
    found
}

/// Joins T0s that share at least half of their T1s. T0s with equal T1s form a class, and classes are joined in order
/// of decreasing size.
fn cores(t1s_of: &BTreeMap<u32, BTreeMap<u32, u32>>, t0s: &[u32]) -> HashMap<u32, u32> {
    let mut classes: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for t0 in t0s {
        let t1s = t1s_of.get(t0).map(|t1s| t1s.keys().copied().collect()).unwrap_or_default();
        classes.entry(t1s).or_default().push(*t0);
    }
    let mut classes: Vec<(Vec<u32>, Vec<u32>)> = classes.into_iter().collect();
    classes.sort_by_key(|(t1s, t0s)| std::cmp::Reverse((t0s.len(), t1s.len())));
    let mut sets = Sets::new(classes.len());
    let mut known: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    for (class, (t1s, _)) in (0..).zip(&classes) {
        let mut shared: BTreeMap<u32, usize> = BTreeMap::new();
        for core in t1s.iter().filter_map(|t1| known.get(t1)).flatten() {
            *shared.entry(*core).or_default() += 1;
        }
        let most = shared.values().copied().max().unwrap_or(0);
        for (core, count) in shared {
            if count == most && count * 2 >= t1s.len().min(sizes[&core]) {
                sets.join(core, class);
            }
        }
        sizes.insert(class, t1s.len());
        for t1 in t1s {
            known.entry(*t1).or_default().insert(class);
        }
    }
    let of_class = |(class, (_, t0s)): (u32, &(Vec<u32>, Vec<u32>))| {
        let root = sets.root(class);
        t0s.iter().map(move |t0| (*t0, root)).collect::<Vec<_>>()
    };
    (0..).zip(&classes).flat_map(of_class).collect()
}

/// Returns the part to which most cables of a device lead.
fn of_most(far: &BTreeMap<u32, u32>, parts: &HashMap<u32, u32>) -> Option<u32> {
    let mut votes: BTreeMap<u32, u32> = BTreeMap::new();
    for (device, cables) in far {
        if let Some(part) = parts.get(device) {
            *votes.entry(*part).or_default() += cables;
        }
    }
    votes.into_iter().max_by_key(|(part, cables)| (*cables, std::cmp::Reverse(*part))).map(|(part, _)| part)
}

/// Joins parts that share most devices of a tier. Returns the set of each part.
fn join_parts(
    far: &BTreeMap<u32, BTreeMap<u32, u32>>,
    parts: &HashMap<u32, u32>,
    of_parts: &BTreeSet<u32>,
) -> HashMap<u32, u32> {
    let mut shared: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for devices in far.values() {
        let own: BTreeSet<u32> = devices.keys().filter_map(|device| parts.get(device)).copied().collect();
        for a in &own {
            for b in own.iter().filter(|b| *b > a) {
                *shared.entry((*a, *b)).or_default() += 1;
            }
        }
    }
    let mut most: HashMap<u32, u32> = HashMap::new();
    for ((a, b), count) in &shared {
        for part in [a, b] {
            let most = most.entry(*part).or_default();
            *most = (*most).max(*count);
        }
    }
    let last = of_parts.last().map_or(0, |last| *last as usize + 1);
    let mut sets = Sets::new(last);
    for ((a, b), count) in shared {
        if count * 2 > most[&a].min(most[&b]) {
            sets.join(a, b);
        }
    }
    of_parts.iter().map(|part| (*part, sets.root(*part))).collect()
}

/// Determines planes and zones. `t0s` are in the order of names.
pub(super) fn parts(network: &ExistingNetwork, levels: &[Level], t0s: &[u32]) -> Parts {
    let between = |of, to| neighbours(network, levels, of, to);
    let mut parts = cores(&between(Level::T0, Level::T1), t0s);
    let of_parts: BTreeSet<u32> = parts.values().copied().collect();
    for (t1, far) in between(Level::T1, Level::T0) {
        if let Some(part) = of_most(&far, &parts) {
            parts.insert(t1, part);
        }
    }
    let t2s = between(Level::T2, Level::T1);
    let planes = join_parts(&t2s, &parts, &of_parts);
    let nodes = between(Level::Node, Level::T0);
    let zones = join_parts(&nodes, &parts, &of_parts);
    let mut sets = [planes, zones].map(|sets| -> HashMap<u32, u32> {
        parts.iter().map(|(device, part)| (*device, sets[part])).collect()
    });
    for (set, devices) in sets.iter_mut().zip([t2s, nodes]) {
        for (device, far) in devices {
            if let Some(part) = of_most(&far, set) {
                set.insert(device, part);
            }
        }
    }
    let [planes, zones] = sets.map(|set| {
        let mut numbers: HashMap<u32, u16> = HashMap::new();
        for part in t0s.iter().filter_map(|t0| set.get(t0)) {
            let next = u16::try_from(numbers.len()).unwrap_or(u16::MAX);
            numbers.entry(*part).or_insert(next);
        }
        let number = |device| set.get(&device).and_then(|part| numbers.get(part)).copied();
        (0..levels.len() as u32).map(number).collect()
    });
    Parts { planes, zones }
}
