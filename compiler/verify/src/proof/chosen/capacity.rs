//! Remaining share of the planned capacity between a switch and a T0, computed from the cable lists and the manifest.
//!
//! In: cables, of which some are drained. Out: shares of the planned capacity, as exact fractions. Invariants: the
//! capacity through a neighbour is limited by the remaining cables to it and by the remaining capacity behind it; the
//! smaller share counts. The capacity of a switch is the mean over its neighbours, because all switches of a tier share
//! the capacity behind them. The planned capacity is that of the manifest, or that of the best-connected switch of a
//! tier if this is more.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::network::Network;
use crate::model::cabling::{DeviceId, Side, SwitchId};
use crate::model::segment::Tier;

/// A fraction between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) number: u128,
    pub(crate) of: u128,
}

impl Fraction {
    pub(crate) const NONE: Fraction = Fraction { number: 0, of: 1 };

    pub(crate) fn new(number: u128, of: u128) -> Self {
        let divisor = gcd(number, of).max(1);
        Fraction { number: number / divisor, of: of / divisor }
    }

    pub(crate) fn is_none(self) -> bool {
        self.number == 0
    }

    fn plus(self, other: Fraction) -> Fraction {
        Fraction::new(self.number * other.of + other.number * self.of, self.of * other.of)
    }

    pub(crate) fn by(self, count: u128) -> Fraction {
        Fraction::new(self.number, self.of * count.max(1))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.number * other.of).cmp(&(other.number * self.of))
    }
}

pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        // Nearly all numbers are small, and dividing small numbers is much faster.
        (Ok(a), Ok(b)) => small_gcd(a, b).into(),
        _ if b == 0 => a,
        _ => gcd(b, a % b),
    }
}

fn small_gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { small_gcd(b, a % b) }
}

/// Planned connections: those in the manifest, or those of the best-connected switches in all planes if these are more.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlannedCapacity {
    /// Cables between a T0 and a T1, and between a T1 and a T2.
    parallel: [u128; 2],
    /// T2s above a T1.
    t2s_per_t1: u128,
    /// T1s of one zone below a T2.
    t1s_per_t2: u128,
}

impl PlannedCapacity {
    pub(crate) fn of(network: &Network<'_>) -> Self {
        let mut planned = network.wiring.map_or_else(PlannedCapacity::default, |wiring| PlannedCapacity {
            parallel: [wiring.t0_t1.into(), wiring.t1_t2.into()],
            t2s_per_t1: wiring.t2s_above.into(),
            t1s_per_t2: wiring.t1s_below.into(),
        });
        for (plane, tiers) in network.planes() {
            let cables = Cables::of(network, plane);
            for (tier, ids) in [Tier::T0, Tier::T1].iter().zip(&tiers) {
                let most =
                    ids.iter().flat_map(|id| cables.upper_switches(*id)).map(|above| above.cables.1).max();
                let planned = &mut planned.parallel[*tier as usize];
                *planned = (*planned).max(most.unwrap_or(0).into());
            }
        }
        for (id, (tier, _)) in &network.positions {
            let side = match tier {
                Tier::T0 => continue,
                Tier::T1 => Side::Lower,
                Tier::T2 => Side::Upper,
            };
            let mut zones: BTreeMap<u32, u128> = BTreeMap::new();
            for far in neighbours(network, *id, side) {
                let zone = if side == Side::Upper { network.zones[far.0 as usize] } else { 0 };
                *zones.entry(zone).or_default() += 1;
            }
            let most = zones.into_values().max().unwrap_or(0);
            match side {
                Side::Lower => planned.t2s_per_t1 = planned.t2s_per_t1.max(most),
                Side::Upper => planned.t1s_per_t2 = planned.t1s_per_t2.max(most),
            }
        }
        planned
    }
}

/// Cables between the switches of a plane.
pub(crate) struct Cables {
    /// For each switch, the index in `upper_switches` of the first switch above it; the last entry is the
    /// end.
    starts: Vec<u32>,
    /// The switches above each switch, in ascending order.
    upper_switches: Vec<UpperSwitch>,
}

/// A switch above another one.
struct UpperSwitch {
    switch: SwitchId,
    /// Cables to the upper switch: those in use, and all.
    cables: (u32, u32),
}

