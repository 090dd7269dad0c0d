//! Exact fractions.
//!
//! Invariants: reduced, and between 0 and 1, because remaining capacity never exceeds the planned one. Denominators
//! divide products of a few counts of neighbours, so 64 bits are enough.

use num_rational::Ratio;

/// A fraction of the planned capacity.
pub(crate) type Fraction = Ratio<u64>;

/// Zero.
pub(crate) const NOTHING: Fraction = Ratio::new_raw(0, 1);
/// One.
pub(crate) const WHOLE: Fraction = Ratio::new_raw(1, 1);

/// Returns `part / whole`; zero if `whole` is zero.
pub(crate) fn part(part: u64, whole: u64) -> Fraction {
    if whole == 0 { NOTHING } else { Ratio::new(part, whole) }
}

/// Returns the mean over `count` equal neighbours; neighbours that are not listed count as zero.
pub(crate) fn mean(parts: impl Iterator<Item = Fraction>, count: u64) -> Fraction {
    if count == 0 { NOTHING } else { parts.sum::<Fraction>() / count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_nothing_is_nothing() {
        assert_eq!(mean([WHOLE, part(2, 6)].into_iter(), 2), part(2, 3));
        assert_eq!(mean([WHOLE].into_iter(), 4), part(1, 4));
        assert_eq!((part(3, 0), mean([WHOLE].into_iter(), 0)), (NOTHING, NOTHING));
    }
}
