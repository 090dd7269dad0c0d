//! NICs without a usable entropy value although usable paths exist.
//!
//! In: a plan. Out: the number of combinations of NIC, destination group and plane without a usable value, and the
//! first of them. Entropy values select only some of the paths, so faults can deny all values of a NIC towards a
//! group while other paths remain usable. With one T0 uplink and a T2 tier, a single fault is enough. Invariants: the
//! work grows with the faults. Groups are not examined if the faults cannot cover all values of a NIC.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use closc_topology::{Link, Nic, PlaneId, Switch, TierId, ZoneId};

use crate::entropy::EntropySets;
use crate::plan::Plan;
use crate::segment::UplinkChoice;
use crate::table::{Scope, View};

/// NICs without a usable value for a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoUsableValue {
    /// The first NIC.
    pub(crate) from: Nic,
    /// The first such group, by zone and index.
    pub(crate) to: (ZoneId, u16),
    /// The plane.
    pub(crate) plane: PlaneId,
    /// Number of entropy values of the NIC in the plane.
    pub(crate) values: u16,
    /// Numbers of usable paths and of all paths in the plane.
    pub(crate) open: (u64, u64),
    /// Number of combinations of NIC, group and plane.
    pub(crate) count: u64,
}

/// Denied paths by destination: all groups, the groups of a zone, or one group.
type Buckets = BTreeMap<(Option<ZoneId>, Option<u16>), Vec<Scope>>;

/// Returns the first NIC, group and plane without a usable value, and the number of these combinations; `None` if all
/// have one.
pub(crate) fn find(plan: &Plan) -> Option<NoUsableValue> {
    let topology = plan.topology();
    let exceptions = &topology.exceptions;
    let mut switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
    let mut links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    let has_faults = switches.any(|switch| switch.tier != TierId::T0)
        || links.any(|link| matches!(link, Link::Fabric { .. }));
    if !plan.is_source_routed() || !has_faults {
        return None;
    }
    let mut found: Option<NoUsableValue> = None;
    for (zone, group) in plan.groups() {
        for plane in topology.plane_ids().filter(|plane| !exceptions.drained_planes.contains(plane)) {
            if is_gone(plan, plane, zone, group) {
                continue;
            }
            let buckets = buckets(plan, (zone, group), plane);
            let from = Source { plan, sets: EntropySets::new(topology, zone, group), zone, group, plane };
            if !buckets.is_empty() {
                from.check_groups(&buckets, &mut found);
            }
        }
    }
    found
}

/// Returns whether the T0 of a group is absent or drained in a plane, so that no path is usable.
fn is_gone(plan: &Plan, plane: PlaneId, zone: ZoneId, index: u16) -> bool {
    let t0 = Switch { plane, tier: TierId::T0, zone, index };
    let exceptions = &plan.topology().exceptions;
    exceptions.absent_switches.contains(&t0) || exceptions.drained_switches.contains(&t0)
}

/// Returns the denials of a plane, without those that deny all paths of a NIC.
fn buckets(plan: &Plan, (zone, group): (ZoneId, u16), plane: PlaneId) -> Buckets {
    let exceptions = &plan.topology().exceptions;
    let view = View { plan, zone, group };
    let switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
    let switches = switches.filter(|switch| switch.plane == plane && switch.tier != TierId::T0);
    let links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    let links = links.filter(|link| link.plane() == plane && matches!(link, Link::Fabric { .. }));
    let mut buckets = Buckets::new();
    for scope in
        switches.flat_map(|switch| view.switch(*switch)).chain(links.flat_map(|link| view.link(*link)))
    {
        buckets.entry((scope.zone, scope.group)).or_default().push(scope);
    }
    buckets
}

/// A group in a plane.
struct Source<'a> {
    plan: &'a Plan,
    sets: EntropySets,
    zone: ZoneId,
    group: u16,
    plane: PlaneId,
}

