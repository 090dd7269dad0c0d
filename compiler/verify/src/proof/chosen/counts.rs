//! Counts of the delivery proof, for fabrics whose switches choose the next hop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of the delivery proof, where switches choose the path. A delivery is a combination of sending NIC, plane and
/// destination NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryCounts {
    /// Deliveries from NICs with a cable in the plane.
    pub deliveries: u128,
    /// Deliveries for which a path of cables exists: up, then down, and inside a zone only through T1s.
    pub possible: u128,
    /// Deliveries that arrive for every choice of the switches.
    pub arrive: u128,
    /// Deliveries that arrive for some choices but not for all.
    pub doubtful: u128,
    /// Paths that arrive. Paths over different cables are counted separately.
    pub ways: u128,
    /// Paths that packets can take to NICs with a cable in the plane, whether or not they arrive.
    pub tried: u128,
    /// Number of classes of destinations in the proved planes: a measure of effort, not a result. Merged parts have the
    /// maximum of all parts; a proof of the complete fabric may have more.
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
