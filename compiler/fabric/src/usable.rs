//! Usable paths between two T0 groups, by the rule of the routing mode.
//!
//! In: a topology. Out: [`UsablePaths`]: the number of remaining paths per plane between two groups, given the losses
//! of each. Invariants: without losses, the number is the uplink count of a T0, multiplied by that of a T1 between
//! zones. With losses, it is 0 if and only if no packet can arrive.
//!
//! If hosts choose the path, it has the same uplink numbers up and down, as in uSIDs. If switches choose, an upward
//! path counts if the switch where it turns has a downward cable to the destination. The two directions can then have
//! different path counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_topology::{Link, PlaneId, Switch, TierId, Topology, ZoneId};
use fixedbitset::FixedBitSet;

/// The downward part of a path, from the switch where it turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descent {
    /// With the same uplink numbers as upwards: through the T1 with the same number, over cables with the same
    /// numbers. A uSID identifies a cable for both directions.
    SameNumbers,
    /// Over any cable to the destination, through any T1 of the zone that the T2 reaches. The switch spreads packets
    /// over all of them.
    Any,
}

impl Descent {
    /// Returns the rule of a routing mode.
    pub fn of(routing: Routing) -> Descent {
        match routing {
            Routing::Srv6Static => Descent::SameNumbers,
            Routing::EcmpStatic | Routing::BgpUnnumbered => Descent::Any,
        }
    }

    /// Returns the number of paths of a plane between two NICs, without exceptions: of one group, of different groups of a
    /// zone, and of different zones. Without a tier that connects them, there are none. With [`Descent::Any`], a path is
    /// each way up combined with each way down from the switch where it turns.
    pub(crate) fn shortest_paths(topology: &Topology) -> [u64; 3] {
        let [zone_descents, far_descents] = match Descent::of(topology.routing) {
            Descent::SameNumbers => [1, 1],
            Descent::Any => [false, true].map(|far| paths_to_a_turn(topology, far)),
        };
        let up = u64::from(topology.t0.up.count);
        let far = topology.t2.as_ref().map_or(0, |_| up * u64::from(topology.t1.up.count));
        [1, up * zone_descents, far * far_descents]
    }

    /// Returns whether [`UsablePaths`] counts fewer paths than `shortest_paths`: only the ways up, although
    /// several ways lead down from a switch where packets turn. Losses of bandwidth follow from the ways up.
    pub fn counts_ways_up(topology: &Topology, is_far: bool) -> bool {
        Descent::of(topology.routing) == Descent::Any && paths_to_a_turn(topology, is_far) > 1
    }

    /// Counts the paths in one direction by the rule [`Descent::Any`]. `from` and `to` are the losses of both ends,
    /// by the switch where packets turn. Each end has `each` paths to such a switch. A switch contributes the
    /// remaining paths of `from`, or none if `to` has lost all of its paths. An empty list means no loss.
    pub fn one_way_paths(planned: u64, each: u64, from: &[u32], to: &[u32]) -> u64 {
        let own = |at: usize| from.get(at).map_or(0, |lost| u64::from(*lost));
        let is_dead = |at: usize| to.get(at).is_some_and(|lost| u64::from(*lost) >= each);
        let lost = (0..from.len().max(to.len())).map(|at| if is_dead(at) { each } else { own(at) });
        planned - lost.sum::<u64>()
    }

    /// Counts the paths that carry traffic in both directions at the same time, by the rule [`Descent::Any`]. At each
    /// switch where packets turn, the smaller of the two remaining counts applies. An empty list means no loss.
    pub fn two_way_paths(planned: u64, one: &[u32], other: &[u32]) -> u64 {
        let sum = |lost: &[u32]| lost.iter().map(|lost| u64::from(*lost)).sum::<u64>();
        let lost = match (one, other) {
            ([], some) | (some, []) => sum(some),
            (one, other) => one.iter().zip(other).map(|(a, b)| u64::from(*a.max(b))).sum(),
        };
        planned - lost
    }
}

/// Exceptions that count as losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossScope {
    /// Absent elements.
    Absent,
    /// Absent and drained elements.
    AbsentOrDrained,
}

/// Losses of a group in one plane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GroupPlane {
    /// Its T0 carries nothing.
    dead: bool,
    /// Its lost uplinks.
    uplinks: FixedBitSet,
}

/// Lost T1 uplinks of a zone in one plane, by T0 uplink.
type Crossing = BTreeMap<usize, FixedBitSet>;

