//! Cable length in millimetres.
//!
//! In: `0.5m`, `30m`, `80km`. Out: [`Length`]. Invariants: lengths are exact to the millimetre.

use std::fmt;

use super::quantity::{self, Quantity, UnitError, text_form};

/// The length of a cable in whole millimetres, from half-metre copper to 120 km of fibre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Length(u64);

impl Length {
    /// A length of zero.
    pub const ZERO: Self = Self(0);

    /// Creates a length from millimetres.
    pub const fn from_millimeters(millimeters: u64) -> Self {
        Self(millimeters)
    }

    /// Creates a length from whole metres.
    pub const fn from_meters(meters: u32) -> Self {
        Self(meters as u64 * 1000)
    }

    /// Returns the length in millimetres.
    pub const fn millimeters(self) -> u64 {
        self.0
    }

    /// Returns the length in metres, rounded up, for targets that use whole metres (SONiC's `CABLE_LENGTH`). Rounding
    /// down would reserve too little headroom and lose packets.
    pub const fn meters_ceil(self) -> u64 {
        self.0.div_ceil(1000)
    }
}

impl Quantity for Length {
    const KIND: &'static str = "a length";
    const EXAMPLE: &'static str = "30m";
    const SMALLEST: &'static str = "1mm";
    const UNITS: &'static [(&'static str, u64)] = &[("km", 1_000_000), ("m", 1_000), ("cm", 10), ("mm", 1)];

    fn from_base(base: u64, _: &str) -> Result<Self, UnitError> {
        Ok(Self(base))
    }

    fn from_bare(text: &str) -> Result<Self, UnitError> {
        Err(UnitError::NoUnit { text: text.to_owned(), suggestion: format!("{text}m") })
    }
}

impl fmt::Display for Length {
    /// Formats whole kilometres in kilometres, and other lengths in metres: `80km`, `1500m`, `0.5m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        if self.0 > 0 && self.0.is_multiple_of(1_000_000) {
            quantity::display(self.0, &[("km", 1_000_000)], f)
        } else if rest == 0 {
            f.pad(&format!("{whole}m"))
        } else {
            let number = format!("{whole}.{rest:03}");
            f.pad(&format!("{}m", number.trim_end_matches('0')))
        }
    }
}

text_form!(Length, "Length", {
    schemars::json_schema!({
        "type": "string",
        "description": "A length: a number and `mm`, `cm`, `m` or `km`, as in `30m`",
        "pattern": r"^[0-9]+(\.[0-9]+)?(mm|cm|m|km)$"
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_millimeters() {
        assert_eq!("0.5m".parse(), Ok(Length::from_millimeters(500)));
        assert_eq!("80km".parse(), Ok(Length::from_meters(80_000)));
        assert_eq!("2.5m".parse(), Ok(Length::from_millimeters(2_500)));
        assert_eq!("50cm".parse(), Ok(Length::from_millimeters(500)));
        assert_eq!("2.5m".parse::<Length>().unwrap().meters_ceil(), 3);
    }

    #[test]
    fn prints_kilometers_and_meters() {
        let print = |millimeters| Length::from_millimeters(millimeters).to_string();
        assert_eq!(print(0), "0m");
        assert_eq!(print(500), "0.5m");
        assert_eq!(print(30_000), "30m");
        assert_eq!(print(1_500_000), "1500m");
        assert_eq!(print(80_000_000), "80km");
    }

    #[test]
    fn says_what_to_write_instead() {
        let message = |text: &str| text.parse::<Length>().unwrap_err().to_string();
        assert_eq!(message("30"), "`30` has no unit: write `30m`");
        assert_eq!(message("2.5"), "`2.5` has no unit: write `2.5m`");
        assert_eq!(
            message("30ft"),
            "`ft` in `30ft` is not a unit of a length: use one of `km`, `m`, `cm`, `mm`"
        );
        assert_eq!(message("-3m"), "`-3m` is not a length: write a number and a unit, as in `30m`");
        assert_eq!(message("0.0001m"), "`0.0001m` is finer than 1mm, the smallest step of a length");
    }
}
