//! Arithmetic on unsigned big-endian numbers of any length, as byte strings aligned at their last byte.

use std::cmp::Ordering;

/// Drops leading zero bytes; 0 keeps one.
pub fn strip(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros.min(bytes.len().saturating_sub(1))..]
}

/// Counts the bits that the number needs; 0 needs one.
pub fn significant(bytes: &[u8]) -> u64 {
    match strip(bytes) {
        [] => 0,
        [first, rest @ ..] => (rest.len() as u64 * 8 + u64::from(8 - first.leading_zeros())).max(1),
    }
}

/// Counts the zero bits at the end, `None` for 0.
pub fn trailing_zeros(bytes: &[u8]) -> Option<u64> {
    let from_end = bytes.iter().rev().position(|byte| *byte != 0)?;
    let byte = bytes[bytes.len() - 1 - from_end];
    Some(from_end as u64 * 8 + u64::from(byte.trailing_zeros()))
}

/// Returns whether all bits after the first `prefix` of `width` bits are zero.
pub(crate) fn is_prefix(bytes: &[u8], prefix: u32, width: u32) -> bool {
    trailing_zeros(bytes).is_none_or(|zeros| zeros >= u64::from(width.saturating_sub(prefix)))
}

/// Returns whether every bit set in `value` is also set in `mask`.
pub(crate) fn is_within(value: &[u8], mask: &[u8]) -> bool {
    let mut mask = mask.iter().rev();
    value.iter().rev().all(|byte| byte & !mask.next().copied().unwrap_or(0) == 0)
}

/// Returns whether the number is 0.
pub fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Returns whether the number is the largest one of `width` bits.
pub(crate) fn is_all_ones(bytes: &[u8], width: u32) -> bool {
    let bytes = strip(bytes);
    if significant(bytes) != u64::from(width) {
        return false;
    }
    let top = width % 8;
    let first = if top == 0 { 0xff } else { (1u8 << top) - 1 };
    bytes.first() == Some(&first) && bytes[1..].iter().all(|byte| *byte == 0xff)
}

/// Compares two numbers, regardless of leading zeros.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (strip(a), strip(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// Returns `value & mask` in the canonical form.
pub fn and(value: &[u8], mask: &[u8]) -> Vec<u8> {
    let length = value.len().min(mask.len());
    let value = &value[value.len() - length..];
    let mask = &mask[mask.len() - length..];
    let both: Vec<u8> = value.iter().zip(mask).map(|(value, mask)| value & mask).collect();
    strip(&both).to_vec()
}

/// Clears every bit after the first `prefix` of `width` bits and returns the canonical form.
pub fn truncate(value: &[u8], prefix: u32, width: u32) -> Vec<u8> {
    let mut bytes = value.to_vec();
    let mut clear = width.saturating_sub(prefix) as usize;
    for byte in bytes.iter_mut().rev() {
        if clear >= 8 {
            *byte = 0;
            clear -= 8;
        } else {
            *byte &= 0xffu8 << clear;
            break;
        }
    }
    strip(&bytes).to_vec()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(bytes: &[u8]) -> u128 {
        bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    proptest! {
        #[test]
        fn bits_agree_with_integers(a: u128, b: u128, width in 1u32..=128, prefix in 0u32..=128) {
            let prefix = prefix.min(width);
            let top = if width == 128 { u128::MAX } else { (1 << width) - 1 };
            let a = a & top;
            let b = b & top;
            let bytes = a.to_be_bytes();
            let other = strip(&b.to_be_bytes()).to_vec();
            let host = if width - prefix == 128 { u128::MAX } else { (1 << (width - prefix)) - 1 };
            prop_assert_eq!(is_prefix(&bytes, prefix, width), a & host == 0);
            prop_assert_eq!(number(&truncate(&bytes, prefix, width)), a & !host);
            prop_assert_eq!(is_within(&bytes, &other), a & !b == 0);
            prop_assert_eq!(number(&and(&bytes, &other)), a & b);
            prop_assert_eq!(compare(&bytes, &other), a.cmp(&b));
            prop_assert_eq!(significant(&bytes), u64::from((128 - a.leading_zeros()).max(1)));
            prop_assert!(is_all_ones(&top.to_be_bytes(), width));
            prop_assert_eq!(is_all_ones(&bytes, width), a == top);
        }

        #[test]
        fn any_bytes_are_read_without_panic(a: Vec<u8>, b: Vec<u8>, width: u32, prefix: u32) {
            let _ = (is_prefix(&a, prefix, width), is_within(&a, &b), and(&a, &b), compare(&a, &b));
            let _ = (truncate(&a, prefix, width), is_all_ones(&a, width), is_zero(&a));
        }
    }
}
