//! Addresses and prefixes of either family, in one ordered space.
//!
//! In: text, or an address of the standard library. Out: [`Address`] and [`Prefix`]. Invariants: an IPv4 address is the
//! IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2). Lengths, the two halves of a cable's prefix, and longest
//! matches therefore need no separate code. Text is always in the form of the family, and a mapped address in the form
//! of IPv6 is rejected. A prefix contains only addresses of its own family.

use std::fmt;
use std::net::{AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net, PrefixLenError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bits before an IPv4 address in a mapped address.
const MAPPED_BITS: u8 = 96;

/// An address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Returns the name of the family.
    pub fn name(self) -> &'static str {
        match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        }
    }

    /// Returns the keyword in commands: `ip` or `ipv6`.
    pub fn keyword(self) -> &'static str {
        match self {
            Family::V4 => "ip",
            Family::V6 => "ipv6",
        }
    }

    /// Returns the keyword in configurations: `ipv4` or `ipv6`.
    pub fn config_keyword(self) -> &'static str {
        match self {
            Family::V4 => "ipv4",
            Family::V6 => "ipv6",
        }
    }

    /// Returns the number of bits by which a mapped prefix is longer than the prefix of the family.
    pub fn offset(self) -> u8 {
        match self {
            Family::V4 => MAPPED_BITS,
            Family::V6 => 0,
        }
    }
}

/// An address of either family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(Ipv6Addr);

impl Address {
    /// The unspecified address of IPv6.
    pub const UNSPECIFIED: Address = Address(Ipv6Addr::UNSPECIFIED);

    /// Returns the family of the address.
    pub fn family(self) -> Family {
        if u128::from(self.0) >> 32 == 0xffff { Family::V4 } else { Family::V6 }
    }

    /// Returns the IPv6 address; for IPv4, the mapped one.
    pub fn to_ipv6(self) -> Ipv6Addr {
        self.0
    }

    /// Returns the address in the type of its family.
    pub fn ip(self) -> IpAddr {
        match self.0.to_ipv4_mapped() {
            Some(address) => IpAddr::V4(address),
            None => IpAddr::V6(self.0),
        }
    }

    /// Returns the bytes of the address; for IPv4, those of the mapped address.
    pub fn octets(self) -> [u8; 16] {
        self.0.octets()
    }

    /// Returns the 16-bit segments of the address; for IPv4, those of the mapped address.
    pub fn segments(self) -> [u16; 8] {
        self.0.segments()
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Ipv6Addr> for Address {
    fn from(address: Ipv6Addr) -> Self {
        Address(address)
    }
}

impl From<Ipv4Addr> for Address {
    fn from(address: Ipv4Addr) -> Self {
        Address(address.to_ipv6_mapped())
    }
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => address.into(),
        }
    }
}

impl From<[u8; 16]> for Address {
    fn from(octets: [u8; 16]) -> Self {
        Address(octets.into())
    }
}

impl From<u128> for Address {
    fn from(bits: u128) -> Self {
        Address(bits.into())
    }
}

