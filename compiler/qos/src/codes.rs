//! Small QoS numbers with their valid ranges: DSCP, traffic class, queue, priority and others.
//!
//! In: an integer of a profile. Out: a type that holds only valid values. Invariants: ranges are those of SONiC's YANG
//! models and IEEE 802.1Q. A platform may support less, which is checked separately.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A small number outside its valid range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {value} is out of range: use {min} to {max}")]
pub struct RangeError {
    /// Meaning of the number.
    pub kind: &'static str,
    /// The value.
    pub value: i64,
    /// The smallest valid value.
    pub min: i64,
    /// The largest valid value.
    pub max: i64,
}

/// Defines a newtype over a small integer with a closed range.
macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident($int:ty), $min:literal..=$max:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "i64", into = "i64")]
        pub struct $name($int);

        impl $name {
            /// The smallest valid value.
            pub const MIN: Self = Self($min);
            /// The largest valid value.
            pub const MAX: Self = Self($max);

            /// Creates a number, if it is in the range.
            pub const fn new(value: $int) -> Result<Self, RangeError> {
                let wide = value as i64;
                if $min <= wide && wide <= $max {
                    Ok(Self(value))
                } else {
                    Err(RangeError { kind: $kind, value: wide, min: $min, max: $max })
                }
            }

            /// Creates a constant. In constant contexts, an invalid value is a compile error.
            pub(crate) const fn constant(value: $int) -> Self {
                assert!($min <= value as i64 && value as i64 <= $max, "constant outside its range");
                Self(value)
            }

            /// Returns the number.
            pub const fn get(self) -> $int {
                self.0
            }

            /// Returns all valid values in ascending order.
            pub fn all() -> impl Iterator<Item = Self> {
                ($min..=$max).map(Self)
            }
        }

        impl TryFrom<i64> for $name {
            type Error = RangeError;

            fn try_from(value: i64) -> Result<Self, RangeError> {
                let range = RangeError { kind: $kind, value, min: $min, max: $max };
                <$int>::try_from(value).map_err(|_| range).and_then(Self::new)
            }
        }

        impl From<$name> for i64 {
            fn from(value: $name) -> i64 {
                i64::from(value.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "integer", "minimum": $min, "maximum": $max, "description": $kind })
            }
        }
    };
}
pub(crate) use bounded;

bounded! {
    /// A differentiated-services code point (RFC 2474).
    Dscp(u8), 0..=63, "DSCP"
}

bounded! {
    /// A traffic class inside the switch (SONiC: 0 to 15).
    TrafficClass(u8), 0..=15, "traffic class"
}

bounded! {
    /// An egress queue (SONiC: 0 to 15).
    Queue(u8), 0..=15, "queue"
}

impl Queue {
    /// The last unicast queue of SONiC's ASICs.
    pub const UNICAST_MAX: u8 = 7;
}

bounded! {
    /// An ingress priority group (SONiC: 0 to 7).
    PriorityGroup(u8), 0..=7, "priority group"
}

bounded! {
    /// An IEEE 802.1Q priority, the unit that PFC pauses.
    Priority(u8), 0..=7, "priority"
}

bounded! {
    /// A weight of a DWRR scheduler (SONiC: 1 to 100).
    Weight(u8), 1..=100, "scheduler weight"
}

bounded! {
    /// A percentage.
    Percent(u8), 0..=100, "percentage"
}

bounded! {
    /// The exponent of a dynamic threshold: a user of the pool may take 2^n times the free space.
    DynamicThreshold(i8), -8..=7, "dynamic threshold"
}

impl Dscp {
    /// Returns the IPv4 ToS or IPv6 traffic-class byte with the ECN bits clear: the DSCP shifted left by two.
    pub const fn tos(self) -> u8 {
        self.0 << 2
    }

    /// Returns the IPv4 ToS or IPv6 traffic-class byte with ECT(0) set, as sent by an ECN-capable sender.
    pub const fn tos_ect0(self) -> u8 {
        self.tos() | 0b10
    }
}

impl Percent {
    /// Returns the share of `whole`, rounded down.
    pub fn of(self, whole: crate::units::Bytes) -> crate::units::Bytes {
        let share = u128::from(whole.0) * u128::from(self.0) / 100;
        crate::units::Bytes(u64::try_from(share).expect("a hundredth part or more of 64 bits fits 64 bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_range_names_the_range() {
        assert_eq!(Dscp::new(64).unwrap_err().to_string(), "DSCP 64 is out of range: use 0 to 63");
        assert_eq!(Dscp::try_from(-1).unwrap_err().to_string(), "DSCP -1 is out of range: use 0 to 63");
        let error = serde_saphyr::from_str::<Vec<DynamicThreshold>>("[-9]").unwrap_err().to_string();
        assert!(error.contains("dynamic threshold -9 is out of range: use -8 to 7"), "{error}");
    }

    #[test]
    fn tos_is_the_dscp_shifted_by_two() {
        // mlnx-tools: DSCP 26 is ToS 104, with ECT(0) 106.
        let dscp = Dscp::constant(26);
        assert_eq!((dscp.tos(), dscp.tos_ect0()), (104, 106));
    }

    #[test]
    fn every_value_of_the_range_is_made() {
        assert_eq!(Dscp::all().count(), 64);
        assert_eq!(DynamicThreshold::all().count(), 16);
    }
}
