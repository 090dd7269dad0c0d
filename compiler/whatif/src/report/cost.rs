//! Impact of failures of one class.
//!
//! In: a class. Out: [`Cost`]. In reports on shards, it also contains the integers from which it is computed.
//! Invariants: a merge of shards uses these integers, and fractions are computed from them afterwards. So the
//! result does not depend on the division of the work.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::each::Class;
use crate::element::{Elements, Kind};
use crate::outcome::{mean, part};

/// Impact of failures of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Kinds of the elements that fail together.
    pub kinds: Vec<Kind>,
    /// Number of failures with this impact.
    pub failures: u128,
    /// One of these failures.
    pub example: Vec<String>,
    /// Pairs that lose a path.
    pub pairs_touched: u64,
    /// Loss of the worst pair, as a fraction of its paths.
    pub loss_max: f64,
    /// Greatest loss of a pair in a single plane, as a fraction of its paths in that plane.
    pub plane_loss_max: f64,
    /// Mean loss of a pair, as a fraction of its paths.
    pub loss_mean: f64,
    /// The lowest bandwidth of a pair that sends alone, in Gb/s.
    pub gbps_alone_min: f64,
    /// Pairs that lose their last path.
    pub pairs_cut_off: u64,
    /// NICs that cannot reach any other NIC.
    pub nics_cut_off: usize,
    /// Nodes whose NICs are all cut off.
    pub nodes_cut_off: u64,
    /// Integers from which the impact was computed; only in reports on shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactCost>,
}

/// Integers from which the impact of a class is computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExactCost {
    /// Denominator of losses: the value that stands for all paths of a pair.
    pub whole: u64,
    /// Planes.
    pub planes: u64,
    /// Loss of the worst pair, in parts of `whole`.
    pub loss_max: u64,
    /// Greatest loss of a pair in a single plane, in parts of `whole`.
    pub plane_loss_max: u64,
    /// Total loss of all pairs, in parts of `whole`.
    pub loss_sum: u128,
    /// The lowest bandwidth of a pair that sends alone, in Mb/s.
    pub alone_min_mbps: u64,
    /// Sort key of the example in fabric order.
    pub position: Vec<Vec<u32>>,
}

impl ExactCost {
    fn of(class: &Class) -> ExactCost {
        let outcome = &class.outcome;
        ExactCost {
            whole: outcome.denominator,
            planes: outcome.planes,
            loss_max: outcome.loss_max,
            plane_loss_max: outcome.plane_loss_max,
            loss_sum: outcome.loss_sum,
            alone_min_mbps: outcome.solo_min_mbps,
            position: class.example.iter().map(|element| element.position()).collect(),
        }
    }

    /// Computes the fractions in a cost, given the number of pairs.
    fn fill(&self, cost: &mut Cost, pairs: u64) {
        cost.loss_max = part(self.loss_max, 1, self.whole);
        cost.plane_loss_max = part(self.plane_loss_max, self.planes, self.whole);
        cost.loss_mean = mean(self.loss_sum, self.whole, pairs);
        cost.gbps_alone_min = self.alone_min_mbps as f64 * 1e-3;
    }
}

impl Cost {
    /// Creates the cost of a class, given the number of pairs.
    pub(crate) fn new(elements: Elements<'_>, class: &Class, pairs: u64) -> Cost {
        let outcome = &class.outcome;
        let exact = ExactCost::of(class);
        let mut cost = Cost {
            kinds: class.kinds.clone(),
            failures: class.count,
            example: class.example.iter().map(|element| elements.name(*element)).collect(),
            pairs_touched: outcome.affected_pairs,
            loss_max: 0.0,
            plane_loss_max: 0.0,
            loss_mean: 0.0,
            gbps_alone_min: 0.0,
            pairs_cut_off: outcome.newly_cut_off,
            nics_cut_off: outcome.nics_cut_off.len(),
            nodes_cut_off: outcome.nodes_cut_off,
            exact: None,
        };
        exact.fill(&mut cost, pairs);
        cost.exact = Some(exact);
        cost
    }

    /// Returns a key that is equal for failures of the same kinds with equal impact.
    fn key(&self) -> Option<impl Ord + use<>> {
        let exact = self.exact.as_ref()?;
        let cost = (self.pairs_cut_off, exact.loss_max, exact.loss_sum, self.pairs_touched);
        let more = (exact.plane_loss_max, exact.alone_min_mbps, self.nics_cut_off, self.nodes_cut_off);
        Some((self.kinds.clone(), cost, more, exact.whole, exact.planes))
    }

    /// Returns whether `other` has the same kinds of failures with equal impact.
    pub(super) fn is_alike(&self, other: &Cost) -> bool {
        self.key() == other.key()
    }

    /// Adds failures of equal impact. Keeps the example that is first in fabric order. Returns `None` on
    /// overflow.
    pub(super) fn add(&mut self, other: Cost) -> Option<()> {
        self.failures = self.failures.checked_add(other.failures)?;
        let position = |cost: &Cost| cost.exact.as_ref().map(|exact| exact.position.clone());
        if position(&other) < position(self) {
            (self.example, self.exact) = (other.example, other.exact);
        }
        Some(())
    }

    /// Recomputes the fractions, given the number of pairs, and drops the integers.
    pub(super) fn round(mut self, pairs: u64) -> Cost {
        if let Some(exact) = self.exact.take() {
            exact.fill(&mut self, pairs);
        }
        self
    }

    /// Compares costs for their order in a report: greatest impact first, then by kind and position in the
    /// fabric.
    pub(super) fn order(a: &Cost, b: &Cost) -> Ordering {
        let cost = |cost: &Cost| {
            let exact = cost.exact.as_ref();
            (cost.pairs_cut_off, exact.map(|exact| exact.loss_max), exact.map(|exact| exact.loss_sum))
        };
        let position = |cost: &Cost| cost.exact.as_ref().map(|exact| exact.position.clone());
        let place = |cost: &Cost| (cost.kinds.clone(), position(cost));
        cost(b).cmp(&cost(a)).then_with(|| place(a).cmp(&place(b)))
    }
}
