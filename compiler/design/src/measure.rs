//! The numbers by which designs are compared and ordered.
//!
//! In: designs, and a user's prices. Out: a [`Measure`]. Invariants: for each number, less is better. Without
//! prices, cost has no effect.

use crate::cables::Media;
use crate::design::Design;
use crate::need::{Requirements, WHOLE};
use crate::prices::Prices;

/// Numbers of a design. For each of them, less is better.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measure {
    /// Switches.
    pub switches: u32,
    /// Bandwidth of all switches in Gb/s, used or not.
    pub capacity: u64,
    /// Planes by NIC: sets of NICs that are not connected by switches.
    pub planes_by_nic: u32,
    /// Cables between switches.
    pub cables: u64,
    /// Switch cages with modules of cables between switches.
    pub modules: u64,
    /// Loss of a NIC's bandwidth when a T0 fails, in millionths.
    pub t0_loss: u32,
    /// Switches on the longest path.
    pub hops: u8,
    /// The sum of the user's prices; 0 without prices.
    pub cost: u64,
    /// Typical power in watts; 0 if power is not compared.
    pub power: u64,
    /// Numbers of each stage after the first.
    pub later: Vec<StageMeasure>,
}

/// Numbers of a later stage of a design. For each of them, less is better. Cables and cages are not compared. They
/// follow from the T0s, and with them, most designs would be better than others in some number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageMeasure {
    /// Switches.
    pub switches: u32,
    /// Bandwidth of all switches in Gb/s, used or not.
    pub capacity: u64,
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
    /// Requirements with the sizes of later stages, if these are compared.
    pub growth: Option<&'p Requirements>,
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
    /// Returns whether this measure is better than another in at least one number, and not worse in any. Later stages
    /// are compared if both have them.
    #[inline]
    pub fn beats(&self, other: &Measure) -> bool {
        self.is_within(other) && !other.is_within(self)
    }

    /// Returns whether no number exceeds that of `other`.
    #[inline]
    fn is_within(&self, other: &Measure) -> bool {
        self.switches <= other.switches
            && self.capacity <= other.capacity
            && self.planes_by_nic <= other.planes_by_nic
            && self.cables <= other.cables
            && self.modules <= other.modules
            && self.t0_loss <= other.t0_loss
            && self.hops <= other.hops
            && self.cost <= other.cost
            && self.power <= other.power
            && self.later.iter().zip(&other.later).all(|(own, other)| own.is_within(other))
    }

    /// Returns the numbers with their display names. Numbers that were not compared are 0.
    pub fn numbers(&self) -> Vec<(String, u64)> {
        let first = [
            (SWITCHES, self.switches.into()),
            (CAPACITY, self.capacity),
            ("planes by NIC", self.planes_by_nic.into()),
            ("cables between switches", self.cables),
            ("cages with modules", self.modules),
            ("loss with a T0, millionths", self.t0_loss.into()),
            ("hops", self.hops.into()),
            (COST, self.cost),
            (POWER, self.power),
        ];
        let mut numbers: Vec<(String, u64)> =
            first.into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
        for (later, stage) in self.later.iter().zip(2..) {
            let when =
                if self.later.len() == 1 { "after growth".to_owned() } else { format!("stage {stage}") };
            let named = later.numbers().into_iter().map(|(name, number)| (format!("{when}: {name}"), number));
            numbers.extend(named);
        }
        numbers
    }

    /// Returns the numbers of the last stage.
    pub(crate) fn last_stage(&self) -> StageMeasure {
        let Measure { switches, capacity, cost, power, .. } = *self;
        self.later.last().copied().unwrap_or(StageMeasure { switches, capacity, cost, power })
    }
}

const SWITCHES: &str = "switches";
const CAPACITY: &str = "capacity, Gb/s";
const COST: &str = "cost";
const POWER: &str = "typical power, W";

impl StageMeasure {
    fn is_within(&self, other: &StageMeasure) -> bool {
        self.switches <= other.switches
            && self.capacity <= other.capacity
            && self.cost <= other.cost
            && self.power <= other.power
    }

