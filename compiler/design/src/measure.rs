//! The numbers by which designs are compared and ordered.
//!
//! In: designs, and a user's prices. Out: a [`Measure`]. Invariants: for each number, less is better. Without
//! prices, cost has no effect.

use crate::cables::Media;
use crate::design::{Design, Tier, WHOLE};
use crate::prices::Prices;

/// Numbers of a design. For each of them, less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measure {
    /// Switches.
    pub switches: u32,
    /// Bandwidth of all switches in Gb/s, used or not.
    pub capacity: u64,
    /// Planes by NIC: sets of NICs that are not connected by switches.
    pub planes_by_nic: u32,
    /// Cables between switches.
    pub cables: u64,
    /// Switch cages for the modules of these cables.
    pub modules: u64,
    /// Loss of a NIC's bandwidth when a T0 fails, in millionths.
    pub t0_loss: u32,
    /// Switches on the longest path.
    pub hops: u8,
    /// The sum of the user's prices; 0 without prices.
    pub cost: u64,
    /// Typical power in watts; 0 if power is not compared.
    pub power: u64,
}

/// Numbers that are compared only on request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Criteria<'p> {
    /// Prices, if cost is compared.
    pub prices: Option<&'p Prices>,
    /// Whether typical power is compared.
    pub power: bool,
}

/// Reason why a design cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasureError {
    /// An item has no price.
    Price,
    /// A switch or a module has no published power.
    Power,
}

impl Measure {
    /// Returns whether this is better in at least one number, and not worse in any.
    pub fn beats(&self, other: &Measure) -> bool {
        self != other
            && self.switches <= other.switches
            && self.capacity <= other.capacity
            && self.planes_by_nic <= other.planes_by_nic
            && self.cables <= other.cables
            && self.modules <= other.modules
            && self.t0_loss <= other.t0_loss
            && self.hops <= other.hops
            && self.cost <= other.cost
            && self.power <= other.power
    }
}

impl Measure {
    /// Returns the numbers with their display names. Numbers that were not compared are 0.
    pub fn numbers(&self) -> [(&'static str, u64); 9] {
        [
            ("switches", self.switches.into()),
            ("capacity, Gb/s", self.capacity),
            ("planes by NIC", self.planes_by_nic.into()),
            ("cables between switches", self.cables),
            ("cages with modules", self.modules),
            ("loss with a T0, millionths", self.t0_loss.into()),
            ("hops", self.hops.into()),
            ("cost", self.cost),
            ("typical power, W", self.power),
        ]
    }
}

impl Design<'_> {
    /// Returns the numbers for comparisons, with cables of these media.
    ///
    /// # Errors
    ///
    /// [`MeasureError`] if prices or power are compared, but an item has no price or no published power.
    pub fn measure(&self, compared: Criteria<'_>, media: &Media<'_>) -> Result<Measure, MeasureError> {
        let cost = compared.prices.map_or(Some(0), |prices| prices.total(self.items()));
        let power = if compared.power { self.power(media).typical() } else { Some(0) };
        let (cost, power) = (cost.ok_or(MeasureError::Price)?, power.ok_or(MeasureError::Power)?);
        Ok(Measure {
            switches: self.tiers().map(|tier| tier.switches).sum(),
            capacity: self.tiers().map(Tier::capacity).sum(),
            planes_by_nic: self.planes_by_nic,
            cables: self.cables(),
            modules: self.modules(),
            t0_loss: WHOLE / u32::from(self.planes),
            hops: hops(self.tiers().count()),
            cost,
            power,
        })
    }
}

/// Returns the number of switches on the longest path over this many tiers.
pub(crate) fn hops(tiers: usize) -> u8 {
    match tiers {
        0 | 1 => 1,
        2 => 3,
        _ => 5,
    }
}

/// The number by which designs are ordered first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// The sum of prices from a file.
    Cost,
    /// Switches.
    Switches,
    /// Bandwidth of all switches, used or not. Prices of switches follow this measure most closely.
    Capacity,
    /// Cables between switches.
    Cables,
    /// Loss of a NIC's bandwidth when a T0 fails.
    Resilience,
    /// Typical power.
    Power,
}

impl Objective {
    /// Every objective.
    pub const ALL: [Objective; 6] = [
        Objective::Cost,
        Objective::Switches,
        Objective::Capacity,
        Objective::Cables,
        Objective::Resilience,
        Objective::Power,
    ];

    /// Returns the number by which designs are ordered, the smallest first.
    pub(crate) fn of(self, measure: &Measure) -> u64 {
        match self {
            Objective::Cost => measure.cost,
            Objective::Switches => measure.switches.into(),
            Objective::Capacity => measure.capacity,
            Objective::Cables => measure.cables,
            Objective::Resilience => measure.t0_loss.into(),
            Objective::Power => measure.power,
        }
    }
}