impl Cables {
    pub(crate) fn of(network: &Network<'_>, plane: u8) -> Self {
        let cabling = &network.fabric.cabling;
        let mut cables = Cables { starts: vec![0], upper_switches: Vec::new() };
        let mut own: Vec<(SwitchId, bool)> = Vec::new();
        for id in cabling.switch_ids() {
            if network.positions.get(&id).is_some_and(|at| at.1 == plane) {
                let up = cabling.at_switch(id).iter().filter(|plug| plug.side() == Side::Lower);
                own.extend(up.filter_map(|plug| {
                    let cable = cabling.cable(plug.cable());
                    let DeviceId::Switch(far) = cable.upper.party else { return None };
                    Some((far, cable.drained))
                }));
            }
            own.sort_unstable();
            for same in own.chunk_by(|a, b| a.0 == b.0) {
                let in_use = same.iter().filter(|(_, drained)| !drained).count();
                cables
                    .upper_switches
                    .push(UpperSwitch { switch: same[0].0, cables: (in_use as u32, same.len() as u32) });
            }
            own.clear();
            cables.starts.push(cables.upper_switches.len() as u32);
        }
        cables.upper_switches.shrink_to_fit();
        cables
    }

    /// Returns the switches above a switch, in ascending order.
    fn upper_switches(&self, lower: SwitchId) -> &[UpperSwitch] {
        let at = lower.0 as usize;
        &self.upper_switches[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the number of cables between two switches: those in use, and all.
    fn cable_counts(&self, lower: SwitchId, upper: SwitchId) -> (u32, u32) {
        let above = self.upper_switches(lower);
        above.binary_search_by_key(&upper, |one| one.switch).map_or((0, 0), |at| above[at].cables)
    }
}

/// Returns the neighbours of a switch, without duplicates. `side` is the end of the cables at the switch.
fn neighbours(network: &Network<'_>, id: SwitchId, side: Side) -> Vec<SwitchId> {
    let cabling = &network.fabric.cabling;
    let far =
        cabling.at_switch(id).iter().filter(|plug| plug.side() == side).filter_map(|plug| {
            match cabling.cable(plug.cable()).ends(side).1.party {
                DeviceId::Switch(far) => Some(far),
                DeviceId::Node(_) => None,
            }
        });
    let mut all: Vec<SwitchId> = far.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A T1, and the number of cables to it: those in use, and all.
type RemainingCables = (SwitchId, (u32, u32));

/// Kinds of T0s in a plane. T0s with equal remaining cables are of the same kind.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    of_t0: HashMap<SwitchId, u32>,
    pub(crate) first: Vec<SwitchId>,
}

impl Profiles {
    pub(crate) fn of(cables: &Cables, t0s: &[SwitchId]) -> Self {
        let mut known: HashMap<Vec<RemainingCables>, u32> = HashMap::new();
        let mut profiles = Profiles::default();
        for t0 in t0s {
            let key = cables.upper_switches(*t0).iter().map(|above| (above.switch, above.cables)).collect();
            let next = profiles.first.len() as u32;
            let number = *known.entry(key).or_insert(next);
            if number == next {
                profiles.first.push(*t0);
            }
            profiles.of_t0.insert(*t0, number);
        }
        profiles
    }

    pub(crate) fn at(&self, t0: SwitchId) -> Option<u32> {
        self.of_t0.get(&t0).copied()
    }
}

/// Cache of capacities in a plane.
pub(crate) struct Capacities<'a> {
    network: &'a Network<'a>,
    cables: &'a Cables,
    planned_capacity: PlannedCapacity,
    /// Whether drained cables count. They are used only if there are no others.
    with_drained: bool,
    cache: HashMap<(SwitchId, SwitchId), Fraction>,
}

impl<'a> Capacities<'a> {
    pub(crate) fn new(
        network: &'a Network<'a>,
        cables: &'a Cables,
        planned: PlannedCapacity,
        with_drained: bool,
    ) -> Self {
        Capacities { network, cables, planned_capacity: planned, with_drained, cache: HashMap::new() }
    }

    fn tier(&self, id: SwitchId) -> Option<Tier> {
        self.network.positions.get(&id).map(|at| at.0)
    }

    fn same_zone(&self, a: SwitchId, b: SwitchId) -> bool {
        self.network.zones[a.0 as usize] == self.network.zones[b.0 as usize]
    }

    /// Returns the remaining share of the cables between two switches.
    fn remaining_share(&self, lower: SwitchId, upper: SwitchId) -> Fraction {
        let (in_use, all) = self.cables.cable_counts(lower, upper);
        let planned = self.planned_capacity.parallel[usize::from(self.tier(lower) == Some(Tier::T1))];
        let count = if self.with_drained { all } else { in_use };
        Fraction::new(count.into(), planned.max(1))
    }

