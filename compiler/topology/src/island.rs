//! Sets of NICs that are joined by switches.
//!
//! In: a topology. Out: [`Island`]. Invariants: NICs of different islands have no path to each other by design. Only
//! nodes are in several islands. Exceptions do not count.

use crate::coordinate::{Switch, TierId, ZoneId};
use crate::model::Topology;

/// The largest set of NICs between which switches forward packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Island {
    /// A T0 group: there is one tier.
    Group,
    /// A zone: there are several zones and no T2 tier, so each zone is a plane by NIC.
    Zone,
    /// The complete fabric.
    Fabric,
}

impl Topology {
    /// Returns the largest set of NICs that switches join.
    pub fn island(&self) -> Island {
        match (self.has_t1(), self.zones > 1 && self.t2.is_none()) {
            (false, _) => Island::Group,
            (true, true) => Island::Zone,
            (true, false) => Island::Fabric,
        }
    }

    /// Returns whether names contain the zone.
    pub fn has_zones(&self) -> bool {
        self.zones > 1 || self.t2.is_some()
    }
}

impl Island {
    /// Returns the zone and group that identify the island of a T0 group; `None` for those that do not matter.
    pub fn of(self, (zone, group): (ZoneId, u16)) -> (Option<ZoneId>, Option<u16>) {
        match self {
            Island::Group => (Some(zone), Some(group)),
            Island::Zone => (Some(zone), None),
            Island::Fabric => (None, None),
        }
    }

    /// Returns whether NICs of two T0 groups are in one island.
    pub fn holds(self, one: (ZoneId, u16), other: (ZoneId, u16)) -> bool {
        self.of(one) == self.of(other)
    }

    /// Returns whether a switch and a zone are in one island.
    pub fn leads(self, switch: Switch, zone: ZoneId) -> bool {
        match self {
            Island::Group | Island::Zone => switch.tier < TierId::T2 && switch.zone == zone,
            Island::Fabric => true,
        }
    }
}
