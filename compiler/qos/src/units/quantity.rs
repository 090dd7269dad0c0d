//! Common rule of all unit types: decimal text times a unit gives an integer, exactly or not at all.
//!
//! In: text such as `2.5m` and a table of units. Out: the count of base units, or a [`UnitError`] that says
//! what to write instead. Invariants: integer arithmetic, so `0.1m` is 100 mm and nothing near it.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};

/// Says why a text is not a quantity, in the words of the person who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is a number and nothing behind it.
    #[error("`{text}` has no unit: write `{suggestion}`")]
    NoUnit {
        /// Written output.
        text: String,
        /// The same number with the likely unit.
        suggestion: String,
    },
    /// The text behind the number is not a unit of this kind.
    #[error("`{unit}` in `{text}` is not a unit of {kind}: use one of {known}")]
    UnknownUnit {
        /// Written output.
        text: String,
        /// The part taken for the unit.
        unit: String,
        /// Quantity: a length, a speed.
        kind: &'static str,
        /// The units that are known.
        known: String,
    },
    /// The text does not start with a plain decimal number.
    #[error("`{text}` is not {kind}: write a number and a unit, as in `{example}`")]
    NotANumber {
        /// Written output.
        text: String,
        /// Measured quantity, with its article.
        kind: &'static str,
        /// A legal value.
        example: &'static str,
    },
    /// The value is finer than what is kept.
    #[error("`{text}` is finer than {smallest}, the smallest step of {kind}")]
    TooFine {
        /// Written output.
        text: String,
        /// The resolution, with its unit.
        smallest: &'static str,
        /// Measured quantity, with its article.
        kind: &'static str,
    },
    /// The value does not fit.
    #[error("`{text}` is too large for {kind}: the largest is {largest}")]
    TooLarge {
        /// Written output.
        text: String,
        /// Measured quantity, with its article.
        kind: &'static str,
        /// The largest value, with its unit.
        largest: String,
    },
    /// A speed of nothing carries nothing.
    #[error("`{text}` is zero: a link needs a speed above 0, as in `100G`")]
    ZeroSpeed {
        /// Written output.
        text: String,
    },
}

/// One kind of measure: its words and its units.
pub(super) trait Quantity: Sized {
    /// Measured quantity, with its article.
    const KIND: &'static str;
    /// A legal value for messages.
    const EXAMPLE: &'static str;
    /// The resolution, with its unit.
    const SMALLEST: &'static str;
    /// Every unit and how many base units it is.
    const UNITS: &'static [(&'static str, u64)];

    /// Makes the value from a count of base units; `text` is what was written.
    fn from_base(base: u64, text: &str) -> Result<Self, UnitError>;

    /// Reads a number without a unit; only bytes allow it.
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
        known: Q::UNITS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    })?;
    Q::from_base(scale::<Q>(number, factor, text)?, text)
}

/// Says whether `number` is digits with at most one point, and starts and ends with a digit.
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

/// Reads digits into 128 bits.
fn decimal(digits: &str) -> Option<u128> {
    digits.parse().ok()
}

/// Prints `base` in the largest of `units` (largest first) that it fills and in which it has at most three
/// decimals; the last unit must be the base unit.
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

/// Reads a quantity from a string; a bare number gets the error (or the value) of [`Quantity::from_bare`].
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

/// Writes the serde and schema halves of a quantity: text in, text out.
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
