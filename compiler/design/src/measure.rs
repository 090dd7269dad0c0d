//! The numbers that designs are compared and ordered by.
//!
//! In: designs, and a user's prices. Out: a [`Measure`]. Invariants: less is better in each number; without prices no cost
//! decides anything.

use crate::design::{Design, Tier, WHOLE};
use crate::prices::Prices;

/// Numbers of a design. Less is better in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measure {
    /// Switches.
    pub switches: u32,
    /// Bandwidth of all switches in Gb/s, used or not.
    pub capacity: u64,
    /// Cables between switches.
    pub cables: u64,
    /// Cages of switches that hold the modules of these cables.
    pub modules: u64,
    /// Millionths of a NIC's bandwidth that the failure of a T0 costs.
    pub t0_loss: u32,
    /// Switches on the longest path.
    pub hops: u8,
    /// The sum of the user's prices; 0 without prices.
    pub cost: u64,
}

impl Measure {
    /// Tells whether this is better in one measure at least, and worse in none.
    pub fn beats(&self, other: &Measure) -> bool {
        self != other
            && self.switches <= other.switches
            && self.capacity <= other.capacity
            && self.cables <= other.cables
            && self.modules <= other.modules
            && self.t0_loss <= other.t0_loss
            && self.hops <= other.hops
            && self.cost <= other.cost
    }
}

impl Design<'_> {
    /// Returns what it is compared by; nothing where prices are given and an item has none.
    pub fn measure(&self, prices: Option<&Prices>) -> Option<Measure> {
        let cost = prices.map_or(Some(0), |prices| prices.total(&self.bill()))?;
        Some(Measure {
            switches: self.tiers().map(|tier| tier.switches).sum(),
            capacity: self.tiers().map(Tier::capacity).sum(),
            cables: self.cables(),
            modules: self.modules(),
            t0_loss: WHOLE / u32::from(self.planes),
            hops: if self.third.is_some() { 5 } else { 3 },
            cost,
        })
    }
}

/// The number that comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// The sum of the prices of a file.
    Cost,
    /// Switches.
    Switches,
    /// Bandwidth of all switches, used or not: what prices of switches follow nearest.
    Capacity,
    /// Cables between switches.
    Cables,
    /// Loss of a NIC when a T0 fails.
    Resilience,
}

impl Objective {
    /// Every objective.
    pub const ALL: [Objective; 5] =
        [Objective::Cost, Objective::Switches, Objective::Capacity, Objective::Cables, Objective::Resilience];

    /// Returns what designs are ordered by, the least first.
    pub(crate) fn of(self, measure: &Measure) -> u64 {
        match self {
            Objective::Cost => measure.cost,
            Objective::Switches => measure.switches.into(),
            Objective::Capacity => measure.capacity,
            Objective::Cables => measure.cables,
            Objective::Resilience => measure.t0_loss.into(),
        }
    }
}
