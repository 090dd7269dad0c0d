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
pub use remaining::{DistanceRow, RemainingCapacity, WorstPair};
pub use spread::Spread;
pub use trace::{Step, Trace};
pub use trials::{Trial, Trials};

use closc_topology::{Nic, Topology};

/// Maximum number of names listed; further ones are only counted.
const NAMES_MAX: usize = 64;

/// Returns the bandwidth of the fastest NIC in Gb/s.
fn nic_gbps(topology: &Topology) -> f64 {
    let speeds = topology.zone_ids().map(|zone| topology.nic_speed(zone).mbps());
    f64::from(speeds.max().unwrap_or(topology.hosts.nic_speed.mbps())) / 1000.0
}

/// Returns the bandwidth between two NICs in Gb/s, which is that of the slower one.
fn pair_gbps(topology: &Topology, (from, to): (Nic, Nic)) -> f64 {
    let slower = topology.nic_speed(from.zone).mbps().min(topology.nic_speed(to.zone).mbps());
    f64::from(slower) / 1000.0
}
