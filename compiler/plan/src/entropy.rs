//! Which entropy values a NIC uses, and which it holds in reserve.
//!
//! In: group, plane, NIC. Out: uplink choices. Invariants: every plane has the same number of active and of backup
//! values, so planes stay equally loaded; active and backup sets of a NIC are disjoint; a set depends on the place of
//! its NIC and on the uplinks that it names, never on how many groups, zones or NICs there are.
//!
//! The uplinks of a (group, plane) are put in an order that a keyed hash decides, so an added uplink slips into
//! the order and moves no other. NIC d takes a window of that order that starts at d times the window, so the
//! NICs of a group together use every uplink equally often (exactly so where the windows come out even).
//!
//! With a T2 tier, a value names a T1 uplink too: the next one each time around the order, so a T0 uplink goes through
//! the T1 uplinks in turn, and the next one with each T0 uplink, so the values of a NIC differ in both. A group has
//! fewer values than pairs of uplinks as a rule; where it starts ([`EntropySets::t1_start`]) is such that the groups of
//! a zone cover the T1 uplinks evenly, however many they are.

use closc_topology::{Nic, PlaneId, SegmentPlan, Topology, ZoneId};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::segment::UplinkChoice;

/// The entropy sets of a T0 group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntropySets {
    zone: ZoneId,
    group: u16,
    /// Values of each plane that are active at a time, and those in reserve.
    active: u16,
    backup: u16,
    t0_uplinks: u16,
    t1_uplinks: u16,
    seed: u64,
    t1_start: u16,
}

impl EntropySets {
    /// Takes a group.
    pub fn new(topology: &Topology, zone: ZoneId, group: u16) -> Self {
        let planes = u16::from(topology.planes);
        EntropySets {
            zone,
            group,
            active: topology.entropy.active / planes,
            backup: topology.entropy.backup / planes,
            t0_uplinks: topology.t0.up.count,
            t1_uplinks: topology.t1.up.count,
            seed: topology.entropy.seed,
            t1_start: start(group, topology.t1.up.count),
        }
    }

    /// Returns where the sets of the group start among the uplinks of a T1; 0 in two tiers.
    pub fn t1_start(&self) -> u16 {
        self.t1_start
    }

    /// Returns how many values of each plane are active at a time.
    pub fn active_per_plane(&self) -> u16 {
        self.active
    }

    /// Returns how many values of each plane are held in reserve.
    pub fn backup_per_plane(&self) -> u16 {
        self.backup
    }

    /// Returns the uplinks of a plane in the order that windows are cut from.
    pub fn order(&self, plane: PlaneId) -> Vec<u16> {
        let mut order: Vec<u16> = (0..self.t0_uplinks).collect();
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
        let first = usize::from(nic.downlink) * usize::from(self.active_per_plane()) + usize::from(skip);
        let t1_uplinks = usize::from(self.t1_uplinks.max(1));
        (first..first + usize::from(take))
            .map(|at| {
                let t0 = order[at % order.len()];
                let t1 = usize::from(self.t1_start) + at / order.len() + usize::from(t0);
                UplinkChoice { t0, t1: (t1 % t1_uplinks) as u16 }
            })
            .collect()
    }

    fn rank(&self, plane: PlaneId, uplink: u16) -> u64 {
        let place = u64::from(self.zone.0) << 48
            | u64::from(self.group) << 32
            | u64::from(plane.0) << 16
            | u64::from(uplink);
        mix(self.seed ^ mix(place))
    }
}

/// Where a group starts among the uplinks of a T1: the numbers below `uplinks` in the order of their reversed bits, group
/// by group (van der Corput 1935). However many groups there are, their starts are about equally far apart, so that runs
/// of any one length from them cover every uplink equally often, give or take one or two.
fn start(group: u16, uplinks: u16) -> u16 {
    let bits = u16::BITS - uplinks.saturating_sub(1).leading_zeros();
    let reversed = |n: u32| (u64::from(n.reverse_bits()) >> (u32::BITS - bits)) as u16;
    let mut in_order = (0..1u32 << bits).map(reversed).filter(|start| *start < uplinks);
    in_order.nth(usize::from(group % uplinks.max(1))).unwrap_or(0)
}

/// Spreads every bit of a number: a bijection, so that different numbers stay different.
fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

/// Packs and unpacks entropy values: T1 uplink, plane, T0 uplink, most significant first, with the widths of the
/// uSID layout. The low bits of an entropy value are thus the plane and index bits of the T1's uSID, less one. They are at most
/// 32 bits: where the block says the plane, uSIDs have 14 for zone and index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntropyFormat {
    /// Bits of the T0 uplink, at the bottom.
    pub uplink_bits: u8,
    /// Bits of the plane, above.
    pub plane_bits: u8,
    /// Bits of the T1 uplink, on top; 0 without a T2 tier.
    pub t1_uplink_bits: u8,
}

/// Bits that tell the planes of the largest fabric apart, where uSIDs have none for them.
const PLANE_BITS: u8 = 4;

impl EntropyFormat {
    /// Returns the format of a topology.
    pub fn of(topology: &Topology) -> Self {
        let layout = topology.srv6.layout;
        EntropyFormat {
            uplink_bits: layout.index_bits,
            plane_bits: match topology.srv6.plan {
                SegmentPlan::PlaneInUsid => layout.plane_bits,
                SegmentPlan::PlaneInBlock => PLANE_BITS,
            },
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

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn starts_are_a_permutation_whose_beginnings_are_spread() {
        assert_eq!((0..8).map(|group| start(group, 8)).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!((0..7).map(|group| start(group, 5)).collect::<Vec<_>>(), [0, 4, 2, 1, 3, 0, 4]);
        assert_eq!([start(3, 0), start(3, 1)], [0, 0]);
        for uplinks in 1..200 {
            let mut starts: Vec<u16> = (0..uplinks).map(|group| start(group, uplinks)).collect();
            starts.sort_unstable();
            assert!(starts.into_iter().eq(0..uplinks), "{uplinks}");
        }
    }

    #[test]
    fn runs_from_the_starts_cover_uplinks_alike() {
        for uplinks in 1..34u16 {
            for groups in (1..70u16).step_by(3) {
                for run in [1, 5, 8, 16] {
                    let mut used = vec![0u32; usize::from(uplinks)];
                    for at in (0..groups).flat_map(|group| (0..run).map(move |n| start(group, uplinks) + n)) {
                        used[usize::from(at % uplinks)] += 1;
                    }
                    let mean = (u32::from(groups) * u32::from(run)).div_ceil(uplinks.into());
                    let most = used.iter().max().copied().unwrap_or(0);
                    assert!(most <= mean + 2, "{groups} groups, runs of {run}, {uplinks} uplinks: {used:?}");
                }
            }
        }
    }
}
