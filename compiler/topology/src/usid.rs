//! The uSID layout: how 16 bits name a role, a plane, a zone and an index.
//!
//! Invariants: a uSID is never 0x0000 (RFC 9800: end of container), because indices count from 1. It depends only on
//! the coordinate. Widths are fixed or set in the file, never fitted to the current counts.

use std::fmt;

use serde::Serialize;

use crate::choice::SegmentPlan;
use crate::coordinate::{Nic, PlaneId, Switch, TierId};

/// A 16-bit micro segment identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usid(pub u16);

impl fmt::Display for Usid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.0)
    }
}

/// The kind of element that a uSID names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A T0 (its uN).
    T0,
    /// A T1 (its uN).
    T1,
    /// A T2 (its uN).
    T2,
    /// A T0 downlink: the NIC on it.
    Nic,
}

impl Role {
    /// All roles, in the order of lists.
    pub const ALL: [Role; 4] = [Role::T0, Role::T1, Role::Nic, Role::T2];

    /// Returns the role of a tier's switches.
    pub fn of(tier: TierId) -> Role {
        match tier {
            TierId::T0 => Role::T0,
            TierId::T1 => Role::T1,
            TierId::T2 => Role::T2,
        }
    }

    /// Returns the word used in YAML.
    pub fn keyword(self) -> &'static str {
        match self {
            Role::T0 => "t0",
            Role::T1 => "t1",
            Role::T2 => "t2",
            Role::Nic => "nic",
        }
    }
}

/// The largest value of the global identifier block that all targets support (IOS XR, EOS: 0x0001-0xDFFF).
pub const GIB_MAX: u16 = 0xdfff;

/// Widths and role codes, most significant bits first: role, plane, zone, index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UsidLayout {
    /// Bits of the role code.
    pub role_bits: u8,
    /// Bits of the plane.
    pub plane_bits: u8,
    /// Bits of the zone in T0 and T1 uSIDs; NIC and T2 uSIDs use them for the index.
    pub zone_bits: u8,
    /// Bits of the index.
    pub index_bits: u8,
    /// Code of each role, by [`Role::ALL`].
    pub codes: [u16; 4],
}

impl UsidLayout {
    /// The layout of two-tier fabrics of up to 8 planes: 2 | 3 | 0 | 11.
    pub const DEFAULT: UsidLayout =
        UsidLayout { role_bits: 2, plane_bits: 3, zone_bits: 0, index_bits: 11, codes: [0, 1, 2, 3] };

    /// The layout of fabrics with a T2 tier: 2 | 3 | 3 | 8.
    pub const DEFAULT_ZONED: UsidLayout =
        UsidLayout { role_bits: 2, plane_bits: 3, zone_bits: 3, index_bits: 8, codes: [0, 1, 2, 3] };

    /// The layout of two-tier fabrics whose planes have blocks of their own: 2 | 0 | 0 | 14.
    pub(crate) const IN_BLOCK: UsidLayout =
        UsidLayout { role_bits: 2, plane_bits: 0, zone_bits: 0, index_bits: 14, codes: [0, 1, 2, 3] };

    /// The layout of fabrics with a T2 tier whose planes have blocks of their own: 2 | 0 | 4 | 10.
    pub(crate) const IN_BLOCK_ZONED: UsidLayout =
        UsidLayout { role_bits: 2, plane_bits: 0, zone_bits: 4, index_bits: 10, codes: [0, 1, 2, 3] };

    /// Returns the layout of fabrics that do not state one.
    pub(crate) fn default_of(plan: SegmentPlan, zoned: bool) -> UsidLayout {
        match (plan, zoned) {
            (SegmentPlan::PlaneInUsid, false) => UsidLayout::DEFAULT,
            (SegmentPlan::PlaneInUsid, true) => UsidLayout::DEFAULT_ZONED,
            (SegmentPlan::PlaneInBlock, false) => UsidLayout::IN_BLOCK,
            (SegmentPlan::PlaneInBlock, true) => UsidLayout::IN_BLOCK_ZONED,
        }
    }

    /// Returns the code of a role.
    pub fn code(&self, role: Role) -> u16 {
        match role {
            Role::T0 => self.codes[0],
            Role::T1 => self.codes[1],
            Role::Nic => self.codes[2],
            Role::T2 => self.codes[3],
        }
    }

    /// Returns the largest index (from 1) that a role can have.
    pub fn index_max(&self, role: Role) -> u32 {
        let bits = match role {
            Role::T0 | Role::T1 => self.index_bits,
            Role::T2 | Role::Nic => self.index_bits + self.zone_bits,
        };
        (1 << bits) - 1
    }

    /// Returns the uSID of a switch that is reached over parallel link `link` (from 0) of `parallel`. The switch has
    /// one uSID per parallel link, so that a segment list names one cable for every hop.
    pub fn switch(&self, switch: Switch, parallel: u16, link: u16) -> Usid {
        let ordinal = switch.index * parallel + link + 1;
        let zone = match switch.tier {
            TierId::T0 | TierId::T1 => switch.zone.0,
            TierId::T2 => 0,
        };
        self.compose(Role::of(switch.tier), switch.plane, zone, ordinal)
    }

    /// Returns the uSID of a NIC in a plane.
    pub fn nic(&self, plane: PlaneId, nic: Nic) -> Usid {
        self.compose(Role::Nic, plane, 0, nic.ordinal())
    }

    fn compose(&self, role: Role, plane: PlaneId, zone: u16, ordinal: u16) -> Usid {
        let low = u16::from(self.zone_bits + self.index_bits);
        // If the block contains the plane, a uSID has no bits for it.
        let plane = u16::from(plane.0) & ((1 << self.plane_bits) - 1);
        let high = self.code(role) << self.plane_bits | plane;
        Usid(high << low | zone << self.index_bits | ordinal)
    }
}
