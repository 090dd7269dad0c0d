//! Byte counts.
//!
//! In: `9216`, `64KiB`, `12KB`, `1MB`. Out: [`Bytes`]. Invariants: `KB` is 1,000 and `KiB` is 1,024.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use super::quantity::{self, Quantity, UnitError, text_form};

/// A count of bytes. `KB`, `MB`, `GB` are powers of 1,000; `KiB`, `MiB`, `GiB` powers of 1,024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);

    /// Rounds up to a multiple of `step`. With a step of zero or one, the value is unchanged.
    #[must_use]
    pub const fn round_up(self, step: Bytes) -> Self {
        match self.0.checked_next_multiple_of(step.0) {
            Some(rounded) => Self(rounded),
            None => self,
        }
    }

    /// Rounds down to a multiple of `step`. With a step of zero or one, the value is unchanged.
    #[must_use]
    pub const fn round_down(self, step: Bytes) -> Self {
        match self.0.checked_rem(step.0) {
            Some(rest) => Self(self.0 - rest),
            None => self,
        }
    }

    /// Returns the count in a decimal unit with three digits: `53.3 MB`, `9.22 KB`, `64 B`.
    pub fn human(self) -> String {
        let Some((name, factor)) =
            [("GB", 1e9), ("MB", 1e6), ("KB", 1e3)].into_iter().find(|(_, factor)| self.0 as f64 >= *factor)
        else {
            return format!("{} B", self.0);
        };
        let value = self.0 as f64 / factor;
        let decimals = if value >= 100.0 { 0 } else { usize::from(value < 10.0) + 1 };
        format!("{value:.decimals$} {name}")
    }
}

impl Add for Bytes {
    type Output = Self;

    /// Adds and saturates, because every check rejects such a large sum.
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Quantity for Bytes {
    const KIND: &'static str = "a byte count";
    const EXAMPLE: &'static str = "64KiB";
    const SMALLEST: &'static str = "1B";
    const UNITS: &'static [(&'static str, u64)] = &[
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("KB", 1_000),
        ("B", 1),
    ];

    fn from_base(base: u64, _: &str) -> Result<Self, UnitError> {
        Ok(Self(base))
    }

    fn from_bare(text: &str) -> Result<Self, UnitError> {
        quantity::parse(&format!("{text}B"))
    }
}

impl fmt::Display for Bytes {
    /// Formats with the largest unit of which the count is a multiple. Small multiples of 1,024 are formatted in bytes,
    /// because an MTU is usually written as 9216 instead of `9KiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |name: &str, factor: u64| {
            let readable = !name.ends_with("iB") || self.0 >= 16 << 10;
            self.0 > 0 && self.0.is_multiple_of(factor) && readable
        };
        let found = Self::UNITS.iter().find(|(name, factor)| whole(name, *factor));
        let (name, factor) = found.copied().unwrap_or(("B", 1));
        f.pad(&format!("{}{name}", self.0 / factor))
    }
}

text_form!(Bytes, "Bytes", {
    schemars::json_schema!({
        "type": ["string", "integer"],
        "description": "A byte count: a whole number, or a number and `B`, `KB` (1,000), `KiB` (1,024), \
                        `MB`, `MiB`, `GB` or `GiB`, as in `64KiB`",
        "pattern": r"^[0-9]+(\.[0-9]+)?([KMG]i?)?B?$",
        "minimum": 0
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_kb_from_kib() {
        assert_eq!("9216".parse(), Ok(Bytes(9_216)));
        assert_eq!("12KB".parse(), Ok(Bytes(12_000)));
        assert_eq!("64KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("1MB".parse(), Ok(Bytes(1_000_000)));
        assert_eq!("1.5KiB".parse(), Ok(Bytes(1_536)));
        assert!("0.3B".parse::<Bytes>().is_err());
        assert!("2.5".parse::<Bytes>().is_err());
    }

    #[test]
    fn prints_the_number_people_know() {
        assert_eq!(Bytes(9_216).to_string(), "9216B");
        assert_eq!(Bytes(65_536).to_string(), "64KiB");
        assert_eq!(Bytes(12_000).to_string(), "12KB");
        assert_eq!(Bytes(0).to_string(), "0B");
        assert_eq!(Bytes(53_305_344).human(), "53.3 MB");
        assert_eq!(Bytes(9_216).human(), "9.22 KB");
    }

    #[test]
    fn rounds_to_cells() {
        assert_eq!(Bytes(255).round_up(Bytes(254)), Bytes(508));
        assert_eq!(Bytes(255).round_down(Bytes(254)), Bytes(254));
        assert_eq!(Bytes(255).round_up(Bytes(0)), Bytes(255));
    }

    #[test]
    fn reads_numbers_and_text() {
        assert_eq!(
            serde_saphyr::from_str::<Vec<Bytes>>("[9216, 64KiB]").unwrap(),
            [Bytes(9_216), Bytes(65_536)]
        );
        assert!(serde_saphyr::from_str::<Vec<Bytes>>("[-1]").is_err());
    }
}
