//! Values of a script: key fields by name, and what they must match.

use num_bigint::BigInt;

use crate::bits;
use crate::program::{KeyField, MatchKind, Table, TableMatch};
use crate::state::Key;

/// Finds a key field by the names that p4c's runner accepts; if several fields match by suffix, the last one
/// is used.
pub(super) fn key_field(table: &Table, name: &str) -> Result<usize, String> {
    let name = bracket_index(name).replace(".isValid()", ".$valid$");
    let is = |wanted: &str| table.key.iter().position(|field| field.name == wanted);
    let ends = |wanted: String| table.key.iter().rposition(|field| field.name.ends_with(&wanted));
    let validity = name.strip_suffix(".valid").map(|header| format!("{header}.$valid$"));
    let valid = name == "valid";
    is(&name)
        .or_else(|| is(&format!("{name}$")))
        .or_else(|| is(&format!("{name}.$valid$")))
        .or_else(|| is(validity.as_deref()?))
        .or_else(|| ends(format!(".{name}")).max(ends(format!(".{name}$"))))
        .or_else(|| ends(format!(".{}", validity.as_deref()?)))
        .or_else(|| valid.then(|| ends(".$valid$".to_owned()).or_else(|| is("$valid$")))?)
        .ok_or_else(|| format!("table `{}` has no key field `{name}`", table.name))
}

/// Stack elements may be written `stack$0` instead of with brackets.
fn bracket_index(name: &str) -> String {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let place = name.rmatch_indices('$').find(|(at, _)| digits(&name[at + 1..]) > 0);
    let Some((at, _)) = place else { return name.to_owned() };
    let (stack, rest) = (&name[..at], &name[at + 1..]);
    let end = digits(rest);
    format!("{stack}[{}]{}", &rest[..end], &rest[end..])
}

/// Adds a field of an entry to its key. An omitted field matches zero if it is exact, and otherwise anything.
pub(super) fn add_match(
    field: &KeyField,
    matching: TableMatch,
    value: Option<&str>,
    key: &mut Key,
) -> Result<(), String> {
    let words = |number: &BigInt| {
        let mut words = vec![0; field.words as usize];
        put(number, field.bits, &mut words);
        words
    };
    let all: BigInt = (BigInt::from(1) << field.bits) - 1_u8;
    let (low, high) = match (value, field.kind) {
        (None, MatchKind::Exact | MatchKind::Valid | MatchKind::Range) => (BigInt::ZERO, all),
        (None, MatchKind::Lpm | MatchKind::Ternary) => (BigInt::ZERO, BigInt::ZERO),
        (Some(text), MatchKind::Range) => match text.split_once("..") {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(text)?, number(text)?),
        },
        (Some(text), MatchKind::Exact | MatchKind::Valid) => (number(text)?, all),
        (Some(text), MatchKind::Lpm) => parse_prefix(text, field.bits)?,
        (Some(text), MatchKind::Ternary) => parse_mask(text, field.bits)?,
    };
    if field.kind == MatchKind::Lpm && matching == TableMatch::Lpm {
        key.prefix = ones(&high);
    }
    key.value.extend(words(&low));
    key.mask.extend(words(&high));
    Ok(())
}

fn ones(number: &BigInt) -> u32 {
    number.iter_u64_digits().map(u64::count_ones).sum()
}

/// Returns the number of bits per digit, for a base that is a power of two, and the digits.
fn base(text: &str) -> Option<(u32, &str)> {
    let shift = match text.get(..2)? {
        "0x" | "0X" => 4,
        "0o" | "0O" => 3,
        "0b" | "0B" => 1,
        _ => return None,
    };
    Some((shift, &text[2..]))
}

fn prefix_mask(prefix: u32, bits: u32) -> Result<BigInt, String> {
    let low =
        bits.checked_sub(prefix).ok_or_else(|| format!("prefix {prefix} is longer than {bits} bits"))?;
    let all: BigInt = (BigInt::from(1) << bits) - 1_u8;
    Ok(all - ((BigInt::from(1) << low) - 1_u8))
}

