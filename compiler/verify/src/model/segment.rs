//! Segments: uSIDs, their block, and the division of their 16 bits into fields.

use std::fmt;
use std::num::NonZeroU16;

use closc_artefacts::path_table;
use closc_artefacts::{Address, Prefix};

/// A 16-bit micro segment identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Usid(pub(crate) u16);

impl fmt::Display for Usid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.0)
    }
}

/// The largest uSID of the Global Identifiers Block (GIB) that targets agree on (RFC 9800; IOS XR and EOS:
/// 0x0001-0xDFFF).
pub(crate) const GIB_MAX: u16 = 0xdfff;

/// Maximum number of planes of a fabric.
const PLANES_MAX: u8 = 16;

/// Number of uSIDs after the block in an address.
pub(crate) const SLOTS: usize = 6;

/// A tier of switches, counted from the NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Tier {
    /// First switch above the NICs.
    T0,
    /// Second tier.
    T1,
    /// Third tier.
    T2,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tier::T0 => "T0",
            Tier::T1 => "T1",
            Tier::T2 => "T2",
        })
    }
}

/// Layout of uSIDs, from the path tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Planes of the fabric.
    pub(crate) planes: u8,
    /// Whether every plane has its own block.
    pub(crate) in_block: bool,
    /// The block of plane 0.
    first_block: Prefix,
    pub(crate) role_bits: u8,
    pub(crate) plane_bits: u8,
    pub(crate) zone_bits: u8,
    pub(crate) index_bits: u8,
    pub(crate) roles: Roles,
    pub(crate) parallel_t0_t1: u16,
    pub(crate) parallel_t1_t2: u16,
    pub(crate) usids_per_t1: u16,
    pub(crate) t2_step: Option<u16>,
    pub(crate) t2_row: Option<u16>,
    pub(crate) t2_rows: Option<u16>,
}

/// The code of each role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) t0: u16,
    pub(crate) t1: u16,
    pub(crate) nic: u16,
    pub(crate) t2: u16,
}

impl Layout {
    /// Creates the layout from the values in a path table, and the number of planes.
    pub(crate) fn new(stated: path_table::Segments, planes: usize) -> Layout {
        let path_table::Roles { t0, t1, nic, t2 } = stated.roles;
        Layout {
            planes: planes as u8,
            in_block: stated.plan.is_some(),
            first_block: stated.block.into(),
            role_bits: stated.role_bits,
            plane_bits: stated.plane_bits,
            zone_bits: stated.zone_bits,
            index_bits: stated.index_bits,
            roles: Roles { t0, t1, nic, t2 },
            parallel_t0_t1: stated.parallel_t0_t1,
            parallel_t1_t2: stated.parallel_t1_t2,
            usids_per_t1: stated.usids_per_t1,
            t2_step: stated.t2_step,
            t2_row: stated.t2_row,
            t2_rows: stated.t2_rows.map(NonZeroU16::get),
        }
    }
}

impl Layout {
    /// Returns whether the widths fit into 16 bits, the block is a /32, and at most one of uSIDs and block contains the
    /// plane. All other methods require this.
    pub(crate) fn fits(&self) -> bool {
        let widths = [self.role_bits, self.plane_bits, self.zone_bits, self.index_bits];
        let once = !self.in_block || self.plane_bits == 0;
        widths.into_iter().map(u32::from).sum::<u32>() <= 16 && self.first_block.prefix_len() == 32 && once
    }

    /// Returns the block of a plane.
    pub(crate) fn block(&self, plane: u8) -> Prefix {
        let number = if self.in_block { u128::from(plane) } else { 0 };
        let bits = u128::from(self.first_block.network()).wrapping_add(number << 96);
        Prefix::new_assert(Address::from(bits), 32)
    }

    /// Returns the blocks of all planes, without duplicates.
    pub(crate) fn blocks(&self) -> Vec<Prefix> {
        let mut blocks: Vec<Prefix> = (0..self.planes).map(|plane| self.block(plane)).collect();
        blocks.dedup();
        blocks
    }

    /// Formats the blocks of all planes for messages.
    pub(crate) fn format_blocks(&self) -> String {
        let blocks: Vec<String> = self.blocks().iter().map(|block| format!("`{block}`")).collect();
        blocks.join(", ")
    }

    /// Returns whether a uSID can belong to a plane. If the block contains the plane, every uSID can.
    pub(crate) fn is_of_plane(&self, usid: Usid, plane: u8) -> bool {
        self.in_block || self.plane(usid) == u16::from(plane)
    }

