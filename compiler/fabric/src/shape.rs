//! Dimensions of a fabric, and indices into arrays over its groups, NICs or cables.
//!
//! In: a topology. Out: [`Shape`]: sizes, and the index of an element in an array of its kind. Invariants: indices do
//! not depend on exceptions. `t0_link` and `t1_link` are inverses of [`Shape::place`].

use std::iter::StepBy;
use std::ops::Range;

use closc_topology::{Link, Nic, PlaneId, Switch, TierId, Topology, ZoneId};

/// Megabits in a gigabit.
const GIGA: f64 = 1000.0;

/// Dimensions of a fabric. `t0_parallel`, `t1_parallel` and `rows` are at least 1, because indices are divided by them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Planes.
    pub planes: usize,
    /// Zones.
    pub zones: usize,
    /// T0 groups per zone.
    pub groups: usize,
    /// NICs per group.
    pub per_group: usize,
    /// Uplinks per T0.
    pub t0_up: usize,
    /// Uplinks of a T0 to the same T1.
    pub t0_parallel: usize,
    /// T1s per plane and zone.
    pub t1s: usize,
    /// Uplinks per T1; 0 without a T2 tier.
    pub t1_up: usize,
    /// Uplinks of a T1 to the same T2.
    pub t1_parallel: usize,
    /// T2s per plane, including reserved rows.
    pub t2s: usize,
    /// Capacity of one direction of a cable in Gb/s: NIC to T0, T0 to T1, T1 to T2. It is not valid if zones have
    /// different speeds ([`Topology::has_one_speed`]).
    pub speed: [f64; 3],
    /// Distance between the indices of consecutive T2s of a T1, see [`Topology::t2_rows`].
    rows: usize,
}

impl Shape {
    /// Reads the numbers of a topology.
    pub fn new(topology: &Topology) -> Self {
        let gbps = |mbps: u32| f64::from(mbps) / GIGA;
        let t1_up = topology.t1.up;
        Shape {
            planes: usize::from(topology.planes),
            zones: usize::from(topology.zones),
            groups: usize::from(topology.hosts.groups),
            per_group: usize::from(topology.hosts.per_group),
            t0_up: usize::from(topology.t0.up.count),
            t0_parallel: usize::from(topology.t0.parallel.max(1)),
            t1s: usize::from(topology.t1_count),
            t1_up: topology.t2.as_ref().map_or(0, |_| usize::from(t1_up.count)),
            t1_parallel: usize::from(topology.t1.parallel.max(1)),
            t2s: usize::from(topology.count(TierId::T2)),
            speed: [
                gbps(topology.hosts.nic_speed.mbps() / u32::from(topology.planes)),
                gbps(topology.t0.up.breakout.speed.mbps()),
                gbps(t1_up.breakout.speed.mbps()),
            ],
            rows: usize::from(topology.t2_rows()),
        }
    }

    /// Returns whether the uplink of the sender's T0 determines the complete path: two tiers without parallel cables.
    pub fn has_single_paths(&self) -> bool {
        self.t1_up == 0 && self.t0_parallel == 1
    }

    /// Returns the number of T0 groups of all zones.
    pub fn all_groups(&self) -> usize {
        self.zones * self.groups
    }

    /// Returns the index of a group over all zones.
    pub fn group(&self, zone: ZoneId, group: u16) -> usize {
        usize::from(zone.0) * self.groups + usize::from(group)
    }

    /// Returns the zone of a group, and its index in the zone.
    pub fn group_at(&self, group: usize) -> (ZoneId, u16) {
        (ZoneId((group / self.groups) as u16), (group % self.groups) as u16)
    }

    /// Returns the index of a group's zone.
    pub fn zone(&self, group: usize) -> usize {
        group / self.groups
    }

    /// Returns the index of a NIC over all groups.
    pub fn nic(&self, nic: Nic) -> usize {
        self.group(nic.zone, nic.group) * self.per_group + usize::from(nic.downlink)
    }

    /// Returns the NIC with this index.
    pub fn nic_at(&self, nic: usize) -> Nic {
        let (zone, group) = self.group_at(nic / self.per_group);
        Nic { zone, group, downlink: (nic % self.per_group) as u16 }
    }

    /// Returns the index of the first uplink of a T0 in arrays of T0-T1 cables.
    pub fn first_t0_uplink(&self, group: usize) -> usize {
        group * self.t0_up
    }

    /// Returns the index of the first uplink of a T1 in arrays of T1-T2 cables.
    pub fn first_t1_uplink(&self, zone: usize, t1: usize) -> usize {
        (zone * self.t1s + t1) * self.t1_up
    }

    /// Returns the position of a cable in the array of T0-T1 cables or of T1-T2 cables; `None` for the cable of a NIC.
    pub fn place(&self, link: Link) -> Option<usize> {
        let Link::Fabric { lower, up } = link else { return None };
        let first = match lower.tier {
            TierId::T0 => self.first_t0_uplink(self.group(lower.zone, lower.index)),
            TierId::T1 => self.first_t1_uplink(usize::from(lower.zone.0), usize::from(lower.index)),
            TierId::T2 => return None,
        };
        Some(first + usize::from(up))
    }

    /// Returns the T2 at the end of an uplink of a T1.
    pub fn t2_of(&self, t1: usize, up: usize) -> usize {
        let step = up / self.t1_parallel;
        step * self.rows + t1 % self.rows
    }

    /// Returns the number of upward paths from a T0 to each T2.
    pub fn paths_to_t2(&self) -> u64 {
        (self.t1s.div_ceil(self.rows) * self.t0_parallel * self.t1_parallel) as u64
    }

    /// Returns the T1s of each zone that reach a T2, and their uplinks to it.
    pub fn t2_downlinks(&self, t2: usize) -> (StepBy<Range<usize>>, Range<usize>) {
        let (row, step) = (t2 % self.rows, t2 / self.rows);
        ((row..self.t1s).step_by(self.rows), step * self.t1_parallel..(step + 1) * self.t1_parallel)
    }

    /// Returns the T0 of a group in a plane.
    pub fn t0_switch(&self, plane: PlaneId, group: usize) -> Switch {
        let (zone, index) = self.group_at(group);
        Switch { plane, tier: TierId::T0, zone, index }
    }

    /// Returns the T1 with this index.
    pub fn t1_switch(plane: PlaneId, zone: usize, t1: usize) -> Switch {
        Switch { plane, tier: TierId::T1, zone: ZoneId(zone as u16), index: t1 as u16 }
    }

    /// Returns the T0-T1 cable with this index.
    pub fn t0_link(&self, plane: PlaneId, at: usize) -> Link {
        Link::Fabric { lower: self.t0_switch(plane, at / self.t0_up), up: (at % self.t0_up) as u16 }
    }

    /// Returns the T1-T2 cable with this index.
    pub fn t1_link(&self, plane: PlaneId, at: usize) -> Link {
        let t1 = at / self.t1_up;
        let lower = Shape::t1_switch(plane, t1 / self.t1s, t1 % self.t1s);
        Link::Fabric { lower, up: (at % self.t1_up) as u16 }
    }
}
