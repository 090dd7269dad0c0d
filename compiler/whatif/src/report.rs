//! Report types of `closc whatif`, in the form of its JSON.
//!
//! In: outcomes of the engine. Out: one document per kind of report. Invariants: bandwidth is in Gb/s, times are in
//! seconds, shares are fractions of 1. The text form is written from the same values.

mod against;
mod answer;
mod cost;
mod each;
mod failed;
mod left;
mod spread;
mod trace;
mod trials;

pub use against::{Blast, Comparison, Row};
pub use answer::Answer;
pub use cost::{Cost, Exact};
pub use each::{EachQuestion, EachReport, MergeError, PartOf};
pub use failed::Failed;
pub use left::{ByDistance, Remaining, Worst};
pub use spread::Spread;
pub use trace::{Step, Trace};
pub use trials::{Trial, Trials};

use closc_topology::{Nic, Topology};

/// Maximum number of names listed; the rest is only counted.
const NAMES_MAX: usize = 64;

/// Returns the bandwidth of the fastest NIC in Gb/s.
fn nic_gbps(topology: &Topology) -> f64 {
    let speeds = topology.zone_ids().map(|zone| topology.nic_speed(zone).mbps());
    f64::from(speeds.max().unwrap_or(topology.hosts.nic_speed.mbps())) / 1000.0
}

/// Returns the bandwidth between two NICs, that of the slower one, in Gb/s.
fn pair_gbps(topology: &Topology, (from, to): (Nic, Nic)) -> f64 {
    let slower = topology.nic_speed(from.zone).mbps().min(topology.nic_speed(to.zone).mbps());
    f64::from(slower) / 1000.0
}
