//! A segment: a uSID in the block of its plane.
//!
//! In: an address or a prefix. Out: [`Segment`]. Invariants: if each plane has its own block, the same uSID in two
//! planes is two segments.

use std::fmt;
use std::net::Ipv6Addr;

use ipnet::Ipv6Net;

/// A segment: the first 48 bits of an address, a block of 32 and a uSID of 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(u64);

impl Segment {
    /// Returns the first segment of a list.
    pub fn of(list: Ipv6Addr) -> Segment {
        Segment((list.to_bits() >> 80) as u64)
    }

    /// Returns the segment with this block and uSID.
    pub(crate) fn from_usid(block: Ipv6Net, usid: u16) -> Segment {
        Segment((block.network().to_bits() >> 80) as u64 | u64::from(usid))
    }

    /// Returns the segment of a 48-bit key.
    pub(crate) fn of_key(key: u128) -> Segment {
        Segment(key as u64)
    }

    /// Returns its uSID.
    pub(crate) fn usid(self) -> u16 {
        self.0 as u16
    }

    /// Returns block and uSID as a prefix.
    pub fn prefix(self) -> Ipv6Net {
        Ipv6Net::new_assert((u128::from(self.0) << 80).into(), 48)
    }
}

impl fmt::Display for Segment {
    /// Writes the uSID as in path tables.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.usid())
    }
}