/// The paths of a fabric after its exceptions.
pub struct UsablePaths<'a> {
    topology: &'a Topology,
    descent: Descent,
    scope: LossScope,
    /// Distinct losses of groups; the first profile is that of groups without exceptions.
    profiles: Vec<Vec<GroupPlane>>,
    special: BTreeMap<(ZoneId, u16), usize>,
    /// T0 uplinks whose T1 is lost, by zone and plane.
    zones: Vec<Vec<FixedBitSet>>,
    /// Cables lost between T1s and T2s, by zone and plane.
    crossings: Vec<Vec<Crossing>>,
    /// T1 uplinks whose T2 is lost, by plane.
    upper: Vec<Crossing>,
}

impl<'a> UsablePaths<'a> {
    /// Computes the losses from the exceptions of a topology.
    pub fn of(topology: &'a Topology, scope: LossScope) -> Self {
        let planes = usize::from(topology.planes);
        let zones = usize::from(topology.zones);
        let uplinks = usize::from(topology.t0.up.count);
        let fresh = vec![GroupPlane { dead: false, uplinks: FixedBitSet::with_capacity(uplinks) }; planes];
        let mut left = UsablePaths {
            topology,
            descent: Descent::of(topology.routing),
            scope,
            profiles: vec![fresh],
            special: BTreeMap::new(),
            zones: vec![vec![FixedBitSet::with_capacity(uplinks); planes]; zones],
            crossings: vec![vec![Crossing::new(); planes]; zones],
            upper: vec![Crossing::new(); planes],
        };
        let exceptions = &topology.exceptions;
        let drained = scope == LossScope::AbsentOrDrained;
        let mut groups = BTreeMap::new();
        let switches = exceptions.drained_switches.iter().filter(|_| drained);
        for switch in exceptions.absent_switches.iter().chain(switches) {
            left.lose_switch(*switch, &mut groups);
        }
        let links = exceptions.drained_links.iter().filter(|_| drained);
        for link in exceptions.absent_links.iter().chain(links) {
            left.lose_link(*link, &mut groups);
        }
        left.intern(groups);
        left
    }

