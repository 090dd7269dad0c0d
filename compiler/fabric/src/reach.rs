//! Pairs of NICs without a path, by the rule of the routing mode.
//!
//! In: a fabric, and which exceptions count as losses. Out: [`UnreachablePairs`]. Invariants: a pair is counted if and
//! only if no plane has a path between its ends. Groups with equal losses are examined once. Two groups that each lost
//! less than half of their upward paths in a plane have a path there. Therefore only groups with larger losses are
//! compared pair by pair.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::{Island, Link, Nic, ZoneId};

use crate::Fabric;
use crate::usable::{LossScope, UsablePaths};

/// Pairs without a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnreachablePairs {
    /// Two NICs of different T0 groups; of the same group only if no pair of groups is affected.
    pub(crate) example: (Nic, Nic),
    /// Number of pairs of T0 groups without a path; 0 if only single NICs are affected.
    pub(crate) groups: u64,
}

/// Groups of a zone with equal losses, or NICs of such groups with cables in the same planes.
struct Class {
    zone: ZoneId,
    profile: usize,
    /// Planes in which the NICs have a cable, one bit each.
    ports: u16,
    /// Planes in which the NICs have a cable and less than half of the upward paths are lost, one bit each.
    good: u16,
    /// The first member that exists.
    first: Nic,
    /// The first existing member of another group, if there is one.
    second: Option<Nic>,
    groups: u64,
}

impl Fabric {
    /// Returns the first pair of NICs without a path in any plane, and the number of pairs of groups without a path.
    pub(crate) fn unreachable_pairs(&self, scope: LossScope) -> Option<UnreachablePairs> {
        let ways = UsablePaths::of(self.topology(), scope);
        let island = self.topology().island();
        match island {
            Island::Group => {
                return inside(self, &ways, scope).map(|example| UnreachablePairs { example, groups: 0 });
            }
            Island::Zone | Island::Fabric => {}
        }
        let all = classes(self, &ways, scope);
        if all.iter().fold(u16::MAX, |good, class| good & class.good) != 0 {
            return None;
        }
        let (mut found, mut groups): (Option<(Nic, Nic)>, u64) = (None, 0);
        let mut single: Option<(Nic, Nic)> = None;
        for (at, one) in all.iter().enumerate() {
            for other in all[at..].iter().filter(|other| one.good & other.good == 0) {
                let Some(pair) = pair(one, other).filter(|pair| is_in_one(island, *pair)) else { continue };
                let between = ways.pair_paths((one.zone, one.profile), (other.zone, other.profile));
                let planes = between.iter().enumerate().filter(|(_, ways)| **ways > 0);
                let planes = planes.fold(0_u16, |planes, (plane, _)| planes | 1 << plane);
                if planes == 0 {
                    let same = std::ptr::eq(one, other);
                    groups += if same {
                        one.groups * one.groups.saturating_sub(1) / 2
                    } else {
                        one.groups * other.groups
                    };
                    found = Some(found.map_or(pair, |known| known.min(pair)));
                } else if planes & one.ports & other.ports == 0
                    // NICs without a common plane were already reported (`pair_without_common_plane`), unless drains
                    // count.
                    && (scope == LossScope::AbsentOrDrained || one.ports & other.ports != 0)
                {
                    single = Some(single.map_or(pair, |known| known.min(pair)));
                }
            }
        }
        let example = found.or(single).or_else(|| inside(self, &ways, scope))?;
        Some(UnreachablePairs { example, groups })
    }
}

/// Returns whether two NICs have a path by design. All members of a class are in the same zone.
fn is_in_one(island: Island, (one, other): (Nic, Nic)) -> bool {
    island.holds((one.zone, one.group), (other.zone, other.group))
}

/// Returns the first two NICs of one group without a path, because their T0s carry nothing or they have cables in
/// different planes.
fn inside(fabric: &Fabric, ways: &UsablePaths<'_>, scope: LossScope) -> Option<(Nic, Nic)> {
    let single = single_ports(fabric, scope);
    let mut groups: BTreeSet<(ZoneId, u16)> = ways.special_groups().collect();
    groups.extend(single.keys().map(|nic| (nic.zone, nic.group)));
    for zone in fabric.topology().zone_ids() {
        // One group represents all groups of the zone without losses of their own.
        let mut all = (0..fabric.topology().hosts.groups).map(|group| (zone, group));
        let plain = all.find(|group| !groups.contains(group));
        groups.extend(plain);
    }
    groups.into_iter().find_map(|(zone, group)| {
        let profile = ways.profile(zone, group)?;
        let local = ways.local(profile).into_iter().enumerate();
        let open = local.filter(|(_, ways)| *ways > 0).fold(0_u16, |open, (plane, _)| open | 1 << plane);
        let first = Nic { zone, group, downlink: 0 };
        let last = Nic { zone, group, downlink: u16::MAX };
        let lacking = single.range(first..=last).map(|(nic, lost)| (*nic, open & !lost));
        // The first two represent all NICs without losses of their own.
        let whole = fabric.group_nics(zone, group).filter(|nic| !single.contains_key(nic)).take(2);
        let all: Vec<(Nic, u16)> = whole.map(|nic| (nic, open)).chain(lacking).collect();
        let pairs =
            all.iter().enumerate().flat_map(|(at, one)| all[at + 1..].iter().map(move |other| (one, other)));
        let apart = pairs.filter(|(one, other)| one.1 & other.1 == 0);
        apart.map(|(one, other)| (one.0.min(other.0), one.0.max(other.0))).min()
    })
}

