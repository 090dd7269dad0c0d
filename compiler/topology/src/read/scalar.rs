//! Single values: numbers, text, quantities, addresses.
//!
//! In: an item. Out: the value. Invariants: numbers and text are never converted into each other. Values are never
//! guessed. The message shows the written text and the expected form.

use std::net::IpAddr;

use closc_artefacts::Prefix;
use closc_diagnostics::{Span, printable};
use closc_platform::{Breakout, BreakoutError, CageError, CageSet};
use closc_qos::units::{Bytes, Length, Speed, UnitError};
use ipnet::{IpNet, Ipv6Net};
use smol_str::SmolStr;

use super::{Read, Reader};
use crate::faults;
use crate::pci::{PciAddress, PciAddressError};
use crate::yaml::{Item, Value};

/// Reads whole numbers of one Rust type.
macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Read for $type {
            fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
                integer(item, 0, i128::from(<$type>::MAX), reader).and_then(|value| value.try_into().ok())
            }
        }
    )+};
}
integers!(u8, u16, u32, u64);

/// Reads a whole number inside a range.
fn integer(item: &Item, min: i128, max: i128, reader: &mut Reader<'_>) -> Option<i128> {
    let span = reader.span(item.place);
    match &item.value {
        Value::Integer(value) if (min..=max).contains(value) => Some(*value),
        Value::Integer(_) | Value::Float(_) => {
            let (path, written) = (reader.path(), reader.text_at(item.place));
            let (min, max) = narrow((reader.range)(&path), min, max);
            reader.push(faults::out_of_range(&path, &written, min, max, span));
            None
        }
        Value::Text(text) if text.parse::<i128>().is_ok() => {
            let path = reader.path();
            reader.push(faults::quoted_number(&path, text, span));
            None
        }
        // Numbers that YAML parsers return as text: `.nan`, `.inf`, `1e999`.
        Value::Text(text) if text.trim_start_matches(['.', '-', '+']).parse::<f64>().is_ok() => {
            let path = reader.path();
            let (min, max) = narrow((reader.range)(&path), min, max);
            reader.push(faults::out_of_range(&path, text, min, max, span));
            None
        }
        Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Mapping(_) => {
            let (least, most) = narrow((reader.range)(&reader.path()), min, max);
            let example = strip_unit(&item.value).unwrap_or(8).clamp(least, most);
            reader.wrong_type(item, "a whole number", &example.to_string())
        }
    }
}

/// Returns the number in a text with thousands separators or a unit: 8000 for `8,000`, 9000 for `9KB` and `9k`.
fn strip_unit(value: &Value) -> Option<i128> {
    let Value::Text(text) = value else { return None };
    if let Ok(Bytes(bytes)) = text.parse() {
        return Some(bytes.into());
    }
    let number = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic() || sign == ' ');
    let factor = if text[number.len()..].trim().eq_ignore_ascii_case("k") { 1_000 } else { 1 };
    let groups: Vec<&str> = number.split([',', '_', '\'']).collect();
    let is_grouped = groups.len() == 1 || groups[1..].iter().all(|group| group.len() == 3);
    let number: i128 = groups.concat().parse().ok().filter(|_| is_grouped)?;
    number.checked_mul(factor)
}

/// Limits the range of a type to the range of a key in the schema.
fn narrow((least, most): (Option<u32>, Option<u32>), min: i128, max: i128) -> (i128, i128) {
    (least.map_or(min, i128::from), most.map_or(max, i128::from))
}

/// Maximum length of a one-line text.
const LINE_MAX: usize = 4096;

/// One line of printable text.
impl Read for SmolStr {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) => {
                let (path, span) = (reader.path(), reader.span(item.place));
                if let Some(found) = printable::fault(text) {
                    reader.push(faults::bad_text(&path, text, found, span));
                    return None;
                }
                if text.len() > LINE_MAX {
                    reader.push(faults::long_text(&path, text.len(), LINE_MAX, span));
                    return None;
                }
                Some(text.clone())
            }
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Mapping(_) => reader.wrong_type(item, "text", ""),
        }
    }
}

/// Free text of several lines.
impl Read for String {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Text(text) = &item.value else { return reader.wrong_type(item, "text", "") };
        let is_rejected = |c: &char| printable::is_unsafe(*c) && !matches!(c, '\n' | '\r' | '\t');
        if let Some(found) = text.chars().find(is_rejected) {
            let (path, span) = (reader.path(), reader.span(item.place));
            reader.push(faults::bad_text(&path, text, found, span));
            return None;
        }
        Some(text.as_str().into())
    }
}

/// Writes a German or French decimal, as in `3,5m`, with a point. Three digits can also be thousands.
fn decimal_point(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once(',')?;
    let digits = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
    (digits != 3).then(|| format!("{whole}.{fraction}"))
}

/// Reads numbers with a unit.
macro_rules! quantities {
    ($($type:ty, $kind:literal, $example:literal);+) => {$(
        impl Read for $type {
            fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
                let text = match &item.value {
                    Value::Text(text) => text.to_string(),
                    // A bare number lacks its unit. The parser of the quantity names the unit.
                    Value::Integer(_) | Value::Float(_) => reader.text_at(item.place),
                    Value::Null | Value::Bool(_) | Value::List(_) | Value::Mapping(_) => {
                        return reader.wrong_type(item, $kind, $example);
                    }
                };
                text.parse().map_err(|error: UnitError| {
                    let (path, span) = (reader.path(), reader.span(item.place));
                    let (text, span) = match reader.decimal_part(item.place) {
                        Some(rest) => (format!("{text},{rest}"), Span { end: span.end + 1 + rest.len() as u32, ..span }),
                        None => (text, span),
                    };
                    let finding = match decimal_point(&text).filter(|point| point.parse::<$type>().is_ok()) {
                        Some(point) => faults::decimal_comma(&path, &text, &point, span),
                        None => faults::bad_quantity(&path, &error, reader.span(item.place)),
                    };
                    reader.push(finding);
                }).ok()
            }
        }
    )+};
}
quantities!(
    Speed, "a speed", "400G";
    Length, "a length", "30m";
    Bytes, "a byte count", "64KiB"
);

