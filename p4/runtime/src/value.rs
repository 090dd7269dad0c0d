//! Values in the encoding of P4Runtime: numbers of any width as byte strings, big-endian, in the shortest form.
//!
//! A caller gives a [`Value`]. A [`Width`] from P4Info converts it to the canonical byte string, or returns an error if
//! it does not fit. Values from a target may have leading zeros, which are removed.

pub mod bits;
mod error;
mod signed;

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub use error::ValueError;
pub use signed::{check_signed, decode_signed, encode_signed};

/// A value of a field or a parameter from a caller, before its width is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number of at most 128 bits.
    Number(u128),
    /// A number of any size, big-endian.
    Bytes(Cow<'a, [u8]>),
    /// A string, for types that the controller sees as text.
    Text(Cow<'a, str>),
}

impl<'a> Value<'a> {
    /// Parses a number (`7`, `0x07`) or an IPv4, IPv6 or MAC address. Any other text is kept as text.
    pub fn parse(text: &'a str) -> Self {
        if let Ok(address) = text.parse::<IpAddr>() {
            return address.into();
        }
        if let Some(mac) = parse_mac(text) {
            return mac.into();
        }
        let number = match text.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        };
        match number {
            Some(number) => Value::Number(number),
            None => Value::Text(Cow::Borrowed(text)),
        }
    }
}

fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part = parts.next().filter(|part| part.len() == 2)?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

macro_rules! from_number {
    ($($number:ty),+) => {$(
        impl From<$number> for Value<'_> {
            fn from(number: $number) -> Self {
                Value::Number(number.into())
            }
        }
    )+};
}
from_number!(u8, u16, u32, u64, u128, bool);

impl From<Ipv4Addr> for Value<'_> {
    fn from(address: Ipv4Addr) -> Self {
        Value::Number(address.to_bits().into())
    }
}

impl From<Ipv6Addr> for Value<'_> {
    fn from(address: Ipv6Addr) -> Self {
        Value::Number(address.to_bits())
    }
}

impl From<IpAddr> for Value<'_> {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => address.into(),
        }
    }
}

/// A MAC address.
impl From<[u8; 6]> for Value<'_> {
    fn from(mac: [u8; 6]) -> Self {
        Value::Number(mac.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(Cow::Owned(bytes))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

/// Width of a field, a parameter or a metadata field for the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// An unsigned number of this many bits, at least one.
    Bits(u32),
    /// A string, translated by the target.
    Text,
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Width::Bits(bits) => write!(f, "bit<{bits}>"),
            Width::Text => f.write_str("string"),
        }
    }
}

impl Width {
    /// Encodes a value in the canonical form.
    pub fn encode(self, value: &Value<'_>) -> Result<Vec<u8>, ValueError> {
        match (self, value) {
            (Width::Bits(_), Value::Number(number)) => {
                self.canonical(&number.to_be_bytes()).map(<[u8]>::to_vec)
            }
            (Width::Bits(bits), Value::Text(text)) => {
                Err(ValueError::WantsNumber { text: text.to_string(), width: bits })
            }
            (Width::Text, Value::Number(number)) => Err(ValueError::WantsText { number: *number }),
            (Width::Text, Value::Text(text)) => self.canonical(text.as_bytes()).map(<[u8]>::to_vec),
            (Width::Bits(_) | Width::Text, Value::Bytes(bytes)) => self.canonical(bytes).map(<[u8]>::to_vec),
        }
    }

    /// Returns the canonical part of a byte string, or an error if it is not a value of this width.
    pub fn canonical(self, bytes: &[u8]) -> Result<&[u8], ValueError> {
        match self {
            // The empty string is valid: P4 programs use it as the name of a default.
            Width::Text => Ok(bytes),
            Width::Bits(_) if bytes.is_empty() => Err(ValueError::Empty),
            Width::Bits(width) => {
                let needed = bits::significant(bytes);
                if needed > u64::from(width) {
                    return Err(ValueError::TooWide { needed, width });
                }
                Ok(bits::strip(bytes))
            }
        }
    }

