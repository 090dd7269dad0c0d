//! Exact parts of a whole.
//!
//! Invariants: reduced, and between 0 and 1, since something that survives is part of what was planned. Denominators
//! divide products of a few counts of neighbours, so 64 bits hold them.

use std::cmp::Ordering;

/// A part of what was planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) part: u64,
    pub(crate) whole: u64,
}

impl Fraction {
    pub(crate) const ZERO: Fraction = Fraction { part: 0, whole: 1 };
    pub(crate) const ONE: Fraction = Fraction { part: 1, whole: 1 };

    /// Returns `part` of `whole`; nothing of nothing is nothing.
    pub(crate) fn of(part: u64, whole: u64) -> Self {
        match gcd(part, whole) {
            0 => Fraction::ZERO,
            divisor if whole > 0 => Fraction { part: part / divisor, whole: whole / divisor },
            _ => Fraction::ZERO,
        }
    }

    /// Returns the mean of parts: of `count` equal neighbours, those that are left out have nothing.
    pub(crate) fn mean(parts: impl Iterator<Item = Fraction>, count: u64) -> Self {
        let sum = parts.fold(Fraction::ZERO, Fraction::plus);
        Fraction::of(sum.part, sum.whole * count)
    }

    fn plus(self, other: Fraction) -> Fraction {
        let whole = lcm(self.whole, other.whole);
        Fraction::of(self.part * (whole / self.whole) + other.part * (whole / other.whole), whole)
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (u128::from(self.part), u128::from(other.part));
        (left * u128::from(other.whole)).cmp(&(right * u128::from(self.whole)))
    }
}

/// Returns the greatest common divisor; 0 of 0 and 0.
pub(crate) fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// Returns the least common multiple of two numbers that are not 0.
pub(crate) fn lcm(one: u64, other: u64) -> u64 {
    one / gcd(one, other).max(1) * other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact() {
        let third = Fraction::of(2, 6);
        assert_eq!((third.part, third.whole), (1, 3));
        assert_eq!(Fraction::mean([Fraction::ONE, third].into_iter(), 2), Fraction::of(2, 3));
        assert_eq!(Fraction::mean([Fraction::ONE].into_iter(), 4), Fraction::of(1, 4));
        assert_eq!(Fraction::of(0, 4), Fraction::ZERO);
        assert_eq!(Fraction::of(3, 0), Fraction::ZERO);
        assert!(Fraction::of(1, 3) < Fraction::of(1, 2) && Fraction::of(2, 4) == Fraction::of(1, 2));
    }
}
