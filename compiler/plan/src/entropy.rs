//! Which entropy values a NIC uses, and which it holds in reserve.
//!
//! In: group, plane, NIC. Out: uplink choices. Always: every plane has the same number of active and of backup
//! values, so planes stay equally loaded; active and backup sets of a NIC are disjoint.
//!
//! The uplinks of a (group, plane) are put in an order that a keyed hash decides, so an added uplink slips into
//! the order and moves no other. NIC d takes a window of that order that starts at d times the window, so the
//! NICs of a group together use every uplink equally often (exactly so where the windows come out even).

use closc_topology::{Nic, PlaneId, Topology, ZoneId};

use crate::segment::UplinkChoice;

/// The entropy sets of a T0 group.
#[derive(Debug, Clone, Copy)]
pub struct EntropySets<'a> {
    topology: &'a Topology,
    zone: ZoneId,
    group: u16,
}

impl<'a> EntropySets<'a> {
    /// Takes a group.
    pub fn new(topology: &'a Topology, zone: ZoneId, group: u16) -> Self {
        EntropySets { topology, zone, group }
    }

    /// Returns how many values of each plane are active at a time.
    pub fn active_per_plane(&self) -> u16 {
        self.topology.entropy.active / u16::from(self.topology.planes)
    }

    /// Returns how many values of each plane are held in reserve.
    pub fn backup_per_plane(&self) -> u16 {
        self.topology.entropy.backup / u16::from(self.topology.planes)
    }

    /// Returns the uplinks of a plane in the order that windows are cut from.
    pub fn order(&self, plane: PlaneId) -> Vec<u16> {
        let mut order: Vec<u16> = (0..self.topology.t0.up.count).collect();
        order.sort_by_key(|uplink| (self.rank(plane, *uplink), *uplink));
        order
    }

    /// Returns the active choices of a NIC in a plane, given the plane's order.
    pub fn active(&self, order: &[u16], nic: Nic) -> Vec<UplinkChoice> {
        self.window(order, nic, 0, self.active_per_plane())
    }

    /// Returns the backup choices of a NIC in a plane, given the plane's order.
    pub fn backup(&self, order: &[u16], nic: Nic) -> Vec<UplinkChoice> {
        self.window(order, nic, self.active_per_plane(), self.backup_per_plane())
    }

    fn window(&self, order: &[u16], nic: Nic, skip: u16, take: u16) -> Vec<UplinkChoice> {
        let start = usize::from(nic.downlink) * usize::from(self.active_per_plane()) + usize::from(skip);
        let t1_uplinks = usize::from(self.topology.t1.up.count.max(1));
        (start..start + usize::from(take))
            .map(|at| UplinkChoice { t0: order[at % order.len()], t1: (at % t1_uplinks) as u16 })
            .collect()
    }

    fn rank(&self, plane: PlaneId, uplink: u16) -> u64 {
        let place = u64::from(self.zone.0) << 48
            | u64::from(self.group) << 32
            | u64::from(plane.0) << 16
            | u64::from(uplink);
        mix(self.topology.entropy.seed ^ mix(place))
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that spreads every bit.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Packs and unpacks entropy values: T1 uplink, plane, T0 uplink, most significant first, with the widths of the
/// uSID layout. The low bits of an entropy value are thus the plane and index bits of the T1's uSID, less one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntropyFormat {
    /// Bits of the T0 uplink, at the bottom.
    pub uplink_bits: u8,
    /// Bits of the plane, above.
    pub plane_bits: u8,
    /// Bits of the T1 uplink, on top; 0 without a T2 tier.
    pub t1_uplink_bits: u8,
}

impl EntropyFormat {
    /// Returns the format of a topology.
    pub fn of(topology: &Topology) -> Self {
        let layout = topology.srv6.layout;
        EntropyFormat {
            uplink_bits: layout.index_bits,
            plane_bits: layout.plane_bits,
            t1_uplink_bits: topology.t2.as_ref().map_or(0, |_| layout.zone_bits + layout.index_bits),
        }
    }

    /// Returns the number of bits in use.
    pub fn width(self) -> u8 {
        self.uplink_bits + self.plane_bits + self.t1_uplink_bits
    }

    /// Packs a plane and a choice.
    pub fn pack(self, plane: PlaneId, choice: UplinkChoice) -> u32 {
        let high = u32::from(choice.t1) << self.plane_bits | u32::from(plane.0);
        high << self.uplink_bits | u32::from(choice.t0)
    }

    /// Unpacks an entropy value; nothing where bits above the width are set.
    pub fn unpack(self, value: u32) -> Option<(PlaneId, UplinkChoice)> {
        let field = |shift: u8, bits: u8| ((u64::from(value) >> shift) & ((1 << bits) - 1)) as u16;
        let choice = UplinkChoice {
            t0: field(0, self.uplink_bits),
            t1: field(self.uplink_bits + self.plane_bits, self.t1_uplink_bits),
        };
        let plane = PlaneId(field(self.uplink_bits, self.plane_bits) as u8);
        (u64::from(value) >> self.width() == 0).then_some((plane, choice))
    }
}
