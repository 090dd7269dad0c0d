//! One fabric as its exceptions leave it: what is lost plane by plane, by group, by zone, by T2.
//!
//! In: a topology. Out: usable paths of a plane between two groups, given what each has lost. Invariants: the cables
//! between two groups carry the same numbers on the way up and down, so a lost uplink counts at either end.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::{Link, PlaneId, Switch, TierId, Topology, ZoneId};
use fixedbitset::FixedBitSet;

use super::Share;

/// What a group has lost in one plane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GroupPlane {
    /// Its T0 carries nothing.
    dead: bool,
    /// Its uplinks that carry nothing.
    uplinks: FixedBitSet,
}

/// What is lost between T1s and T2s of a zone, in one plane: the T1 uplinks that carry nothing, by T0 uplink.
type Crossing = BTreeMap<usize, FixedBitSet>;

/// One fabric as its exceptions leave it.
pub(super) struct View<'a> {
    topology: &'a Topology,
    /// What groups have lost, each profile once; the first is that of groups without exceptions.
    profiles: Vec<Vec<GroupPlane>>,
    special: BTreeMap<(ZoneId, u16), usize>,
    /// T0 uplinks lost with T1s, by zone and plane.
    zones: Vec<Vec<FixedBitSet>>,
    /// Cables lost between T1s and T2s, by zone and plane.
    crossings: Vec<Vec<Crossing>>,
    /// Paths lost with T2s, by plane.
    upper: Vec<Crossing>,
}

impl<'a> View<'a> {
    pub(super) fn of(topology: &'a Topology) -> Self {
        let planes = usize::from(topology.planes);
        let zones = usize::from(topology.zones);
        let uplinks = usize::from(topology.t0.up.count);
        let fresh = vec![GroupPlane { dead: false, uplinks: FixedBitSet::with_capacity(uplinks) }; planes];
        let mut view = View {
            topology,
            profiles: vec![fresh],
            special: BTreeMap::new(),
            zones: vec![vec![FixedBitSet::with_capacity(uplinks); planes]; zones],
            crossings: vec![vec![Crossing::new(); planes]; zones],
            upper: vec![Crossing::new(); planes],
        };
        let exceptions = &topology.exceptions;
        let mut groups = BTreeMap::new();
        for switch in exceptions.absent_switches.iter().chain(&exceptions.drained_switches) {
            view.lose_switch(*switch, &mut groups);
        }
        for link in exceptions.absent_links.iter().chain(&exceptions.drained_links) {
            view.lose_link(*link, &mut groups);
        }
        view.intern(groups);
        view
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
        // Host cables are lost by single NICs: see `kinds`.
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

    /// Returns the profile of a group; nothing where the group is not there.
    pub(super) fn profile(&self, zone: ZoneId, group: u16) -> Option<usize> {
        let there = zone.0 < self.topology.zones && group < self.topology.hosts.groups;
        there.then(|| self.special.get(&(zone, group)).copied().unwrap_or(0))
    }

    /// Returns the usable paths, plane by plane, between NICs of one group.
    pub(super) fn local(&self, profile: usize) -> Vec<Share> {
        self.planes(|plane| u64::from(!self.profiles[profile][plane].dead), 1)
    }

    /// Returns the usable paths, plane by plane, between two groups of these zones and profiles.
    pub(super) fn between(&self, (from, a): (ZoneId, usize), (to, b): (ZoneId, usize)) -> Vec<Share> {
        let t0 = u64::from(self.topology.t0.up.count);
        if from == to {
            return self.planes(
                |plane| self.alive(plane, a, b, from, to).map_or(0, |lost| t0 - lost.count_ones(..) as u64),
                t0,
            );
        }
        let t1 = u64::from(self.topology.t1.up.count);
        self.planes(
            |plane| self.alive(plane, a, b, from, to).map_or(0, |lost| self.far(plane, &lost, from, to)),
            t0 * t1,
        )
    }

    fn planes(&self, usable: impl Fn(usize) -> u64, planned: u64) -> Vec<Share> {
        let drained = &self.topology.exceptions.drained_planes;
        (0..self.topology.planes)
            .map(|plane| {
                let off = drained.contains(&PlaneId(plane));
                Share { usable: if off { 0 } else { usable(usize::from(plane)) }, planned }
            })
            .collect()
    }

    /// Returns the T0 uplinks that carry nothing between two groups; nothing where a T0 is lost.
    fn alive(&self, plane: usize, a: usize, b: usize, from: ZoneId, to: ZoneId) -> Option<FixedBitSet> {
        let (first, second) = (&self.profiles[a][plane], &self.profiles[b][plane]);
        if first.dead || second.dead {
            return None;
        }
        let mut lost = first.uplinks.clone();
        lost.union_with(&second.uplinks);
        lost.union_with(&self.zones[usize::from(from.0)][plane]);
        lost.union_with(&self.zones[usize::from(to.0)][plane]);
        Some(lost)
    }

    /// Counts the paths over the T2 tier: for each T0 uplink that is left, the T1 uplinks that are left. Only uplinks behind
    /// which something is lost are looked at one by one.
    fn far(&self, plane: usize, lost: &FixedBitSet, from: ZoneId, to: ZoneId) -> u64 {
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

    /// Returns the groups that have lost something by themselves; the others of a zone are alike.
    pub(super) fn apart(&self) -> impl Iterator<Item = (ZoneId, u16)> + '_ {
        self.special.keys().copied()
    }
}
