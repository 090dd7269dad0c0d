//! Computes which pairs of NICs lose or gain paths, group by group instead of pair by pair.
//!
//! In: two fabrics. Out: [`PairChange`]s, each with the number of pairs and their paths before and after.
//! Invariants: a pair is represented by the direction that loses more or, if neither loses, by the one that gains more.
//! Equal pairs are counted, not listed.
//! The T0 groups of a zone that are not named by an exception form at most two kinds. The work grows with the
//! square of zones and exceptions, not with NICs. If nodes have other rails or another number of NICs, all NICs are
//! visited.

mod kinds;
mod renumbered;

use std::collections::BTreeMap;

use closc_fabric::{Fabric, LossScope, UsablePaths};
use closc_plan::PathKind;
use closc_topology::{Nic, PlaneId, ZoneId};

use kinds::{GroupKind, NicState, kinds};
use renumbered::{NicKind, NicPlace, PairKind, RenumberedNics};

use crate::population::has_same_nodes;

/// The paths of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// Paths that can be used.
    pub usable: u64,
    /// Paths that would exist without exceptions.
    pub planned: u64,
}

impl Share {
    /// Returns the fraction of its bandwidth that a pair has, between 0 and 1. It assumes that planes and
    /// uplinks are loaded evenly. A pair without a path by design has 0.
    pub fn part(self) -> f64 {
        self.usable as f64 / self.planned.max(1) as f64
    }
}

/// NIC pairs whose paths change in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairChange {
    /// Distance between them.
    pub kind: PathKind,
    /// Their paths before; `None` if the pair did not exist.
    pub old: Option<Share>,
    /// Their paths after; `None` if the pair no longer exists.
    pub new: Option<Share>,
    /// The planes in which the number of paths differs, one bit per plane.
    pub planes: u16,
    /// Number of pairs, where both directions count as one pair.
    pub pairs: u64,
    /// One of the pairs.
    pub example: (Nic, Nic),
}

impl PairChange {
    /// Returns the fraction of its bandwidth that a pair loses, or a negative number if it gains. Returns
    /// `None` if the pair does not exist on both sides. A pair that keeps its paths loses nothing, even if
    /// the new fabric plans more paths.
    pub fn loss(&self) -> Option<f64> {
        let (old, new) = (self.old?, self.new?);
        let loss = old.part() - new.part();
        Some(if new.usable >= old.usable { loss.min(0.0) } else { loss })
    }

    /// Returns the planes in which the number of paths differs.
    pub fn planes(&self) -> impl Iterator<Item = PlaneId> + use<> {
        let mask = self.planes;
        (0..16).filter(move |plane| mask >> plane & 1 == 1).map(PlaneId)
    }
}

/// Compares the paths of all pairs.
pub fn impact(old: &Fabric, new: &Fabric) -> Vec<PairChange> {
    let of = |fabric| UsablePaths::of(Fabric::topology(fabric), LossScope::AbsentOrDrained);
    let sides = Sides { old: of(old), new: of(new) };
    let mut rows = Rows::default();
    if !has_same_nodes(old.topology(), new.topology()) {
        let nics = RenumberedNics::of(old, new, [&sides.old, &sides.new]);
        nics.pairs().iter().for_each(|pair| rows.add_renumbered(&sides, pair));
        return rows.finish();
    }
    let kinds = kinds(old, new, &sides.old, &sides.new);
    for (at, first) in kinds.iter().enumerate() {
        rows.local(&sides, first);
        for second in &kinds[at..] {
            rows.add_between_groups(&sides, first, second);
        }
    }
    rows.finish()
}

/// The usable paths in both fabrics.
struct Sides<'a> {
    old: UsablePaths<'a>,
    new: UsablePaths<'a>,
}

type Key = (PathKind, Option<Share>, Option<Share>, u16);

/// The paths from one NIC to another, and back.
type PairShares = [Share; 2];

/// Returns the paths within a group, for each plane.
fn local(ways: &UsablePaths<'_>, profile: usize) -> Vec<PairShares> {
    ways.local(profile).into_iter().map(|usable| [Share { usable, planned: 1 }; 2]).collect()
}

/// Returns the paths between two groups, for each plane. A group is given by zone and profile.
fn pair_shares(ways: &UsablePaths<'_>, one: (ZoneId, usize), other: (ZoneId, usize)) -> Vec<PairShares> {
    let planned = ways.planned_paths(one.0, other.0);
    let directions = ways.pair_paths(one, other).into_iter().zip(ways.pair_paths(other, one));
    directions.map(|(there, back)| [there, back].map(|usable| Share { usable, planned })).collect()
}

/// Returns the direction that loses more or, if neither loses, the one that gains more. So a change and its reverse
/// count the same paths. If both change by the same, returns the one with fewer paths.
fn representative_direction(old: Option<PairShares>, new: Option<PairShares>) -> usize {
    let at = |both: Option<PairShares>, direction: usize| both.map_or(0.0, |both| both[direction].part());
    let change = |direction| at(new, direction) - at(old, direction);
    let gains =
        old.is_some() && new.is_some() && [0, 1].into_iter().all(|direction| change(direction) >= 0.0);
    let (there, back) = if gains {
        let gain = |direction| (-change(direction), at(old, direction), at(new, direction));
        (gain(0), gain(1))
    } else {
        let loss = |direction| (change(direction), at(new, direction), at(old, direction));
        (loss(0), loss(1))
    };
    let order = there.0.total_cmp(&back.0).then(there.1.total_cmp(&back.1)).then(there.2.total_cmp(&back.2));
    usize::from(order.is_gt())
}

#[derive(Default)]
struct Rows {
    pairs: BTreeMap<Key, (u64, (Nic, Nic))>,
}

