//! Arithmetic that records its steps.
//!
//! In: the steps of a calculation as it runs. Out: a [`Breakdown`], an ordered list of [`Term`]s with value, unit,
//! formula and source. Invariants: the same call computes and records a step, so the printed steps are the actual ones.
//! Values are exact fractions, independent of rounding modes.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// An exact, non-negative fraction.
///
/// 128 bits are enough for every formula of this crate: [`crate::headroom::Link`] limits the inputs so that no
/// numerator exceeds 112 bits.
pub type ExactFraction = num_rational::Ratio<u128>;

/// Creates an exact fraction from two integers. `denominator` is a constant greater than zero.
pub(crate) fn exact(numerator: impl Into<u128>, denominator: impl Into<u128>) -> ExactFraction {
    ExactFraction::new(numerator.into(), denominator.into())
}

/// The unit of a [`Term`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// The time of one bit on the wire.
    BitTimes,
    /// Pause quanta of 512 bit times.
    PauseQuanta,
    /// Nanoseconds.
    Nanoseconds,
    /// Metres.
    Meters,
    /// Mb/s.
    MegabitsPerSecond,
    /// A factor.
    Ratio,
    /// Percent.
    Percent,
    /// A count.
    Count,
}

impl Unit {
    /// Returns the symbol after a value; empty for pure numbers.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Bytes => "B",
            Self::BitTimes => "BT",
            Self::PauseQuanta => "quanta",
            Self::Nanoseconds => "ns",
            Self::Meters => "m",
            Self::MegabitsPerSecond => "Mb/s",
            Self::Ratio => "x",
            Self::Percent => "%",
            Self::Count => "",
        }
    }
}

/// An exact value that is printed with at most three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(pub ExactFraction);

impl Value {
    /// Returns thousandths, rounded half up.
    fn thousandths(self) -> u128 {
        (self.0 * 1000 + exact(1_u8, 2_u8)).to_integer()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thousandths = self.thousandths();
        let (whole, rest) = (thousandths / 1000, thousandths % 1000);
        if rest == 0 {
            return f.pad(&whole.to_string());
        }
        f.pad(format!("{whole}.{rest:03}").trim_end_matches('0'))
    }
}

impl Serialize for Value {
    /// Serialises the value, rounded to thousandths: as an integer if it is whole, otherwise as a number with decimals.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let thousandths = self.thousandths();
        match u64::try_from(thousandths / 1000) {
            Ok(whole) if thousandths.is_multiple_of(1000) => serializer.serialize_u64(whole),
            _ => serializer.serialize_f64(thousandths as f64 / 1000.0),
        }
    }
}

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "description": "An exact value, rounded to three decimals" })
    }
}

/// One step of a calculation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Term {
    /// Description, in words.
    pub name: Cow<'static, str>,
    /// The value.
    pub value: Value,
    /// Unit of the value.
    pub unit: Unit,
    /// The formula with its numbers.
    pub formula: String,
    /// Source of the formula or constant.
    pub source: Cow<'static, str>,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, unit, formula, source } = self;
        write!(f, "{name} = {value} {} ({formula}; {source})", unit.symbol())
    }
}

/// The steps of a calculation, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Breakdown {
    terms: Vec<Term>,
}

impl Breakdown {
    /// Returns the steps in order.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the first step with a name.
    pub fn term(&self, name: &str) -> Option<&Term> {
        self.terms.iter().find(|term| term.name == name)
    }

    /// Appends the steps of another calculation.
    pub fn extend(&mut self, other: &Self) {
        self.terms.extend_from_slice(&other.terms);
    }

    /// Records a step and returns its value.
    pub(crate) fn push(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: ExactFraction,
        unit: Unit,
        formula: impl Into<String>,
        source: impl Into<Cow<'static, str>>,
    ) -> ExactFraction {
        self.terms.push(Term {
            name: name.into(),
            value: Value(value),
            unit,
            formula: formula.into(),
            source: source.into(),
        });
        value
    }

    /// Records a step in bytes and returns its value.
    pub(crate) fn bytes(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: ExactFraction,
        formula: impl Into<String>,
        source: impl Into<Cow<'static, str>>,
    ) -> ExactFraction {
        self.push(name, value, Unit::Bytes, formula, source)
    }
}

impl fmt::Display for Breakdown {
    /// Formats one step per line, with aligned values and units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: fn(&Term) -> String| self.terms.iter().map(|t| text(t).len()).max().unwrap_or(0);
        let names = width(|term| term.name.to_string());
        let values = width(|term| term.value.to_string());
        let units = width(|term| term.unit.symbol().to_owned());
        for Term { name, value, unit, formula, source } in &self.terms {
            let unit = unit.symbol();
            writeln!(f, "{name:names$}  {value:>values$} {unit:units$}  = {formula}  [{source}]")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_three_decimals_at_most() {
        let print = |numerator: u32, denominator: u32| Value(exact(numerator, denominator)).to_string();
        assert_eq!(print(6, 2), "3");
        assert_eq!(print(1, 3), "0.333");
        assert_eq!(print(2, 3), "0.667");
        assert_eq!(print(4096, 5), "819.2");
        assert_eq!(print(9_999_999, 10_000), "1000");
    }

    #[test]
    fn json_numbers_are_integers_where_they_can_be() {
        let json = |value| serde_json::to_string(&Value(value)).unwrap();
        assert_eq!(json(exact(53_305_344_u32, 1_u8)), "53305344");
        assert_eq!(json(exact(4096_u32, 5_u8)), "819.2");
    }

    #[test]
    fn a_breakdown_prints_a_line_a_step() {
        let mut breakdown = Breakdown::default();
        let half = breakdown.bytes("half", exact(1_u8, 2_u8), "1 / 2", "school");
        breakdown.bytes("whole", half + half, "half + half", "school");
        assert_eq!(
            breakdown.to_string(),
            "half   0.5 B  = 1 / 2  [school]\nwhole    1 B  = half + half  [school]\n"
        );
    }
}
