//! Equal T1s and T2s of a plane. One switch per row represents the others.
//!
//! In: a topology and a plane. Out: the row that a switch represents, and neighbours with the number of switches that
//! each represents. Invariants: a T1 or T2 is separate if it, or one of its T1-T2 cables, is absent or drained. The
//! other T1s of a row reach the same T2s, regardless of their zone, and the other T2s of a row the same T1s. The work
//! therefore grows with rows and exceptions, not with T1s times T2s.

use std::collections::BTreeSet;

use closc_topology::{Link, PlaneId, Switch, TierId, Topology, ZoneId};

/// The T1s and T2s of a plane, after exceptions.
pub(super) struct EqualSwitches<'a> {
    topology: &'a Topology,
    rows: u16,
    /// Number of T2s per T1.
    t2s_per_t1: u16,
    /// Switches that represent only themselves.
    odd: BTreeSet<Switch>,
}

impl<'a> EqualSwitches<'a> {
    pub(super) fn new(topology: &'a Topology, plane: PlaneId) -> Self {
        let exceptions = &topology.exceptions;
        let of_tier = |tier| from(plane, tier, ZoneId(0), 0);
        let mut odd = BTreeSet::new();
        for switches in [&exceptions.absent_switches, &exceptions.drained_switches] {
            odd.extend(switches.range(of_tier(TierId::T1)..).take_while(|switch| switch.plane == plane));
        }
        let cables = of_tier(TierId::T1)..of_tier(TierId::T2);
        let cables = Link::Fabric { lower: cables.start, up: 0 }..Link::Fabric { lower: cables.end, up: 0 };
        for links in [&exceptions.absent_links, &exceptions.drained_links] {
            for link in links.range(cables.clone()) {
                let Link::Fabric { lower, up } = *link else { continue };
                odd.insert(lower);
                odd.extend(topology.upper(lower, up).map(|(t2, _)| t2));
            }
        }
        let reached = topology.t1.up.count / topology.t1.parallel.max(1);
        EqualSwitches { topology, rows: topology.t2_rows(), t2s_per_t1: reached, odd }
    }

    /// Returns the row of a T1 or T2 that equals the others of its row; `None` if it represents only itself.
    pub(super) fn row(&self, switch: Switch) -> Option<u16> {
        let is_reached = switch.tier != TierId::T2 || switch.index / self.rows < self.t2s_per_t1;
        (is_reached && !self.odd.contains(&switch)).then(|| switch.index % self.rows)
    }

    /// Returns the T2s above a T1, each with the number of T2s that it represents.
    pub(super) fn t2s_above(&self, t1: Switch) -> Vec<(Switch, u64)> {
        self.group_row(from(t1.plane, TierId::T2, ZoneId(0), t1.index % self.rows), self.t2s_per_t1)
    }

    /// Returns the T1s of a zone below a T2, each with the number of T1s that it represents.
    pub(super) fn t1s_below(&self, t2: Switch, zone: ZoneId) -> Vec<(Switch, u64)> {
        let is_reached = t2.index / self.rows < self.t2s_per_t1;
        let count = if is_reached { self.topology.t1s_below(t2.index).count() as u16 } else { 0 };
        self.group_row(from(t2.plane, TierId::T1, zone, t2.index % self.rows), count)
    }

    /// Groups `count` switches of a row, starting at the first. Each separate switch is a group of its own,
    /// and one switch represents all others.
    fn group_row(&self, first: Switch, count: u16) -> Vec<(Switch, u64)> {
        let at = |step: u16| Switch { index: first.index + step * self.rows, ..first };
        let Some(last) = count.checked_sub(1).map(at) else { return Vec::new() };
        let in_row = |switch: &&Switch| switch.index % self.rows == first.index;
        let mut groups: Vec<(Switch, u64)> =
            self.odd.range(first..=last).filter(in_row).map(|odd| (*odd, 1)).collect();
        let others = u64::from(count) - groups.len() as u64;
        groups.extend((0..count).map(at).find(|switch| !self.odd.contains(switch)).map(|one| (one, others)));
        groups
    }
}

fn from(plane: PlaneId, tier: TierId, zone: ZoneId, index: u16) -> Switch {
    Switch { plane, tier, zone, index }
}
