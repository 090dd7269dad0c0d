//! Remaining share of the planned capacity from a switch to a destination.
//!
//! In: a fabric with its exceptions. Out: the remaining fraction of the capacity from a switch to a zone or a T0
//! group. Invariants: paths go up, then down, never up again. A cable counts if it exists and is not drained, unless
//! drained ones are requested. The capacity through a neighbour is the smaller of two fractions: the remaining cables
//! to it and the remaining capacity behind it. They are fractions, not bandwidths, because all switches of a tier
//! share the capacity behind a neighbour. The capacity of a switch is the mean over its neighbours, whose planned
//! capacities are equal. It is computed tier by tier, as in Zhou et al., EuroSys 2014, section 3.

mod equal;

use std::collections::BTreeMap;

use closc_fabric::Fabric;
use closc_topology::{Link, PlaneId, Switch, TierId, Topology, ZoneId};

use super::fraction::{Fraction, NOTHING, WHOLE, mean, part};
use equal::EqualSwitches;

/// Destination of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Any T0 group of this zone, if all planned cables of the group are usable.
    Zone(ZoneId),
    /// One T0 group.
    Group(ZoneId, u16),
}

impl Scope {
    pub(crate) fn zone(self) -> ZoneId {
        match self {
            Scope::Zone(zone) | Scope::Group(zone, _) => zone,
        }
    }
}

/// Capacities in a fabric, each computed once on first use.
pub(crate) struct Capacities<'a> {
    fabric: &'a Fabric,
    with_drained: bool,
    equal: BTreeMap<PlaneId, EqualSwitches<'a>>,
    cache: BTreeMap<(Kind, Scope), Fraction>,
}

/// A switch, or all equal switches of a row and plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Row(PlaneId, TierId, u16),
    Alone(Switch),
}

impl<'a> Capacities<'a> {
    /// Creates the capacities of a fabric; drained cables count only with `with_drained`.
    pub(crate) fn new(fabric: &'a Fabric, with_drained: bool) -> Self {
        Capacities { fabric, with_drained, equal: BTreeMap::new(), cache: BTreeMap::new() }
    }

    fn topology(&self) -> &'a Topology {
        self.fabric.topology()
    }

    /// Returns the remaining capacity from a switch to a destination.
    pub(crate) fn to(&mut self, at: Switch, scope: Scope) -> Fraction {
        if at.tier == TierId::T1 && at.zone == scope.zone() {
            return match scope {
                Scope::Zone(_) => WHOLE,
                Scope::Group(_, index) => self.cable_fraction(Switch { tier: TierId::T0, index, ..at }, at),
            };
        }
        let topology = self.topology();
        let equal = self.equal.entry(at.plane).or_insert_with(|| EqualSwitches::new(topology, at.plane));
        let kind = match (at.tier, equal.row(at)) {
            (TierId::T1 | TierId::T2, Some(row)) => Kind::Row(at.plane, at.tier, row),
            _ => Kind::Alone(at),
        };
        if let Some(known) = self.cache.get(&(kind, scope)) {
            return *known;
        }
        let neighbours = match (at.tier, scope) {
            (TierId::T0, _) => self.neighbours_above(at).map(|t1| (t1, 1)).collect(),
            (TierId::T1, _) => equal.t2s_above(at),
            (TierId::T2, Scope::Zone(zone)) => equal.t1s_below(at, zone),
            // Each T1 has its own cables to the group, so one T1 cannot represent others.
            (TierId::T2, Scope::Group(zone, _)) => self.t1s_below(at, zone).map(|t1| (t1, 1)).collect(),
        };
        let count = neighbours.iter().map(|(_, equal)| equal).sum();
        let left =
            mean(neighbours.into_iter().map(|(next, equal)| self.through(at, next, scope) * equal), count);
        self.cache.insert((kind, scope), left);
        left
    }

    /// Returns the remaining capacity from a switch to a destination through one neighbour.
    pub(crate) fn through(&mut self, at: Switch, neighbour: Switch, scope: Scope) -> Fraction {
        let (lower, upper) = in_order(at, neighbour);
        let cables = self.cable_fraction(lower, upper);
        if neighbour.tier == TierId::T0 || cables == NOTHING {
            return cables;
        }
        cables.min(self.to(neighbour, scope))
    }

    /// Returns the neighbours above a switch.
    pub(crate) fn neighbours_above(&self, lower: Switch) -> impl Iterator<Item = Switch> + use<'a> {
        let topology = self.topology();
        let (ups, parallel) =
            topology.tier(lower.tier).map_or((0, 1), |tier| (tier.up.count, tier.parallel.max(1)));
        (0..ups).step_by(usize::from(parallel)).filter_map(move |up| Some(topology.upper(lower, up)?.0))
    }

    /// Returns the T1s of a zone below a T2.
    pub(crate) fn t1s_below(&self, t2: Switch, zone: ZoneId) -> impl Iterator<Item = Switch> + use<'a> {
        let topology = self.topology();
        let t1s = topology.t1s_below(t2.index);
        t1s.map(move |index| Switch { plane: t2.plane, tier: TierId::T1, zone, index })
            .filter(move |t1| topology.uplink(*t1, t2, 0).is_some())
    }

    /// Returns the usable cables between two switches.
    pub(crate) fn cables(&self, lower: Switch, upper: Switch) -> impl Iterator<Item = Link> + '_ {
        (0..self.parallel(lower.tier))
            .filter_map(move |cable| self.topology().uplink(lower, upper, cable))
            .map(move |up| Link::Fabric { lower, up })
            .filter(|link| self.counts(*link))
    }

    fn cable_fraction(&self, lower: Switch, upper: Switch) -> Fraction {
        part(self.cables(lower, upper).count() as u64, u64::from(self.parallel(lower.tier)))
    }

    fn parallel(&self, lower: TierId) -> u16 {
        self.topology().tier(lower).map_or(0, |tier| tier.parallel)
    }

    fn counts(&self, link: Link) -> bool {
        self.fabric.has_link(link) && (self.with_drained || !self.fabric.is_drained(link))
    }
}

/// Returns two neighbours, the lower first.
pub(crate) fn in_order(one: Switch, other: Switch) -> (Switch, Switch) {
    if one.tier < other.tier { (one, other) } else { (other, one) }
}
