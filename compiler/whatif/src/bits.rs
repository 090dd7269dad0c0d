//! Bitsets of small numbers. Intersecting them is the inner loop of the pair count.
//!
//! In: numbers below a width. Out: words of 64 bits. Invariants: bits at and above the width are 0.

use std::ops::Range;

pub(crate) type Words = Box<[u64]>;

/// Returns the number of words in a set of this width.
pub(crate) fn word_count(width: usize) -> usize {
    width.div_ceil(64)
}

/// Returns the set of all numbers below a width.
pub(crate) fn full(width: usize) -> Words {
    (0..word_count(width)).map(|word| u64::MAX >> (64 - (width - word * 64).min(64))).collect()
}

/// Removes numbers from a set.
pub(crate) fn clear(set: &mut [u64], numbers: Range<usize>) {
    for number in numbers {
        set[number / 64] &= !(1 << (number % 64));
    }
}

/// Returns whether a number is in a set.
pub(crate) fn has(set: &[u64], number: usize) -> bool {
    set[number / 64] >> (number % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_end_at_their_width() {
        let ones = |set: &[u64]| set.iter().map(|word| word.count_ones()).sum::<u32>();
        for width in [0, 1, 63, 64, 65, 256, 511] {
            assert_eq!(ones(&full(width)), width as u32, "{width}");
        }
        let mut set = full(130);
        clear(&mut set, 60..70);
        assert_eq!(ones(&set), 120);
    }
}
