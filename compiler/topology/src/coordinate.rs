//! Coordinates: the position of an element in the fabric, and nothing else about it.
//!
//! Every name, address and uSID is a function of a coordinate, so that growth renumbers nothing. Indices count from 0
//! here. Names of devices, uSIDs and addresses count from 1 ([`Switch::ordinal`], [`Nic::ordinal`]). Planes and zones
//! count from 0, like NIC ports and PCI functions.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A plane: one of the parallel networks. Each NIC has one port in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct PlaneId(pub u8);

/// A zone: a Clos of T0s and T1s in every plane. Fabrics of two tiers have only zone 0, unless zones are planes by NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct ZoneId(pub u16);

/// A tier of switches, counted from the NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum TierId {
    /// First switch above the NICs (leaf, rack switch).
    T0,
    /// Second tier (spine).
    T1,
    /// Third tier, above the zones (super-spine, aggregation).
    T2,
}

impl TierId {
    /// All tiers from the NICs upwards.
    pub const ALL: [TierId; 3] = [TierId::T0, TierId::T1, TierId::T2];

    /// Returns the word used in YAML, names and messages.
    pub fn keyword(self) -> &'static str {
        match self {
            TierId::T0 => "t0",
            TierId::T1 => "t1",
            TierId::T2 => "t2",
        }
    }

    /// Returns the tier as it is written in sentences.
    pub fn label(self) -> &'static str {
        match self {
            TierId::T0 => "T0",
            TierId::T1 => "T1",
            TierId::T2 => "T2",
        }
    }

    /// Returns 0, 1 or 2.
    pub fn level(self) -> u8 {
        match self {
            TierId::T0 => 0,
            TierId::T1 => 1,
            TierId::T2 => 2,
        }
    }
}

/// A switch. The derived order is the order of all lists: plane by plane, tier by tier, zone by zone. T2s have zone
/// 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Switch {
    /// The plane it belongs to.
    pub plane: PlaneId,
    /// Its tier.
    pub tier: TierId,
    /// Its zone; 0 for a T2.
    pub zone: ZoneId,
    /// Its index in (plane, tier, zone), from 0. For a T0 this is the T0 group.
    pub index: u16,
}

impl Switch {
    /// Returns the index as names and uSIDs count it, from 1.
    pub fn ordinal(self) -> u16 {
        self.index + 1
    }
}

/// A NIC. It has one port in every plane, and the same downlink number on all T0s of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Nic {
    /// The zone of its T0s.
    pub zone: ZoneId,
    /// Its T0 group: the T0 of this index in every plane.
    pub group: u16,
    /// Its downlink on each of those T0s, from 0.
    pub downlink: u16,
}

impl Nic {
    /// Returns the downlink as uSIDs count it, from 1.
    pub fn ordinal(self) -> u16 {
        self.downlink + 1
    }

    /// Returns the T0 that serves this NIC in a plane.
    pub fn t0(self, plane: PlaneId) -> Switch {
        Switch { plane, tier: TierId::T0, zone: self.zone, index: self.group }
    }
}

/// A node (server). Its NICs are distributed over the rails of its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Node {
    /// The zone of its T0 groups; the first one if they are in several.
    pub zone: ZoneId,
    /// Its unit, from 0. A unit has as many consecutive T0 groups as there are rails in a zone.
    pub unit: u16,
    /// Its index in the unit, from 0.
    pub index: u16,
}

/// A port of a NIC: the one that belongs to a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct NicPort {
    /// The plane, which is also the number of the port on the NIC.
    pub plane: PlaneId,
    /// The NIC.
    pub nic: Nic,
}

/// A cable, named by its lower end. The port number at that end determines the upper end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Link {
    /// NIC port to T0 downlink.
    Host(NicPort),
    /// Uplink `up` (from 0) of a T0 or T1.
    Fabric {
        /// The lower switch.
        lower: Switch,
        /// Its uplink, from 0.
        up: u16,
    },
}

impl Link {
    /// Returns the plane the cable belongs to.
    pub fn plane(self) -> PlaneId {
        match self {
            Link::Host(port) => port.plane,
            Link::Fabric { lower, .. } => lower.plane,
        }
    }
}

/// Element that a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Subject {
    /// `plane 3`.
    Plane(PlaneId),
    /// A switch.
    Switch(Switch),
    /// A node.
    Node(Node),
    /// A NIC.
    Nic(Nic),
    /// A cable. A host cable is named by its NIC port.
    Link(Link),
}

/// Whether a port faces the NICs or the tier above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Towards the NICs.
    Down,
    /// Towards the tier above.
    Up,
}

/// A port of a switch by its role: `Down 3` or `Up 0`, from 0. The platform turns it into a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortRef {
    /// Which block of ports.
    pub side: Side,
    /// Index in the block, from 0.
    pub index: u16,
}

impl fmt::Display for PlaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for ZoneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for TierId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}