impl Source<'_> {
    fn check_groups(&self, buckets: &Buckets, found: &mut Option<NoUsableValue>) {
        let topology = self.plan.topology();
        let values = self.sets.active_per_plane() + self.sets.backup_per_plane();
        let order = LazyCell::new(|| self.sets.order(self.plane));
        for zone in topology.zone_ids() {
            let named: BTreeSet<u16> =
                buckets.keys().filter(|key| key.0 == Some(zone)).filter_map(|key| key.1).collect();
            let is_own = |group: &u16| (zone, *group) == (self.zone, self.group);
            let there = |group: &u16| {
                let has_nics = self.plan.fabric().group_nics(zone, *group).next().is_some();
                has_nics && !is_gone(self.plan, self.plane, zone, *group)
            };
            let scopes = |group: Option<u16>| -> Vec<&Scope> {
                let keys = [
                    Some((None, None)),
                    Some((Some(zone), None)),
                    group.map(|group| (Some(zone), Some(group))),
                ];
                keys.iter().flatten().filter_map(|key| buckets.get(key)).flatten().collect()
            };
            let on_all = scopes(None);
            if self.can_cover(&on_all, zone, values) {
                // Groups without denials of their own are equal, so the first represents them.
                let mut others = (0..topology.hosts.groups)
                    .filter(|group| !named.contains(group) && !is_own(group) && there(group));
                if let Some(first) = others.next() {
                    self.count(&on_all, (zone, first), 1 + others.count() as u64, &order, found);
                }
            }
            for group in named.iter().filter(|group| !is_own(group)) {
                let scopes = scopes(Some(*group));
                if self.can_cover(&scopes, zone, values) && there(group) {
                    self.count(&scopes, (zone, *group), 1, &order, found);
                }
            }
        }
    }

    /// Returns whether scopes could cover all values of a NIC. Each value has its own T0 uplink. The values
    /// are from at most two rounds of the order. Each round uses a T1 uplink at most as often as there are T0
    /// uplinks per T1 uplink, rounded up. `turns` is therefore twice that number.
    fn can_cover(&self, scopes: &[&Scope], to: ZoneId, values: u16) -> bool {
        let far = to != self.zone;
        let topology = self.plan.topology();
        let turns = 2 * u64::from(topology.t0.up.count.div_ceil(topology.t1.up.count.max(1)));
        let width = |range: (u16, u16)| u64::from(range.1 - range.0) + 1;
        let covered = |scope: &&Scope| match (scope.uplinks, scope.t1_uplinks) {
            (Some(uplinks), _) => width(uplinks),
            (None, Some(uplinks)) if far => turns * width(uplinks),
            (None, _) => 0,
        };
        values > 0 && scopes.iter().map(covered).sum::<u64>() >= u64::from(values)
    }

    /// Counts the NICs without a usable value, unless every path is denied.
    fn count(
        &self,
        scopes: &[&Scope],
        to: (ZoneId, u16),
        times: u64,
        order: &[u16],
        found: &mut Option<NoUsableValue>,
    ) {
        let topology = self.plan.topology();
        let far = to.0 != self.zone;
        let (t0_ups, t1_ups) = (topology.t0.up.count, if far { topology.t1.up.count } else { 1 });
        let within = |range: Option<(u16, u16)>, value: u16| {
            range.is_none_or(|(first, last)| (first..=last).contains(&value))
        };
        let denied = |choice: UplinkChoice| {
            let covers = |scope: &&Scope| {
                within(scope.uplinks, choice.t0)
                    && (far || scope.t1_uplinks.is_none())
                    && within(scope.t1_uplinks, choice.t1)
            };
            scopes.iter().any(covers)
        };
        let all = (0..t0_ups).flat_map(|t0| (0..t1_ups).map(move |t1| UplinkChoice { t0, t1 }));
        let open = all.filter(|choice| !denied(*choice)).count() as u64;
        if open == 0 {
            return;
        }
        for from in self.plan.fabric().group_nics(self.zone, self.group) {
            let mut values = self.sets.active(order, from);
            values.extend(self.sets.backup(order, from));
            if values.iter().all(|choice| denied(*choice)) {
                let paths = u64::from(t0_ups) * u64::from(t1_ups);
                let first = found.get_or_insert_with(|| NoUsableValue {
                    from,
                    to,
                    plane: self.plane,
                    values: values.len() as u16,
                    open: (open, paths),
                    count: 0,
                });
                first.count += times;
            }
        }
    }
}
