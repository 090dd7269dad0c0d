//! Bandwidth behind the cables of a switch with BGP, computed only from the cable lists.
//!
//! In: cables, of which some are drained. Out: for a T0, the cables that lead there and how many cables of the T0 each
//! stands for. Invariants: as with announced bandwidths, cables count that reach the T0 without drained equipment, or
//! all cables if there are none. Bandwidths behind them are added, and bottlenecks on a path are not considered.

use std::collections::HashMap;

use super::network::Network;
use crate::model::cabling::{Party, Side, SwitchId};
use crate::model::segment::Tier;

/// The best cables to a T0: whether they are a last resort, and the bandwidth behind each.
type Best = (bool, Vec<(u16, u128)>);

/// Cache of bandwidths behind switches.
pub(crate) struct Behind<'a> {
    network: &'a Network<'a>,
    known: HashMap<(SwitchId, SwitchId), (bool, u128)>,
}

impl<'a> Behind<'a> {
    pub(crate) fn new(network: &'a Network<'a>) -> Self {
        Behind { network, known: HashMap::new() }
    }

    fn tier(&self, id: SwitchId) -> Option<Tier> {
        self.network.positions.get(&id).map(|at| at.0)
    }

    /// Returns the best cables of a switch to a T0, by slot, with the bandwidth behind each.
    pub(crate) fn ways(&mut self, id: SwitchId, t0: SwitchId) -> Vec<(u16, u128)> {
        self.best(id, t0).1
    }

    fn best(&mut self, id: SwitchId, t0: SwitchId) -> Best {
        let near =
            |a: SwitchId, b: SwitchId| self.network.zones[a.0 as usize] == self.network.zones[b.0 as usize];
        let side = match self.tier(id) {
            Some(Tier::T0) => Side::Lower,
            Some(Tier::T1) if !near(id, t0) => Side::Lower,
            Some(Tier::T1 | Tier::T2) => Side::Upper,
            None => return (false, Vec::new()),
        };
        let cabling = &self.network.fabric.cabling;
        let mut all = Vec::new();
        for (slot, plug) in cabling.at_switch(id).iter().enumerate().filter(|(_, plug)| plug.side() == side) {
            let cable = cabling.cable(plug.cable());
            let Party::Switch(next) = cable.ends(side).1.party else { continue };
            // Downward cables lead from a T1 to the T0 itself, from a T2 to T1s of its zone.
            let leads = match self.tier(id) {
                Some(Tier::T1) if side == Side::Upper => next == t0,
                Some(Tier::T2) => near(next, t0),
                _ => true,
            };
            if leads {
                all.push((slot as u16, next, cable.drained));
            }
        }
        let mut found: Vec<(bool, u16, u128)> = Vec::with_capacity(all.len());
        for (slot, next, drained) in all {
            let (last, behind) = if next == t0 { (false, 1) } else { self.total(next, t0) };
            if behind > 0 {
                found.push((drained || last, slot, behind));
            }
        }
        let last = found.iter().all(|(last, ..)| *last);
        let best = found.into_iter().filter(|way| way.0 == last).map(|(_, slot, behind)| (slot, behind));
        (last, best.collect())
    }

    /// Returns the total bandwidth behind a switch, and whether it is a last resort.
    fn total(&mut self, id: SwitchId, t0: SwitchId) -> (bool, u128) {
        if let Some(known) = self.known.get(&(id, t0)) {
            return *known;
        }
        let (last, ways) = self.best(id, t0);
        let total = (last, ways.iter().map(|(_, behind)| behind).sum());
        self.known.insert((id, t0), total);
        total
    }
}
