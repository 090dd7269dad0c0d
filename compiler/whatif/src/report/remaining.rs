//! Remaining capacity after a failure.

use std::collections::BTreeMap;

use closc_plan::PathKind;
use closc_topology::Nic;
use schemars::JsonSchema;
use serde::Serialize;

use super::{NAMES_MAX, Spread, nic_gbps, pair_gbps, path_noun};
use crate::element::{Element, Elements};
use crate::outcome::{Outcome, kind_word};

/// Pairs at the same distance.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DistanceRow {
    /// Distance.
    pub kind: &'static str,
    /// Unordered pairs of NICs.
    pub pairs: u64,
    /// Remaining paths of a pair. If switches choose paths, these are the ways up.
    pub paths: Spread,
    /// The noun for these paths in text.
    #[serde(skip)]
    pub noun: &'static str,
    /// Histogram of paths: number of paths, number of pairs.
    pub histogram: Vec<(u64, u64)>,
}

/// One of the worst pairs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorstPair {
    /// One NIC of the pair.
    pub from: String,
    /// The other NIC of the pair.
    pub to: String,
    /// Remaining paths.
    pub paths: u64,
    /// Paths before the failure.
    pub paths_before: u64,
    /// Paths without failures in the planes that exist.
    pub paths_planned: u64,
    /// Remaining bandwidth while all pairs send, in Gb/s: planned rate times the share of remaining paths.
    /// The load of cables is ignored.
    pub gbps: f64,
    /// Number of equivalent pairs, whose NICs and groups have the same losses.
    pub pairs: u64,
    /// The noun for these paths in text.
    #[serde(skip)]
    pub noun: &'static str,
}

/// Adapters by their remaining NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AdapterCounts {
    /// Adapters with a NIC.
    pub all: usize,
    /// Adapters whose NICs are all cut off.
    pub cut_off: usize,
    /// Adapters with some NICs that are cut off and some that are not.
    pub reduced: usize,
    /// Pairs of adapters.
    pub pairs: u64,
    /// Pairs of adapters none of whose NICs have a path to each other.
    pub pairs_cut_off: u64,
}

impl AdapterCounts {
    /// Counts the adapters of a fabric; `None` if each adapter has a single NIC.
    fn of(elements: Elements<'_>, outcome: &Outcome) -> Option<AdapterCounts> {
        let topology = elements.fabric.topology();
        let pairs = outcome.adapter_pairs?;
        let mut lost: BTreeMap<Nic, usize> = BTreeMap::new();
        for nic in &outcome.nics_cut_off {
            *lost.entry(topology.adapter(*nic)).or_default() += 1;
        }
        let is_complete =
            |(first, count): &(&Nic, &usize)| elements.nics_of_adapter(**first).count() == **count;
        let whole = lost.iter().filter(is_complete).count();
        Some(AdapterCounts {
            all: elements.adapters().len(),
            cut_off: whole,
            reduced: lost.len() - whole,
            pairs: pairs.all,
            pairs_cut_off: pairs.cut_off,
        })
    }
}

/// Remaining capacity.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RemainingCapacity {
    /// Unordered pairs of NICs.
    pub pairs: u64,
    /// Pairs that lose a path.
    pub pairs_touched: u64,
    /// Pairs without a path.
    pub pairs_cut_off: u64,
    /// Pairs that lose their last path.
    pub pairs_newly_cut_off: u64,
    /// NICs.
    pub nics: u64,
    /// NICs that cannot reach any other NIC.
    pub nics_cut_off: usize,
    /// Names of the first 64 NICs that cannot reach any other NIC.
    pub nics_cut_off_names: Vec<String>,
    /// Adapters, if they have several NICs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapters: Option<AdapterCounts>,
    /// Nodes whose NICs are all cut off.
    pub nodes_cut_off: u64,
    /// Bandwidth while all pairs send, in Gb/s.
    pub gbps_loaded: Spread,
    /// Bandwidth of a pair that sends alone, in Gb/s.
    pub gbps_alone: Spread,
    /// Histogram of the share of planned paths: lower bound, upper bound, number of pairs.
    pub shares: Vec<(f64, f64, u64)>,
    /// Pairs by distance.
    pub apart: Vec<DistanceRow>,
    /// The worst pairs.
    pub worst: Vec<WorstPair>,
}

impl RemainingCapacity {
    pub(crate) fn new(elements: Elements<'_>, outcome: &Outcome) -> RemainingCapacity {
        let topology = elements.fabric.topology();
        let full = nic_gbps(topology);
        let mut alone: BTreeMap<u64, u64> = BTreeMap::new();
        for (mbps, pairs) in outcome.distances.iter().flat_map(|apart| apart.alone_mbps.counts()) {
            *alone.entry(*mbps).or_default() += pairs;
        }
        let nic = |nic| elements.name(Element::Nic(nic));
        RemainingCapacity {
            pairs: outcome.pairs(),
            pairs_touched: outcome.affected_pairs,
            pairs_cut_off: outcome.cut_off,
            pairs_newly_cut_off: outcome.newly_cut_off,
            nics: outcome.nics,
            nics_cut_off: outcome.nics_cut_off.len(),
            nics_cut_off_names: outcome.nics_cut_off.iter().take(NAMES_MAX).map(|n| nic(*n)).collect(),
            adapters: AdapterCounts::of(elements, outcome),
            nodes_cut_off: outcome.nodes_cut_off,
            gbps_loaded: Spread::new(&outcome.share, full, full / outcome.denominator as f64),
            gbps_alone: Spread::new(&alone.into_iter().collect(), full, 1e-3),
            shares: shares(outcome),
            apart: outcome
                .distances
                .iter()
                .map(|apart| DistanceRow {
                    kind: kind_word(apart.kind),
                    pairs: apart.paths.pairs(),
                    noun: path_noun(topology, apart.kind),
                    paths: Spread::new(&apart.paths, apart.planned as f64, 1.0),
                    histogram: apart.paths.counts().to_vec(),
                })
                .collect(),
            worst: outcome
                .worst
                .iter()
                .map(|worst| WorstPair {
                    from: nic(worst.example.0),
                    to: nic(worst.example.1),
                    paths: worst.paths,
                    paths_before: worst.before,
                    paths_planned: worst.planned_paths,
                    gbps: outcome.part(worst.share) * pair_gbps(topology, worst.example),
                    pairs: worst.pairs,
                    noun: path_noun(topology, PathKind::classify(worst.example.0, worst.example.1)),
                })
                .collect(),
        }
    }
}

/// Divides the range of path shares into at most ten equal intervals, and counts the pairs in each.
fn shares(outcome: &Outcome) -> Vec<(f64, f64, u64)> {
    const PARTS: u64 = 10;
    let (least, most) = (outcome.path_share.minimum(), outcome.path_share.maximum());
    let width = (most - least + 1).div_ceil(PARTS).max(1);
    let mut parts: BTreeMap<u64, u64> = BTreeMap::new();
    for (share, pairs) in outcome.path_share.counts() {
        *parts.entry((share - least) / width).or_default() += pairs;
    }
    let bound = |at: u64| outcome.part((least + at * width).min(outcome.denominator));
    parts.into_iter().map(|(at, pairs)| (bound(at), bound(at + 1), pairs)).collect()
}
