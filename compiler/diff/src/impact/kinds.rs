//! Groups of NICs that are alike on both sides.
//!
//! In: two fabrics. Out: kinds of T0 groups, each with how many groups it stands for and what their NICs have lost.
//! Invariants: every group of either side belongs to exactly one kind.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::Fabric;
use closc_topology::{Link, Nic, NicPort, PlaneId, Topology, ZoneId};

use super::view::View;

/// What a NIC has lost: one bit a plane, on each side; nothing where the NIC is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NicState {
    pub(super) old: Option<u16>,
    pub(super) new: Option<u16>,
}

/// NICs of a group that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nics {
    pub(super) state: NicState,
    pub(super) count: u64,
}

/// Groups that are alike.
#[derive(Debug)]
pub(super) struct GroupKind {
    pub(super) zone: ZoneId,
    /// Profile in the old view, and in the new one.
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
    pub(super) nics: Vec<Nics>,
    pub(super) groups: u64,
    samples: Vec<Sample>,
}

/// One of the groups, with the first two NICs of each sort.
#[derive(Debug)]
struct Sample {
    group: u16,
    downlinks: Vec<[u16; 2]>,
}

impl GroupKind {
    /// Returns a NIC of a sort, from the first or second group of the kind.
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
pub(super) fn kinds(old: &Fabric, new: &Fabric, old_view: &View<'_>, new_view: &View<'_>) -> Vec<GroupKind> {
    let (before, after) = (old.topology(), new.topology());
    let mut named: BTreeMap<(ZoneId, u16), BTreeSet<u16>> = BTreeMap::new();
    for nic in named_nics(before).chain(named_nics(after)) {
        named.entry((nic.zone, nic.group)).or_default().insert(nic.downlink);
    }
    let none = BTreeSet::new();
    let mut kinds: BTreeMap<Key, (u64, Vec<Sample>)> = BTreeMap::new();
    for zone in (0..before.zones.max(after.zones)).map(ZoneId) {
        for group in 0..before.hosts.groups.max(after.hosts.groups) {
            let profiles = (old_view.profile(zone, group), new_view.profile(zone, group));
            let special = named.get(&(zone, group)).unwrap_or(&none);
            let (nics, downlinks) = group_nics(old, new, zone, group, special);
            if nics.is_empty() {
                continue;
            }
            let entry = kinds.entry((zone, profiles.0, profiles.1, nics)).or_default();
            entry.0 += 1;
            if entry.1.len() < 2 {
                entry.1.push(Sample { group, downlinks });
            }
        }
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

/// NICs that an exception names, by themselves or by their cables.
fn named_nics(topology: &Topology) -> impl Iterator<Item = Nic> + '_ {
    let exceptions = &topology.exceptions;
    let links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    let cables = links.filter_map(|link| match link {
        Link::Host(port) => Some(port.nic),
        Link::Fabric { .. } => None,
    });
    exceptions.absent_nics.iter().copied().chain(cables)
}

/// Counts the NICs of a group by what they have lost; those that no exception names are counted at once.
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
        add(NicState { old: lost(old, nic), new: lost(new, nic) }, 1, *downlink, *downlink);
    }
    // The others fall into two runs: downlinks that both sides have, and those that only one has.
    let (a, b) = (old.topology().hosts.per_group, new.topology().hosts.per_group);
    for run in [0..a.min(b), a.min(b)..a.max(b)] {
        let mut plain = run.clone().filter(|downlink| !special.contains(downlink));
        let (Some(first), second) = (plain.next(), plain.next()) else { continue };
        let count = run.len() as u64 - special.range(run).count() as u64;
        let nic = Nic { zone, group, downlink: first };
        add(NicState { old: lost(old, nic), new: lost(new, nic) }, count, first, second.unwrap_or(first));
    }
    found.into_iter().map(|(state, (count, sample))| (Nics { state, count }, sample)).unzip()
}

/// The planes in which a NIC has no cable that carries traffic.
fn lost(fabric: &Fabric, nic: Nic) -> Option<u16> {
    let exceptions = &fabric.topology().exceptions;
    fabric.has_nic(nic).then(|| {
        (0..fabric.topology().planes).fold(0, |mask, plane| {
            let link = Link::Host(NicPort { plane: PlaneId(plane), nic });
            let off = exceptions.absent_links.contains(&link) || exceptions.drained_links.contains(&link);
            mask | u16::from(off) << plane
        })
    })
}
