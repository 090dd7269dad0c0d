//! Widths of coordinates in IPv4 addresses.
//!
//! In: hardware, counts, stated widths and the length of a pool. Out: the position of each coordinate after the
//! prefix of the pool. Invariants: planes and ports have a fixed width, which the file states or which follows from
//! the number of planes and from the hardware. Other numbers grow from the lowest bit up. Zones grow from the highest
//! bit down, with their bits mirrored (RFC 3531). So growth renumbers nothing until both meet.
//!
//! | address | bits |
//! |---|---|
//! | NIC | zone mirrored ... group from 0, downlink from 1 |
//! | switch | tier (2), plane, zone mirrored ... index from 1 |
//! | cable | kind (2), plane, zone mirrored ... lower device from 0, its port from 0, end (1): a /31 (RFC 3021) |

use crate::field;
use crate::field::Field;
use crate::widths::AddressWidths;

/// Numbers that determine the widths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ipv4Counts {
    /// Planes.
    pub(crate) planes: u64,
    /// Zones.
    pub(crate) zones: u64,
    /// T0 groups of a zone.
    pub(crate) groups: u64,
    /// Switches of the largest tier in a plane and zone.
    pub(crate) switches: u64,
    /// Ports of a T0 if all were downlinks, but at least one more than the NICs of a group, because downlinks count
    /// from 1.
    pub(crate) downlinks: u64,
    /// Ports of a T0 and of a T1 if all were uplinks.
    pub(crate) uplinks: [u64; 2],
    /// Whether switches have static routes to zones.
    pub(crate) has_zone_routes: bool,
}

/// Widths of coordinates in IPv4 addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4Widths {
    /// Bits of a plane.
    pub plane: u8,
    /// Minimum bits of zones.
    pub zone: u8,
    /// Bits of T0 groups.
    pub group: u8,
    /// Bits of the switches of a tier.
    pub switch: u8,
    /// Bits of a downlink, which counts from 1.
    pub downlink: u8,
    /// Bits of an uplink of a T0 and of a T1, which count from 0.
    pub uplinks: [u8; 2],
    /// Bits between zone and T0 group in addresses of NICs: 1 if the only group of a zone would have the prefix of the
    /// zone, although switches have different routes to both.
    pub below_zone: u8,
}

/// Bits of a tier, or of the kind of a cable.
pub(crate) const KIND_BITS: u8 = 2;

/// Bits that zones get if the pool has room for them, so that a new zone does not change the prefixes of others.
const USUAL_ZONE_BITS: u8 = 4;

impl Ipv4Widths {
    /// Computes them. A stated width that is too small counts as the smallest that fits (E0504).
    pub(crate) fn new(counts: &Ipv4Counts, stated: AddressWidths) -> Self {
        let least = Ipv4Widths::minimum(counts);
        let of = |stated: Option<u8>, least: u8| stated.map_or(least, |bits| bits.max(least));
        let [t0, t1] = least.uplinks;
        Ipv4Widths {
            plane: of(stated.plane, least.plane),
            downlink: of(stated.t0_downlink, least.downlink),
            uplinks: [of(stated.t0_uplink, t0), of(stated.t1_uplink, t1)],
            ..least
        }
    }

    /// Computes the smallest widths.
    pub(crate) fn minimum(counts: &Ipv4Counts) -> Self {
        let group = bits(counts.groups);
        Ipv4Widths {
            plane: bits(counts.planes),
            zone: bits(counts.zones),
            group,
            below_zone: u8::from(group == 0 && counts.has_zone_routes),
            switch: bits(counts.switches + 1),
            downlink: bits(counts.downlinks),
            uplinks: counts.uplinks.map(bits),
        }
    }

    /// Returns the widths that determine bit positions: those of plane, T0 downlink, T0 uplink and T1 uplink, each
    /// with the field that sets it. The other widths only bound the length of a pool.
    pub fn places(&self) -> [(Field, u8); 4] {
        let [t0, t1] = self.uplinks;
        [
            (field!("addresses.widths.plane"), self.plane),
            (field!("addresses.widths.t0_downlink"), self.downlink),
            (field!("addresses.widths.t0_uplink"), t0),
            (field!("addresses.widths.t1_uplink"), t1),
        ]
    }

    /// Returns the number of bits that addresses of NICs take.
    pub fn of_nics(&self) -> u8 {
        self.zone + self.below_zone + self.group + self.downlink
    }

    /// Returns the number of bits that addresses of switches take.
    pub fn of_switches(&self) -> u8 {
        KIND_BITS + self.plane + self.zone + self.switch
    }

    /// Returns the number of bits that addresses of cables take; cables between switches count only if they
    /// have addresses.
    pub fn of_cables(&self, between_switches: bool) -> u8 {
        let [t0, t1] = self.uplinks;
        let of_nics = self.group + self.downlink;
        let of_switches = self.switch + t0.max(t1);
        let device = if between_switches { of_nics.max(of_switches) } else { of_nics };
        KIND_BITS + self.plane + self.zone + device + 1
    }

    /// Returns the number of bits of zones in addresses of NICs; the pool leaves `pool_bits` bits for an
    /// address.
    pub fn zone_of_nics(&self, pool_bits: u8) -> u8 {
        let left = pool_bits.saturating_sub(self.downlink + self.group + self.below_zone);
        left.min(USUAL_ZONE_BITS).max(self.zone)
    }

    /// Places a mirrored zone at the upper end and a number at the lower end of `width` bits.
    pub fn place(zone: u16, number: u32, width: u8) -> u32 {
        let mirrored = u32::from(zone).reverse_bits().checked_shr(32 - u32::from(width)).unwrap_or(0);
        mirrored | number
    }

    /// Places a kind and a plane at the upper end of `width` bits.
    pub fn upper_bits(&self, kind: u32, plane: u8, width: u8) -> u32 {
        kind << (width - KIND_BITS) | u32::from(plane) << self.position(width)
    }

    /// Returns the number of bits below kind and plane.
    pub fn position(&self, width: u8) -> u8 {
        width - KIND_BITS - self.plane
    }
}

/// Returns the number of bits for numbers below a count.
fn bits(count: u64) -> u8 {
    (u64::BITS - count.saturating_sub(1).leading_zeros()) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_numbers_meet_in_the_middle() {
        let places: Vec<u32> = (0..4).map(|zone| Ipv4Widths::place(zone, 5, 8)).collect();
        assert_eq!(places, [0b0000_0101, 0b1000_0101, 0b0100_0101, 0b1100_0101]);
        assert_eq!(Ipv4Widths::place(0, 0, 0), 0);
    }

    #[test]
    fn counts_take_bits() {
        assert_eq!([1, 2, 3, 64, 65].map(bits), [0, 1, 2, 6, 7]);
    }
}
