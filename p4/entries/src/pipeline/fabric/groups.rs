//! Weighted groups: routes over several ports use the same group if their shares are equal.
//!
//! In: the routes of a switch. Out: members, groups, `wcmp_group` and the hash settings. Invariants: a
//! group's id is derived from its members. So an added or removed route does not renumber the groups of other
//! routes, unless digests collide. A member has the id of its port and watches the port, so that flows leave
//! a dead port before a controller acts.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::{DeviceIntent, Hop, Target};
use closc_runtime::Info;
use closc_runtime::capacity::{CapacityUnit, Excess};
use closc_runtime::entry::{self, GroupMember};
use closc_runtime::proto::v1;

use super::super::shares;
use super::{Form, Ports};
use crate::error::{EntriesError, Fault};

const PROFILE: &str = "ingress.wcmp_selector";

/// Port ids and their shares, divided by the greatest common divisor and sorted by port.
type Shares = Vec<(u16, u64)>;

/// Forwarding of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forwarding {
    /// Dropped: the route is a blackhole, or all its cables are absent.
    Nowhere,
    /// Over one port, given by its id.
    Port(u16),
    /// Over several ports, given by the id of their group.
    Group(u16),
}

/// The groups of a switch.
pub(super) struct Groups {
    ids: BTreeMap<Shares, u16>,
    /// The number of each port in the pipeline, by the id of the port.
    numbers: BTreeMap<u16, u16>,
    /// In the order of the routes.
    forwarding: Vec<Forwarding>,
}

impl Groups {
    /// Finds the distinct groups.
    pub(super) fn of(intent: &DeviceIntent<'_>, ports: &Ports<'_>, info: &Info) -> Result<Self, Fault> {
        let limit = group_limit(info)?;
        let mut shares = Vec::with_capacity(intent.routes.len());
        for route in &intent.routes {
            let own = match &route.target {
                Target::Ports(hops) => reduce_hops(hops, ports),
                Target::Blackhole => Shares::new(),
            };
            let total: u64 = own.iter().map(|(_, share)| share).sum();
            if own.len() > 1 && total > limit {
                let (device, prefix) = (intent.name.to_string(), route.prefix.to_string());
                return Err(EntriesError::Group {
                    device,
                    prefix,
                    total,
                    profile: PROFILE.to_owned(),
                    max: limit,
                }
                .into());
            }
            shares.push(own);
        }
        let ids = assign_ids(shares.iter().filter(|shares| shares.len() > 1).cloned().collect());
        if ids.len() >= usize::from(u16::MAX) {
            let (device, object) = (intent.name.to_string(), PROFILE.to_owned());
            let (needed, size) = (ids.len() as u64, u64::from(u16::MAX));
            let excess = Excess { object, unit: CapacityUnit::Entries, needed, size };
            return Err(EntriesError::Full { device, excess }.into());
        }
        let forwarding_of = |shares: &Shares| match shares.as_slice() {
            [] => Forwarding::Nowhere,
            [(port, _)] => Forwarding::Port(*port),
            [..] => Forwarding::Group(ids[shares]),
        };
        let forwarding = shares.iter().map(forwarding_of).collect();
        let numbers = ports.cabled_ports().map(|port| (port.id, port.number)).collect();
        Ok(Groups { ids, numbers, forwarding })
    }

    /// Returns the forwarding of each route.
    pub(super) fn forwarding(&self) -> &[Forwarding] {
        &self.forwarding
    }

    /// Returns all entities of the groups: members, groups, `wcmp_group` entries and the hash. A switch without groups
    /// has none.
    pub(super) fn entities(
        &self,
        form: &Form,
        intent: &DeviceIntent<'_>,
        info: &Info,
    ) -> Result<Vec<v1::Entity>, Fault> {
        let mut entities: Vec<v1::Entity> = Vec::new();
        if self.ids.is_empty() {
            return Ok(entities);
        }
        let members: BTreeSet<u16> = self.ids.keys().flatten().map(|(port, _)| *port).collect();
        for port in members {
            let arguments = [("nexthop_id", port.into())];
            entities.push(entry::member(info, PROFILE, port.into(), "select_nexthop", &arguments)?.into());
        }
        let by_id: BTreeMap<u16, &Shares> = self.ids.iter().map(|(shares, id)| (*id, shares)).collect();
        for (id, shares) in &by_id {
            let members: Vec<GroupMember> = shares
                .iter()
                .map(|(port, share)| GroupMember {
                    id: (*port).into(),
                    weight: i32::try_from(*share).expect("the sum is within the group's limit"),
                    watch_port: Some(self.numbers[port].into()),
                })
                .collect();
            entities.push(entry::group(info, PROFILE, (*id).into(), &members, 0)?.into());
        }
        for id in by_id.keys() {
            let entry = info.entry("ingress.wcmp_group")?.exact("wcmp_group_id", *id);
            entities.push(entry.group((*id).into()).build()?.into());
        }
        entities.push(hash(form, intent, info)?);
        Ok(entities)
    }
}

