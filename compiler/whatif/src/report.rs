//! Report types of `closc whatif`, in the form of its JSON.
//!
//! In: outcomes of the engine. Out: one document per kind of report. Invariants: bandwidth is in Gb/s, times are in
//! seconds, shares are fractions of 1. The text form is written from the same values.

mod answer;
mod comparison;
mod cost;
mod each;
mod failures;
mod remaining;
mod spread;
mod trace;
mod trials;

pub use answer::Answer;
pub use comparison::{Blast, Comparison, Row};
pub use cost::{Cost, ExactCost};
pub use each::{EachQuestion, EachReport, FabricPart, MergeError};
pub use failures::FailedElements;
pub use remaining::{AdapterCounts, DistanceRow, RemainingCapacity, WorstPair};
pub use spread::Spread;
pub use trace::{Step, Trace};
pub use trials::{Trial, Trials};

use closc_fabric::Descent;
use closc_plan::PathKind;
use closc_topology::{Nic, Topology};

use crate::evaluate::count_planes;

/// Maximum number of names listed; further ones are only counted.
const NAMES_MAX: usize = 64;

/// Returns the noun for counted paths. If several ways lead down from the switch where packets turn, only the ways up
/// are counted.
fn path_noun(topology: &Topology, kind: PathKind) -> &'static str {
    let counts_ways_up = match kind {
        PathKind::Local => false,
        PathKind::Zone => Descent::counts_ways_up(topology, false),
        PathKind::Far => Descent::counts_ways_up(topology, true),
    };
    if counts_ways_up { "upward path" } else { "path" }
}

/// Returns the bandwidth of the fastest NIC in the planes that exist, in Gb/s.
fn nic_gbps(topology: &Topology) -> f64 {
    let speeds = topology.zone_ids().map(|zone| topology.nic_speed(zone).mbps());
    built_gbps(topology, speeds.max().unwrap_or(topology.hosts.nic_speed.mbps()))
}

/// Returns the part of a NIC's bandwidth that is in planes that exist, in Gb/s.
fn built_gbps(topology: &Topology, mbps: u32) -> f64 {
    f64::from(mbps) / 1000.0 * count_planes(topology) as f64 / f64::from(topology.planes)
}

/// Returns the bandwidth between two NICs in Gb/s, which is that of the slower one.
fn pair_gbps(topology: &Topology, (from, to): (Nic, Nic)) -> f64 {
    let slower = topology.nic_speed(from.zone).mbps().min(topology.nic_speed(to.zone).mbps());
    built_gbps(topology, slower)
}
