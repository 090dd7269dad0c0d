//! Counts the paths of all pairs, by combining counts of groups, planes and NICs.
//!
//! In: a fabric and two states of it. Out: [`Outcome`]. Invariants: counts are exact, although pairs are not
//! enumerated. The paths of two groups in a plane are the intersection of two bitsets. NICs are counted by
//! the set of planes in which their ports work. Each direction of a pair is summed over all planes. The worse
//! direction determines the number of paths of the pair.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use closc_fabric::Fabric;
use closc_plan::PathKind;
use closc_topology::{Island, Nic, Node, Tier, Topology, ZoneId};
use rayon::prelude::*;

use crate::adapters::count_pairs;
use crate::distribution::Distribution;
use crate::group::{GroupClass, sorts};
use crate::outcome::{DistanceClass, Outcome, WorstPairs};
use crate::state::{PathCounts, State, UpwardLosses};

/// Maximum number of planes.
const PLANES: usize = 16;

/// Below this number of planned paths, pairs are counted in an array.
const DENSE_MAX: u64 = 1 << 16;

const KINDS: [PathKind; 3] = [PathKind::Local, PathKind::Zone, PathKind::Far];

/// Compares two states of a fabric.
pub(crate) fn evaluate(fabric: &Fabric, before: &State, after: &State, worst_max: usize) -> Outcome {
    let group_classes = sorts(fabric, before, after);
    let work = Work::new(fabric, before, after, &group_classes, worst_max);
    let sum = (0..group_classes.len())
        .into_par_iter()
        .fold(
            || Tally::new(&work),
            |mut sum, at| {
                work.local(&mut sum, at);
                for other in at..group_classes.len() {
                    work.count_groups(&mut sum, at, other);
                }
                sum
            },
        )
        .reduce(|| Tally::new(&work), Tally::merge);
    work.finish(sum)
}

/// Values that are constant during the count.
struct Work<'a> {
    fabric: &'a Fabric,
    before: &'a State,
    after: &'a State,
    /// Losses above T0s, before and after.
    upward_losses: [UpwardLosses; 2],
    group_classes: &'a [GroupClass<'a>],
    /// For each class of groups, the index of its first class of NICs.
    first: Vec<usize>,
    n_nic_classes: usize,
    planned_paths: [u64; 3],
    /// Share of one path in the capacity of a pair, by kind of path, as a numerator over
    /// [`Outcome::denominator`]. For pairs of the fastest NICs.
    path_shares: [u64; 3],
    /// The highest [`ZoneCapacities::rate`].
    top: u64,
    /// Capacities in each zone.
    zones: Vec<ZoneCapacities>,
    worst_max: usize,
}

/// Capacities in a zone.
#[derive(Debug, Clone, Copy)]
struct ZoneCapacities {
    /// Capacity of a NIC port, in Mb/s.
    port: u64,
    /// Lowest capacity of the cables of a path in the zone, by kind of path, in Mb/s.
    path: [u64; 3],
    /// Port speed of a NIC, divided by the greatest common divisor of all zones' port speeds.
    rate: u64,
}

impl ZoneCapacities {
    fn of(topology: &Topology, zone: ZoneId) -> Self {
        let up = |tier: &Tier| u64::from(tier.up_ports(zone).breakout.speed.mbps());
        let (port, t0) = (u64::from(topology.port_speed(zone).mbps()), up(&topology.t0));
        let t1 = topology.t2.as_ref().map_or(t0, |_| t0.min(up(&topology.t1)));
        ZoneCapacities { port, path: [port, t0, t1], rate: 1 }
    }
}

/// Returns the number of planes that exist, or of all planes if none exists. Absent planes have no paths and no
/// bandwidth.
pub(crate) fn count_planes(topology: &Topology) -> u64 {
    let all = u64::from(topology.planes);
    match all - topology.absent_planes().len() as u64 {
        0 => all,
        built => built,
    }
}

/// Returns the greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Paths between two groups, plane by plane.
struct GroupPaths {
    kind: usize,
    /// The [`ZoneCapacities::rate`] of the slower NIC.
    rate: u64,
    before: [PathCounts; PLANES],
    after: [PathCounts; PLANES],
    solo_mbps: [u64; PLANES],
}

