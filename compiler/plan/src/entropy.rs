//! Active and backup entropy values of NICs.
//!
//! In: group, plane, NIC. Out: uplink choices. Invariants: every plane has the same number of active values and the
//! same number of backup values, so planes stay equally loaded. The active and backup sets of a NIC are disjoint. A
//! set depends on the position of its NIC, the seed, and the numbers of values and uplinks per plane. The numbers of
//! groups, zones and NICs do not change it.
//!
//! The uplinks of a (group, plane) are ordered by a keyed hash, so an added uplink is inserted without reordering the
//! others. NIC d uses a window of that order, starting at d times the number of active values. Its backup values
//! follow its active ones. The NICs of a group together therefore use every uplink about equally often. If all
//! windows together fill complete rounds, the use is exactly equal.
//!
//! With a T2 tier, a value also selects a T1 uplink. The T1 uplink advances with the number of the T0 uplink, so the
//! values of a NIC are spread over both. It advances once more after each round of the order, so each T0 uplink is
//! combined with all T1 uplinks in turn. Because a group usually has fewer values than pairs of uplinks, groups start
//! at different T1 uplinks ([`EntropySets::t1_start`]). The starts are chosen so that any number of groups of a zone
//! covers the T1 uplinks evenly.

use closc_topology::{Nic, PlaneId, SegmentPlan, Topology, ZoneId};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::segment::UplinkChoice;

/// The entropy sets of a T0 group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntropySets {
    zone: ZoneId,
    group: u16,
    /// Number of active values per plane.
    active: u16,
    /// Number of backup values per plane.
    backup: u16,
    t0_uplinks: u16,
    t1_uplinks: u16,
    seed: u64,
    t1_start: u16,
}

impl EntropySets {
    /// Creates the entropy sets of a group.
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

    /// Returns the first T1 uplink of the group's sets; 0 without a T2 tier.
    pub fn t1_start(&self) -> u16 {
        self.t1_start
    }

    /// Returns the number of active values per plane.
    pub fn active_per_plane(&self) -> u16 {
        self.active
    }

    /// Returns the number of backup values per plane.
    pub fn backup_per_plane(&self) -> u16 {
        self.backup
    }

    /// Returns the uplinks of a plane in the order from which windows are taken.
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

/// Returns the first T1 uplink of a group. Successive groups take the numbers below `uplinks` in bit-reversed
/// order (van der Corput 1935). The starts of any number of groups are therefore about equally far apart.
/// With runs of equal length from these starts, the use of an uplink exceeds the rounded-up mean by at most
/// two.
fn start(group: u16, uplinks: u16) -> u16 {
    let bits = u16::BITS - uplinks.saturating_sub(1).leading_zeros();
    let reversed = |n: u32| (u64::from(n.reverse_bits()) >> (u32::BITS - bits)) as u16;
    let mut in_order = (0..1u32 << bits).map(reversed).filter(|start| *start < uplinks);
    in_order.nth(usize::from(group % uplinks.max(1))).unwrap_or(0)
}

/// Mixes all bits of a number. It is a bijection, so different numbers stay different.
fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

/// Packs and unpacks entropy values: T1 uplink, plane, T0 uplink, most significant first, with the widths of
/// the uSID layout. A T1 owns one uSID per parallel cable, so each uplink of a T0 leads to a uSID of its own.
/// The number of the uplink is the index of this uSID minus one, unless a T1 has more parallel cables upwards
/// than downwards. Values have at most 32 bits: 14 for the T0 uplink, 4 for the plane and 14 for the T1
/// uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntropyFormat {
    /// Bits of the T0 uplink, the lowest.
    pub uplink_bits: u8,
    /// Bits of the plane, above them.
    pub plane_bits: u8,
    /// Bits of the T1 uplink, the highest; 0 without a T2 tier.
    pub t1_uplink_bits: u8,
}

/// Bits of the plane in entropy values if uSIDs have no plane bits: enough for the maximum number of planes.
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

    /// Unpacks an entropy value; `None` if bits above the width are set.
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
    fn starts_are_a_permutation_in_bit_reversed_order() {
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
    fn runs_from_the_starts_cover_uplinks_evenly() {
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