    /// Returns the row of a T1, by its index in the zone.
    pub(crate) fn row_of(&self, t1: u16) -> u16 {
        self.t2_rows.and_then(|rows| t1.checked_rem(rows)).unwrap_or(t1)
    }

    /// Returns the number of bits below the plane bits of a uSID.
    pub(crate) fn plane_shift(&self) -> u32 {
        u32::from(self.zone_bits) + u32::from(self.index_bits)
    }

    /// Returns the plane bits of a uSID.
    pub(crate) fn plane(&self, usid: Usid) -> u16 {
        (u32::from(usid.0) >> self.plane_shift()) as u16 & low_bits(u32::from(self.plane_bits))
    }

    /// Returns the role bits of a uSID.
    pub(crate) fn role(&self, usid: Usid) -> u16 {
        (u32::from(usid.0) >> (self.plane_shift() + u32::from(self.plane_bits))) as u16
    }

    /// Returns a uSID without its plane bits, which is the same in all planes.
    pub(crate) fn strip_plane(&self, usid: Usid) -> Usid {
        let mask = (u32::from(low_bits(u32::from(self.plane_bits))) << self.plane_shift()) as u16;
        Usid(usid.0 & !mask)
    }

    /// Returns the role code of switches of a tier.
    pub(crate) fn code(&self, tier: Tier) -> u16 {
        match tier {
            Tier::T0 => self.roles.t0,
            Tier::T1 => self.roles.t1,
            Tier::T2 => self.roles.t2,
        }
    }

    /// Returns the tier of a switch's uSID; `None` if the role is that of a NIC or unknown.
    pub(crate) fn tier(&self, usid: Usid) -> Option<Tier> {
        [Tier::T0, Tier::T1, Tier::T2].into_iter().find(|tier| self.code(*tier) == self.role(usid))
    }

    /// Returns the uSID composed of a role, a plane and the bits below; `None` if they do not fit.
    fn compose(&self, role: u16, plane: u8, below: u32) -> Option<Usid> {
        // If the block contains the plane, uSIDs have no bits for it.
        let plane = if self.in_block { 0 } else { plane };
        let high = u64::from(role) << self.plane_bits | u64::from(plane);
        let fits = below < 1 << self.plane_shift() && u32::from(plane) < 1 << self.plane_bits;
        u16::try_from(high << self.plane_shift() | u64::from(below)).ok().filter(|_| fits).map(Usid)
    }

    /// Returns the uSID of a T0 for the parallel cable number `cable`.
    pub(crate) fn t0(&self, plane: u8, zone: u16, group: u16, cable: u16) -> Option<Usid> {
        let index = u32::from(group) * u32::from(self.parallel_t0_t1.max(1)) + u32::from(cable) + 1;
        self.zone_usid(self.roles.t0, plane, zone, index)
    }

    /// Returns the uSID of a T1 for the parallel cable number `cable`.
    pub(crate) fn t1(&self, plane: u8, zone: u16, row: u16, cable: u16) -> Option<Usid> {
        let index = u32::from(row) * u32::from(self.usids_per_t1.max(1)) + u32::from(cable) + 1;
        self.zone_usid(self.roles.t1, plane, zone, index)
    }

    /// Returns the uSID of a T2 for the parallel cable number `cable`. `before` is the index of the T2's
    /// first uSID, minus one.
    pub(crate) fn t2(&self, plane: u8, before: u32, cable: u16) -> Option<Usid> {
        self.compose(self.roles.t2, plane, before + u32::from(cable) + 1)
    }

    /// Returns the uSID of the NIC on a downlink.
    pub(crate) fn nic(&self, plane: u8, downlink: u16) -> Option<Usid> {
        self.compose(self.roles.nic, plane, u32::from(downlink) + 1)
    }

    fn zone_usid(&self, role: u16, plane: u8, zone: u16, index: u32) -> Option<Usid> {
        let fits = index < 1 << self.index_bits && u32::from(zone) < 1 << self.zone_bits;
        self.compose(role, plane, u32::from(zone) << self.index_bits | index).filter(|_| fits)
    }

    /// Returns the /48 that consists of the block of a plane and a uSID.
    pub(crate) fn prefix(&self, plane: u8, usid: Usid) -> Prefix {
        let bits = u128::from(self.block(plane).network()) | u128::from(usid.0) << 80;
        Prefix::new_assert(Address::from(bits), 48)
    }

