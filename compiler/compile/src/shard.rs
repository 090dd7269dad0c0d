//! `--shard i/n`: one of n parts that together make up the fabric.
//!
//! In: numbers of a fabric and a position. Out: whether the shard has a switch, a zone or a unit. Invariants:
//! a pure function of position, n and the numbers of the fabric. Every element is in exactly one of n shards,
//! regardless of exceptions. Planes are divided by zone only if there are more shards than planes.

use std::fmt;
use std::str::FromStr;

use closc_topology::{PlaneId, Switch, TierId, Topology, ZoneId};

/// One of n parts that together make up the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// Returns its index, from 0.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Returns the number of shards.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns the maximum number of shards such that each has a switch.
    pub(crate) fn max_count(topology: &Topology) -> u32 {
        u32::from(topology.planes) * u32::from(topology.zones.max(1))
    }

    /// Returns whether there are more shards than planes, so that planes are divided by zone.
    pub(crate) fn cuts_planes(self, topology: &Topology) -> bool {
        self.of > u32::from(topology.planes)
    }

    /// Returns whether this shard has the item at index `place` of `count` items.
    fn has(self, place: u64, count: u64) -> bool {
        place * u64::from(self.of) / count.max(1) == u64::from(self.index)
    }

    /// Returns whether the shard has the T0s and T1s of a zone in a plane, or the complete plane if planes
    /// are not divided.
    pub(crate) fn has_zone(self, topology: &Topology, plane: PlaneId, zone: ZoneId) -> bool {
        let (planes, zones) = (u64::from(topology.planes), u64::from(topology.zones.max(1)));
        if self.cuts_planes(topology) {
            self.has(u64::from(plane.0) * zones + u64::from(zone.0), planes * zones)
        } else {
            self.has(plane.0.into(), planes)
        }
    }

    /// Returns whether the shard has a switch. T2s do not belong to a zone, so they are assigned to zones by
    /// their index.
    pub(crate) fn has_switch(self, topology: &Topology, switch: Switch) -> bool {
        let zone = match switch.tier {
            TierId::T0 | TierId::T1 => switch.zone,
            TierId::T2 => {
                let count = u32::from(topology.count(TierId::T2).max(1));
                ZoneId((u32::from(switch.index) * u32::from(topology.zones.max(1)) / count) as u16)
            }
        };
        self.has_zone(topology, switch.plane, zone)
    }

    /// Returns whether the shard has the nodes of a unit, and with them the path tables of their T0 groups.
    pub(crate) fn has_unit(self, topology: &Topology, zone: ZoneId, unit: u16) -> bool {
        let units = u64::from(topology.units().max(1));
        self.has(u64::from(zone.0) * units + u64::from(unit), u64::from(topology.zones.max(1)) * units)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is not a shard; write `0/8` for the first of eight");
        let (index, of) = text.split_once('/').ok_or_else(fault)?;
        let (index, of): (u32, u32) = (index.parse().map_err(|_| fault())?, of.parse().map_err(|_| fault())?);
        match of {
            0 => Err(format!("`{text}`: there is at least 1 shard")),
            of if index >= of => {
                Err(format!("`{text}`: shards count from 0, so the last of {of} is `{}/{of}`", of - 1))
            }
            of => Ok(Shard { index, of }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_shard_is_refused_with_what_would_be_one() {
        assert_eq!("3/8".parse::<Shard>().unwrap().to_string(), "3/8");
        for (text, part) in
            [("8/8", "the last of 8 is `7/8`"), ("0/0", "at least 1"), ("3", "`0/8`"), ("a/b", "`0/8`")]
        {
            assert!(text.parse::<Shard>().unwrap_err().contains(part), "{text}");
        }
    }
}