    fn numbers(&self) -> [(&'static str, u64); 4] {
        [(SWITCHES, self.switches.into()), (CAPACITY, self.capacity), (COST, self.cost), (POWER, self.power)]
    }
}

impl Design<'_> {
    /// Returns the numbers for comparisons, with cables of these media. The stages end before the first one for
    /// which the switches have too few ports.
    ///
    /// # Errors
    ///
    /// [`MeasureError`] if prices or power are compared, but an item has no price or no published power.
    pub fn measure(&self, compared: Criteria<'_>, media: &Media<'_>) -> Result<Measure, MeasureError> {
        let mut later = Vec::new();
        if let Some(need) = compared.growth {
            for grown in need.later_stages().map_while(|nics| self.grow(nics, need)) {
                later.push(grown.measure_stage(compared, media)?);
            }
        }
        self.measure_with(compared, media, later)
    }

    /// Returns the media of the cables if they affect the numbers, otherwise the default media. Only power depends on
    /// media, and a search measures many designs.
    pub(crate) fn compared_media(&self, compared: Criteria<'_>) -> Media<'static> {
        if compared.power { self.media() } else { Media::DEFAULT }
    }

    fn measure_with(
        &self,
        compared: Criteria<'_>,
        media: &Media<'_>,
        later: Vec<StageMeasure>,
    ) -> Result<Measure, MeasureError> {
        let StageMeasure { switches, capacity, cost, power } = self.measure_stage(compared, media)?;
        Ok(Measure {
            switches,
            capacity,
            planes_by_nic: self.planes_by_nic,
            cables: self.cables(),
            modules: self.modules(),
            t0_loss: WHOLE / u32::from(self.planes),
            hops: hops(self.tiers().count()),
            cost,
            power,
            later,
        })
    }

    /// Returns the numbers of this design as a stage of growth.
    ///
    /// # Errors
    ///
    /// Those of [`Design::measure`].
    pub fn measure_stage(
        &self,
        compared: Criteria<'_>,
        media: &Media<'_>,
    ) -> Result<StageMeasure, MeasureError> {
        let cost = compared.prices.map_or(Some(0), |prices| prices.total(self.items()));
        let power = if compared.power { self.power(media).typical() } else { Some(0) };
        let (cost, power) = (cost.ok_or(MeasureError::Price)?, power.ok_or(MeasureError::Power)?);
        Ok(StageMeasure {
            switches: self.tiers().map(|tier| tier.switches).sum(),
            capacity: self.capacity(),
            cost,
            power,
        })
    }
}

/// The common parts of several designs, now and in each later stage.
#[derive(Debug, Clone)]
pub struct Floor<'a> {
    /// The parts of the first stage.
    pub now: Design<'a>,
    /// The parts of each later stage.
    pub later: Vec<Design<'a>>,
}

impl Floor<'_> {
    /// Returns the numbers that each design with these parts reaches or exceeds.
    ///
    /// # Errors
    ///
    /// Those of [`Design::measure`].
    pub(crate) fn measure(&self, compared: Criteria<'_>) -> Result<Measure, MeasureError> {
        let media = self.now.compared_media(compared);
        let later = self.later.iter().map(|later| later.measure_stage(compared, &media));
        self.now.measure_with(compared, &media, later.collect::<Result<_, _>>()?)
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
    /// Switches, among designs with little more than the least bandwidth of all switches.
    Balanced,
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
    /// Every objective of a single number.
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
            Objective::Balanced | Objective::Capacity => measure.capacity,
            Objective::Cables => measure.cables,
            Objective::Resilience => measure.t0_loss.into(),
            Objective::Power => measure.power,
        }
    }

    /// Returns the number of the last stage by which designs are ordered, the smallest first.
    pub(crate) fn of_last_stage(self, measure: &Measure) -> u64 {
        let last = measure.last_stage();
        match self {
            Objective::Cost => last.cost,
            Objective::Switches => last.switches.into(),
            Objective::Balanced | Objective::Capacity => last.capacity,
            Objective::Cables => measure.cables,
            Objective::Resilience => measure.t0_loss.into(),
            Objective::Power => last.power,
        }
    }
}