/// Returns a pair of NICs of two classes, from different groups.
fn pair(one: &Class, other: &Class) -> Option<(Nic, Nic)> {
    let second = if std::ptr::eq(one, other) { one.second? } else { other.first };
    let apart = |a: Nic, b: Nic| (a.zone, a.group) != (b.zone, b.group);
    let second = if apart(one.first, second) { second } else { other.second? };
    let pair = if apart(one.first, second) { (one.first, second) } else { (one.second?, second) };
    Some((pair.0.min(pair.1), pair.0.max(pair.1)))
}

/// Sorts groups with NICs into classes. NICs that lack a cable of their own get additional classes.
fn classes(fabric: &Fabric, ways: &UsablePaths<'_>, scope: LossScope) -> Vec<Class> {
    let topology = fabric.topology();
    let exceptions = &topology.exceptions;
    let all = topology.plane_ids().fold(0_u16, |all, plane| all | 1 << plane.0);
    let mut absent: BTreeMap<(ZoneId, u16), u16> = BTreeMap::new();
    for nic in exceptions.absent_nics.iter().filter(|nic| fabric.numbers_nic(**nic)) {
        *absent.entry((nic.zone, nic.group)).or_default() += 1;
    }
    let empty = absent.iter().filter(|(_, nics)| **nics >= topology.hosts.per_group).map(|(group, _)| *group);
    let special: BTreeSet<(ZoneId, u16)> = ways.special_groups().chain(empty).collect();
    let mut found: BTreeMap<(ZoneId, usize, u16), Class> = BTreeMap::new();
    let mut add = |nic: Nic, ports: u16, groups: u64| {
        let Some(profile) = ways.profile(nic.zone, nic.group) else { return };
        let (zone, group) = (nic.zone, nic.group);
        let class = found.entry((zone, profile, ports)).or_insert_with(|| Class {
            zone,
            profile,
            ports,
            good: 0,
            first: nic,
            second: None,
            groups: 0,
        });
        class.groups += groups;
        if class.second.is_none() && class.first.group != group {
            class.second = Some(nic);
        }
    };
    for zone in topology.zone_ids() {
        let of_zone = special.range((zone, 0)..=(zone, u16::MAX));
        let plain = u64::from(topology.hosts.groups) - of_zone.count() as u64;
        let others = (0..topology.hosts.groups).filter(|group| !special.contains(&(zone, *group)));
        let mut others = others.filter_map(|group| fabric.group_nics(zone, group).next());
        if let Some(first) = others.next() {
            add(first, all, plain);
            others.next().into_iter().for_each(|second| add(second, all, 0));
        }
    }
    for (zone, group) in &special {
        fabric.group_nics(*zone, *group).next().into_iter().for_each(|first| add(first, all, 1));
    }
    for (nic, lost) in single_ports(fabric, scope) {
        add(nic, all & !lost, 0);
    }
    let mut classes: Vec<Class> = found.into_values().collect();
    for class in &mut classes {
        class.good = class.ports & good(fabric, ways, class.zone, class.profile);
    }
    classes
}

/// Returns the planes in which cables of single NICs are lost, one bit each.
fn single_ports(fabric: &Fabric, scope: LossScope) -> BTreeMap<Nic, u16> {
    let exceptions = &fabric.topology().exceptions;
    let drained = exceptions.drained_links.iter().filter(|_| scope == LossScope::AbsentOrDrained);
    let mut found: BTreeMap<Nic, u16> = BTreeMap::new();
    for link in exceptions.absent_links.iter().chain(drained) {
        if let Link::Host(port) = link
            && fabric.has_nic(port.nic)
        {
            *found.entry(port.nic).or_default() |= 1 << port.plane.0;
        }
    }
    found
}

/// Returns the planes in which a group has lost less than half of its upward paths, within its zone and towards others.
/// Any two such groups have a path there.
fn good(fabric: &Fabric, ways: &UsablePaths<'_>, zone: ZoneId, profile: usize) -> u16 {
    let topology = fabric.topology();
    let planned = [ways.planned_paths(zone, zone), ways.planned_paths(zone, ZoneId(zone.0 + 1))];
    let is_good = |plane: &closc_topology::PlaneId| {
        let [near, far] = ways.lost_paths(*plane, zone, profile);
        2 * near < planned[0] && (topology.zones == 1 || topology.t2.is_none() || 2 * far < planned[1])
    };
    topology.plane_ids().filter(is_good).fold(0, |good, plane| good | 1 << plane.0)
}
