//! Counts of the proof of fabrics where switches choose the next hop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proof where switches choose the path. A delivery is a sending NIC, a plane, and a destination NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryCounts {
    /// Deliveries of NICs with a cable in the plane.
    pub deliveries: u128,
    /// Deliveries that cables lead to: up, then down, inside a zone over T1s only.
    pub possible: u128,
    /// Deliveries that arrive for every choice of the switches.
    pub arrive: u128,
    /// Deliveries that arrive for some choices but not for all.
    pub doubtful: u128,
    /// Paths that arrive, counted by cables.
    pub ways: u128,
    /// Paths that are tried to NICs with a cable in the plane, even if they do not arrive.
    pub tried: u128,
    /// Number of classes of destinations in the planes of a proof. It measures the effort and is not a result. For
    /// parts it is the maximum, and the complete fabric may have more.
    pub classes: u64,
}

impl DeliveryCounts {
    /// Adds the counts of other planes; `None` on overflow.
    pub(crate) fn checked_add(self, other: DeliveryCounts) -> Option<DeliveryCounts> {
        Some(DeliveryCounts {
            deliveries: self.deliveries.checked_add(other.deliveries)?,
            possible: self.possible.checked_add(other.possible)?,
            arrive: self.arrive.checked_add(other.arrive)?,
            doubtful: self.doubtful.checked_add(other.doubtful)?,
            ways: self.ways.saturating_add(other.ways),
            tried: self.tried.saturating_add(other.tried),
            classes: self.classes.max(other.classes),
        })
    }

    pub(crate) fn add(self, other: DeliveryCounts) -> DeliveryCounts {
        self.checked_add(other).expect("NICs of a tree that was read are few enough to count pairs of them")
    }
}
