//! Time in nanoseconds.
//!
//! In: `120ns`, `3.8us`, `200ms`. Out: [`Nanoseconds`]. Invariants: times are whole nanoseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::Deserializer;

use super::quantity::{self, Quantity, UnitError, text_form};

/// A span of time in whole nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanoseconds(pub u64);

impl Nanoseconds {
    /// A time of zero.
    pub const ZERO: Self = Self(0);

    /// Creates a time span from milliseconds.
    pub const fn from_millis(millis: u32) -> Self {
        Self(millis as u64 * 1_000_000)
    }

    /// Returns whole milliseconds, rounded up: the unit of SONiC's watchdog timers.
    pub const fn millis_ceil(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }
}

impl Add for Nanoseconds {
    type Output = Self;

    /// Adds and saturates.
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Nanoseconds {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Quantity for Nanoseconds {
    const KIND: &'static str = "a time";
    const EXAMPLE: &'static str = "500ns";
    const SMALLEST: &'static str = "1ns";
    const UNITS: &'static [(&'static str, u64)] =
        &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

    fn from_base(base: u64, _: &str) -> Result<Self, UnitError> {
        Ok(Self(base))
    }

    fn from_bare(text: &str) -> Result<Self, UnitError> {
        Err(UnitError::NoUnit { text: text.to_owned(), suggestion: format!("{text}ns") })
    }
}

/// A watchdog time. The error for a number without a unit suggests milliseconds, as in SONiC.
struct Milliseconds(Nanoseconds);

impl Quantity for Milliseconds {
    const KIND: &'static str = Nanoseconds::KIND;
    const EXAMPLE: &'static str = "200ms";
    const SMALLEST: &'static str = Nanoseconds::SMALLEST;
    const UNITS: &'static [(&'static str, u64)] = Nanoseconds::UNITS;

    fn from_base(base: u64, _: &str) -> Result<Self, UnitError> {
        Ok(Self(Nanoseconds(base)))
    }

    fn from_bare(text: &str) -> Result<Self, UnitError> {
        Err(UnitError::NoUnit { text: text.to_owned(), suggestion: format!("{text}ms") })
    }
}

/// Reads an optional time. For a number without a unit, the suggested unit is milliseconds.
pub(crate) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Nanoseconds>, D::Error> {
    quantity::deserialize(deserializer).map(|Milliseconds(time)| Some(time))
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quantity::display(self.0, Self::UNITS, f)
    }
}

text_form!(Nanoseconds, "Duration", {
    schemars::json_schema!({
        "type": "string",
        "description": "A time: a number and `ns`, `us`, `ms` or `s`, as in `500ns`",
        "pattern": r"^[0-9]+(\.[0-9]+)?(ns|us|ms|s)$"
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints() {
        assert_eq!("3.8us".parse(), Ok(Nanoseconds(3_800)));
        assert_eq!(Nanoseconds(3_800).to_string(), "3.8us");
        assert_eq!(Nanoseconds(1_234_567).to_string(), "1234.567us");
        assert_eq!(Nanoseconds(0).to_string(), "0ns");
        assert_eq!(Nanoseconds::from_millis(200).to_string(), "200ms");
        assert_eq!("200ms".parse::<Nanoseconds>().unwrap().millis_ceil(), 200);
        assert_eq!("500".parse::<Nanoseconds>().unwrap_err().to_string(), "`500` has no unit: write `500ns`");
    }
}
