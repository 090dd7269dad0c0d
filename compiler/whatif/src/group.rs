//! Classes of T0 groups that are equal both before and after a failure. Their NICs are counted by working
//! planes.
//!
//! In: a fabric and two states of it. Out: classes of groups. Invariants: every group with a NIC belongs to
//! exactly one class. Undamaged groups share classes, so the work grows with the square of the number of
//! damaged groups, not with the number of NICs.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::Fabric;
use closc_topology::{Nic, ZoneId};

use crate::state::{Profile, State};

/// Equal NICs of a group. The planes in which their ports work are given as one bit per plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Nics {
    pub(crate) before: u16,
    pub(crate) after: u16,
    pub(crate) count: u64,
}

/// A class of equal groups.
#[derive(Debug)]
pub(crate) struct GroupClass<'s> {
    pub(crate) zone: ZoneId,
    pub(crate) before: &'s Profile,
    pub(crate) after: &'s Profile,
    pub(crate) nics: Vec<Nics>,
    pub(crate) members: Vec<u16>,
}

impl GroupClass<'_> {
    /// Returns the NICs of one class in a group, in order.
    pub(crate) fn nics_of<'f>(
        &self,
        fabric: &'f Fabric,
        (before, after): (&'f State, &'f State),
        member: usize,
        sort: usize,
    ) -> impl Iterator<Item = Nic> + use<'f> {
        let wanted = self.nics[sort];
        fabric
            .group_nics(self.zone, self.members[member])
            .filter(move |nic| (before.ports(*nic), after.ports(*nic)) == (wanted.before, wanted.after))
    }
}

/// Divides the groups of a fabric into classes.
pub(crate) fn sorts<'s>(fabric: &Fabric, before: &'s State, after: &'s State) -> Vec<GroupClass<'s>> {
    let topology = fabric.topology();
    let mut damaged: BTreeMap<(ZoneId, u16), BTreeSet<u16>> = BTreeMap::new();
    for nic in before.damaged_nics().chain(after.damaged_nics()) {
        damaged.entry((nic.zone, nic.group)).or_default().insert(nic.downlink);
    }
    let none = BTreeSet::new();
    let mut sorts: BTreeMap<_, Vec<u16>> = BTreeMap::new();
    for zone in topology.zone_ids() {
        for group in 0..topology.hosts.groups {
            let special = damaged.get(&(zone, group)).unwrap_or(&none);
            let nics = nics(fabric, before, after, (zone, group), special);
            if !nics.is_empty() {
                let number = before.shape.group(zone, group);
                let key = (zone, before.profile(number), after.profile(number), nics);
                sorts.entry(key).or_default().push(group);
            }
        }
    }
    sorts
        .into_iter()
        .map(|((zone, before, after, nics), members)| GroupClass { zone, before, after, nics, members })
        .collect()
}

/// Counts the NICs of a group by their working planes. Undamaged NICs are counted together.
fn nics(
    fabric: &Fabric,
    before: &State,
    after: &State,
    (zone, group): (ZoneId, u16),
    special: &BTreeSet<u16>,
) -> Vec<Nics> {
    let mut found: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    let all = before.all_planes();
    let plain = u64::from(fabric.topology().hosts.per_group) - special.len() as u64;
    if plain > 0 {
        found.insert((all, all), plain);
    }
    for downlink in special {
        let nic = Nic { zone, group, downlink: *downlink };
        if fabric.has_nic(nic) {
            *found.entry((before.ports(nic), after.ports(nic))).or_default() += 1;
        }
    }
    found.into_iter().map(|((before, after), count)| Nics { before, after, count }).collect()
}