    /// Reads a byte string as a number; fails if it exceeds the width or 128 bits.
    pub fn decode(self, bytes: &[u8]) -> Result<u128, ValueError> {
        let bytes = self.canonical(bytes)?;
        if bytes.len() > 16 {
            return Err(ValueError::TooWide { needed: bits::significant(bytes), width: 128 });
        }
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }

    /// Returns the number of bits, 0 for a string.
    pub fn bits(self) -> u32 {
        match self {
            Width::Bits(bits) => bits,
            Width::Text => 0,
        }
    }
}

/// Encodes a number in the canonical form, for any width.
pub fn encode_number(number: u128) -> Vec<u8> {
    bits::strip(&number.to_be_bytes()).to_vec()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The examples of the P4Runtime specification, section "Bytestrings".
    #[test]
    fn the_examples_of_the_specification_are_read() {
        let valid: [(u32, &[u8], u128); 6] = [
            (8, b"\x63", 0x63),
            (16, b"\x00\x63", 0x63),
            (16, b"\x30\x64", 12388),
            (16, b"\x00\x30\x64", 12388),
            (12, b"\x00\x63", 0x63),
            (12, b"\x00\x00\x63", 0x63),
        ];
        for (width, bytes, number) in valid {
            assert_eq!(Width::Bits(width).decode(bytes), Ok(number));
        }
        let invalid: [(u32, &[u8]); 6] = [
            (8, b"\x01\x63"),
            (8, b""),
            (16, b"\x01\x00\x63"),
            (12, b"\x10\x63"),
            (12, b"\x01\x00\x63"),
            (12, b"\x00\x40\x63"),
        ];
        for (width, bytes) in invalid {
            assert!(Width::Bits(width).decode(bytes).is_err(), "bit<{width}> {bytes:x?}");
        }
    }

    #[test]
    fn addresses_are_numbers() {
        let ip: Ipv6Addr = "fcbb:bbbb:1801::".parse().expect("an address");
        let bytes = Width::Bits(128).encode(&ip.into()).expect("an address fits 128 bits");
        assert_eq!(bytes, ip.octets());
        assert_eq!(Value::parse("fcbb:bbbb:1801::"), ip.into());
        assert_eq!(Value::parse("00:00:00:00:01:02"), Value::Number(0x102));
        assert_eq!(Value::parse("10.0.0.1"), Value::Number(0x0a00_0001));
        assert_eq!(Value::parse("0x1f"), Value::Number(31));
        assert_eq!(Value::parse("Ethernet0"), Value::from("Ethernet0"));
    }

    #[test]
    fn text_and_numbers_do_not_mix() {
        assert_eq!(Width::Text.encode(&"Ethernet0".into()).as_deref(), Ok(&b"Ethernet0"[..]));
        assert!(matches!(Width::Text.encode(&7u8.into()), Err(ValueError::WantsText { number: 7 })));
        assert!(matches!(Width::Bits(9).encode(&"p".into()), Err(ValueError::WantsNumber { .. })));
    }

    proptest! {
        #[test]
        fn numbers_survive_and_are_shortest(number: u128, zeros in 0usize..20) {
            let bytes = encode_number(number);
            prop_assert!(bytes.len() == 1 || bytes[0] != 0);
            prop_assert_eq!(Width::Bits(128).decode(&bytes), Ok(number));
            let mut padded = vec![0; zeros];
            padded.extend_from_slice(&bytes);
            prop_assert_eq!(Width::Bits(128).canonical(&padded), Ok(&bytes[..]));
        }

        #[test]
        fn a_width_takes_what_fits_and_nothing_else(number: u128, width in 1u32..=128) {
            let fits = width == 128 || number >> width == 0;
            prop_assert_eq!(Width::Bits(width).encode(&number.into()).is_ok(), fits);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>, width in 1u32..=4096) {
            if let Ok(canonical) = Width::Bits(width).canonical(&bytes) {
                prop_assert_eq!(Width::Bits(width).canonical(canonical), Ok(canonical));
            }
            let _ = Width::Bits(width).decode(&bytes);
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = Value::parse(&text);
        }
    }
}
