//! Inputs for short runs without a fuzzer: reproducible mutations of seeds.
//!
//! In: a number and seeds. Out: bytes. Invariants: the same number and seeds result in the same bytes. An
//! input is at most twice as long as the longest seed, plus a few bytes.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A generator of inputs.
pub(crate) struct Inputs {
    random: SplitMix64,
}

/// Bytes with a special meaning in many formats.
const WORDS: &[&[u8]] = &[
    b"",
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"-1",
    b"18446744073709551615",
    b"1e999",
    b"\n",
    b"\t",
    b"{",
    b"[",
    b"\"",
    b": ",
    b"&a ",
    b"*a",
    b"\xe2\x80\xae",
];

impl Inputs {
    /// Creates a generator from a seed number.
    pub(crate) fn new(number: u64) -> Self {
        Inputs { random: SplitMix64::seed_from_u64(number) }
    }

    /// Returns a pseudo-random number below a limit (splitmix64).
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.random.next_u64() % limit.max(1) as u64).expect("it is below a usize")
    }

    fn piece(&mut self, of: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(of.len() + 1);
        start..start + self.below((of.len() - start).min(256) + 1)
    }

    /// Returns a seed with pieces changed, removed, duplicated, or copied from another seed; or random bytes.
    pub(crate) fn next(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let seed = self.below(seeds.len() + 1);
        let Some(mut bytes) = seeds.get(seed).cloned() else {
            return (0..self.below(400)).map(|_| self.below(256) as u8).collect();
        };
        for _ in 0..=self.below(6) {
            let piece = self.piece(&bytes);
            let other = match self.below(5) {
                0 => WORDS[self.below(WORDS.len())].to_vec(),
                1 => vec![self.below(256) as u8; 1 + self.below(8)],
                2 => [&bytes[piece.clone()], &bytes[piece.clone()]].concat(),
                3 => {
                    let from = &seeds[self.below(seeds.len())];
                    from[self.piece(from)].to_vec()
                }
                _ => bytes[piece.clone()].iter().map(|byte| byte ^ (1 << self.below(8))).collect(),
            };
            bytes.splice(piece, other);
        }
        bytes
    }
}
