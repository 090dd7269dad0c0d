//! Pairs of adapters that a failure separates. An adapter has several NICs on consecutive T0 groups.
//!
//! In: a fabric and a state of it. Out: [`AdapterPairs`]. Invariants: a pair is connected if a NIC of one adapter and a
//! NIC of the other have a path in both directions. Only pairs that have a path by design count. Blocks of T0 groups in
//! the same state are counted together, so the work grows with the square of the number of damaged blocks, not with the
//! number of adapters.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::Fabric;
use closc_topology::{Island, Nic, ZoneId};
use serde::Serialize;

use crate::state::{PathCounts, Profile, State, UpwardLosses};

/// Pairs of adapters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AdapterPairs {
    /// Pairs of adapters that have a path by design.
    pub all: u64,
    /// Those without a path.
    pub cut_off: u64,
}

/// The planes in which the ports of each NIC of an adapter work.
type Ports = Vec<u16>;

/// Blocks of T0 groups in the same state. The adapters of a block are on each of its groups.
struct BlockClass<'s> {
    zone: ZoneId,
    profiles: Vec<&'s Profile>,
    adapters: Vec<(Ports, u64)>,
    blocks: u64,
}

/// Counts the pairs of adapters in a state; `None` if each adapter has a single NIC.
pub(crate) fn count_pairs(fabric: &Fabric, state: &State) -> Option<AdapterPairs> {
    if !fabric.topology().has_adapters() {
        return None;
    }
    let work = Work { fabric, state, climbs: state.climbs(), classes: classes(fabric, state) };
    let mut pairs = AdapterPairs::default();
    for (at, block) in work.classes.iter().enumerate() {
        work.count_within(block, &mut pairs);
        for (other_at, other) in work.classes.iter().enumerate().skip(at) {
            let blocks = if at == other_at {
                block.blocks * (block.blocks - 1) / 2
            } else {
                block.blocks * other.blocks
            };
            work.count_between((block, other), blocks, &mut pairs);
        }
    }
    Some(pairs)
}

/// Divides the blocks of a fabric into classes.
fn classes<'s>(fabric: &Fabric, state: &'s State) -> Vec<BlockClass<'s>> {
    let topology = fabric.topology();
    let mut damaged: BTreeMap<(ZoneId, u16), BTreeSet<u16>> = BTreeMap::new();
    for nic in state.damaged_nics().chain(topology.exceptions.absent_nics.iter().copied()) {
        let first = topology.adapter(nic);
        damaged.entry((first.zone, first.group)).or_default().insert(first.downlink);
    }
    let none = BTreeSet::new();
    let mut found: BTreeMap<_, u64> = BTreeMap::new();
    let per_block = usize::from(topology.hosts.nics_per_adapter);
    for zone in topology.zone_ids() {
        for first in (0..topology.hosts.groups).step_by(per_block) {
            let special = damaged.get(&(zone, first)).unwrap_or(&none);
            let mut adapters: BTreeMap<Ports, u64> = BTreeMap::new();
            let plain = u64::from(topology.hosts.per_group) - special.len() as u64;
            if plain > 0 {
                adapters.insert(vec![state.all_planes(); per_block], plain);
            }
            for downlink in special {
                let nics = || topology.adapter_nics(Nic { zone, group: first, downlink: *downlink });
                let ports = |nic| if fabric.has_nic(nic) { state.ports(nic) } else { 0 };
                if nics().any(|nic| fabric.has_nic(nic)) {
                    *adapters.entry(nics().map(ports).collect()).or_default() += 1;
                }
            }
            let groups = first..first + u16::from(topology.hosts.nics_per_adapter);
            let profiles: Vec<&Profile> =
                groups.map(|group| state.profile(state.shape.group(zone, group))).collect();
            *found.entry((zone, profiles, adapters)).or_default() += 1;
        }
    }
    let class = |((zone, profiles, adapters), blocks): ((ZoneId, _, BTreeMap<Ports, u64>), u64)| BlockClass {
        zone,
        profiles,
        adapters: adapters.into_iter().collect(),
        blocks,
    };
    found.into_iter().map(class).collect()
}

struct Work<'a> {
    fabric: &'a Fabric,
    state: &'a State,
    climbs: UpwardLosses,
    classes: Vec<BlockClass<'a>>,
}

impl Work<'_> {
    /// Counts the pairs of adapters of one block, in all blocks of its class.
    fn count_within(&self, block: &BlockClass<'_>, pairs: &mut AdapterPairs) {
        let paths = |from: usize, to: usize, plane: usize| {
            if from == to {
                self.state.local(plane, block.profiles[from])
            } else {
                self.state.zone(plane, block.zone, block.profiles[from], block.profiles[to])
            }
        };
        for (at, (from, count)) in block.adapters.iter().enumerate() {
            for (other, (to, other_count)) in block.adapters.iter().enumerate().skip(at) {
                let adapters = if at == other { count * (count - 1) / 2 } else { count * other_count };
                pairs.add(adapters * block.blocks, is_connected(from, to, paths));
            }
        }
    }

    /// Counts the pairs of adapters of two blocks, for this number of pairs of blocks.
    fn count_between(
        &self,
        (block, other): (&BlockClass<'_>, &BlockClass<'_>),
        blocks: u64,
        pairs: &mut AdapterPairs,
    ) {
        let is_near = block.zone == other.zone;
        let is_planned = match self.fabric.topology().island() {
            Island::Group => false,
            Island::Zone => is_near,
            Island::Fabric => true,
        };
        if blocks == 0 || !is_planned {
            return;
        }
        let paths = |from: usize, to: usize, plane: usize| {
            let (from, to) = (block.profiles[from], other.profiles[to]);
            if is_near {
                self.state.zone(plane, block.zone, from, to)
            } else {
                self.state.far(plane, &self.climbs, (block.zone, from), (other.zone, to))
            }
        };
        for (from, count) in &block.adapters {
            for (to, other_count) in &other.adapters {
                pairs.add(count * other_count * blocks, is_connected(from, to, paths));
            }
        }
    }
}

impl AdapterPairs {
    fn add(&mut self, pairs: u64, is_connected: bool) {
        self.all += pairs;
        self.cut_off += if is_connected { 0 } else { pairs };
    }
}

/// Returns whether a NIC of one adapter and a NIC of the other have a path in both directions.
fn is_connected(from: &Ports, to: &Ports, paths: impl Fn(usize, usize, usize) -> PathCounts) -> bool {
    let is_pair_connected = |own: usize, far: usize| {
        let planes = from[own] & to[far];
        let counts = (0..16).filter(|plane| planes >> plane & 1 == 1).map(|plane| paths(own, far, plane));
        let sum = counts.fold([0, 0], |sum, paths| [sum[0] + paths.forward, sum[1] + paths.back]);
        sum.into_iter().all(|paths| paths > 0)
    };
    (0..from.len()).any(|own| (0..to.len()).any(|far| is_pair_connected(own, far)))
}