    fn group<'m>(
        &self,
        groups: &'m mut BTreeMap<(ZoneId, u16), Vec<GroupPlane>>,
        t0: Switch,
    ) -> &'m mut GroupPlane {
        let profile = groups.entry((t0.zone, t0.index)).or_insert_with(|| self.profiles[0].clone());
        &mut profile[usize::from(t0.plane.0)]
    }

    fn lose_switch(&mut self, switch: Switch, groups: &mut BTreeMap<(ZoneId, u16), Vec<GroupPlane>>) {
        let topology = self.topology;
        let plane = usize::from(switch.plane.0);
        match switch.tier {
            TierId::T0 => self.group(groups, switch).dead = true,
            TierId::T1 => {
                let parallel = usize::from(topology.t0.parallel);
                let first = usize::from(switch.index) * parallel;
                self.zones[usize::from(switch.zone.0)][plane].insert_range(first..first + parallel);
            }
            TierId::T2 => {
                let (k0, k1) = (topology.t0.parallel, topology.t1.parallel);
                let step = switch.index / topology.t2_rows();
                for uplink in topology.t1s_below(switch.index).flat_map(|t1| t1 * k0..(t1 + 1) * k0) {
                    self.block_upper(plane, uplink, step * k1..(step + 1) * k1);
                }
            }
        }
    }

    fn block_upper(&mut self, plane: usize, uplink: u16, t1_uplinks: std::ops::Range<u16>) {
        let width = usize::from(self.topology.t1.up.count);
        let crossing = self.upper[plane].entry(usize::from(uplink));
        let lost = crossing.or_insert_with(|| FixedBitSet::with_capacity(width));
        lost.insert_range(usize::from(t1_uplinks.start)..usize::from(t1_uplinks.end));
    }

    fn lose_link(&mut self, link: Link, groups: &mut BTreeMap<(ZoneId, u16), Vec<GroupPlane>>) {
        // Cables of single NICs are not losses of their group.
        let Link::Fabric { lower, up } = link else { return };
        match lower.tier {
            TierId::T0 => self.group(groups, lower).uplinks.insert(usize::from(up)),
            TierId::T1 | TierId::T2 => {
                let parallel = usize::from(self.topology.t0.parallel);
                let width = usize::from(self.topology.t1.up.count);
                let first = usize::from(lower.index) * parallel;
                let crossing = &mut self.crossings[usize::from(lower.zone.0)][usize::from(lower.plane.0)];
                for uplink in first..first + parallel {
                    let lost = crossing.entry(uplink).or_insert_with(|| FixedBitSet::with_capacity(width));
                    lost.insert(usize::from(up));
                }
            }
        }
    }

    fn intern(&mut self, groups: BTreeMap<(ZoneId, u16), Vec<GroupPlane>>) {
        let mut known: BTreeMap<Vec<GroupPlane>, usize> = BTreeMap::new();
        for (group, profile) in groups {
            let next = self.profiles.len();
            let number = *known.entry(profile.clone()).or_insert(next);
            if number == next {
                self.profiles.push(profile);
            }
            self.special.insert(group, number);
        }
    }

    /// Returns the index of a group's profile; groups of a zone with the same profile have equal losses. `None` if the
    /// group does not exist.
    pub fn profile(&self, zone: ZoneId, group: u16) -> Option<usize> {
        let there = zone.0 < self.topology.zones && group < self.topology.hosts.groups;
        there.then(|| self.special.get(&(zone, group)).copied().unwrap_or(0))
    }

    /// Returns the groups with losses of their own; the other groups of a zone are alike.
    pub fn special_groups(&self) -> impl Iterator<Item = (ZoneId, u16)> + '_ {
        self.special.keys().copied()
    }

    /// Returns the number of paths between NICs of one group, plane by plane: 1 or 0.
    pub fn local(&self, profile: usize) -> Vec<u64> {
        self.planes(|plane| u64::from(!self.profiles[profile][plane].dead))
    }

    /// Returns the number of paths from a group to another one, plane by plane, given their zones and profiles.
    pub fn pair_paths(&self, (from, a): (ZoneId, usize), (to, b): (ZoneId, usize)) -> Vec<u64> {
        self.planes(|plane| {
            if self.profiles[a][plane].dead || self.profiles[b][plane].dead {
                return 0;
            }
            match self.descent {
                Descent::SameNumbers => {
                    let mut lost = self.lost_uplinks(plane, from, a).into_owned();
                    lost.union_with(&self.lost_uplinks(plane, to, b));
                    if from == to {
                        self.planned_paths(from, to) - lost.count_ones(..) as u64
                    } else {
                        self.same_number_paths(plane, &lost, from, to)
                    }
                }
                Descent::Any => {
                    let [one, other] = [(from, a), (to, b)]
                        .map(|(zone, profile)| self.turn_losses(plane, zone, profile, from != to));
                    Descent::one_way_paths(
                        self.planned_paths(from, to),
                        paths_to_a_turn(self.topology, from != to),
                        &one,
                        &other,
                    )
                }
            }
        })
    }

    /// Returns the number of paths of a plane between two groups of these zones, without losses. With [`Descent::Any`],
    /// these are the paths up to a switch where packets turn.
    pub fn planned_paths(&self, from: ZoneId, to: ZoneId) -> u64 {
        let t0 = u64::from(self.topology.t0.up.count);
        if from == to { t0 } else { t0 * u64::from(self.topology.t1.up.count) }
    }

    /// Returns the number of upward paths that a group has lost in a plane, towards its zone and towards other zones.
    /// All are lost if its T0 carries nothing. Losses of the other end are not included.
    pub(crate) fn lost_paths(&self, plane: PlaneId, zone: ZoneId, profile: usize) -> [u64; 2] {
        let at = usize::from(plane.0);
        let other = ZoneId(zone.0 + 1);
        if self.profiles[profile][at].dead || self.is_off(plane) {
            return [self.planned_paths(zone, zone), self.planned_paths(zone, other)];
        }
        let sum = |far| self.turn_losses(at, zone, profile, far).iter().map(|n| u64::from(*n)).sum();
        [sum(false), if self.topology.t2.is_some() { sum(true) } else { 0 }]
    }

    fn is_off(&self, plane: PlaneId) -> bool {
        self.scope == LossScope::AbsentOrDrained && self.topology.exceptions.drained_planes.contains(&plane)
    }

    fn planes(&self, usable: impl Fn(usize) -> u64) -> Vec<u64> {
        let count = |plane| if self.is_off(PlaneId(plane)) { 0 } else { usable(usize::from(plane)) };
        (0..self.topology.planes).map(count).collect()
    }

    /// Returns the lost T0 uplinks of a group.
    fn lost_uplinks(&self, plane: usize, zone: ZoneId, profile: usize) -> Cow<'_, FixedBitSet> {
        let own = &self.profiles[profile][plane].uplinks;
        let t1s = &self.zones[usize::from(zone.0)][plane];
        if own.is_clear() {
            return Cow::Borrowed(t1s);
        }
        let mut lost = own.clone();
        lost.union_with(t1s);
        Cow::Owned(lost)
    }

    /// Counts the paths over the T2 tier: for each remaining T0 uplink, the remaining T1 uplinks. Only uplinks with
    /// losses behind them are examined one by one.
    fn same_number_paths(&self, plane: usize, lost: &FixedBitSet, from: ZoneId, to: ZoneId) -> u64 {
        let t1 = u64::from(self.topology.t1.up.count);
        let left = u64::from(self.topology.t0.up.count) - lost.count_ones(..) as u64;
        let crossings = [
            &self.upper[plane],
            &self.crossings[usize::from(from.0)][plane],
            &self.crossings[usize::from(to.0)][plane],
        ];
        let uplinks: BTreeSet<usize> =
            crossings.iter().flat_map(|crossing| crossing.keys().copied()).collect();
        let blocked = uplinks.into_iter().filter(|uplink| !lost.contains(*uplink)).map(|uplink| {
            let mut blocked = crossings.iter().filter_map(|crossing| crossing.get(&uplink));
            let mut all = blocked.next().cloned().unwrap_or_default();
            blocked.for_each(|more| all.union_with(more));
            all.count_ones(..) as u64
        });
        left * t1 - blocked.sum::<u64>()
    }

    /// Counts the lost upward paths of a group by the switch where they turn: T1s of its zone, or T2s if `far`. The
    /// list is empty without losses.
    fn turn_losses(&self, plane: usize, zone: ZoneId, profile: usize, far: bool) -> Vec<u32> {
        let topology = self.topology;
        let lost = self.lost_uplinks(plane, zone, profile);
        let parallel = usize::from(topology.t0.parallel.max(1));
        let mut found = Vec::new();
        if !far {
            for uplink in lost.ones() {
                found.resize(usize::from(topology.t1_count), 0);
                found[uplink / parallel] += 1;
            }
            return found;
        }
        let ups = topology.t1.up.count;
        let crossings = [&self.upper[plane], &self.crossings[usize::from(zone.0)][plane]];
        let behind = crossings.iter().flat_map(|crossing| crossing.keys().copied());
        let uplinks: BTreeSet<usize> = lost.ones().chain(behind).collect();
        for uplink in uplinks {
            found.resize(usize::from(topology.count(TierId::T2)), 0);
            let is_lost = |up: u16| {
                let mut some = crossings.iter().filter_map(|crossing| crossing.get(&uplink));
                lost.contains(uplink) || some.any(|some| some.contains(usize::from(up)))
            };
            let index = (uplink / parallel) as u16;
            let t1 = Switch { plane: PlaneId(plane as u8), tier: TierId::T1, zone, index };
            for (t2, _) in (0..ups).filter(|up| is_lost(*up)).filter_map(|up| topology.upper(t1, up)) {
                found[usize::from(t2.index)] += 1;
            }
        }
        found
    }
}

