//! Exact parts of a whole.
//!
//! Invariants: reduced, and between 0 and 1, since something that survives is part of what was planned. Denominators
//! divide products of a few counts of neighbours, so 64 bits hold them.

use num_rational::Ratio;

/// A part of what was planned.
pub(crate) type Fraction = Ratio<u64>;

/// Nothing of it.
pub(crate) const NOTHING: Fraction = Ratio::new_raw(0, 1);
/// All of it.
pub(crate) const WHOLE: Fraction = Ratio::new_raw(1, 1);

/// Returns `part` of `whole`; nothing of nothing is nothing.
pub(crate) fn part(part: u64, whole: u64) -> Fraction {
    if whole == 0 { NOTHING } else { Ratio::new(part, whole) }
}

/// Returns the mean of parts: of `count` equal neighbours, those that are left out have nothing.
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
