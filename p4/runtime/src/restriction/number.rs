//! Signed integers of any size.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::value::bits;

/// A signed integer: its absolute value as big-endian bytes without leading zeros, and its sign. 0 has no bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Number<'n> {
    negative: bool,
    bytes: Cow<'n, [u8]>,
}

fn trim(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

impl<'n> Number<'n> {
    /// Reads big-endian bytes.
    pub(super) fn from_bytes(bytes: &'n [u8]) -> Self {
        Number { negative: false, bytes: Cow::Borrowed(trim(bytes)) }
    }

    /// Returns a number that owns its bytes.
    pub(super) fn into_owned(self) -> Number<'static> {
        Number { negative: self.negative, bytes: Cow::Owned(self.bytes.into_owned()) }
    }

    /// Returns the number with the other sign.
    pub(super) fn negate(mut self) -> Self {
        self.negative = !self.negative && !self.bytes.is_empty();
        self
    }

    /// Returns the number modulo 2^width.
    pub(super) fn wrap(self, width: u32) -> Self {
        if !self.negative && (self.bytes.is_empty() || bits::significant(&self.bytes) <= u64::from(width)) {
            return self;
        }
        let mut bytes = low_bits(&self.bytes, width);
        if self.negative {
            // Two's complement: all bits are inverted, and one is added.
            for byte in &mut bytes {
                *byte = !*byte;
            }
            for byte in bytes.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
            bytes = low_bits(&bytes, width);
        }
        Number { negative: false, bytes: Cow::Owned(trim(&bytes).to_vec()) }
    }

    /// Compares two numbers.
    pub(super) fn compare(&self, other: &Number<'_>) -> Ordering {
        let size = || self.bytes.len().cmp(&other.bytes.len()).then_with(|| self.bytes.cmp(&other.bytes));
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(),
            (true, true) => size().reverse(),
        }
    }
}

impl Number<'static> {
    /// Reads digits of a base; returns `None` if there is any other character.
    pub(super) fn from_digits(digits: &str, base: u32) -> Option<Self> {
        let mut bytes: Vec<u8> = Vec::new();
        for digit in digits.chars() {
            let mut carry = digit.to_digit(base)?;
            for byte in &mut bytes {
                let value = u32::from(*byte) * base + carry;
                *byte = (value & 0xff) as u8;
                carry = value >> 8;
            }
            if carry > 0 {
                bytes.push(carry as u8);
            }
        }
        bytes.reverse();
        Some(Number { negative: false, bytes: Cow::Owned(trim(&bytes).to_vec()) })
    }

    /// Returns the greatest number with `width` bits.
    pub(super) fn all_ones(width: u32) -> Self {
        Number { negative: true, bytes: Cow::Owned(vec![1]) }.wrap(width)
    }

    /// Returns -1.
    pub(super) fn minus_one() -> Self {
        Number { negative: true, bytes: Cow::Owned(vec![1]) }
    }
}

impl From<i64> for Number<'static> {
    fn from(number: i64) -> Self {
        let bytes = trim(&number.unsigned_abs().to_be_bytes()).to_vec();
        Number { negative: number < 0, bytes: Cow::Owned(bytes) }
    }
}

/// Returns the lowest `width` bits, in as many bytes as they need.
fn low_bits(bytes: &[u8], width: u32) -> Vec<u8> {
    let length = width.div_ceil(8) as usize;
    let mut low = vec![0; length];
    let kept = bytes.len().min(length);
    low[length - kept..].copy_from_slice(&bytes[bytes.len() - kept..]);
    if let (Some(first), odd @ 1..) = (low.first_mut(), width % 8) {
        *first &= (1u8 << odd) - 1;
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(value: i64) -> Number<'static> {
        value.into()
    }

    #[test]
    fn minus_one_is_the_greatest() {
        assert_eq!(number(-1).wrap(9), number(511));
        assert_eq!(number(-1).wrap(0), number(0));
        assert_eq!(Number::all_ones(16), number(65_535));
        assert_eq!(number(0).negate(), number(0));
    }

    proptest! {
        #[test]
        fn numbers_agree_with_integers(a: i64, b: i64, width in 1u32..=62) {
            prop_assert_eq!(number(a).compare(&number(b)), a.cmp(&b));
            prop_assert_eq!(number(a).wrap(width), number(a.rem_euclid(1 << width)));
            prop_assert_eq!(number(a.max(-i64::MAX)).negate(), number(-a.max(-i64::MAX)));
            let size = a.unsigned_abs() >> 1;
            for (text, base) in [(format!("{size}"), 10), (format!("{size:x}"), 16), (format!("{size:b}"), 2), (format!("{size:o}"), 8)] {
                prop_assert_eq!(Number::from_digits(&text, base), Some(number(size.cast_signed())));
            }
            let bytes = size.to_be_bytes();
            prop_assert_eq!(Number::from_bytes(&bytes), number(size.cast_signed()));
        }
    }
}
