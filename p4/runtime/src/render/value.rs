//! Shows values to people: addresses in their usual form, small numbers in decimal, other values in hexadecimal.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::proto::v1;
use crate::value::Width;
use v1::p4_data::Data as Case;
use v1::replica::PortKind;

/// A value of a field or parameter.
pub(super) struct DisplayValue<'a> {
    /// Name and width, if known.
    pub(super) type_of: Option<(&'a str, Width)>,
    pub(super) value: &'a [u8],
}

impl fmt::Display for DisplayValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((name, width)) = self.type_of else { return Hex(self.value).fmt(f) };
        if width == Width::Text {
            return write!(f, "{:?}", String::from_utf8_lossy(self.value));
        }
        let Ok(number) = width.decode(self.value) else { return Hex(self.value).fmt(f) };
        match width.bits() {
            128 => Ipv6Addr::from_bits(number).fmt(f),
            48 => {
                let [_, _, first, rest @ ..] = (number as u64).to_be_bytes();
                write!(f, "{first:02x}")?;
                rest.iter().try_for_each(|byte| write!(f, ":{byte:02x}"))
            }
            32 if names_ipv4(name) => Ipv4Addr::from_bits(number as u32).fmt(f),
            ..=64 => number.fmt(f),
            _ => write!(f, "0x{number:x}"),
        }
    }
}

/// Returns whether the name of a 32-bit field suggests an IPv4 address.
fn names_ipv4(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.contains("addr") || last.contains("ip") || name.contains("ipv4")
}

/// Bytes of an unknown type.
pub(super) struct Hex<'a>(pub(super) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The port of a replica, and whether ports are text.
pub(super) struct Port<'a>(pub(super) &'a v1::Replica, pub(super) bool);

impl fmt::Display for Port<'_> {
    #[expect(deprecated, reason = "older targets still return ports by number")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.port_kind {
            None => f.write_str("?"),
            Some(PortKind::EgressPort(port)) => port.fmt(f),
            Some(PortKind::Port(port)) if self.1 => write!(f, "{:?}", String::from_utf8_lossy(port)),
            Some(PortKind::Port(port)) => match Width::Bits(64).decode(port) {
                Ok(number) => number.fmt(f),
                Err(_) => Hex(port).fmt(f),
            },
        }
    }
}

/// A value of a register or digest.
pub(super) struct Data<'a>(pub(super) &'a v1::P4Data);

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.data.as_ref() {
            None => f.write_str("?"),
            Some(Case::Bitstring(bytes) | Case::EnumValue(bytes)) => Hex(bytes).fmt(f),
            Some(Case::Varbit(varbit)) => Hex(&varbit.bitstring).fmt(f),
            Some(Case::Bool(value)) => value.fmt(f),
            Some(Case::Tuple(parts) | Case::Struct(parts)) => list(f, parts.members.iter().map(Data)),
            Some(Case::Header(header)) => list(f, header.bitstrings.iter().map(|bytes| Hex(bytes))),
            Some(Case::Enum(name) | Case::Error(name)) => f.write_str(name),
            Some(Case::HeaderUnion(union)) => f.write_str(&union.valid_header_name),
            Some(Case::HeaderStack(stack)) => write!(f, "{} headers", stack.entries.len()),
            Some(Case::HeaderUnionStack(stack)) => write!(f, "{} header unions", stack.entries.len()),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, parts: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    f.write_str("{")?;
    for (position, part) in parts.enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        write!(f, "{comma}{part}")?;
    }
    f.write_str("}")
}
