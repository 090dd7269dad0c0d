//! Data of the longest path for senders of a zone, and delays of all zones.
//!
//! Plain data, written to path tables and nodes. Invariants: values do not depend on the routing mode.

use closc_qos::Nanoseconds;
use closc_qos::bdp::Delay;
use closc_qos::ecn::EcnThresholds;
use closc_qos::units::Speed;
use serde::Serialize;

/// Data of the longest path for senders of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ZoneDelay {
    /// Speed of a NIC port.
    pub port: Speed,
    /// The delay between a NIC of the zone and the NIC farthest from it.
    pub delay: Delay,
    /// Target delay of senders: the delay without queueing, plus the queue at which an uplink of the zone's T0s begins
    /// to mark the data class. Absent if switches do not mark.
    pub target: Option<Nanoseconds>,
    /// ECN thresholds of the data class on such an uplink.
    pub marks: Option<EcnThresholds>,
}

/// Delays without queueing.
#[derive(Debug, Clone)]
pub(crate) struct UnloadedDelays {
    /// Inside the zone with the slowest links.
    pub(crate) in_zone: Delay,
    /// Over the longest path.
    pub(crate) longest: Delay,
    /// Over the longest path from each zone, without duplicates.
    pub(crate) kinds: Vec<Delay>,
    /// For each zone, its index in `kinds`.
    pub(crate) zones: Vec<usize>,
}