fn explicit_prefix(text: &str, bits: u32) -> Result<Option<(BigInt, BigInt)>, String> {
    let Some((value, prefix)) = text.split_once('/') else { return Ok(None) };
    let prefix: u32 = prefix.parse().map_err(|_| format!("`{prefix}` is not a prefix length"))?;
    Ok(Some((number(value)?, prefix_mask(prefix, bits)?)))
}

/// Parses a value with its prefix length: the given one, or the number of bits before the wildcards.
fn parse_prefix(text: &str, bits: u32) -> Result<(BigInt, BigInt), String> {
    if let Some(given) = explicit_prefix(text, bits)? {
        return Ok(given);
    }
    let Some((shift, digits)) = base(text) else { return Ok((number(text)?, prefix_mask(bits, bits)?)) };
    let fixed = digits.chars().filter(|c| *c != '*').count() as u32;
    let prefix = fixed.saturating_mul(shift).min(bits);
    Ok((number(&text.replace('*', "0"))?, prefix_mask(prefix, bits)?))
}

/// Parses a value with its mask: wildcards, a prefix length, or an explicit mask. Missing digits match anything, as in
/// p4c's runner: `0x01` matches the last eight bits. A decimal number matches the whole field.
fn parse_mask(text: &str, bits: u32) -> Result<(BigInt, BigInt), String> {
    if let Some((value, mask)) = text.split_once("&&&") {
        return Ok((number(value)?, number(mask)?));
    }
    if let Some(given) = explicit_prefix(text, bits)? {
        return Ok(given);
    }
    let Some((shift, digits)) = base(text) else { return Ok((number(text)?, prefix_mask(bits, bits)?)) };
    let any = (1_u8 << shift) - 1;
    let mask = digits.chars().fold(BigInt::ZERO, |sum, c| (sum << shift) + if c == '*' { 0 } else { any });
    Ok((number(&text.replace('*', "0"))?, mask))
}

/// Reads a number.
pub(super) fn number(text: &str) -> Result<BigInt, String> {
    let parsed = match base(text) {
        Some((shift, digits)) => BigInt::parse_bytes(digits.as_bytes(), 1 << shift),
        None => BigInt::parse_bytes(text.as_bytes(), 10),
    };
    parsed.ok_or_else(|| format!("`{text}` is not a number"))
}

/// Writes a number into words, truncated to their width.
pub(super) fn put(value: &BigInt, bits: u32, words: &mut [u64]) {
    bits::set_big(words, value);
    bits::truncate(words, bits as usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(found: Result<(BigInt, BigInt), String>) -> (u64, u64) {
        let (value, mask) = found.expect("it is a value");
        let small = |number: BigInt| u64::try_from(number).expect("it is small");
        (small(value), small(mask))
    }

    #[test]
    fn masks_are_as_wide_as_the_digits() {
        assert_eq!(read(parse_mask("0x01", 32)), (1, 0xff));
        assert_eq!(read(parse_mask("0x1*2*", 16)), (0x1020, 0xf0f0));
        assert_eq!(read(parse_mask("0b1*", 8)), (2, 2));
        assert_eq!(read(parse_mask("0o7*", 8)), (0o70, 0o70));
        assert_eq!(read(parse_mask("5", 8)), (5, 0xff));
        assert_eq!(read(parse_mask("0x5&&&0x7", 8)), (5, 7));
    }

    #[test]
    fn prefixes_are_as_long_as_the_digits() {
        assert_eq!(read(parse_prefix("0x0a00****", 32)), (0x0a00_0000, 0xffff_0000));
        assert_eq!(read(parse_prefix("0x0a", 32)), (0x0a, 0xff00_0000));
        assert_eq!(read(parse_prefix("0x1ff", 9)), (0x1ff, 0x1ff));
        assert_eq!(read(parse_prefix("10/8", 32)), (10, 0xff00_0000));
        assert!(parse_prefix("0x0a/33", 32).is_err());
    }

    #[test]
    fn elements_of_stacks_are_written_without_brackets() {
        assert_eq!(bracket_index("hdr.h$1.f"), "hdr.h[1].f");
        assert_eq!(bracket_index("a$0.b$12"), "a$0.b[12]");
        assert_eq!(bracket_index("a.$valid$"), "a.$valid$");
    }
}
