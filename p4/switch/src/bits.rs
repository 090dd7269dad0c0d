//! Number representations: little-endian 64-bit words inside the switch; hexadecimal text and big-endian bytes outside.
//!
//! Invariants: bits above the width of an unsigned value are zero. Signed fields are sign-extended to whole words.

use num_bigint::{BigInt, Sign};

/// Returns how many words a value of `bits` bits takes.
pub(crate) const fn words_for(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// Returns how many bytes a value of `bits` bits takes.
pub(crate) const fn bytes_for(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Returns a mask of the low `bits` bits, or of all 64 if `bits` is larger.
pub(crate) const fn mask64(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns a mask of the low `bits` bits, or of all 128 if `bits` is larger.
pub(crate) const fn mask128(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Clears bit number `bits` of `words` and all bits above it.
pub(crate) fn truncate(words: &mut [u64], bits: usize) {
    for (i, word) in words.iter_mut().enumerate() {
        let from = i * 64;
        if from + 64 > bits {
            *word &= mask64(bits.saturating_sub(from) as u32);
        }
    }
}

/// Writes the big-endian number `bytes` into `words` and drops excess bits.
pub(crate) fn from_bytes(bytes: &[u8], words: &mut [u64]) {
    words.fill(0);
    for (i, byte) in bytes.iter().rev().enumerate() {
        if let Some(word) = words.get_mut(i / 8) {
            *word |= u64::from(*byte) << (i % 8 * 8);
        }
    }
}

/// Appends `words` as a big-endian number of `bytes` bytes.
pub(crate) fn push_bytes(words: &[u64], bytes: usize, out: &mut Vec<u8>) {
    out.extend((0..bytes).rev().map(|i| words.get(i / 8).map_or(0, |word| (word >> (i % 8 * 8)) as u8)));
}

/// Returns `words` as a big-endian number of `bytes` bytes.
pub(crate) fn to_bytes(words: &[u64], bytes: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes);
    push_bytes(words, bytes, &mut out);
    out
}

/// Returns the low 128 bits of `words`.
pub(crate) fn low128(words: &[u64]) -> u128 {
    let word = |i| words.get(i).copied().map_or(0, u128::from);
    word(0) | word(1) << 64
}

/// Writes `value` into `words`, zero-extended or truncated.
pub(crate) fn set128(words: &mut [u64], value: u128) {
    for (i, word) in words.iter_mut().enumerate() {
        *word = match i {
            0 => value as u64,
            1 => (value >> 64) as u64,
            _ => 0,
        };
    }
}

/// Returns `words` as an unsigned number.
pub(crate) fn to_big(words: &[u64]) -> BigInt {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    BigInt::from_bytes_le(Sign::Plus, &bytes)
}

/// Writes the low bits of `value` (two's complement if negative) into `words`.
pub(crate) fn set_big(words: &mut [u64], value: &BigInt) {
    let bytes = value.to_signed_bytes_le();
    let fill = if value.sign() == Sign::Minus { 0xff } else { 0 };
    for (i, word) in words.iter_mut().enumerate() {
        let mut eight = [fill; 8];
        for (j, byte) in eight.iter_mut().enumerate() {
            *byte = bytes.get(i * 8 + j).copied().unwrap_or(fill);
        }
        *word = u64::from_le_bytes(eight);
    }
}

/// Parses the hexadecimal text of the format: an optional `-`, an optional `0x`, digits.
pub(crate) fn parse_hex(text: &str) -> Option<BigInt> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let bytes = parse_hex_bytes(digits)?;
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    Some(BigInt::from_bytes_be(sign, &bytes))
}

/// Parses hexadecimal digits into bytes. If the number of digits is odd, the first byte has only one digit.
pub(crate) fn parse_hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    let nibbles: Option<Vec<u8>> = digits.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let nibbles = nibbles?;
    let (first, rest) = nibbles.split_at(nibbles.len() % 2);
    Some(first.iter().copied().chain(rest.chunks(2).map(|pair| pair[0] << 4 | pair[1])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_takes_sign_prefix_and_odd_digits() {
        assert_eq!(parse_hex("0x0f"), Some(BigInt::from(15)));
        assert_eq!(parse_hex("-0x38"), Some(BigInt::from(-56)));
        assert_eq!(parse_hex("abc"), Some(BigInt::from(0xabc)));
        assert_eq!(parse_hex("0x"), None);
        assert_eq!(parse_hex("0xzz"), None);
        assert_eq!(parse_hex_bytes("0xabc"), Some(vec![0x0a, 0xbc]));
    }

    #[test]
    fn bytes_and_words_round_trip() {
        let bytes: Vec<u8> = (1..=17).collect();
        let mut words = [0; 3];
        from_bytes(&bytes, &mut words);
        assert_eq!(to_bytes(&words, 17), bytes);
        assert_eq!(to_big(&words), BigInt::from_bytes_be(Sign::Plus, &bytes));
    }

    #[test]
    fn negative_numbers_become_twos_complement() {
        let mut words = [0; 2];
        set_big(&mut words, &BigInt::from(-1));
        assert_eq!(words, [u64::MAX; 2]);
        set_big(&mut words, &BigInt::from(-256));
        assert_eq!(low128(&words).cast_signed(), -256);
    }

    #[test]
    fn truncate_clears_what_is_above() {
        let mut words = [u64::MAX; 3];
        truncate(&mut words, 68);
        assert_eq!(words, [u64::MAX, 0xf, 0]);
    }
}