impl Read for Breakout {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Text(text) = &item.value else {
            return reader.wrong_type(item, "a breakout", "8x100G");
        };
        text.parse()
            .map_err(|error: BreakoutError| {
                let (path, span) = (reader.path(), reader.span(item.place));
                reader.push(faults::bad_breakout(&path, text, &error, span));
            })
            .ok()
    }
}

/// Reads cages from a list of numbers and runs, or from its text.
impl Read for CageSet {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let one = |item: &Item, reader: &Reader<'_>| match &item.value {
            Value::Text(text) => Some(text.to_string()),
            Value::Integer(_) => Some(reader.text_at(item.place)),
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Mapping(_) => None,
        };
        let parts: Option<Vec<String>> = match &item.value {
            Value::List(items) => items.iter().map(|item| one(item, reader)).collect(),
            _ => one(item, reader).map(|text| vec![text]),
        };
        let Some(parts) = parts else {
            return reader.wrong_type(item, "a list of cages", "[8-23, 40-55]");
        };
        let read = parts.join(",").parse().map_err(|error: CageError| {
            let (path, span) = (reader.path(), reader.span(item.place));
            reader.push(faults::bad_cages(&path, &error, span));
        });
        read.ok()
    }
}

impl Read for PciAddress {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Text(text) = &item.value else {
            return reader.wrong_type(item, "a PCI address", "0000:18:00.0");
        };
        text.parse()
            .map_err(|error: PciAddressError| {
                let (path, span) = (reader.path(), reader.span(item.place));
                reader.push(faults::bad_pci(&path, text, error, span));
            })
            .ok()
    }
}

/// An exact ratio of bandwidth towards the NICs to bandwidth away from them, as in `1:1` or `7:1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    /// Towards the NICs.
    pub down: u32,
    /// Away from the NICs.
    pub up: u32,
}

impl Fraction {
    /// Reduces a ratio of two numbers; `None` if one of them is 0 or does not fit.
    pub fn reduce(down: u64, up: u64) -> Option<Self> {
        let divisor = gcd(down, up);
        if down == 0 || up == 0 {
            return None;
        }
        Some(Fraction { down: u32::try_from(down / divisor).ok()?, up: u32::try_from(up / divisor).ok()? })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.down, self.up)
    }
}

impl Read for Fraction {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Text(text) = &item.value else {
            return reader.wrong_type(item, "a ratio", "\"1:1\"");
        };
        let parsed = text
            .split_once(':')
            .and_then(|(down, up)| Fraction::reduce(down.trim().parse().ok()?, up.trim().parse().ok()?));
        if parsed.is_none() {
            let (path, span) = (reader.path(), reader.span(item.place));
            reader.push(faults::bad_fraction(&path, text, span));
        }
        parsed
    }
}

impl Read for closc_platform::Release {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let written = match &item.value {
            Value::Text(text) => text.to_string(),
            // As a number, 5.10 would become 5.1, so the original text is used.
            Value::Float(_) | Value::Integer(_) => reader.text_at(item.place),
            _ => return reader.wrong_type(item, "a release", "\"5.16\""),
        };
        let release = written.parse().ok();
        if release.is_none() {
            let (path, span) = (reader.path(), reader.span(item.place));
            reader.push(faults::bad_release(&path, &written, span));
        }
        release
    }
}

impl schemars::JsonSchema for Fraction {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ratio".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A ratio of bandwidth towards the NICs to bandwidth away from them, as in `\"1:1\"` or `\"7:1\"`",
            "pattern": "^[1-9][0-9]* *: *[1-9][0-9]*$"
        })
    }
}

/// Reads addresses and prefixes.
macro_rules! addresses {
    ($($type:ty, $kind:literal, $example:literal);+) => {$(
        impl Read for $type {
            fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
                let Value::Text(text) = &item.value else {
                    return reader.wrong_type(item, $kind, $example);
                };
                let parsed = text.parse().ok();
                if parsed.is_none() {
                    let (path, span) = (reader.path(), reader.span(item.place));
                    reader.push(faults::bad_address(&path, $kind, text, $example, span));
                }
                parsed
            }
        }
    )+};
}
addresses!(
    Ipv6Net, "an IPv6 prefix", "fcbb:bbbb::/32";
    Prefix, "a prefix", "2001:db8:1000::/36";
    IpNet, "a prefix", "10.64.0.0/14";
    IpAddr, "an address", "192.0.2.1"
);

/// The schema of prefixes and addresses, for `#[schemars(with = "PrefixText")]`.
pub(crate) struct PrefixText;

impl schemars::JsonSchema for PrefixText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Prefix".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-fA-F.:]+/[0-9]+$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_reduced() {
        assert_eq!(Fraction::reduce(256, 256).unwrap().to_string(), "1:1");
        assert_eq!(Fraction::reduce(448, 64).unwrap().to_string(), "7:1");
        assert_eq!(Fraction::reduce(0, 64), None);
    }
}
