//! Decides whether routes of nodes to the NICs of all other nodes are written.
//!
//! In: the numbers of a fabric. Out: [`HostRoutes`]. Invariants: the decision depends only on numbers of the fabric
//! file. A fabric that is too large gets W0704, because its nodes have no routes to other nodes.

use closc_topology::Topology;

/// The routes of all nodes to NICs of other nodes, with one next hop per active path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRoutes {
    /// Number of NIC positions in all groups.
    pub nics: u64,
    /// Active paths from one NIC to another, over all planes.
    pub paths: u64,
    /// Whether next-hop identifiers have enough bits for every NIC.
    pub has_identifiers: bool,
}

impl HostRoutes {
    /// Maximum number of next hops over all nodes of a fabric: about 30 MB of batch files. Larger fabrics have path
    /// tables only.
    pub const NEXT_HOPS_MAX: u64 = 1 << 18;

    /// Bits of a next-hop identifier, from the top: zone (from 0), group and downlink (from 1), plane, member.
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

    /// Returns whether the routes are written.
    pub fn are_written(self) -> bool {
        self.has_identifiers && self.next_hops() <= HostRoutes::NEXT_HOPS_MAX
    }
}
