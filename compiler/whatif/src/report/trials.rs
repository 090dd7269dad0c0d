//! Repeated random failures.

use schemars::JsonSchema;
use serde::Serialize;

use super::nic_gbps;
use crate::element::Elements;
use crate::outcome::Outcome;

/// One draw of random failures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trial {
    /// The seed.
    pub seed: u64,
    /// Number of failing elements.
    pub failed: usize,
    /// Smallest bandwidth of a pair while all pairs send, in Gb/s: planned rate times the share of remaining
    /// paths. The load of cables is ignored.
    pub gbps_loaded_min: f64,
    /// Median over pairs of the bandwidth while all pairs send, in Gb/s.
    pub gbps_loaded_median: f64,
    /// Mean over pairs of the bandwidth while all pairs send, in Gb/s.
    pub gbps_loaded_mean: f64,
    /// The lowest bandwidth of a pair that sends alone, in Gb/s.
    pub gbps_alone_min: f64,
    /// Pairs without a path.
    pub pairs_cut_off: u64,
    /// Pairs that lose their last path.
    pub pairs_newly_cut_off: u64,
    /// NICs that cannot reach any other NIC.
    pub nics_cut_off: usize,
}

impl Trial {
    /// Summarises the outcome of a draw.
    pub fn new(elements: Elements<'_>, seed: u64, failed: usize, outcome: &Outcome) -> Trial {
        let full = nic_gbps(elements.fabric.topology());
        Trial {
            seed,
            failed,
            gbps_loaded_min: outcome.part(outcome.share.minimum()) * full,
            gbps_loaded_median: outcome.part(outcome.share.median()) * full,
            gbps_loaded_mean: outcome.share.mean() / outcome.denominator as f64 * full,
            gbps_alone_min: outcome.solo_min_mbps as f64 * 1e-3,
            pairs_cut_off: outcome.cut_off,
            pairs_newly_cut_off: outcome.newly_cut_off,
            nics_cut_off: outcome.nics_cut_off.len(),
        }
    }
}

/// Several draws.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trials {
    /// The fabric.
    pub fabric: String,
    /// Bandwidth of a pair without failures, in Gb/s.
    pub gbps_planned: f64,
    /// Maximum number of pairs that one draw cuts off.
    pub pairs_newly_cut_off_max: u64,
    /// The draws.
    pub draws: Vec<Trial>,
}

impl Trials {
    /// Creates the report.
    pub fn new(elements: Elements<'_>, trials: Vec<Trial>) -> Trials {
        let topology = elements.fabric.topology();
        let cut_off = trials.iter().map(|trial| trial.pairs_newly_cut_off).max();
        Trials {
            fabric: topology.name.to_string(),
            gbps_planned: nic_gbps(topology),
            pairs_newly_cut_off_max: cut_off.unwrap_or(0),
            draws: trials,
        }
    }
}
