//! Delay before the next attempt: it doubles each time, up to a limit.

use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The waits between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait.
    pub initial: Duration,
    /// The longest wait.
    pub max: Duration,
    /// Random variation, so that clients do not reconnect at the same moment.
    pub jitter: Jitter,
}

/// Whether waits are shortened at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// Waits have their full length.
    None,
    /// Each wait is between 50 % and 100 % of its full length. The same seed gives the same waits.
    Seeded(u64),
}

impl Default for Backoff {
    fn default() -> Self {
        let (initial, max) = (Duration::from_millis(100), Duration::from_secs(10));
        Backoff { initial, max, jitter: Jitter::None }
    }
}

impl Backoff {
    /// Returns the wait before an attempt; attempts are counted from 0.
    pub fn wait(&self, attempt: u32) -> Duration {
        let factor = 1u32.checked_shl(attempt.min(31)).unwrap_or(u32::MAX);
        let wait = self.initial.saturating_mul(factor).min(self.max);
        match self.jitter {
            Jitter::None => wait,
            Jitter::Seeded(seed) => {
                let chance = mix(seed ^ u64::from(attempt)) >> 32;
                let half = wait / 2;
                half + Duration::from_nanos(((half.as_nanos() * u128::from(chance)) >> 32) as u64)
            }
        }
    }
}

/// Mixes the bits of a number. This is a bijection, so different numbers stay different.
fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_limit() {
        let waits: Vec<u128> = (0..9).map(|attempt| Backoff::default().wait(attempt).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(Backoff::default().wait(u32::MAX), Duration::from_secs(10));
    }

    #[test]
    fn a_seed_gives_the_same_waits_between_half_and_all() {
        let backoff = Backoff { jitter: Jitter::Seeded(7), ..Default::default() };
        let other = Backoff { jitter: Jitter::Seeded(8), ..Default::default() };
        let plain = Backoff::default();
        for attempt in 0..20 {
            assert_eq!(backoff.wait(attempt), backoff.wait(attempt));
            assert!((plain.wait(attempt) / 2..=plain.wait(attempt)).contains(&backoff.wait(attempt)));
        }
        assert!((0..20).any(|attempt| backoff.wait(attempt) != other.wait(attempt)));
    }
}