impl Rows {
    /// Adds the pairs within a group.
    fn local(&mut self, sides: &Sides<'_>, kind: &GroupKind) {
        let old = kind.old.map(|profile| local(&sides.old, profile));
        let new = kind.new.map(|profile| local(&sides.new, profile));
        let planes = (old.as_deref(), new.as_deref());
        for (a, first) in kind.nics.iter().enumerate() {
            for (b, second) in kind.nics.iter().enumerate().skip(a) {
                let pairs =
                    if a == b { first.count * (first.count - 1) / 2 } else { first.count * second.count };
                let example = || kind.sample_pair(a, b);
                self.add(PathKind::Local, planes, (first.state, second.state), pairs * kind.groups, example);
            }
        }
    }

    /// Adds the pairs between groups.
    fn add_between_groups(&mut self, sides: &Sides<'_>, first: &GroupKind, second: &GroupKind) {
        let same = std::ptr::eq(first, second);
        let groups = if same { first.groups * (first.groups - 1) / 2 } else { first.groups * second.groups };
        if groups == 0 {
            return;
        }
        let kind = if first.zone == second.zone { PathKind::Zone } else { PathKind::Far };
        let between = |ways: &UsablePaths<'_>, a: Option<usize>, b: Option<usize>| {
            Some(pair_shares(ways, (first.zone, a?), (second.zone, b?)))
        };
        let old = between(&sides.old, first.old, second.old);
        let new = between(&sides.new, first.new, second.new);
        let planes = (old.as_deref(), new.as_deref());
        for (a, from) in first.nics.iter().enumerate() {
            for (b, to) in second.nics.iter().enumerate() {
                let example = || (first.sample(a, 0), second.sample(b, usize::from(same)));
                self.add(kind, planes, (from.state, to.state), from.count * to.count * groups, example);
            }
        }
    }

    /// Adds pairs whose NICs can be on other T0s than before.
    fn add_renumbered(&mut self, sides: &Sides<'_>, pair: &PairKind<'_>) {
        let shares = |ways: &UsablePaths<'_>, [one, other]: [Option<NicPlace>; 2], is_local: bool| {
            let (one, other) = (one?, other?);
            Some(if is_local {
                local(ways, one.profile)
            } else {
                pair_shares(ways, (one.zone, one.profile), (other.zone, other.profile))
            })
        };
        let old = shares(&sides.old, pair.nics.map(|kind| kind.old), pair.is_local[0]);
        let new = shares(&sides.new, pair.nics.map(|kind| kind.new), pair.is_local[1]);
        let lost = |place: Option<NicPlace>| place.map(|place| place.lost);
        let state = |kind: NicKind| NicState { old: lost(kind.old), new: lost(kind.new) };
        let [from, to] = pair.nics.map(state);
        // A pair of a NIC that left and a NIC that came is on neither side.
        let Some((kind, example)) = pair.distance().zip(pair.example()) else { return };
        self.add(kind, (old.as_deref(), new.as_deref()), (from, to), pair.pairs, || example);
    }

    fn add(
        &mut self,
        kind: PathKind,
        (old, new): (Option<&[PairShares]>, Option<&[PairShares]>),
        (from, to): (NicState, NicState),
        pairs: u64,
        example: impl FnOnce() -> (Nic, Nic),
    ) {
        if pairs == 0 {
            return;
        }
        let (old_dead, new_dead) = (union_planes(from.old, to.old), union_planes(from.new, to.new));
        let share = |planes: Option<&[PairShares]>, dead: Option<u16>| Some(total(planes?, dead?));
        let usable = |planes: Option<&[PairShares]>, dead: Option<u16>, plane: usize| match (planes, dead) {
            (Some(planes), Some(dead)) if dead >> plane & 1 == 0 => {
                planes.get(plane).map_or([0; 2], |both| both.map(|share| share.usable))
            }
            (_, _) => [0; 2],
        };
        let mask = (0..16).fold(0, |mask, plane| {
            let differs = usable(old, old_dead, plane) != usable(new, new_dead, plane);
            mask | u16::from(differs) << plane
        });
        let (old, new) = (share(old, old_dead), share(new, new_dead));
        // With one tier, T0 groups have no paths to each other.
        let has_paths = |both: &PairShares| both.iter().any(|share| share.planned > 0);
        if !old.iter().chain(&new).any(has_paths) {
            return;
        }
        if mask == 0 && old == new {
            return;
        }
        let direction = representative_direction(old, new);
        let [old, new] = [old, new].map(|both| both.map(|both| both[direction]));
        let example = || {
            let (from, to) = example();
            if direction == 0 { (from, to) } else { (to, from) }
        };
        let row = self.pairs.entry((kind, old, new, mask)).or_insert_with(|| (0, example()));
        row.0 += pairs;
    }

    fn finish(self) -> Vec<PairChange> {
        let rows = self.pairs.into_iter();
        let mut rows: Vec<PairChange> = rows
            .map(|((kind, old, new, planes), (pairs, example))| PairChange {
                kind,
                old,
                new,
                planes,
                pairs,
                example,
            })
            .collect();
        let loss = |row: &PairChange| row.loss().unwrap_or(0.0);
        rows.sort_by(|a, b| loss(b).total_cmp(&loss(a)));
        rows
    }
}

fn union_planes(a: Option<u16>, b: Option<u16>) -> Option<u16> {
    Some(a? | b?)
}

fn total(planes: &[PairShares], dead: u16) -> PairShares {
    [0, 1].map(|direction: usize| {
        planes.iter().enumerate().fold(Share { usable: 0, planned: 0 }, |sum, (plane, both)| Share {
            usable: sum.usable + if dead >> plane & 1 == 0 { both[direction].usable } else { 0 },
            planned: sum.planned + both[direction].planned,
        })
    })
}
