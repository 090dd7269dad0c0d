//! Kinds of T0 groups: groups of one kind have equal paths, on the old side and on the new one.
//!
//! In: two fabrics. Out: kinds of T0 groups, each with the number of groups and the planes that their NICs have lost.
//! Invariants: every group that has NICs on either side belongs to exactly one kind.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use closc_fabric::{Fabric, UsablePaths};
use closc_topology::{Link, Nic, NicPort, PlaneId, Topology, ZoneId};

/// The planes that a NIC has lost on each side, one bit per plane; `None` if the NIC is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NicState {
    pub(super) old: Option<u16>,
    pub(super) new: Option<u16>,
}

/// NICs of a group with the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nics {
    pub(super) state: NicState,
    pub(super) count: u64,
}

/// Groups with equal profiles and NICs.
#[derive(Debug)]
pub(super) struct GroupKind {
    pub(super) zone: ZoneId,
    /// Index of the profile in the old fabric; `None` if the group is not in it.
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
    pub(super) nics: Vec<Nics>,
    pub(super) groups: u64,
    samples: Vec<Sample>,
}

/// One of the groups, with the first two NICs of each state.
#[derive(Debug)]
struct Sample {
    group: u16,
    downlinks: Vec<[u16; 2]>,
}

impl GroupKind {
    /// Returns a NIC with a given state, from the first or second group of the kind.
    pub(super) fn sample(&self, nics: usize, group: usize) -> Nic {
        let sample = self.samples.get(group).unwrap_or(&self.samples[0]);
        Nic { zone: self.zone, group: sample.group, downlink: sample.downlinks[nics][0] }
    }

    /// Returns two NICs of one group.
    pub(super) fn sample_pair(&self, a: usize, b: usize) -> (Nic, Nic) {
        let sample = &self.samples[0];
        let nic = |downlink| Nic { zone: self.zone, group: sample.group, downlink };
        let second = usize::from(a == b);
        (nic(sample.downlinks[a][0]), nic(sample.downlinks[b][second]))
    }
}

type Key = (ZoneId, Option<usize>, Option<usize>, Vec<Nics>);

/// Sorts the groups of both fabrics into kinds.
pub(super) fn kinds(
    old: &Fabric,
    new: &Fabric,
    old_ways: &UsablePaths<'_>,
    new_ways: &UsablePaths<'_>,
) -> Vec<GroupKind> {
    let (before, after) = (old.topology(), new.topology());
    let mut named: BTreeMap<(ZoneId, u16), BTreeSet<u16>> = BTreeMap::new();
    for nic in named_nics(before).chain(named_nics(after)) {
        named.entry((nic.zone, nic.group)).or_default().insert(nic.downlink);
    }
    let none = BTreeSet::new();
    let mut kinds: BTreeMap<Key, (u64, Vec<Sample>)> = BTreeMap::new();
    for run in runs(
        before,
        after,
        old_ways.special_groups().chain(new_ways.special_groups()).chain(named.keys().copied()),
    ) {
        let Run { zone, first, second, count } = run;
        let profiles = (old_ways.profile(zone, first), new_ways.profile(zone, first));
        let special = named.get(&(zone, first)).unwrap_or(&none);
        let (nics, downlinks) = group_nics(old, new, zone, first, special);
        if nics.is_empty() {
            continue;
        }
        let entry = kinds.entry((zone, profiles.0, profiles.1, nics)).or_default();
        entry.0 += count;
        entry.1.push(Sample { group: first, downlinks: downlinks.clone() });
        entry.1.extend(second.map(|group| Sample { group, downlinks }));
    }
    for (_, samples) in kinds.values_mut() {
        samples.sort_unstable_by_key(|sample| sample.group);
        samples.truncate(2);
    }
    kinds
        .into_iter()
        .map(|((zone, old, new, nics), (groups, samples))| GroupKind {
            zone,
            old,
            new,
            nics,
            groups,
            samples,
        })
        .collect()
}

/// Groups of a zone that are equal according to exceptions and counts.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    zone: ZoneId,
    first: u16,
    second: Option<u16>,
    count: u64,
}

/// Divides the groups of both topologies into runs. Each group in `apart` is a separate run. The other groups
/// of a zone form two runs: groups that both sides have, and groups that only one side has. So the work grows
/// with exceptions and zones, not with groups.
fn runs(before: &Topology, after: &Topology, apart: impl Iterator<Item = (ZoneId, u16)>) -> Vec<Run> {
    let apart: BTreeSet<(ZoneId, u16)> = apart.collect();
    let (a, b) = (before.hosts.groups, after.hosts.groups);
    let mut runs = Vec::new();
    for zone in (0..before.zones.max(after.zones)).map(ZoneId) {
        let own =
            |range: &Range<u16>| apart.range((zone, range.start)..(zone, range.end)).map(|(_, group)| *group);
        for range in [0..a.min(b), a.min(b)..a.max(b)] {
            runs.extend(own(&range).map(|first| Run { zone, first, second: None, count: 1 }));
            let mut plain = range.clone().filter(|group| !apart.contains(&(zone, *group)));
            let (Some(first), second) = (plain.next(), plain.next()) else { continue };
            let count = range.len() as u64 - own(&range).count() as u64;
            runs.push(Run { zone, first, second, count });
        }
    }
    runs
}

