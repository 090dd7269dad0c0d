//! Failures and repairs over time.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FailedElements, nic_gbps, path_noun};
use crate::element::{Element, Elements};
use crate::trace::{Change, Moment};

/// Remaining capacity between one moment and the next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// The time as written in the trace.
    pub time: String,
    /// The time in seconds.
    pub seconds: f64,
    /// Elements that fail or recover.
    pub changes: Vec<(Change, String)>,
    /// Number of elements that are down.
    pub down: usize,
    /// Minimum number of paths of a pair at the greatest distance.
    pub paths_min: u64,
    /// Median number of paths at the greatest distance.
    pub paths_median: u64,
    /// Smallest bandwidth of a pair while all pairs send, in Gb/s: planned rate times the share of remaining
    /// paths. The load of cables is ignored.
    pub gbps_loaded_min: f64,
    /// Median over pairs of the bandwidth while all pairs send, in Gb/s.
    pub gbps_loaded_median: f64,
    /// Mean over pairs of the bandwidth while all pairs send, in Gb/s.
    pub gbps_loaded_mean: f64,
    /// The lowest bandwidth of a pair that sends alone, in Gb/s.
    pub gbps_alone_min: f64,
    /// Pairs that lose their last path.
    pub pairs_cut_off: u64,
    /// NICs that cannot reach any other NIC.
    pub nics_cut_off: usize,
}

/// Report on a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trace {
    /// The fabric.
    pub fabric: String,
    /// Earlier failures.
    pub given: FailedElements,
    /// Bandwidth of a pair without failures, in Gb/s.
    pub gbps_planned: f64,
    /// Paths of a pair without failures.
    pub paths_planned: u64,
    /// The noun for these paths in text.
    #[serde(skip)]
    pub noun: &'static str,
    /// Seconds from the first moment to the last.
    pub seconds: f64,
    /// Mean bandwidth over pairs and time.
    pub gbps_loaded_mean: f64,
    /// Smallest bandwidth at any moment.
    pub gbps_loaded_min: f64,
    /// Number of seconds during which at least one pair had lost its last path.
    pub seconds_cut_off: f64,
    /// The moments.
    pub moments: Vec<Step>,
}

impl Trace {
    /// Creates the report.
    pub fn new(elements: Elements<'_>, given: &[Element], moments: &[Moment]) -> Trace {
        let topology = elements.fabric.topology();
        let full = nic_gbps(topology);
        let steps: Vec<Step> = moments.iter().map(|moment| step(elements, moment, full)).collect();
        let lasting = |at: usize| moments.get(at + 1).map_or(0.0, |next| next.seconds - moments[at].seconds);
        let seconds = sum((0..moments.len()).map(lasting));
        let mean = sum(steps.iter().enumerate().map(|(at, step)| step.gbps_loaded_mean * lasting(at)));
        let cut_off = steps.iter().enumerate().filter(|(_, step)| step.pairs_cut_off > 0);
        Trace {
            fabric: topology.name.to_string(),
            given: FailedElements::new(elements, given),
            gbps_planned: full,
            paths_planned: moments
                .first()
                .and_then(|moment| moment.outcome.distances.last())
                .map_or(0, |apart| apart.planned),
            noun: moments
                .first()
                .and_then(|moment| moment.outcome.distances.last())
                .map_or("path", |apart| path_noun(topology, apart.kind)),
            seconds,
            gbps_loaded_mean: if seconds > 0.0 {
                mean / seconds
            } else {
                steps.last().map_or(full, |step| step.gbps_loaded_mean)
            },
            gbps_loaded_min: steps.iter().map(|step| step.gbps_loaded_min).fold(full, f64::min),
            seconds_cut_off: sum(cut_off.map(|(at, _)| lasting(at))),
            moments: steps,
        }
    }
}

/// Sums numbers. An empty sum is 0, whereas `Iterator::sum` returns -0.
fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, number| sum + number)
}

fn step(elements: Elements<'_>, moment: &Moment, full: f64) -> Step {
    let outcome = &moment.outcome;
    let farthest = outcome.distances.last();
    Step {
        time: moment.time.clone(),
        seconds: moment.seconds,
        changes: moment.changes.iter().map(|(turn, element)| (*turn, elements.name(*element))).collect(),
        down: moment.down,
        paths_min: farthest.map_or(0, |apart| apart.paths.minimum()),
        paths_median: farthest.map_or(0, |apart| apart.paths.median()),
        gbps_loaded_min: outcome.part(outcome.share.minimum()) * full,
        gbps_loaded_median: outcome.part(outcome.share.median()) * full,
        gbps_loaded_mean: outcome.share.mean() / outcome.denominator as f64 * full,
        gbps_alone_min: outcome.solo_min_mbps as f64 * 1e-3,
        pairs_cut_off: outcome.newly_cut_off,
        nics_cut_off: outcome.nics_cut_off.len(),
    }
}
