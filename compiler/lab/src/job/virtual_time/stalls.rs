//! Pauses during which an agent is not scheduled, as on a machine with other load.
//!
//! In: a seed, the number of a station, the maximum pause. Out: the time at which a station runs. Invariants: the
//! result depends only on these inputs and the time, not on the order of events or the number of threads. The mean
//! pause is a quarter of the maximum, and pauses take a twentieth of the time.

use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// There is one pause in every period of this length, in units of the maximum pause.
const APART: u64 = 5;

/// The pauses of a station.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stalls {
    seed: u64,
    max_ns: u64,
}

impl Stalls {
    pub(super) fn new(most: Duration, seed: u64, station: usize) -> Stalls {
        let own = SplitMix64::seed_from_u64(seed).next_u64() ^ station as u64;
        let most_ns = (most.as_nanos() as u64).max(1);
        Stalls { seed: SplitMix64::seed_from_u64(own).next_u64(), max_ns: most_ns }
    }

    /// Returns the time at which a station with work at `wanted_ns` runs: that time, or the end of the current pause.
    pub(super) fn runs_at(&self, wanted_ns: u64) -> u64 {
        let span_ns = APART * self.max_ns;
        let span = wanted_ns / span_ns;
        let mut random = SplitMix64::seed_from_u64(self.seed ^ span);
        let share = random.next_u64() >> 44;
        // The cube of a random share makes short pauses frequent.
        let long = u128::from(share).pow(3) * u128::from(self.max_ns);
        let long_ns = (long >> 60) as u64;
        let from_ns = span * span_ns + random.next_u64() % (span_ns - long_ns);
        let until_ns = from_ns + long_ns;
        if (from_ns..until_ns).contains(&wanted_ns) { until_ns } else { wanted_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_millis(10);

    #[test]
    fn pauses_are_short_and_a_twentieth_of_the_time() {
        let stalls = Stalls::new(MOST, 1, 3);
        let (mut lost_ns, mut longest_ns, mut at_ns) = (0, 0, 0);
        while at_ns < 10_000_000_000 {
            let ran_ns = stalls.runs_at(at_ns);
            assert_eq!(stalls.runs_at(ran_ns), ran_ns, "a pause ends once");
            (lost_ns, longest_ns) = (lost_ns + ran_ns - at_ns, longest_ns.max(ran_ns - at_ns));
            at_ns = ran_ns + 10_000;
        }
        assert!((300_000_000..700_000_000).contains(&lost_ns), "{lost_ns}");
        assert!((8_000_000..=10_000_000).contains(&longest_ns), "{longest_ns}");
    }

    #[test]
    fn stations_and_seeds_have_pauses_of_their_own() {
        let when = |seed, station| {
            let stalls = Stalls::new(MOST, seed, station);
            (0..100_000u64).map(|at| stalls.runs_at(at * 10_000)).collect::<Vec<u64>>()
        };
        assert_eq!(when(1, 1), when(1, 1));
        assert_ne!(when(1, 1), when(1, 2));
        assert_ne!(when(1, 1), when(2, 1));
    }
}