    /// Returns the remaining capacity from a T1 or T2 to a T0.
    fn to(&mut self, id: SwitchId, t0: SwitchId) -> Fraction {
        if let Some(known) = self.cache.get(&(id, t0)) {
            return *known;
        }
        let part = match self.tier(id) {
            Some(Tier::T1) if self.same_zone(id, t0) => self.remaining_share(t0, id),
            Some(Tier::T1) => {
                let above = neighbours(self.network, id, Side::Lower);
                let parts = above.into_iter().map(|t2| self.over(id, t2, t0)).collect::<Vec<Fraction>>();
                parts.into_iter().fold(Fraction::NONE, Fraction::plus).by(self.planned_capacity.t2s_per_t1)
            }
            Some(Tier::T2) => {
                let below = neighbours(self.network, id, Side::Upper);
                let home = below.into_iter().filter(|t1| self.same_zone(*t1, t0)).collect::<Vec<SwitchId>>();
                let parts = home.into_iter().map(|t1| self.over(id, t1, t0)).collect::<Vec<Fraction>>();
                parts.into_iter().fold(Fraction::NONE, Fraction::plus).by(self.planned_capacity.t1s_per_t2)
            }
            Some(Tier::T0) | None => Fraction::NONE,
        };
        self.cache.insert((id, t0), part);
        part
    }

    /// Returns the remaining capacity from a switch to a T0 through one neighbour.
    fn over(&mut self, id: SwitchId, next: SwitchId, t0: SwitchId) -> Fraction {
        let (lower, upper) = if self.tier(id) < self.tier(next) { (id, next) } else { (next, id) };
        let cables = self.remaining_share(lower, upper);
        if next == t0 || cables.is_none() { cables } else { cables.min(self.to(next, t0)) }
    }

    /// Returns the remaining capacity from a switch to a T0 through each of its cables, sorted by slot.
    pub(crate) fn shares(&mut self, id: SwitchId, t0: SwitchId) -> Vec<(u16, Fraction)> {
        let (side, next): (Side, Vec<SwitchId>) = match self.tier(id) {
            Some(Tier::T1) if self.same_zone(id, t0) => (Side::Upper, vec![t0]),
            Some(Tier::T0 | Tier::T1) => (Side::Lower, neighbours(self.network, id, Side::Lower)),
            Some(Tier::T2) => {
                let below = neighbours(self.network, id, Side::Upper);
                (Side::Upper, below.into_iter().filter(|t1| self.same_zone(*t1, t0)).collect())
            }
            None => return Vec::new(),
        };
        let parts: HashMap<SwitchId, Fraction> =
            next.into_iter().map(|next| (next, self.over(id, next, t0))).collect();
        let cabling = &self.network.fabric.cabling;
        let mut counts: HashMap<SwitchId, u128> = HashMap::new();
        let mut slots = Vec::new();
        for (slot, plug) in cabling.at_switch(id).iter().enumerate().filter(|(_, plug)| plug.side() == side) {
            let cable = cabling.cable(plug.cable());
            let DeviceId::Switch(far) = cable.ends(side).1.party else { continue };
            if parts.contains_key(&far) && (self.with_drained || !cable.drained) {
                *counts.entry(far).or_default() += 1;
                slots.push((slot as u16, far));
            }
        }
        let share = |(slot, far): (u16, SwitchId)| (slot, parts[&far].by(counts[&far]));
        slots.into_iter().map(share).filter(|(_, part)| !part.is_none()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_exact() {
        let third = Fraction::new(2, 6);
        assert_eq!((third.number, third.of), (1, 3));
        assert_eq!(third.plus(Fraction::new(1, 6)), Fraction::new(1, 2));
        assert!(third < Fraction::new(1, 2) && Fraction::NONE < third);
        assert_eq!(third.by(2), Fraction::new(1, 6));
    }

    #[test]
    fn divisors_are_found_of_all_numbers() {
        for (a, b, divisor) in [(0, 0, 0), (0, 7, 7), (7, 0, 7), (12, 18, 6), (1, 1, 1)] {
            assert_eq!(gcd(a, b), divisor);
            assert_eq!(gcd(a << 80, b << 80), divisor << 80);
        }
        assert_eq!(gcd(6 << 70, 9), 3);
    }
}