impl From<Address> for u128 {
    fn from(address: Address) -> Self {
        address.0.into()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.to_ipv4_mapped() {
            Some(address) => address.fmt(f),
            None => self.0.fmt(f),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Address {
    type Err = AddrParseError;

    fn from_str(text: &str) -> Result<Self, AddrParseError> {
        match text.parse()? {
            // An IPv4 address must not be written in its mapped form.
            IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => {
                Err(text.parse::<Ipv4Addr>().expect_err("text of an IPv6 address is not one of IPv4"))
            }
            address => Ok(address.into()),
        }
    }
}

/// A prefix of either family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Prefix(Ipv6Net);

impl Prefix {
    /// Creates a prefix. Address and length are those of IPv6; for IPv4, those of the mapped prefix.
    pub fn new(address: Address, length: u8) -> Result<Prefix, PrefixLenError> {
        Ipv6Net::new(address.0, length).map(Prefix)
    }

    /// Creates a prefix, as [`Prefix::new`]. Panics if the length exceeds 128.
    pub fn new_assert(address: impl Into<Address>, length: u8) -> Prefix {
        Prefix(Ipv6Net::new_assert(address.into().0, length))
    }

    /// Returns the family of the prefix.
    pub fn family(self) -> Family {
        if self.0.prefix_len() < MAPPED_BITS { Family::V6 } else { self.addr().family() }
    }

    /// Returns the IPv6 prefix; for IPv4, the prefix of mapped addresses.
    pub fn to_ipv6(self) -> Ipv6Net {
        self.0
    }

    /// Returns the address of the prefix as written, which may have bits after the length.
    pub fn addr(&self) -> Address {
        Address(self.0.addr())
    }

    /// Returns the first address of the prefix.
    pub fn network(&self) -> Address {
        Address(self.0.network())
    }

    /// Returns the last address of the prefix.
    pub fn broadcast(&self) -> Address {
        Address(self.0.broadcast())
    }

    /// Returns the length of the prefix; for IPv4, that of the mapped prefix.
    pub fn prefix_len(&self) -> u8 {
        self.0.prefix_len()
    }

    /// Returns the length of the prefix in its own family.
    pub fn length(&self) -> u8 {
        self.0.prefix_len() - self.family().offset()
    }

    /// Returns the prefix with the bits after its length set to zero.
    #[must_use]
    pub fn trunc(&self) -> Prefix {
        Prefix(self.0.trunc())
    }

    /// Returns whether the prefix contains an address or a complete prefix of the same family.
    pub fn contains<T: Copy + Into<Prefix>>(&self, other: &T) -> bool {
        let other: Prefix = (*other).into();
        self.0.contains(&other.0) && (self.0.prefix_len() >= MAPPED_BITS || self.family() == other.family())
    }
}

impl From<Address> for Prefix {
    fn from(address: Address) -> Self {
        Prefix(address.0.into())
    }
}

impl From<Ipv6Net> for Prefix {
    fn from(net: Ipv6Net) -> Self {
        Prefix(net)
    }
}

impl From<Ipv4Net> for Prefix {
    fn from(net: Ipv4Net) -> Self {
        Prefix::new_assert(net.addr(), net.prefix_len() + MAPPED_BITS)
    }
}

impl From<IpNet> for Prefix {
    fn from(net: IpNet) -> Self {
        match net {
            IpNet::V4(net) => net.into(),
            IpNet::V6(net) => net.into(),
        }
    }
}

impl From<Prefix> for IpNet {
    fn from(prefix: Prefix) -> Self {
        IpNet::new_assert(prefix.addr().ip(), prefix.length())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.family() {
            Family::V4 => write!(f, "{}/{}", self.addr(), self.length()),
            Family::V6 => self.0.fmt(f),
        }
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Prefix {
    type Err = ipnet::AddrParseError;

    fn from_str(text: &str) -> Result<Self, ipnet::AddrParseError> {
        let prefix = Prefix::from(text.parse::<IpNet>()?);
        let is_mapped = prefix.family() == Family::V4 && text.contains(':');
        if is_mapped {
            Err("".parse::<IpNet>().expect_err("an empty text is not a prefix"))
        } else {
            Ok(prefix)
        }
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

// Digests of fabric files cover the binary form, which must stay that of the IPv6 prefix.
impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        text.parse().expect("a prefix")
    }

    #[test]
    fn text_is_that_of_the_family() {
        for text in ["10.0.0.1", "0.0.0.0", "fd00::1", "::", "::1"] {
            assert_eq!(text.parse::<Address>().expect("an address").to_string(), text);
        }
        for text in ["10.0.0.0/8", "0.0.0.0/0", "10.0.0.1/32", "::/0", "fd00::/48"] {
            assert_eq!(prefix(text).to_string(), text);
        }
        assert!("::ffff:10.0.0.1".parse::<Address>().is_err());
        assert!("::ffff:10.0.0.0/104".parse::<Prefix>().is_err());
    }

    #[test]
    fn lengths_have_a_form_of_the_family() {
        let net = prefix("10.1.0.0/16");
        assert_eq!((net.prefix_len(), net.length(), net.family()), (112, 16, Family::V4));
    }

    #[test]
    fn a_prefix_holds_its_own_family() {
        assert!(prefix("10.0.0.0/8").contains(&prefix("10.1.0.0/16")));
        assert!(prefix("0.0.0.0/0").contains(&prefix("10.1.0.0/16")));
        assert!(!prefix("::/0").contains(&prefix("10.1.0.0/16")));
        assert!(prefix("::/0").contains(&prefix("fd00::/8").addr()));
    }
}
