//! Bandwidth behind the cables of a switch with BGP, computed only from the cable lists.
//!
//! In: cables, of which some are drained. Out: for a T0, the cables that lead there, and the number of cables of the T0
//! behind each. Invariants: as in BGP, only cables that reach the T0 without drained equipment count, or all cables if
//! there are none. Bandwidths behind them are added, and bottlenecks on a path are not considered. Switches of some
//! systems announce no bandwidth ([`UnsupportedSetting::Bandwidths`]); with such a neighbour, all cables count equally.

use std::collections::HashMap;

use super::network::Network;
use crate::model::cabling::{DeviceId, Side, SwitchId};
use crate::model::language::UnsupportedSetting;
use crate::model::segment::Tier;

/// The best cables to a T0: whether they are a last resort, and the bandwidth that each neighbour announces.
type BestCables = (bool, Vec<(u16, Option<u128>)>);

/// State of a switch on paths to a T0.
#[derive(Debug, Clone, Copy)]
struct TransitState {
    reaches: bool,
    is_last_resort: bool,
    /// The bandwidth that the switch announces.
    announced_bandwidth: Option<u128>,
}

/// Cache of bandwidths behind switches.
pub(crate) struct BandwidthCache<'a> {
    network: &'a Network<'a>,
    /// States by switch and T0.
    cache: HashMap<(SwitchId, SwitchId), TransitState>,
}

impl<'a> BandwidthCache<'a> {
    pub(crate) fn new(network: &'a Network<'a>) -> Self {
        BandwidthCache { network, cache: HashMap::new() }
    }

    fn tier(&self, id: SwitchId) -> Option<Tier> {
        self.network.positions.get(&id).map(|at| at.0)
    }

    /// Returns the best cables of a switch to a T0, by slot, with the weight of each.
    pub(crate) fn best_cables(&mut self, id: SwitchId, t0: SwitchId) -> Vec<(u16, u128)> {
        let ways = self.best(id, t0).1;
        let weighs = self.weighs(id) && ways.iter().all(|(_, announced)| announced.is_some());
        ways.into_iter().map(|(slot, announced)| (slot, announced.filter(|_| weighs).unwrap_or(1))).collect()
    }

    /// Returns whether a switch announces bandwidths and uses them as weights.
    fn weighs(&self, id: SwitchId) -> bool {
        self.network
            .fabric
            .switch(id)
            .is_some_and(|switch| switch.language.says(UnsupportedSetting::Bandwidths))
    }

    fn best(&mut self, id: SwitchId, t0: SwitchId) -> BestCables {
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
            let DeviceId::Switch(next) = cable.ends(side).1.party else { continue };
            // Downward cables lead from a T1 to the T0 itself, and from a T2 to T1s in the zone of the T0.
            let leads = match self.tier(id) {
                Some(Tier::T1) if side == Side::Upper => next == t0,
                Some(Tier::T2) => near(next, t0),
                _ => true,
            };
            if leads {
                all.push((slot as u16, next, cable.drained));
            }
        }
        let mut found: Vec<(bool, u16, Option<u128>)> = Vec::with_capacity(all.len());
        for (slot, next, drained) in all {
            let total = self.total(next, t0);
            if total.reaches {
                found.push((drained || total.is_last_resort, slot, total.announced_bandwidth));
            }
        }
        let last = found.iter().all(|(last, ..)| *last);
        let best =
            found.into_iter().filter(|way| way.0 == last).map(|(_, slot, announced)| (slot, announced));
        (last, best.collect())
    }

    /// Adds up the bandwidths to a T0 that a switch receives.
    fn total(&mut self, id: SwitchId, t0: SwitchId) -> TransitState {
        if id == t0 {
            return TransitState {
                reaches: true,
                is_last_resort: false,
                announced_bandwidth: self.weighs(id).then_some(1),
            };
        }
        if let Some(known) = self.cache.get(&(id, t0)) {
            return *known;
        }
        let (is_last_resort, ways) = self.best(id, t0);
        let sum: u128 = ways.iter().filter_map(|(_, announced)| *announced).sum();
        let announced = Some(sum).filter(|sum| *sum > 0 && self.weighs(id));
        let total =
            TransitState { reaches: !ways.is_empty(), is_last_resort, announced_bandwidth: announced };
        self.cache.insert((id, t0), total);
        total
    }
}