/// Returns the NICs that are named in an exception, directly or by a cable.
fn named_nics(topology: &Topology) -> impl Iterator<Item = Nic> + '_ {
    let exceptions = &topology.exceptions;
    let links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    let cables = links.filter_map(|link| match link {
        Link::Host(port) => Some(port.nic),
        Link::Fabric { .. } => None,
    });
    exceptions.absent_nics.iter().copied().chain(cables)
}

/// Counts the NICs of a group by the planes that they have lost. NICs that are not named in an exception are
/// not visited one by one.
fn group_nics(
    old: &Fabric,
    new: &Fabric,
    zone: ZoneId,
    group: u16,
    special: &BTreeSet<u16>,
) -> (Vec<Nics>, Vec<[u16; 2]>) {
    let mut found: BTreeMap<NicState, (u64, [u16; 2])> = BTreeMap::new();
    let mut add = |state: NicState, count: u64, first: u16, second: u16| {
        if count == 0 || (state.old.is_none() && state.new.is_none()) {
            return;
        }
        let entry = found.entry(state).or_insert((0, [first, second]));
        if entry.0 == 1 {
            entry.1[1] = first;
        }
        entry.0 += count;
    };
    for downlink in special {
        let nic = Nic { zone, group, downlink: *downlink };
        add(NicState { old: lost_planes(old, nic), new: lost_planes(new, nic) }, 1, *downlink, *downlink);
    }
    // The other NICs form two runs: on downlinks that both sides have, and on downlinks that only one side
    // has.
    let (a, b) = (old.topology().hosts.per_group, new.topology().hosts.per_group);
    for run in [0..a.min(b), a.min(b)..a.max(b)] {
        let mut plain = run.clone().filter(|downlink| !special.contains(downlink));
        let (Some(first), second) = (plain.next(), plain.next()) else { continue };
        let count = run.len() as u64 - special.range(run).count() as u64;
        let nic = Nic { zone, group, downlink: first };
        add(
            NicState { old: lost_planes(old, nic), new: lost_planes(new, nic) },
            count,
            first,
            second.unwrap_or(first),
        );
    }
    found.into_iter().map(|(state, (count, sample))| (Nics { state, count }, sample)).unzip()
}

/// Returns the planes in which an exception disables a NIC's cable; `None` if the NIC does not exist.
pub(super) fn lost_planes(fabric: &Fabric, nic: Nic) -> Option<u16> {
    let exceptions = &fabric.topology().exceptions;
    fabric.has_nic(nic).then(|| {
        (0..fabric.topology().planes).fold(0, |mask, plane| {
            let link = Link::Host(NicPort { plane: PlaneId(plane), nic });
            let off = exceptions.absent_links.contains(&link) || exceptions.drained_links.contains(&link);
            mask | u16::from(off) << plane
        })
    })
}

#[cfg(test)]
mod tests {
    use closc_tests::shape::{Shape, T2};

    use super::*;

    #[test]
    fn the_number_of_runs_depends_on_exceptions_and_not_on_groups() {
        for groups in [4, 40] {
            let t2 = Some(T2 { zones: 2, steps: 1, parallel: 1, rows: 0, node_zones: 1 });
            let shape = |lines: &str| {
                Shape { groups, t2: t2.clone(), exceptions: lines.into(), ..Shape::SMALL }.plan()
            };
            let lost = "exceptions:\n  drained: [z1-p0-t0-003, z1-p0-t1-001, z0-p1-t1-002]\n  absent: [z0-p0-t0-002--z0-p0-t1-001]\n";
            let (old, new) = (shape(""), shape(lost));
            let (before, after) = (old.topology(), new.topology());
            let of = |topology| UsablePaths::of(topology, closc_fabric::LossScope::AbsentOrDrained);
            let runs = runs(before, after, of(before).special_groups().chain(of(after).special_groups()));
            let of = |run: &Run| (run.zone.0, run.first, run.second, run.count);
            let others = u64::from(groups) - 1;
            let wanted = [(0, 1, None, 1), (0, 0, Some(2), others), (1, 2, None, 1), (1, 0, Some(1), others)];
            assert_eq!(runs.iter().map(of).collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn groups_that_one_side_has_are_apart() {
        let shape = |groups| Shape { groups, ..Shape::SMALL }.plan();
        let (old, new) = (shape(3), shape(5));
        let runs = runs(old.topology(), new.topology(), std::iter::empty());
        let counts: Vec<(u16, Option<u16>, u64)> =
            runs.iter().map(|run| (run.first, run.second, run.count)).collect();
        assert_eq!(counts, [(0, Some(1), 3), (3, Some(4), 2)]);
    }
}
