//! Rack positions of devices: racks and units.
//!
//! In: a switch or a node. Out: its rack, and its lowest unit. Invariants: the rack is a function of position, so
//! growth does not move devices. Two devices never use the same unit.

use serde::Serialize;
use smol_str::SmolStr;

use crate::choice::Face;
use crate::coordinate::{Node, Switch, TierId};
use crate::naming::{Numbers, Pattern, Placeholder};

/// Rack positions of all kinds of devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Racks {
    /// Units of a rack.
    pub height: u16,
    /// T0s.
    pub t0: Option<RackRule>,
    /// T1s.
    pub t1: Option<RackRule>,
    /// T2s.
    pub t2: Option<RackRule>,
    /// Nodes.
    pub hosts: Option<RackRule>,
}

/// Rack positions of a kind of device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RackRule {
    /// Names of racks.
    pub name: Pattern,
    /// Devices per rack, or per rack and plane if planes share racks.
    pub per_rack: u16,
    /// Racks per row, if rows are counted.
    pub per_row: Option<u16>,
    /// Units of a device.
    pub units: u16,
    /// The lowest unit of the first device, from 1.
    pub first_unit: u16,
    /// The side that its front panel is on.
    pub face: Face,
}

/// Rack position of one device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RackPlace {
    /// Name of the rack.
    pub rack: SmolStr,
    /// Its lowest unit, from 1 at the bottom.
    pub unit: u32,
    /// Number of units that it takes.
    pub units: u16,
    /// The side that its front panel is on.
    pub face: Face,
}

impl RackRule {
    /// Returns whether the planes share racks.
    pub fn shares_planes(&self) -> bool {
        !self.name.mentions(Placeholder::Plane)
    }

    /// Returns the lowest unit of a rack's devices, and the unit above the highest. If planes share racks, a
    /// rack has the devices of `planes` planes.
    pub(crate) fn span(&self, planes: u64) -> (u64, u64) {
        let shares = if self.shares_planes() { planes } else { 1 };
        let first = u64::from(self.first_unit);
        (first, first + shares * u64::from(self.per_rack) * u64::from(self.units))
    }

    /// Sets the rack and row numbers of a rack, which count within its plane, zone or unit.
    pub(crate) fn rack_numbers(&self, numbers: Numbers, rack: u16) -> Numbers {
        let per_row = self.per_row.unwrap_or(u16::MAX).max(1);
        numbers.with(Placeholder::Row, rack / per_row).with(Placeholder::Rack, rack % per_row)
    }

    fn place(&self, numbers: Numbers, index: u16, plane: u16) -> RackPlace {
        let per_rack = self.per_rack.max(1);
        let above = if self.shares_planes() { u32::from(plane) } else { 0 };
        let slot = above * u32::from(per_rack) + u32::from(index % per_rack);
        RackPlace {
            rack: self.name.write(self.rack_numbers(numbers, index / per_rack)),
            unit: u32::from(self.first_unit) + slot * u32::from(self.units),
            units: self.units,
            face: self.face,
        }
    }
}

impl Racks {
    /// Returns the rack rule of a tier.
    pub fn tier(&self, tier: TierId) -> Option<&RackRule> {
        match tier {
            TierId::T0 => self.t0.as_ref(),
            TierId::T1 => self.t1.as_ref(),
            TierId::T2 => self.t2.as_ref(),
        }
    }

    /// Returns the rack position of a switch.
    pub fn switch(&self, switch: Switch) -> Option<RackPlace> {
        let rule = self.tier(switch.tier)?;
        let plane = u16::from(switch.plane.0);
        let numbers =
            Numbers::default().with(Placeholder::Plane, plane).with(Placeholder::Zone, switch.zone.0);
        Some(rule.place(numbers, switch.index, plane))
    }

    /// Returns the rack position of a node.
    pub fn node(&self, node: Node) -> Option<RackPlace> {
        let rule = self.hosts.as_ref()?;
        let numbers =
            Numbers::default().with(Placeholder::Zone, node.zone.0).with(Placeholder::Unit, node.unit);
        Some(rule.place(numbers, node.index, 0))
    }
}
