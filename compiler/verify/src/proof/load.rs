//! Report on load: the most and least loaded cable of each tier and direction, compared with the mean.
//!
//! In: the load of each cable in use when every NIC sends to every other, by path tables or by the choices of switches.
//! Out: [`LoadCounts`]. Invariants: planes are added as integers, so merged parts give the same result as the complete
//! fabric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of steps for measuring load. Larger fabrics are not measured.
pub(crate) const STEPS_MAX: u64 = 1 << 31;

/// Extremes for up and down between T0s and T1s, then for up and down between T1s and T2s.
pub(crate) type Tiers = [Extremes; 4];

/// Load of cables between switches when every NIC sends to every other.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct LoadCounts {
    /// Loads by tier and direction, lowest tier first; empty if load was not measured.
    pub cables: Vec<CableLoad>,
    /// Reason why load was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// Integers from which the loads are computed.
    #[serde(skip)]
    pub(crate) sums: LoadSums,
}

/// Load of the cables of a tier in one direction, over all planes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CableLoad {
    /// Tiers that the cables connect: `t0-t1` or `t1-t2`.
    pub cables: &'static str,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Number of cables in use.
    pub used: u64,
    /// Load of the most loaded cable, in thousandths of the mean, rounded up.
    pub busiest_to_mean: u64,
    /// Load of the least loaded cable, in thousandths of the mean, rounded down.
    pub idlest_to_mean: u64,
}

/// Sums of load over planes, as integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct LoadSums {
    /// Number of steps of the measurement.
    pub(crate) steps: u64,
    /// Extremes by tier and direction.
    pub(crate) tiers: Tiers,
}

impl LoadSums {
    /// Adds the sums of other planes.
    pub(crate) fn add(&mut self, other: &LoadSums) {
        *self = self
            .checked_add(other)
            .expect("cables of a tree that was read are few enough to add up their load");
    }

    /// Adds the sums of other planes; `None` on overflow.
    pub(crate) fn checked_add(mut self, other: &LoadSums) -> Option<LoadSums> {
        self.steps = self.steps.saturating_add(other.steps);
        for (own, other) in self.tiers.iter_mut().zip(&other.tiers) {
            own.used = own.used.checked_add(other.used)?;
            own.sum = own.sum.checked_add(other.sum)?;
            own.most = own.most.max(other.most);
            own.least = own.least.into_iter().chain(other.least).min();
        }
        Some(self)
    }

    /// Returns whether these sums are possible.
    pub(crate) fn is_sound(&self) -> bool {
        self.tiers.iter().all(|tier| {
            let used = u128::from(tier.used);
            let least = tier.least.unwrap_or(0);
            let spread =
                least <= tier.most && tier.most <= tier.sum && (tier.least.is_some() || tier.used == 0);
            let sum =
                || Some(least.checked_mul(used)? <= tier.sum && tier.sum <= tier.most.checked_mul(used)?);
            // Results are in thousandths.
            spread
                && sum() == Some(true)
                && tier.most.checked_mul(used).and_then(|most| most.checked_mul(1000)).is_some()
        })
    }

    /// Returns the reported values.
    pub(crate) fn counts(self) -> LoadCounts {
        let steps = self.steps;
        let why = format!("it would take {steps} steps; the limit is {STEPS_MAX}");
        let not_measured = (steps > STEPS_MAX).then_some(why);
        let names = [("t0-t1", "up"), ("t0-t1", "down"), ("t1-t2", "up"), ("t1-t2", "down")];
        let tiers = names.into_iter().zip(self.tiers).filter(|_| not_measured.is_none());
        let cables = tiers.filter_map(|(name, extremes)| extremes.load(name)).collect();
        LoadCounts { cables, not_measured, sums: self }
    }
}

/// Load of the most and least loaded cable of a kind, and the sum over all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Extremes {
    used: u64,
    sum: u128,
    most: u128,
    least: Option<u128>,
}

impl Extremes {
    /// Adds a cable that is in use.
    pub(crate) fn cable(&mut self, load: u128) {
        self.used += 1;
        self.sum += load;
        self.most = self.most.max(load);
        self.least = Some(self.least.map_or(load, |least| least.min(load)));
    }

    fn load(self, (cables, direction): (&'static str, &'static str)) -> Option<CableLoad> {
        let thousandths = |load: u128| load * u128::from(self.used) * 1000;
        let whole = |thousandths: u128| u64::try_from(thousandths).unwrap_or(u64::MAX);
        (self.sum > 0).then(|| CableLoad {
            cables,
            direction,
            used: self.used,
            busiest_to_mean: whole(thousandths(self.most).div_ceil(self.sum)),
            idlest_to_mean: whole(thousandths(self.least.unwrap_or(0)) / self.sum),
        })
    }
}
