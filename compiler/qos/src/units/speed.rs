//! Link speed in Mb/s.
//!
//! In: `100G`, `1.6T`, `2.5G`, `100M`. Out: [`Speed`]. Invariants: a speed is greater than zero, so that the time per
//! byte is finite.

use std::fmt;
use std::num::NonZeroU32;

use super::quantity::{self, Quantity, UnitError, text_form};
use super::{Bytes, Nanoseconds};

/// The speed of a link or port, in whole Mb/s and above zero. Units are decimal, as on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(NonZeroU32);

impl Speed {
    /// Creates a speed from Mb/s, the unit of SONiC's `PORT|speed`; `None` for zero.
    pub const fn from_mbps(mbps: u32) -> Option<Self> {
        match NonZeroU32::new(mbps) {
            Some(mbps) => Some(Self(mbps)),
            None => None,
        }
    }

    /// Creates a constant speed from Gb/s. Panics for zero or more than 4,294 Tb/s.
    pub const fn gbps(gbps: u32) -> Self {
        match gbps.checked_mul(1000) {
            Some(mbps) => match NonZeroU32::new(mbps) {
                Some(mbps) => Self(mbps),
                None => panic!("a constant speed is above zero"),
            },
            None => panic!("a constant speed fits 32 bits of Mb/s"),
        }
    }

    /// Returns the speed in Mb/s.
    pub const fn mbps(self) -> u32 {
        self.0.get()
    }

    /// Returns the speed in b/s.
    pub const fn bits_per_second(self) -> u64 {
        self.0.get() as u64 * 1_000_000
    }

    /// Returns the bytes transmitted in `time`, rounded down.
    pub const fn bytes_in(self, time: Nanoseconds) -> Bytes {
        // Mb/s times ns is 1e-3 bits. The product fits in 96 bits. The quotient fits in 64 bits for any time below 4
        // years at 1 Tb/s, and saturates above.
        let bytes = self.0.get() as u128 * time.0 as u128 / 8000;
        if bytes > u64::MAX as u128 { Bytes(u64::MAX) } else { Bytes(bytes as u64) }
    }

    /// Returns the transmission time of `bytes`, rounded up to a nanosecond.
    pub const fn time_of(self, bytes: Bytes) -> Nanoseconds {
        let ns = (bytes.0 as u128 * 8000).div_ceil(self.0.get() as u128);
        if ns > u64::MAX as u128 { Nanoseconds(u64::MAX) } else { Nanoseconds(ns as u64) }
    }
}

impl Quantity for Speed {
    const KIND: &'static str = "a speed";
    const EXAMPLE: &'static str = "400G";
    const SMALLEST: &'static str = "1M";
    const UNITS: &'static [(&'static str, u64)] = &[("T", 1_000_000), ("G", 1_000), ("M", 1)];

    fn from_base(base: u64, text: &str) -> Result<Self, UnitError> {
        let mbps = u32::try_from(base).map_err(|_| UnitError::TooLarge {
            text: text.to_owned(),
            kind: Self::KIND,
            largest: format!("{}M", u32::MAX),
        })?;
        Self::from_mbps(mbps).ok_or_else(|| UnitError::ZeroSpeed { text: text.to_owned() })
    }

    fn from_bare(text: &str) -> Result<Self, UnitError> {
        // A bare 100000 is 100G in Mb/s, as in SONiC. A bare 100 means Gb/s.
        let suggestion = match text.strip_suffix("000") {
            Some(thousands) if !thousands.is_empty() => format!("{thousands}G"),
            _ => format!("{text}G"),
        };
        Err(UnitError::NoUnit { text: text.to_owned(), suggestion })
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quantity::display(u64::from(self.mbps()), Self::UNITS, f)
    }
}

text_form!(Speed, "Speed", {
    schemars::json_schema!({
        "type": "string",
        "description": "A speed: a number and `M`, `G` or `T` (Mb/s, Gb/s, Tb/s), as in `400G`",
        "pattern": r"^[0-9]+(\.[0-9]+)?[MGT]$"
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_engineers_write() {
        assert_eq!("100G".parse::<Speed>().unwrap().mbps(), 100_000);
        assert_eq!("2.5G".parse::<Speed>().unwrap().mbps(), 2_500);
        assert_eq!("1.6T".parse::<Speed>().unwrap().mbps(), 1_600_000);
        assert_eq!(Speed::gbps(800).to_string(), "800G");
        assert_eq!(Speed::gbps(1600).to_string(), "1.6T");
    }

    #[test]
    fn says_what_to_write_instead() {
        let message = |text: &str| text.parse::<Speed>().unwrap_err().to_string();
        assert_eq!(message("100"), "`100` has no unit: write `100G`");
        assert_eq!(message("100000"), "`100000` has no unit: write `100G`");
        assert_eq!(message("0G"), "`0G` is zero: a link needs a speed above 0, as in `100G`");
        assert_eq!(message("100g"), "`g` in `100g` is not a unit of a speed: use one of `T`, `G`, `M`");
        assert_eq!(message("fast"), "`fast` is not a speed: write a number and a unit, as in `400G`");
        assert_eq!(message("0.0001G"), "`0.0001G` is finer than 1M, the smallest step of a speed");
        assert_eq!(message("9000T"), "`9000T` is too large for a speed: the maximum is 4294967295M");
    }

    #[test]
    fn turns_time_into_bytes_and_back() {
        // 400 Gb/s are 50 bytes per nanosecond.
        assert_eq!(Speed::gbps(400).bytes_in(Nanoseconds(1000)), Bytes(50_000));
        assert_eq!(Speed::gbps(400).time_of(Bytes(50_001)), Nanoseconds(1001));
    }
}
