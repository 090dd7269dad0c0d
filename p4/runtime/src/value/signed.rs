//! `int<W>` values: two's complement in the shortest form. Only registers and digests contain them.

use super::ValueError;

/// Encodes a signed number in the canonical form; fails if it does not fit `int<width>`.
pub fn encode_signed(number: i128, width: u32) -> Result<Vec<u8>, ValueError> {
    let bytes = number.to_be_bytes();
    check_signed(&bytes, width).map(<[u8]>::to_vec)
}

/// Reads a signed number of at most 128 bits; redundant sign extension is accepted.
pub fn decode_signed(bytes: &[u8], width: u32) -> Result<i128, ValueError> {
    let bytes = check_signed(bytes, width)?;
    if bytes.len() > 16 {
        return Err(ValueError::TooWide { needed: significant(bytes), width: 128 });
    }
    let fill = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
    Ok(bytes.iter().fold(fill, |number, byte| number << 8 | i128::from(*byte)))
}

/// Returns the canonical part of a byte string, or an error if it is not an `int<width>`.
pub fn check_signed(bytes: &[u8], width: u32) -> Result<&[u8], ValueError> {
    if bytes.is_empty() {
        return Err(ValueError::Empty);
    }
    let needed = significant(bytes);
    if needed > u64::from(width) {
        return Err(ValueError::TooWide { needed, width });
    }
    let used = needed.div_ceil(8) as usize;
    Ok(&bytes[bytes.len() - used..])
}

/// Counts the bits without redundant sign extension; at least one.
fn significant(bytes: &[u8]) -> u64 {
    let extension = if bytes[0] & 0x80 == 0 { 0x00 } else { 0xff };
    let skipped = bytes.iter().take_while(|byte| **byte == extension).count();
    let total = bytes.len() as u64 * 8;
    let same = match bytes.get(skipped) {
        None => total,
        Some(byte) => skipped as u64 * 8 + u64::from((byte ^ extension).leading_zeros()),
    };
    // One sign bit remains.
    (total - same + 1).min(total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The examples of the P4Runtime specification, section "Bytestrings".
    #[test]
    fn the_examples_of_the_specification_are_read() {
        assert_eq!(encode_signed(99, 8).as_deref(), Ok(&b"\x63"[..]));
        assert_eq!(encode_signed(-99, 8).as_deref(), Ok(&b"\x9d"[..]));
        assert_eq!(decode_signed(b"\xff\x9d", 8), Ok(-99));
        assert_eq!(encode_signed(-739, 12).as_deref(), Ok(&b"\xfd\x1d"[..]));
        assert_eq!(encode_signed(0, 16).as_deref(), Ok(&b"\x00"[..]));
        assert_eq!(decode_signed(b"\x00\x00", 16), Ok(0));
        assert!(decode_signed(b"\x00\x9d", 8).is_err());
        assert!(decode_signed(b"\x8d\x1d", 12).is_err());
        assert_eq!(decode_signed(b"", 16), Err(ValueError::Empty));
    }

    proptest! {
        #[test]
        fn numbers_survive(number: i128) {
            let bytes = encode_signed(number, 128).expect("128 bits hold any i128");
            prop_assert_eq!(decode_signed(&bytes, 128), Ok(number));
        }

        #[test]
        fn a_width_takes_what_fits_and_nothing_else(number in -70_000i128..70_000, width in 1u32..20) {
            let limit = 1i128 << (width - 1);
            prop_assert_eq!(encode_signed(number, width).is_ok(), (-limit..limit).contains(&number));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>, width in 1u32..4096) {
            let _ = decode_signed(&bytes, width);
        }
    }
}