/// Paths of a pair of NICs over all planes, in the direction with fewer paths.
struct PairPaths {
    before: u64,
    after: u64,
    /// Mb/s of the pair while no other pair sends.
    solo_mbps: u64,
    /// Number of paths that the worse direction loses.
    lost: u64,
    /// Maximum number of paths that one direction loses in a single plane.
    plane_loss: u64,
}

/// Adds the paths of another plane, direction by direction.
fn add([there, back]: [u64; 2], more: [u64; 2]) -> [u64; 2] {
    [there + more[0], back + more[1]]
}

/// Returns the loss of the direction that loses more.
fn greater_loss(before: [u64; 2], after: [u64; 2]) -> u64 {
    before[0].saturating_sub(after[0]).max(before[1].saturating_sub(after[1]))
}

impl GroupPaths {
    /// Sums over the planes in which the ports of both NICs work, before and after.
    fn pair(&self, (mask_before, mask_after): (u16, u16)) -> PairPaths {
        // Both directions.
        let (mut before, mut after) = ([0_u64; 2], [0_u64; 2]);
        let (mut alone, mut plane_loss) = (0, 0);
        let mut left = mask_before | mask_after;
        while left != 0 {
            let plane = left.trailing_zeros() as usize;
            left &= left - 1;
            let ways = |mask: u16, ways: &[PathCounts; PLANES]| {
                if mask >> plane & 1 == 1 { [ways[plane].forward, ways[plane].back] } else { [0; 2] }
            };
            let (then, now) = (ways(mask_before, &self.before), ways(mask_after, &self.after));
            alone += if mask_after >> plane & 1 == 1 { self.solo_mbps[plane] } else { 0 };
            (before, after) = (add(before, then), add(after, now));
            plane_loss = plane_loss.max(greater_loss(then, now));
        }
        let lost = greater_loss(before, after);
        let [before, after] = [before, after].map(|[there, back]| there.min(back));
        PairPaths { before, after, solo_mbps: alone, lost, plane_loss }
    }
}

/// Running totals.
struct Tally {
    paths: [Count; 3],
    solo_mbps: [BTreeMap<u64, u64>; 3],
    /// Pairs with a NIC below the highest rate, by kind of path, rate and number of paths.
    slow: BTreeMap<(usize, u64, u64), u64>,
    affected_pairs: u64,
    newly_cut_off: u64,
    loss_max: u64,
    plane_loss_max: u64,
    loss_sum: u128,
    /// For each class of NICs, whether it reaches another NIC.
    reached: Vec<bool>,
    worst: Vec<Candidate>,
    keep: usize,
}

/// Number of pairs by number of paths.
enum Count {
    Dense(Vec<u64>),
    Sparse(BTreeMap<u64, u64>),
}

/// Pairs that may be among the worst, ordered by remaining capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    share: u64,
    loss: Reverse<u64>,
    kind: usize,
    classes: (usize, usize),
    nics: (usize, usize),
    paths: u64,
    before: u64,
    pairs: u64,
}

