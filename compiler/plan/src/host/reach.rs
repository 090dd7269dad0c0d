//! Planes with a path from a T0 to other T0s, if switches choose the path.
//!
//! In: a plan. Out: the state of a plane towards a T0 group, a zone, or any destination. Invariants: routes of switches
//! use the same capacities, so a NIC never sends into a plane whose T0 has no route to the destination. Capacities are
//! computed only if enough cables and switches are missing to separate two T0s.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::{Island, Link, PlaneId, Switch, TierId, ZoneId};

use crate::ecmp::capacity::{Capacities, Scope};
use crate::ecmp::fraction::NOTHING;
use crate::plan::Plan;

/// Usability of a plane for a destination, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlaneState {
    Gone,
    Drained,
    Open,
}

impl PlaneState {
    /// Returns the state of two paths in series.
    pub(super) fn and(self, next: PlaneState) -> PlaneState {
        self.min(next)
    }
}

/// Usability of planes.
pub(super) struct Reach<'a> {
    plan: &'a Plan,
    /// Capacities without drained equipment, and capacities with it.
    capacities: [Capacities<'a>; 2],
    /// Number of absent or drained uplinks of each T0.
    uplinks: BTreeMap<Switch, u64>,
    /// Number of absent or drained elements above T0s, by plane. All T1s may depend on the same T2, so a
    /// single T2 counts as enough to separate T0s.
    upper_faults: BTreeMap<PlaneId, u64>,
    /// T0 groups with a loss in some plane.
    odd: BTreeSet<(ZoneId, u16)>,
}

impl<'a> Reach<'a> {
    /// Collects absent and drained elements.
    pub(super) fn new(plan: &'a Plan) -> Self {
        let exceptions = &plan.topology().exceptions;
        let mut reach = Reach {
            plan,
            capacities: [false, true].map(|with_drained| Capacities::new(plan.fabric(), with_drained)),
            uplinks: BTreeMap::new(),
            upper_faults: BTreeMap::new(),
            odd: BTreeSet::new(),
        };
        for link in exceptions.absent_links.iter().chain(&exceptions.drained_links) {
            match link {
                Link::Host(_) => {}
                Link::Fabric { lower, .. } if lower.tier == TierId::T0 => {
                    *reach.uplinks.entry(*lower).or_default() += 1;
                    reach.odd.insert((lower.zone, lower.index));
                }
                Link::Fabric { lower, .. } => *reach.upper_faults.entry(lower.plane).or_default() += 1,
            }
        }
        // An absent plane does not reach any group, so it makes no difference between groups.
        let absent_planes = plan.topology().absent_planes();
        let switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
        for switch in switches.filter(|switch| !absent_planes.contains(&switch.plane)) {
            let above = match switch.tier {
                TierId::T0 => {
                    reach.odd.insert((switch.zone, switch.index));
                    continue;
                }
                TierId::T1 => 1,
                TierId::T2 => u64::from(u32::MAX),
            };
            *reach.upper_faults.entry(switch.plane).or_default() += above;
        }
        reach
    }

    /// Returns the groups that may need their own route: those with losses, and the NIC's own group, which is reachable
    /// even if everything above the T0 is lost.
    pub(super) fn groups(&self, own: (ZoneId, u16)) -> Vec<(ZoneId, u16)> {
        let mut groups = self.odd.clone();
        groups.insert(own);
        groups.into_iter().collect()
    }

    /// Returns the state of a plane from a T0 to a T0 group.
    pub(super) fn group(&mut self, from: Switch, zone: ZoneId, index: u16) -> PlaneState {
        if !self.plan.topology().island().leads(from, zone) {
            return PlaneState::Gone;
        }
        let to = Switch { zone, index, ..from };
        let ends = self.switch(from).and(self.switch(to));
        if from == to || ends == PlaneState::Gone || !self.may_be_parted(from, Some(to)) {
            return ends;
        }
        ends.and(self.plane_state(from, Scope::Group(zone, index)))
    }

    /// Returns the state of a plane from a T0 to those T0 groups of a zone that have no losses.
    pub(super) fn zone(&mut self, from: Switch, zone: ZoneId) -> PlaneState {
        let near = self.switch(from);
        if !self.plan.topology().island().leads(from, zone) {
            return PlaneState::Gone;
        }
        if near == PlaneState::Gone || !self.may_be_parted(from, None) {
            return near;
        }
        near.and(self.plane_state(from, Scope::Zone(zone)))
    }

    /// Returns the state of a plane from a T0 to its best destination; `Gone` if zones are separate islands.
    pub(super) fn anywhere(&mut self, from: Switch) -> PlaneState {
        let topology = self.plan.topology();
        let zones = match topology.island() {
            Island::Zone => return PlaneState::Gone,
            Island::Group | Island::Fabric => topology.zone_ids(),
        };
        zones.map(|zone| self.zone(from, zone)).max().unwrap_or(PlaneState::Gone)
    }

    fn switch(&self, switch: Switch) -> PlaneState {
        let exceptions = &self.plan.topology().exceptions;
        match (exceptions.absent_switches.contains(&switch), exceptions.drained_switches.contains(&switch)) {
            (true, _) => PlaneState::Gone,
            (false, true) => PlaneState::Drained,
            (false, false) => PlaneState::Open,
        }
    }

    /// Returns whether enough cables and switches are missing to separate two T0s. Paths over different T1s share only
    /// T2s, so each needs a separate failure. A fabric of a single tier has no paths to other T0s.
    fn may_be_parted(&self, from: Switch, to: Option<Switch>) -> bool {
        let up = &self.plan.topology().t0.up;
        let ways = u64::from(up.count / self.plan.topology().t0.parallel.max(1));
        let uplinks = |t0: Switch| self.uplinks.get(&t0).copied().unwrap_or(0);
        let above = self.upper_faults.get(&from.plane).copied().unwrap_or(0);
        if ways == 0 {
            // A single T0 group gets the same result as several, so adding a group does not change its routes.
            return !self.plan.topology().has_t1();
        }
        uplinks(from) + to.map_or(0, uplinks) + above >= ways
    }

    fn plane_state(&mut self, from: Switch, scope: Scope) -> PlaneState {
        let [open, all] = self.capacities.each_mut().map(|some| some.to(from, scope) > NOTHING);
        match (open, all) {
            (true, _) => PlaneState::Open,
            (false, true) => PlaneState::Drained,
            (false, false) => PlaneState::Gone,
        }
    }
}
