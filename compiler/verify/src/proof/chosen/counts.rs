//! Proof where switches choose the next hop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proof where switches choose the path. A delivery is a sending NIC, a plane, and a destination NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryCounts {
    /// Deliveries of NICs with a cable in the plane.
    pub deliveries: u128,
    /// Those that cables lead to: up, then down, inside a zone over T1s only.
    pub possible: u128,
    /// Those that arrive whatever the switches choose.
    pub arrive: u128,
    /// Those that arrive by some choice, not by every one.
    pub doubtful: u128,
    /// Ways that arrive, cable by cable.
    pub ways: u128,
    /// Ways that are tried to NICs with a cable in the plane, whether or not they arrive.
    pub tried: u128,
    /// Classes of destinations that the planes of a proof tell apart: how much work it is, and no result. Of parts the most counts, and
    /// the whole may have more.
    pub classes: u64,
}

impl DeliveryCounts {
    /// Adds those of other planes, if so many can be counted.
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