    /// Returns the uSID of a /48 in the block of a plane.
    pub(crate) fn usid(&self, plane: u8, prefix: Prefix) -> Option<Usid> {
        let bits = u128::from(prefix.network());
        let inside = self.contains(plane, prefix.network()) && prefix.prefix_len() == 48;
        inside.then_some(Usid((bits >> 80) as u16))
    }

    /// Returns whether an address is in the block of a plane.
    pub(crate) fn contains(&self, plane: u8, address: Address) -> bool {
        self.block(plane).contains(&address)
    }

    /// Returns the block that contains an address. This includes the blocks of planes that the fabric may get later.
    pub(crate) fn block_around(&self, address: Address) -> Option<Prefix> {
        (0..PLANES_MAX).map(|plane| self.block(plane)).find(|block| block.contains(&address))
    }
}

fn low_bits(bits: u32) -> u16 {
    ((1u32 << bits.min(16)) - 1) as u16
}

/// Returns the six uSIDs of an address after a 32-bit block.
pub(crate) fn slots(address: Address) -> [Usid; SLOTS] {
    let segments = address.segments();
    std::array::from_fn(|at| Usid(segments[at + 2]))
}

/// Returns an address without its first uSID and with the others moved up, as by a uN (RFC 9800 section
/// 4.1.1).
pub(crate) fn shift_usids(address: Address) -> Address {
    let bits = u128::from(address);
    Address::from((bits >> 96) << 96 | (bits & ((1 << 80) - 1)) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout {
            planes: 8,
            in_block: false,
            first_block: "fcbb:bbbb::/32".parse().unwrap(),
            role_bits: 2,
            plane_bits: 3,
            zone_bits: 0,
            index_bits: 11,
            roles: Roles { t0: 0, t1: 1, nic: 2, t2: 3 },
            parallel_t0_t1: 1,
            parallel_t1_t2: 1,
            usids_per_t1: 1,
            t2_step: None,
            t2_row: None,
            t2_rows: None,
        }
    }

    /// If the block contains the plane, uSIDs are equal in all planes, and only the block distinguishes them.
    #[test]
    fn a_block_says_the_plane() {
        let layout = Layout { in_block: true, plane_bits: 0, index_bits: 14, ..layout() };
        assert!(layout.fits() && !Layout { plane_bits: 1, index_bits: 13, ..layout }.fits());
        let usid = layout.t1(3, 0, 1, 0).unwrap();
        assert_eq!((usid, layout.t1(0, 0, 1, 0).unwrap()), (Usid(0x4002), Usid(0x4002)));
        assert_eq!(layout.prefix(3, usid).to_string(), "fcbb:bbbe:4002::/48");
        assert_eq!(layout.usid(3, layout.prefix(3, usid)), Some(usid));
        assert_eq!(layout.usid(2, layout.prefix(3, usid)), None);
        assert!(layout.block_around("fcbb:bbca::1".parse().unwrap()).is_some());
        assert!(layout.block_around("fcbb:bbcb::1".parse().unwrap()).is_none());
        assert_eq!(layout.blocks().len(), 8);
    }

    /// The worked example of a fabric with two tiers: plane 3, T0 1, T1 2, T0 4, downlink 2.
    #[test]
    fn a_list_is_read_field_by_field() {
        let address: Address = "fcbb:bbbb:1801:5802:1804:9802::".parse().unwrap();
        let slots = slots(address);
        assert_eq!(slots[3].to_string(), "9802");
        assert!(slots[..4].iter().all(|usid| layout().plane(*usid) == 3));
        assert_eq!(slots[..4].iter().map(|u| layout().role(*u)).collect::<Vec<_>>(), [0, 1, 0, 2]);
        assert_eq!(layout().strip_plane(slots[1]), Usid(0x4002));
        assert_eq!(layout().tier(slots[1]), Some(Tier::T1));
        assert_eq!(layout().tier(slots[3]), None);
        assert_eq!(shift_usids(address).to_string(), "fcbb:bbbb:5802:1804:9802::");
        assert_eq!(layout().prefix(3, slots[0]).to_string(), "fcbb:bbbb:1801::/48");
        assert_eq!(layout().usid(3, layout().prefix(3, slots[0])), Some(slots[0]));
        let composed =
            [layout().t0(3, 0, 0, 0), layout().t1(3, 0, 1, 0), layout().t0(3, 0, 3, 0), layout().nic(3, 1)];
        assert_eq!(composed.map(Option::unwrap), slots[..4]);
        assert_eq!(layout().t0(3, 0, 2047, 0), None, "index 2048 does not fit 11 bits");
        assert_eq!(layout().t0(3, 1, 0, 0), None, "there are no bits for a zone");
    }
}
