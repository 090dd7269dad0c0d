//! What failures of one class cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::each::Class;
use crate::element::{Elements, Kind};

/// What failures of one class cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// What fails together.
    pub kinds: Vec<Kind>,
    /// Failures of this cost.
    pub failures: u128,
    /// One of them.
    pub example: Vec<String>,
    /// Pairs that lose a path.
    pub pairs_touched: u64,
    /// What the worst pair loses of its paths, as a part.
    pub loss_max: f64,
    /// What it loses in the plane that loses most, as a part of the plane.
    pub plane_loss_max: f64,
    /// What pairs lose on average.
    pub loss_mean: f64,
    /// The least bandwidth of a pair that sends alone, in Gb/s.
    pub gbps_alone_min: f64,
    /// Pairs without a path.
    pub pairs_cut_off: u64,
    /// NICs that reach nobody.
    pub nics_cut_off: usize,
    /// Nodes none of whose NICs reach anybody.
    pub nodes_cut_off: u64,
}

impl Cost {
    pub(crate) fn new(elements: Elements<'_>, class: &Class) -> Cost {
        let outcome = &class.outcome;
        Cost {
            kinds: class.kinds.clone(),
            failures: class.count,
            example: class.example.iter().map(|element| elements.name(*element)).collect(),
            pairs_touched: outcome.touched,
            loss_max: outcome.part(outcome.loss_max),
            plane_loss_max: outcome.part_of_plane(outcome.plane_loss_max),
            loss_mean: outcome.loss_mean(),
            gbps_alone_min: outcome.alone_min_mbps as f64 * 1e-3,
            pairs_cut_off: outcome.newly_cut_off,
            nics_cut_off: outcome.nics_cut_off.len(),
            nodes_cut_off: outcome.nodes_cut_off,
        }
    }

    /// Tells whether other failures of the same kinds cost the same.
    pub(super) fn is_alike(&self, other: &Cost) -> bool {
        let alike = Cost { failures: other.failures, example: other.example.clone(), ..self.clone() };
        alike == *other
    }
}
