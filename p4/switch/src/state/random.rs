//! Reproducible random numbers from a seed.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A generator.
#[derive(Clone, Debug)]
pub(crate) struct Random(SplitMix64);

impl Random {
    /// Returns a generator that starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// Returns the next 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number from `low` to `high`, inclusive; `None` for an empty range.
    pub(crate) fn number_between(&mut self, low: u64, high: u64) -> Option<u64> {
        let span = high.checked_sub(low)?;
        let Some(count) = span.checked_add(1) else { return Some(self.draw()) };
        // Multiply-shift; the bias is below 2^-64 * count, which is negligible.
        Some(low + ((u128::from(self.draw()) * u128::from(count)) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_between_and_reach_both_ends() {
        let mut random = Random::new(1);
        let drawn: Vec<u64> = (0..200).filter_map(|_| random.number_between(3, 5)).collect();
        assert!(drawn.iter().all(|n| (3..=5).contains(n)));
        assert!([3, 4, 5].iter().all(|n| drawn.contains(n)));
        assert_eq!(random.number_between(5, 3), None);
        assert!(random.number_between(0, u64::MAX).is_some());
    }
}