/// Returns the entry that configures the hash. Each switch has a different seed, which avoids hash
/// polarisation between tiers. The hash includes the destination queue pair if the platform can hash it.
fn hash(form: &Form, intent: &DeviceIntent<'_>, info: &Info) -> Result<v1::Entity, Fault> {
    let switch = intent.switch;
    let [zone_high, zone_low] = switch.zone.0.to_be_bytes();
    let [high, low] = switch.index.to_be_bytes();
    let place = [switch.plane.0, switch.tier.level(), zone_high, zone_low, high, low];
    let digest = blake3::hash(&place);
    let seed = u32::from_be_bytes(digest.as_bytes()[..4].try_into().expect("a digest has 32 bytes"));
    let width = info.action("ingress.set_wcmp_hash")?.param("seed")?.width.bits();
    let seed = seed >> 32u32.saturating_sub(width).min(31);
    let qp_mask: u32 = if intent.platform.features.qp_hash { 0xff_ffff } else { 0 };
    let entry = info.entry("ingress.wcmp_hash")?.default_entry();
    Ok(entry.action("set_wcmp_hash", &(form.hash)(intent, seed, qp_mask)).build()?.into())
}

/// Returns the maximum total weight of a group according to the P4Info.
fn group_limit(info: &Info) -> Result<u64, Fault> {
    let profile = info.profile(PROFILE)?;
    let limit =
        [u64::from(profile.max_group_size), profile.size].into_iter().filter(|limit| *limit > 0).min();
    Ok(limit.unwrap_or(u64::from(u16::MAX)))
}

fn reduce_hops(hops: &[Hop], ports: &Ports<'_>) -> Shares {
    let port = |hop: &Hop| ports.0.get(hop.port).copied().flatten();
    shares::reduce_shares(hops.iter().filter_map(|hop| Some((port(hop)?.id, u64::from(hop.weight)))))
}

/// Gives each group an id: 16 bits of a digest of its content, or the next free id if that one is taken.
fn assign_ids(groups: BTreeSet<Shares>) -> BTreeMap<Shares, u16> {
    let mut taken: BTreeSet<u16> = BTreeSet::new();
    let mut ids = BTreeMap::new();
    for shares in groups {
        if taken.len() + 1 >= usize::from(u16::MAX) {
            // Too many groups. The caller counts and rejects them.
            ids.insert(shares, u16::MAX);
            continue;
        }
        let mut hasher = blake3::Hasher::new();
        for (port, share) in &shares {
            hasher.update(&port.to_be_bytes());
            hasher.update(&share.to_be_bytes());
        }
        let digest = hasher.finalize();
        let mut id = u16::from_be_bytes([digest.as_bytes()[0], digest.as_bytes()[1]]).max(1);
        while !taken.insert(id) {
            id = id.wrapping_add(1).max(1);
        }
        ids.insert(shares, id);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_rarely_change_when_groups_are_added() {
        let groups = |n: u16| (1..=n).map(|port| vec![(port, 1), (port + 1, 1)]).collect::<BTreeSet<_>>();
        let few = assign_ids(groups(10));
        let many = assign_ids(groups(2000));
        let distinct: BTreeSet<u16> = many.values().copied().collect();
        assert_eq!(distinct.len(), 2000);
        assert!(!distinct.contains(&0));
        // An id changes only on a collision: the group that is later in order gets the next free id.
        let moved = few.iter().filter(|(shares, id)| many.get(*shares) != Some(id)).count();
        assert!(moved <= 1, "{moved} of 10 groups got another id");
    }
}
