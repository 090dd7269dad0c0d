//! Data of the longest path for senders of a zone, and delays of all zones.
//!
//! In: nothing; this is plain data. Out: what path tables and nodes state. Invariants: the same for every routing mode.

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
    /// The delay between a NIC of the zone and the one that is farthest from it.
    pub delay: Delay,
    /// The delay that senders aim at: that of an empty network, and the queue at which an uplink of T0s like the zone's
    /// begins to mark the data class. Absent where no switch marks.
    pub target: Option<Nanoseconds>,
    /// When such an uplink marks the data class.
    pub marks: Option<EcnThresholds>,
}

/// Delays of the network when nothing is queued.
#[derive(Debug, Clone)]
pub(crate) struct Empty {
    /// Inside the zone whose links are the slowest.
    pub(crate) in_zone: Delay,
    /// Over the path that takes longest.
    pub(crate) longest: Delay,
    /// Over the paths that take longest from a zone, each once.
    pub(crate) kinds: Vec<Delay>,
    /// Which of them it is for each zone.
    pub(crate) zones: Vec<usize>,
}
