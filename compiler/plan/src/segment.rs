//! Segment lists: the uSIDs of a path.
//!
//! In: source group, uplink choice, destination NIC, plane. Out: the list for the outer destination address.
//! Invariants: the plane is in every uSID of a list, or in the block before it. A list ends with the uSID of a NIC,
//! never of a switch (Tomahawk 5 drops a packet whose next uSID is 0). It has 2, 4 or 6 uSIDs.
//!
//! Parallel links: every cable between two switches has its own uSID at both ends. A switch therefore owns as many
//! uSIDs as it has cables to one neighbour (the larger of both sides), and the T1 uSID alone identifies an uplink. A
//! path goes down over the cable with the same number as the one it went up. So the number of paths is planes times
//! uplinks, as without parallel links.

use std::net::Ipv6Addr;
use std::num::NonZeroU16;

use closc_topology::{Nic, PlaneId, Role, Switch, TierId, Topology, Usid, ZoneId};
use ipnet::Ipv6Net;

/// Maximum number of uSIDs after a 32-bit block in 128 bits (RFC 9800 section 4, F3216).
const MAX_USIDS: usize = 6;

/// The uplinks of a path: a number below `t0.up`, and one below `t1.up` if the path crosses the T2 tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UplinkChoice {
    /// Uplink of the source's T0.
    pub t0: u16,
    /// Uplink of the T1; 0 if the path does not cross the T2 tier.
    pub t1: u16,
}

/// The uSIDs of a fabric.
#[derive(Debug, Clone, Copy)]
pub struct Segments<'a> {
    topology: &'a Topology,
}

impl<'a> Segments<'a> {
    /// Creates the uSIDs from the layout and the parallel links of a topology.
    pub fn new(topology: &'a Topology) -> Self {
        Segments { topology }
    }

    /// Returns how many uSIDs each switch of a tier owns: one per cable to the same neighbour.
    pub fn per_switch(&self, tier: TierId) -> u16 {
        let below = match tier {
            TierId::T0 => 1,
            TierId::T1 => self.topology.t0.parallel,
            TierId::T2 => self.topology.t1.parallel,
        };
        let above = match tier {
            TierId::T0 => self.topology.t0.parallel,
            TierId::T1 if self.topology.t2.is_some() => self.topology.t1.parallel,
            TierId::T1 | TierId::T2 => 1,
        };
        below.max(above)
    }

    /// Returns the uSID of a switch for its parallel cable `cable`, from 0.
    pub fn switch(&self, switch: Switch, cable: u16) -> Usid {
        self.topology.srv6.layout.switch(switch, self.per_switch(switch.tier), cable)
    }

    /// Returns all uSIDs that a switch owns.
    pub fn switch_usids(&self, switch: Switch) -> impl Iterator<Item = Usid> + use<'a> {
        let this = *self;
        (0..self.per_switch(switch.tier)).map(move |cable| this.switch(switch, cable))
    }

    /// Returns the uSID of a NIC in a plane.
    pub fn nic(&self, plane: PlaneId, nic: Nic) -> Usid {
        self.topology.srv6.layout.nic(plane, nic)
    }

    /// Returns the /48 prefix of block and uSID in a plane.
    pub fn prefix(&self, plane: PlaneId, usid: Usid) -> Ipv6Net {
        Ipv6Net::new_assert(self.address(plane, &[usid]), 48)
    }

    /// Returns the destination address that carries a list in a plane.
    pub fn address(&self, plane: PlaneId, list: &[Usid]) -> Ipv6Addr {
        address(self.topology.srv6.block(plane), list)
    }

    /// Returns the list from a T0 group to a NIC in a plane.
    pub fn list(&self, plane: PlaneId, from: (ZoneId, u16), to: Nic, choice: UplinkChoice) -> Vec<Usid> {
        let t0 = |zone, index| Switch { plane, tier: TierId::T0, zone, index };
        let start = self.switch(t0(from.0, from.1), 0);
        let end = self.nic(plane, to);
        if from == (to.zone, to.group) {
            return vec![start, end];
        }
        let k0 = self.topology.t0.parallel;
        let (t1_index, cable0) = (choice.t0 / k0, choice.t0 % k0);
        let t1 = |zone| Switch { plane, tier: TierId::T1, zone, index: t1_index };
        let last_t0 = self.switch(t0(to.zone, to.group), cable0);
        let up = self.switch(t1(from.0), cable0);
        if from.0 == to.zone {
            return vec![start, up, last_t0, end];
        }
        let k1 = self.topology.t1.parallel;
        let (step, cable1) = (choice.t1 / k1, choice.t1 % k1);
        let t2 = Switch { plane, tier: TierId::T2, zone: ZoneId(0), index: self.t2_index(t1_index, step) };
        vec![start, up, self.switch(t2, cable1), self.switch(t1(to.zone), cable1), last_t0, end]
    }

    /// Returns the index of the T2 that T1 `t1_index` reaches in step `step`.
    pub fn t2_index(&self, t1_index: u16, step: u16) -> u16 {
        let rows = self.topology.t2_rows();
        step * rows + t1_index % rows
    }

    /// Returns the increments of the T2's uSID per step and per row. The step is the T1 uplink divided by the number of
    /// parallel cables.
    ///
    /// A T2 owns as many uSIDs as it has cables to one T1, so the uSIDs of consecutive T2s differ by that number. If
    /// all T1s are in a single row, the increment per row is 0.
    pub fn t2_strides(&self) -> (u16, u16) {
        let (rows, per_t2) = (self.topology.t2_rows(), self.per_switch(TierId::T2));
        (rows * per_t2, if rows > 1 { per_t2 } else { 0 })
    }

    /// Returns the number of rows if T1s of a zone share rows: the row of a T1 is then its index modulo this number.
    /// Returns `None` if the row of a T1 is its index, or if there is a single row.
    pub(crate) fn shared_rows(self) -> Option<NonZeroU16> {
        let rows = self.topology.t2_rows();
        NonZeroU16::new(rows).filter(|rows| rows.get() > 1 && rows.get() < self.topology.t1_count)
    }

    /// Returns the role of a tier's segments.
    pub fn role(tier: TierId) -> Role {
        Role::of(tier)
    }
}

/// Returns the destination address that carries a list after a block.
pub(crate) fn address(block: Ipv6Net, list: &[Usid]) -> Ipv6Addr {
    debug_assert!(list.len() <= MAX_USIDS, "the topology check refuses more than six uSIDs");
    let mut bits = u128::from(block.network());
    for (at, usid) in list.iter().enumerate() {
        bits |= u128::from(usid.0) << (80 - 16 * at);
    }
    Ipv6Addr::from(bits)
}
