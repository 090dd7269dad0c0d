//! A bitset over uplinks, downlinks, pairs of uplinks, or classes of destinations.
//!
//! It wraps a [`FixedBitSet`] and adds operations on ranges of two sets.

use std::ops::Range;

use fixedbitset::{Block, FixedBitSet};

/// Number of bits in a word.
const WIDTH: u32 = Block::BITS;

/// A bitset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Bits(FixedBitSet);

impl Bits {
    /// Creates an empty bitset.
    pub(crate) fn new(len: usize) -> Self {
        // Whole words, so sets of the same length can be compared word by word.
        Bits(FixedBitSet::with_capacity(len.next_multiple_of(WIDTH as usize)))
    }

    pub(crate) fn set(&mut self, at: usize) {
        self.0.insert(at);
    }

    /// Returns a bit. Bits beyond the end are zero.
    pub(crate) fn get(&self, at: usize) -> bool {
        self.0.contains(at)
    }

    /// Returns the number of bits that are set.
    pub(crate) fn count(&self) -> u64 {
        self.0.count_ones(..) as u64
    }

    /// Returns whether no bit is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    /// Sets a run of bits.
    pub(crate) fn set_run(&mut self, run: &Range<u32>) {
        self.0.insert_range(places(run));
    }

    /// Clears a run of bits.
    pub(crate) fn clear_run(&mut self, run: &Range<u32>) {
        self.0.remove_range(places(run));
    }

    /// Sets the bits of a range that are set in another bitset.
    pub(crate) fn add_run(&mut self, other: &Bits, run: &Range<u32>) {
        let (own, other) = (self.0.as_mut_slice(), other.0.as_slice());
        for (at, mask) in masks(run) {
            own[at] |= other[at] & mask;
        }
    }

    /// Clears the bits of a range that are not set in another bitset.
    pub(crate) fn keep_run(&mut self, other: &Bits, run: &Range<u32>) {
        let (own, other) = (self.0.as_mut_slice(), other.0.as_slice());
        for (at, mask) in masks(run) {
            own[at] &= other[at] | !mask;
        }
    }

    /// Sets the bits that are set in another bitset.
    pub(crate) fn add(&mut self, other: &Bits) {
        self.0.union_with(&other.0);
    }

    /// Clears the bits that are set in another bitset.
    pub(crate) fn remove(&mut self, other: &Bits) {
        self.0.difference_with(&other.0);
    }

    /// Returns the bits that differ between two bitsets, in ascending order.
    pub(crate) fn differ<'a>(&'a self, other: &'a Bits) -> impl Iterator<Item = u32> + 'a {
        let words = self.0.as_slice().iter().zip(other.0.as_slice()).map(|(a, b)| a ^ b);
        words.enumerate().flat_map(|(at, word)| ones(at, word))
    }

    /// Clears the bits that are not set in another bitset.
    pub(crate) fn keep(&mut self, other: &Bits) {
        self.0.intersect_with(&other.0);
    }

    /// Returns the bits of a range that are set in both bitsets but not in a third one.
    pub(crate) fn intersection_except(&self, other: &Bits, without: &Bits, run: &Range<u32>) -> Vec<u32> {
        let (own, other, without) = (self.0.as_slice(), other.0.as_slice(), without.0.as_slice());
        let word = |(at, mask): (usize, Block)| (at, own[at] & other[at] & !without[at] & mask);
        masks(run).map(word).flat_map(|(at, word)| ones(at, word)).collect()
    }

    /// Returns whether any bit is set inside a run.
    pub(crate) fn meets(&self, run: &Range<u32>) -> bool {
        self.0.contains_any_in_range(places(run))
    }

    /// Returns the bits that are set, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.ones().map(|at| at as u32)
    }

    /// Returns the number of bits that are set in both bitsets.
    pub(crate) fn count_both(&self, other: &Bits) -> u64 {
        self.0.intersection_count(&other.0) as u64
    }
}

/// Converts a run to bit indices.
fn places(run: &Range<u32>) -> Range<usize> {
    run.start as usize..run.end.max(run.start) as usize
}

/// Returns the words that a run overlaps, each with a mask of the bits in the run.
fn masks(run: &Range<u32>) -> impl Iterator<Item = (usize, Block)> + use<> {
    let (start, end) = (run.start, run.end.max(run.start));
    let words = if start == end { 0..0 } else { start / WIDTH..(end - 1) / WIDTH + 1 };
    words.map(move |word| {
        let low = if word == start / WIDTH { !0 << (start % WIDTH) } else { !0 };
        let high = if word == (end - 1) / WIDTH { !0 >> (WIDTH - 1 - (end - 1) % WIDTH) } else { !0 };
        (word as usize, low & high)
    })
}

/// Returns the bits that are set in a word, by their index in the bitset.
fn ones(at: usize, mut word: Block) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (word != 0).then(|| {
            word &= word - 1;
            at as u32 * WIDTH + bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted() {
        let (mut a, mut b) = (Bits::new(130), Bits::new(130));
        for at in [0, 63, 64, 129] {
            a.set(at);
        }
        b.set(64);
        assert_eq!((a.count(), a.count_both(&b)), (4, 1));
        assert!(a.get(129) && !a.get(128) && !a.get(1000));
    }

    #[test]
    fn rows_are_joined_and_parted() {
        let row = |bits: &[usize]| {
            let mut row = Bits::new(130);
            for bit in bits {
                row.set(*bit);
            }
            row
        };
        let mut all = row(&[0, 64]);
        all.add(&row(&[64, 129]));
        assert_eq!(all.iter().collect::<Vec<_>>(), [0, 64, 129]);
        assert_eq!(all.differ(&row(&[1, 64])).collect::<Vec<_>>(), [0, 1, 129]);
        all.remove(&row(&[0, 64]));
        assert_eq!(all, row(&[129]));
        assert!(!all.is_empty() && row(&[]).is_empty());
    }

    #[test]
    fn runs_cross_words() {
        let mut a = Bits::new(200);
        a.set_run(&(60..130));
        assert_eq!((a.count(), a.iter().next(), a.iter().last()), (70, Some(60), Some(129)));
        a.clear_run(&(64..128));
        assert_eq!(a.iter().collect::<Vec<u32>>(), [60, 61, 62, 63, 128, 129]);
        let mut b = Bits::new(200);
        b.add_run(&a, &(63..129));
        assert_eq!(b.iter().collect::<Vec<u32>>(), [63, 128]);
        a.keep_run(&b, &(0..64));
        assert_eq!(a.iter().collect::<Vec<u32>>(), [63, 128, 129]);
        assert_eq!(a.intersection_except(&a, &b, &(0..200)), [129]);
        assert!(a.meets(&(129..130)) && !a.meets(&(64..64)) && !a.meets(&(64..128)));
    }
}
