//! The parser of all unit types: decimal text with a unit gives an exact integer or an error.
//!
//! In: text such as `2.5m` and a table of units. Out: the count of base units, or a [`UnitError`] with a suggestion.
//! Invariants: arithmetic uses integers, so `0.1m` is exactly 100 mm.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};

/// Reason why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// A number has no unit.
    #[error("`{text}` has no unit: write `{suggestion}`")]
    NoUnit {
        /// The text.
        text: String,
        /// The same number with the likely unit.
        suggestion: String,
    },
    /// The unit is unknown for this quantity.
    #[error("`{unit}` in `{text}` is not a unit of {kind}: use one of {allowed}")]
    UnknownUnit {
        /// The text.
        text: String,
        /// The unit.
        unit: String,
        /// Measured quantity, with its article: a length, a speed.
        kind: &'static str,
        /// The known units.
        allowed: String,
    },
    /// The text does not start with a plain decimal number.
    #[error("`{text}` is not {kind}: write a number and a unit, as in `{example}`")]
    NotANumber {
        /// The text.
        text: String,
        /// Measured quantity, with its article.
        kind: &'static str,
        /// An example.
        example: &'static str,
    },
    /// The value is finer than the resolution.
    #[error("`{text}` is finer than {smallest}, the smallest step of {kind}")]
    TooFine {
        /// The text.
        text: String,
        /// The resolution, with its unit.
        smallest: &'static str,
        /// Measured quantity, with its article.
        kind: &'static str,
    },
    /// The value is too large.
    #[error("`{text}` is too large for {kind}: the maximum is {largest}")]
    TooLarge {
        /// The text.
        text: String,
        /// Measured quantity, with its article.
        kind: &'static str,
        /// The largest value, with its unit.
        largest: String,
    },
    /// A speed must not be zero.
    #[error("`{text}` is zero: a link needs a speed above 0, as in `100G`")]
    ZeroSpeed {
        /// The text.
        text: String,
    },
}

/// A quantity, with its name and units.
pub(super) trait Quantity: Sized {
    /// Measured quantity, with its article.
    const KIND: &'static str;
    /// An example for messages.
    const EXAMPLE: &'static str;
    /// The resolution, with its unit.
    const SMALLEST: &'static str;
    /// All units, each as a multiple of the base unit.
    const UNITS: &'static [(&'static str, u64)];

    /// Creates the value from a count of base units. `text` is the original text.
    fn from_base(base: u64, text: &str) -> Result<Self, UnitError>;

    /// Parses a number without a unit, which only bytes permit.
    fn from_bare(text: &str) -> Result<Self, UnitError>;
}

/// Parses `text` as a decimal number followed by one of the units of `Q`.
pub(super) fn parse<Q: Quantity>(text: &str) -> Result<Q, UnitError> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
    if !is_decimal(number) {
        return Err(UnitError::NotANumber { text: text.to_owned(), kind: Q::KIND, example: Q::EXAMPLE });
    }
    if unit.is_empty() {
        return Q::from_bare(number);
    }
    let factor = Q::UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let factor = factor.ok_or_else(|| UnitError::UnknownUnit {
        text: text.to_owned(),
        unit: unit.to_owned(),
        kind: Q::KIND,
        allowed: Q::UNITS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    })?;
    Q::from_base(scale::<Q>(number, factor, text)?, text)
}

/// Returns whether `number` consists of digits with at most one point, and starts and ends with a digit.
fn is_decimal(number: &str) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction)
}

/// Multiplies a decimal number by `factor`, exactly.
fn scale<Q: Quantity>(number: &str, factor: u64, text: &str) -> Result<u64, UnitError> {
    let too_large = || UnitError::TooLarge {
        text: text.to_owned(),
        kind: Q::KIND,
        largest: format!("{} times {}", u64::MAX, Q::SMALLEST),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut value = decimal(whole).and_then(|w| w.checked_mul(u128::from(factor))).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        let too_fine = || UnitError::TooFine { text: text.to_owned(), smallest: Q::SMALLEST, kind: Q::KIND };
        let digits = u32::try_from(fraction.len()).map_err(|_| too_fine())?;
        let denominator = 10_u128.checked_pow(digits).ok_or_else(too_fine)?;
        let numerator = decimal(fraction).and_then(|n| n.checked_mul(u128::from(factor)));
        let numerator = numerator.ok_or_else(too_fine)?;
        if numerator % denominator != 0 {
            return Err(too_fine());
        }
        value += numerator / denominator;
    }
    u64::try_from(value).map_err(|_| too_large())
}

/// Parses digits into 128 bits.
fn decimal(digits: &str) -> Option<u128> {
    digits.parse().ok()
}

/// Formats `base` in the largest of `units` (largest first) in which it is at least 1 and has at most three decimals.
/// The last unit must be the base unit.
pub(super) fn display(base: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let fits = |factor: u64| base >= factor && base.is_multiple_of((factor / 1000).max(1));
    let &(name, factor) =
        units.iter().find(|(_, factor)| fits(*factor)).or(units.last()).expect("every kind has a unit");
    let (whole, rest) = (base / factor, base % factor);
    if rest == 0 {
        return f.pad(&format!("{whole}{name}"));
    }
    let digits = factor.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    f.pad(&format!("{whole}.{}{name}", fraction.trim_end_matches('0')))
}

/// Deserialises a quantity from a string. A bare number gives the value or error of [`Quantity::from_bare`].
pub(super) fn deserialize<'de, D, Q>(deserializer: D) -> Result<Q, D::Error>
where
    D: Deserializer<'de>,
    Q: Quantity,
{
    deserializer.deserialize_any(TextVisitor(std::marker::PhantomData))
}

struct TextVisitor<Q>(std::marker::PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for TextVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as in `{}`", Q::KIND, Q::EXAMPLE)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Q, E> {
        parse(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Q, E> {
        parse(&number.to_string()).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Q, E> {
        parse(&number.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Q, E> {
        parse(&number.to_string()).map_err(E::custom)
    }
}

/// Implements serde and schema for a quantity as text.
macro_rules! text_form {
    ($type:ident, $name:literal, $schema:expr) => {
        impl std::str::FromStr for $type {
            type Err = crate::units::quantity::UnitError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                crate::units::quantity::parse(text)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::units::quantity::deserialize(deserializer)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}
pub(super) use text_form;