impl<'a> Work<'a> {
    fn new(
        fabric: &'a Fabric,
        before: &'a State,
        after: &'a State,
        group_classes: &'a [GroupClass<'a>],
        worst_max: usize,
    ) -> Self {
        let topology = fabric.topology();
        let (planes, up) = (count_planes(topology), u64::from(topology.t0.up.count));
        let t1_up = topology.t2.as_ref().map_or(1, |_| u64::from(topology.t1.up.count));
        let far = match topology.island() {
            Island::Fabric => planes * up * t1_up,
            Island::Group | Island::Zone => 0,
        };
        let mut n_nic_classes = 0;
        let first = group_classes.iter().map(|class| {
            n_nic_classes += class.nics.len();
            n_nic_classes - class.nics.len()
        });
        let first = first.collect();
        let mut zones: Vec<ZoneCapacities> =
            topology.zone_ids().map(|zone| ZoneCapacities::of(topology, zone)).collect();
        let unit = zones.iter().fold(0, |unit, zone| gcd(unit, zone.port)).max(1);
        for zone in &mut zones {
            zone.rate = zone.port / unit;
        }
        let top = zones.iter().map(|zone| zone.rate).max().unwrap_or(1);
        Work {
            fabric,
            before,
            after,
            upward_losses: [before.climbs(), after.climbs()],
            group_classes,
            first,
            n_nic_classes,
            planned_paths: [planes, planes * up, far],
            path_shares: [up.max(1) * t1_up, t1_up, 1].map(|share| share * top),
            top,
            zones,
            worst_max,
        }
    }

    /// Counts the pairs inside groups of a class.
    fn local(&self, sum: &mut Tally, at: usize) {
        let class = &self.group_classes[at];
        let planes = self.planes(0, [class.zone; 2], |state, plane, is_before| {
            state.local(plane, if is_before { class.before } else { class.after })
        });
        let groups = class.members.len() as u64;
        for (a, from) in class.nics.iter().enumerate() {
            for (b, to) in class.nics.iter().enumerate().skip(a) {
                let pairs = if a == b { from.count * (from.count - 1) / 2 } else { from.count * to.count };
                let masks = (from.before & to.before, from.after & to.after);
                self.add(sum, &planes, masks, pairs * groups, (at, at), (a, b));
            }
        }
    }

    /// Counts the pairs between groups of two classes.
    fn count_groups(&self, sum: &mut Tally, at: usize, other: usize) {
        let (first, second) = (&self.group_classes[at], &self.group_classes[other]);
        let (n, m) = (first.members.len() as u64, second.members.len() as u64);
        let groups = if at == other { n * (n - 1) / 2 } else { n * m };
        let kind = if first.zone == second.zone { 1 } else { 2 };
        // If no path is planned, failures cannot remove one.
        if groups == 0 || self.planned_paths[kind] == 0 {
            return;
        }
        let planes = if first.zone == second.zone {
            self.planes(1, [first.zone; 2], |state, plane, is_before| {
                let (a, b) =
                    if is_before { (first.before, second.before) } else { (first.after, second.after) };
                state.zone(plane, first.zone, a, b)
            })
        } else {
            self.planes(2, [first.zone, second.zone], |state, plane, is_before| {
                let (a, b) =
                    if is_before { (first.before, second.before) } else { (first.after, second.after) };
                state.far(
                    plane,
                    &self.upward_losses[usize::from(!is_before)],
                    (first.zone, a),
                    (second.zone, b),
                )
            })
        };
        for (a, from) in first.nics.iter().enumerate() {
            for (b, to) in second.nics.iter().enumerate() {
                let masks = (from.before & to.before, from.after & to.after);
                let pairs = from.count * to.count * groups;
                self.add(sum, &planes, masks, pairs, (at, other), (a, b));
            }
        }
    }

    /// Counts the paths of each plane in both states.
    fn planes(
        &self,
        kind: usize,
        zones: [ZoneId; 2],
        count: impl Fn(&State, usize, bool) -> PathCounts,
    ) -> GroupPaths {
        let [from, to] = zones.map(|zone| self.zones[usize::from(zone.0)]);
        let (port, path) = (from.port.min(to.port), from.path[kind].min(to.path[kind]));
        let uplink = if kind == 0 { port } else { from.path[1].min(to.path[1]) };
        let rate = from.rate.min(to.rate);
        let none = [PathCounts::default(); PLANES];
        let mut planes = GroupPaths { kind, rate, before: none, after: none, solo_mbps: [0; PLANES] };
        for plane in 0..self.after.shape.planes {
            planes.before[plane] = count(self.before, plane, true);
            planes.after[plane] = count(self.after, plane, false);
            let left = planes.after[plane];
            planes.solo_mbps[plane] = port.min(left.two_way * path).min(left.uplinks * uplink);
        }
        planes
    }

    fn add(
        &self,
        sum: &mut Tally,
        planes: &GroupPaths,
        masks: (u16, u16),
        pairs: u64,
        classes: (usize, usize),
        nics: (usize, usize),
    ) {
        if pairs == 0 {
            return;
        }
        let PairPaths { before, after, solo_mbps: alone, lost, plane_loss } = planes.pair(masks);
        let path_share = self.path_shares[planes.kind];
        let loss = lost * path_share;
        sum.paths[planes.kind].add(after, pairs);
        if planes.rate < self.top {
            *sum.slow.entry((planes.kind, planes.rate, after)).or_default() += pairs;
        }
        *sum.solo_mbps[planes.kind].entry(alone).or_default() += pairs;
        sum.loss_sum += u128::from(loss) * u128::from(pairs);
        sum.loss_max = sum.loss_max.max(loss);
        sum.plane_loss_max = sum.plane_loss_max.max(plane_loss * path_share);
        sum.affected_pairs += if lost > 0 { pairs } else { 0 };
        sum.newly_cut_off += if after == 0 && before > 0 { pairs } else { 0 };
        if after > 0 {
            sum.reached[self.first[classes.0] + nics.0] = true;
            sum.reached[self.first[classes.1] + nics.1] = true;
        }
        let (kind, loss) = (planes.kind, Reverse(loss));
        sum.consider(Candidate {
            share: after * path_share,
            loss,
            kind,
            classes,
            nics,
            paths: after,
            before,
            pairs,
        });
    }

    fn finish(&self, sum: Tally) -> Outcome {
        let mut share: BTreeMap<u64, u64> = BTreeMap::new();
        let mut distances = Vec::new();
        for (at, (paths, alone)) in sum.paths.into_iter().zip(sum.solo_mbps).enumerate() {
            let paths = paths.finish();
            for (value, pairs) in paths.counts() {
                *share.entry(value * self.path_shares[at]).or_default() += pairs;
            }
            if paths.pairs() > 0 {
                let alone_mbps = Distribution::new(alone);
                distances.push(DistanceClass {
                    kind: KINDS[at],
                    planned: self.planned_paths[at],
                    paths,
                    alone_mbps,
                });
            }
        }
        let path_share = Distribution::new(share.clone());
        // Shares are relative to the fastest NIC, so a pair with a slower NIC has a smaller share with the
        // same number of paths.
        for ((kind, rate, paths), pairs) in sum.slow {
            let whole = paths * self.path_shares[kind];
            if let Some(fast) = share.get_mut(&whole) {
                *fast -= pairs;
            }
            *share.entry(whole / self.top * rate).or_default() += pairs;
        }
        share.retain(|_, pairs| *pairs > 0);
        let share = Distribution::new(share);
        let nics_cut_off = self.cut_off(&sum.reached);
        Outcome {
            denominator: self.planned_paths[0] * self.path_shares[0],
            planes: count_planes(self.fabric.topology()),
            affected_pairs: sum.affected_pairs,
            cut_off: share.at(0),
            newly_cut_off: sum.newly_cut_off,
            loss_max: sum.loss_max,
            plane_loss_max: sum.plane_loss_max,
            loss_sum: sum.loss_sum,
            solo_min_mbps: distances.iter().map(|distance| distance.alone_mbps.minimum()).min().unwrap_or(0),
            nics: self.nics(),
            adapter_pairs: count_pairs(self.fabric, self.after),
            nodes_cut_off: self.nodes(&nics_cut_off),
            nics_cut_off,
            worst: sum.worst.iter().map(|candidate| self.worst(candidate)).collect(),
            distances,
            share,
            path_share,
        }
    }

    fn nics(&self) -> u64 {
        let of = |class: &GroupClass<'_>| class.nics.iter().map(|nics| nics.count).sum::<u64>();
        self.group_classes.iter().map(|class| of(class) * class.members.len() as u64).sum()
    }

    /// Lists the NICs that do not reach any other NIC.
    fn cut_off(&self, reached: &[bool]) -> Vec<Nic> {
        let mut found = Vec::new();
        for (class, first) in self.group_classes.iter().zip(&self.first) {
            for nics in (0..class.nics.len()).filter(|nics| !reached[first + nics]) {
                for member in 0..class.members.len() {
                    found.extend(class.nics_of(self.fabric, (self.before, self.after), member, nics));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Counts the nodes that have all their NICs in the list.
    fn nodes(&self, nics: &[Nic]) -> u64 {
        let topology = self.fabric.topology();
        let mut by_node: BTreeMap<Node, usize> = BTreeMap::new();
        for nic in nics {
            *by_node.entry(topology.node_of(*nic).0).or_default() += 1;
        }
        let all = |node: Node| {
            let nics = (0..topology.hosts.nics_per_node).map(|number| topology.nic_of(node, number));
            nics.filter(|nic| self.fabric.has_nic(*nic)).count()
        };
        by_node.into_iter().filter(|(node, count)| all(*node) == *count).count() as u64
    }

    fn worst(&self, found: &Candidate) -> WorstPairs {
        let same = found.classes.0 == found.classes.1;
        let nic = |class: usize, member: usize, nics: usize, nth: usize| {
            let states = (self.before, self.after);
            let mut all = self.group_classes[class].nics_of(self.fabric, states, member, nics);
            all.nth(nth).expect("a class has as many NICs as were counted")
        };
        let local = found.kind == 0;
        let second = usize::from(local && found.nics.0 == found.nics.1);
        let example = (
            nic(found.classes.0, 0, found.nics.0, 0),
            nic(found.classes.1, usize::from(same && !local), found.nics.1, second),
        );
        WorstPairs {
            share: found.share,
            paths: found.paths,
            before: found.before,
            planned_paths: self.planned_paths[found.kind],
            example,
            pairs: found.pairs,
        }
    }
}

impl Tally {
    fn new(work: &Work<'_>) -> Self {
        Tally {
            paths: work.planned_paths.map(Count::new),
            solo_mbps: Default::default(),
            slow: BTreeMap::new(),
            affected_pairs: 0,
            newly_cut_off: 0,
            loss_max: 0,
            plane_loss_max: 0,
            loss_sum: 0,
            reached: vec![false; work.n_nic_classes],
            worst: Vec::new(),
            keep: work.worst_max,
        }
    }

    fn consider(&mut self, candidate: Candidate) {
        if self.worst.len() == self.keep && self.worst.last().is_none_or(|last| candidate >= *last) {
            return;
        }
        let at = self.worst.partition_point(|other| *other < candidate);
        self.worst.insert(at, candidate);
        self.worst.truncate(self.keep);
    }

    fn merge(mut self, other: Tally) -> Tally {
        for (own, more) in self.paths.iter_mut().zip(other.paths) {
            own.merge(more);
        }
        for (own, more) in self.solo_mbps.iter_mut().zip(other.solo_mbps) {
            for (value, pairs) in more {
                *own.entry(value).or_default() += pairs;
            }
        }
        for (key, pairs) in other.slow {
            *self.slow.entry(key).or_default() += pairs;
        }
        self.affected_pairs += other.affected_pairs;
        self.newly_cut_off += other.newly_cut_off;
        self.loss_max = self.loss_max.max(other.loss_max);
        self.plane_loss_max = self.plane_loss_max.max(other.plane_loss_max);
        self.loss_sum += other.loss_sum;
        for (own, more) in self.reached.iter_mut().zip(other.reached) {
            *own |= more;
        }
        for candidate in other.worst {
            self.consider(candidate);
        }
        self
    }
}

impl Count {
    fn new(planned: u64) -> Self {
        if planned < DENSE_MAX {
            Count::Dense(vec![0; planned as usize + 1])
        } else {
            Count::Sparse(BTreeMap::new())
        }
    }

    fn add(&mut self, paths: u64, pairs: u64) {
        match self {
            Count::Dense(counts) => counts[paths as usize] += pairs,
            Count::Sparse(counts) => *counts.entry(paths).or_default() += pairs,
        }
    }

    fn merge(&mut self, other: Count) {
        match other {
            Count::Dense(counts) => {
                for (paths, pairs) in counts.into_iter().enumerate().filter(|(_, pairs)| *pairs > 0) {
                    self.add(paths as u64, pairs);
                }
            }
            Count::Sparse(counts) => {
                for (paths, pairs) in counts {
                    self.add(paths, pairs);
                }
            }
        }
    }

    fn finish(self) -> Distribution {
        match self {
            Count::Dense(counts) => {
                Distribution::new(counts.into_iter().enumerate().map(|(paths, pairs)| (paths as u64, pairs)))
            }
            Count::Sparse(counts) => Distribution::new(counts),
        }
    }
}
