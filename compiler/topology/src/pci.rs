//! PCI addresses as Linux writes them: `0000:18:00.0`.
//!
//! In: text. Out: a [`PciAddress`]. Invariants: domain, bus, device and function are in range. Functions beyond the
//! eighth carry into the device number, as they do with alternative routing-ID interpretation (PCIe 4.0 6.13).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// A PCI address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PciAddress {
    domain: u16,
    bus: u8,
    /// Device in the upper 5 bits, function in the lower 3.
    devfn: u8,
}

impl PciAddress {
    /// Returns the function that is `behind` numbers after this one; `None` past the end of the bus.
    pub fn function(self, behind: u8) -> Option<PciAddress> {
        Some(PciAddress { devfn: self.devfn.checked_add(behind)?, ..self })
    }

    /// Returns the first function of the bus, to which NCCL merges all functions of a NIC (`NCCL_IB_MERGE_VFS`).
    #[must_use]
    pub fn first_of_bus(self) -> PciAddress {
        PciAddress { devfn: 0, ..self }
    }
}

/// A text that is not a PCI address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a PCI address looks like `0000:18:00.0`: domain, bus, device, function, all hexadecimal")]
pub struct PciAddressError;

impl FromStr for PciAddress {
    type Err = PciAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = |text: &str| -> Option<PciAddress> {
            let (domain, rest) = text.split_once(':')?;
            let (bus, rest) = rest.split_once(':')?;
            let (device, function) = rest.split_once('.')?;
            let (device, function) = (hexadecimal(device, 2)?, hexadecimal(function, 1)?);
            (device < 32 && function < 8).then_some(())?;
            Some(PciAddress {
                domain: hexadecimal(domain, 4)?,
                bus: u8::try_from(hexadecimal(bus, 2)?).ok()?,
                devfn: u8::try_from(device << 3 | function).ok()?,
            })
        };
        parts(text).ok_or(PciAddressError)
    }
}

/// Reads exactly `digits` hexadecimal digits.
fn hexadecimal(text: &str, digits: usize) -> Option<u16> {
    let clean = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    clean.then(|| u16::from_str_radix(text, 16).ok()).flatten()
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PciAddress { domain, bus, devfn } = self;
        write!(f, "{domain:04x}:{bus:02x}:{:02x}.{:x}", devfn >> 3, devfn & 7)
    }
}

impl JsonSchema for PciAddress {
    fn schema_name() -> Cow<'static, str> {
        "PciAddress".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A PCI address as Linux writes it: domain, bus, device and function, as in `0000:18:00.0`",
            "pattern": "^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[01][0-9a-fA-F]\\.[0-7]$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for text in ["0000:18:00.0", "0001:ff:1f.7"] {
            assert_eq!(text.parse::<PciAddress>().unwrap().to_string(), text);
        }
        for text in ["18:00.0", "0000:18:00", "0000:18:20.0", "0000:18:00.8", "0000:118:00.0", "0000:1g:00.0"]
        {
            assert_eq!(text.parse::<PciAddress>(), Err(PciAddressError), "{text}");
        }
    }

    #[test]
    fn functions_count_on() {
        let first: PciAddress = "0000:18:00.0".parse().unwrap();
        assert_eq!(first.function(3).unwrap().to_string(), "0000:18:00.3");
        assert_eq!(first.function(8).unwrap().to_string(), "0000:18:01.0");
        let last: PciAddress = "0000:18:1f.7".parse().unwrap();
        assert_eq!(last.function(1), None);
    }
}
