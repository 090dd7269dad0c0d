//! The first turn: which plane begins, and which value of each plane.
//!
//! In: the positions of two NICs. Out: numbers that select the first turns. Invariants: they depend only on the two
//! positions. So they are the same after a restart or reload, and on every machine.
//!
//! Without these numbers every destination would start at the lowest plane. Messages of a few packets to many NICs
//! would then load the lowest planes and leave the others idle.

/// The position of a NIC: its zone, its group and its downlink.
pub(crate) type Position = [u16; 3];

/// Pseudo-random numbers for one source and one destination (splitmix64).
#[derive(Debug)]
pub(crate) struct FirstTurns(u64);

impl FirstTurns {
    /// Returns the numbers for packets from one NIC to another. The reverse direction has different ones. Otherwise the
    /// NICs of a ring would use the same planes at the same time.
    pub(crate) fn of(source: Position, to: Position) -> Self {
        let number = |position: Position| position.iter().fold(0, |n, part| n << 16 | u64::from(*part));
        FirstTurns(mix(mix(number(source)) ^ number(to)))
    }

    /// Returns the next number below a limit, or 0 if the limit is 0.
    pub(crate) fn random_number(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (((mix(self.0) >> 32) * u64::from(limit)) >> 32) as u32
    }
}

fn mix(n: u64) -> u64 {
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the occurrences of each number from 0 to 7 for these pairs.
    fn counts(pairs: impl Iterator<Item = (Position, Position)>) -> [u32; 8] {
        let mut counts = [0; 8];
        pairs.for_each(|(from, to)| counts[FirstTurns::of(from, to).random_number(8) as usize] += 1);
        counts
    }

    /// The patterns of collectives: one to all, all to one, each to its neighbour, and along a rail.
    #[test]
    fn whoever_sends_to_whomever_all_numbers_are_drawn_as_often() {
        let nic = |n: u16| [0, n / 64, n % 64];
        let all = || 0..16_384_u16;
        let patterns = [
            counts(all().map(|n| (nic(5), nic(n)))),
            counts(all().map(|n| (nic(n), nic(5)))),
            counts(all().map(|n| (nic(n), nic(n + 1)))),
            counts(all().map(|n| ([0, 0, 0], [0, n, 0]))),
            counts(all().map(|n| ([0, n, 3], [n % 4, n ^ 1, 3]))),
        ];
        for drawn in patterns {
            assert!(drawn.iter().all(|count| count.abs_diff(2048) < 150), "{drawn:?}");
        }
    }

    #[test]
    fn a_number_is_below_its_limit() {
        let mut turns = FirstTurns::of([1, 2, 3], [1, 2, 3]);
        for limit in 1..200 {
            assert!(turns.random_number(limit) < limit);
        }
        assert_eq!(turns.random_number(0), 0);
    }
}
