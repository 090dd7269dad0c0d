//! What was proved where switches choose the next hop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was proved where switches choose the way. A delivery is a NIC that sends, a plane, and a NIC that is meant.
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
    /// Ways that are tried, whether or not they arrive.
    pub tried: u128,
    /// Classes of destinations that the planes of a proof tell apart: how much work it is, and no result. Of parts the most counts, and
    /// the whole may have more.
    pub classes: u64,
}

impl DeliveryCounts {
    pub(crate) fn add(self, other: DeliveryCounts) -> DeliveryCounts {
        DeliveryCounts {
            deliveries: self.deliveries + other.deliveries,
            possible: self.possible + other.possible,
            arrive: self.arrive + other.arrive,
            doubtful: self.doubtful + other.doubtful,
            ways: self.ways.saturating_add(other.ways),
            tried: self.tried.saturating_add(other.tried),
            classes: self.classes.max(other.classes),
        }
    }
}
