//! Whether the routes of nodes to all NICs elsewhere are written out.
//!
//! In: the numbers of a fabric. Out: [`HostRoutes`]. Invariants: a function of stated numbers, so that it is known before
//! anything is made; a fabric that is too large gets W0704, because its nodes then have no routes to other nodes.

use closc_topology::Topology;

/// The routes of all nodes to the NICs of others, one next hop for each path in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRoutes {
    /// NICs that groups have places for.
    pub nics: u64,
    /// Paths in use from one NIC to another, over all planes.
    pub paths: u64,
    /// Whether the identifiers of next hops have room for every NIC.
    pub has_identifiers: bool,
}

impl HostRoutes {
    /// Most next hops written out over all nodes of a fabric: some 30 megabytes of batch files. Larger fabrics have
    /// path tables only.
    pub const NEXT_HOPS_MAX: u64 = 1 << 18;

    /// Bits of a next hop's identifier, from the top: zone, group and downlink (each from 1 but the zone), plane, member.
    pub const FIELDS: [u32; 5] = [3, 9, 8, 4, 8];

    /// Counts the routes of a topology.
    pub fn new(topology: &Topology) -> Self {
        let groups = u64::from(topology.zones) * u64::from(topology.hosts.groups);
        let uplinks = u64::from(topology.t0.up.count) * u64::from(topology.t1.up.count.max(1));
        let active = u64::from(topology.entropy.active / u16::from(topology.planes));
        let [zone, group, downlink, ..] = HostRoutes::FIELDS;
        HostRoutes {
            nics: groups * u64::from(topology.hosts.per_group),
            paths: active.min(uplinks) * u64::from(topology.planes),
            has_identifiers: topology.zones <= 1 << zone
                && topology.hosts.groups < 1 << group
                && topology.hosts.per_group < 1 << downlink,
        }
    }

    /// Returns the number of next hops over all nodes.
    pub fn next_hops(self) -> u64 {
        self.nics.saturating_mul(self.nics).saturating_mul(self.paths)
    }

    /// Tells whether they are written out.
    pub fn are_written(self) -> bool {
        self.has_identifiers && self.next_hops() <= HostRoutes::NEXT_HOPS_MAX
    }
}