/// Returns the number of upward paths from a T0 to each switch where packets turn, without losses.
fn paths_to_a_turn(topology: &Topology, far: bool) -> u64 {
    let below =
        if far { topology.t1s_below(0).count() as u64 * u64::from(topology.t1.parallel.max(1)) } else { 1 };
    below * u64::from(topology.t0.parallel.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_paired_at_the_turning_switch() {
        assert_eq!(Descent::two_way_paths(8, &[], &[]), 8);
        assert_eq!(Descent::two_way_paths(8, &[1, 0, 2], &[]), 5);
        assert_eq!(Descent::two_way_paths(8, &[1, 0, 2], &[2, 2, 0]), 2);
    }

    #[test]
    fn each_direction_counts_its_upward_paths_with_a_cable_down() {
        let both = |one: &[u32], other: &[u32]| {
            (Descent::one_way_paths(8, 2, one, other), Descent::one_way_paths(8, 2, other, one))
        };
        assert_eq!(both(&[], &[]), (8, 8));
        assert_eq!(both(&[1, 0, 0, 0], &[]), (7, 8), "one of two cables: the other leads down");
        assert_eq!(both(&[1, 0, 0, 0], &[0, 1, 0, 0]), (7, 7));
        assert_eq!(both(&[2, 0, 0, 0], &[1, 0, 0, 1]), (6, 5));
    }
}
