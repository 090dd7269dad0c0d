//! Checks that the weights of a route follow the remaining capacity behind its next hops.
//!
//! In: one plane. Out: violations. Invariants: expected weights are computed from the cable lists and the planned
//! connections of the manifest ([`super::capacity`]), never from routes. T0s with equal remaining capacity are checked
//! once.

use std::collections::{BTreeMap, BTreeSet};

use super::arrivals::SwitchValues;
use super::bandwidth_cache::BandwidthCache;
use super::capacity::{Cables, Capacities, Fraction, PlannedCapacity, Profiles, gcd};
use super::network::{Network, Step};
use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::choice::{ClassId, Row};
use crate::model::fact::FactKind;
use crate::model::language::Spreading;
use crate::model::segment::Tier;
use crate::proof::bits::Bits;
use crate::rules::choices::{SHARE, UNUSED_WAY};

/// Checks all routes of a plane.
pub(crate) fn check(
    network: &Network<'_>,
    planned: &PlannedCapacity,
    (plane, tiers): (u8, &[Vec<SwitchId>; 3]),
    could: &SwitchValues<Bits>,
    findings: &mut Findings,
) {
    let cables = Cables::of(network, plane);
    let profiles = Profiles::of(&cables, &tiers[Tier::T0 as usize]);
    let of_class: Vec<Option<u32>> = (0..network.classes.len() as ClassId)
        .map(|class| network.t0(class, plane).and_then(|t0| profiles.at(t0)))
        .collect();
    let capacities =
        [false, true].map(|with_drained| Capacities::new(network, &cables, *planned, with_drained));
    let behind = BandwidthCache::new(network);
    let mut balance = Balance { network, profiles, of_class, capacities, bandwidths: behind, findings };
    for id in tiers.iter().flatten() {
        let Some(reach) = could.get(*id, false) else { continue };
        for row in &network.choices[id.0 as usize].rows {
            balance.row(*id, row, reach);
        }
    }
}

struct Balance<'a> {
    network: &'a Network<'a>,
    profiles: Profiles,
    /// The kind of T0 of each class.
    of_class: Vec<Option<u32>>,
    /// Capacities without and with drained cables.
    capacities: [Capacities<'a>; 2],
    /// Sums of bandwidths, where BGP announces them.
    bandwidths: BandwidthCache<'a>,
    findings: &'a mut Findings,
}

/// Fault of a route.
enum BalanceFault {
    /// A cable is missing.
    Missing(u16),
    /// A cable is used but should not be.
    Needless(u16),
    /// The weights are wrong.
    Weights(Vec<u128>),
}

impl Balance<'_> {
    fn row(&mut self, id: SwitchId, row: &Row, reach: &Bits) {
        let network = self.network;
        let to_switches = row
            .next_hops
            .iter()
            .any(|way| matches!(network.step(id, way), Step::Switch { .. } | Step::Lost(Some(_))));
        if !to_switches {
            return;
        }
        let mut kinds: BTreeMap<u32, ClassId> = BTreeMap::new();
        let mut last = None;
        for class in row.classes.iter().filter(|class| reach.get(*class as usize)) {
            // Consecutive classes usually have the same kind of T0.
            if let Some(kind) =
                self.of_class[class as usize].filter(|kind| last.replace(*kind) != Some(*kind))
            {
                kinds.entry(kind).or_insert(class);
            }
        }
        for (kind, class) in kinds {
            let t0 = self.profiles.first[kind as usize];
            let own = network.t0(class, self.plane(id));
            // If a T0 routes to its own NICs through other switches, this is detected by following packets.
            if own == Some(id) {
                continue;
            }
            // A T1 must reach this particular T0. For more distant switches, any T0 of the same kind gives the result.
            let t0 = if self.tier(id) == Some(Tier::T1) { own.unwrap_or(t0) } else { t0 };
            if network.fabric.switch(id).is_some_and(|switch| switch.speaker.is_some()) {
                let ways = self.bandwidths.best_cables(id, t0);
                self.findings.count_facts(&SHARE, 1);
                self.findings.count_facts(&UNUSED_WAY, row.next_hops.len() as u64);
                if let Some(wrong) = weight_fault(row, &ways).filter(|_| !ways.is_empty()) {
                    self.tell(id, row, class, &wrong);
                    return;
                }
                continue;
            }
            let shares = self.capacities.iter_mut().map(|capacities| capacities.shares(id, t0));
            let Some(shares) = shares.into_iter().find(|shares| !shares.is_empty()) else { continue };
            self.findings.count_facts(&SHARE, 1);
            self.findings.count_facts(&UNUSED_WAY, row.next_hops.len() as u64);
            if let Some(wrong) = self.compare(id, row, &shares) {
                self.tell(id, row, class, &wrong);
                return;
            }
        }
    }

    fn plane(&self, id: SwitchId) -> u8 {
        self.network.positions.get(&id).map_or(0, |at| at.1)
    }

    fn tier(&self, id: SwitchId) -> Option<Tier> {
        self.network.positions.get(&id).map(|at| at.0)
    }

    fn compare(&self, id: SwitchId, row: &Row, shares: &[(u16, Fraction)]) -> Option<BalanceFault> {
        let mut weights: BTreeMap<u16, u128> = BTreeMap::new();
        for way in row.next_hops.iter() {
            *weights.entry(way.slot?).or_default() += u128::from(way.weight);
        }
        // Shares are sorted by slot.
        let is_share = |slot: u16| shares.binary_search_by_key(&slot, |(at, _)| *at).is_ok();
        if let Some(slot) = weights.keys().find(|slot| !is_share(**slot)) {
            return Some(BalanceFault::Needless(*slot));
        }
        // A pin is deliberate and may use any cable with remaining capacity behind it.
        if let ([_], 128, Some(Tier::T0)) = (&*row.next_hops, row.prefix.prefix_len(), self.tier(id)) {
            return None;
        }
        match self.network.fabric.switch(id)?.language.spreading {
            Spreading::Weighted(width) => weight_ratio_fault(&weights, shares, width),
            Spreading::Even => equal(&weights, shares),
        }
    }

    fn tell(&mut self, id: SwitchId, row: &Row, class: ClassId, wrong: &BalanceFault) {
        let network = self.network;
        let fabric = network.fabric;
        let (name, text, address) = (
            fabric.cabling.switch(id),
            network.prefix(id, row, class).to_string(),
            network.classes.address(class),
        );
        let place = fabric.place(id, FactKind::Route(&text));
        let cable = |slot: u16| {
            let (id, cable, _) = fabric.slot_cable(id, slot);
            (fabric.cabling.describe(&cable), fabric.cabling.place(id), cable.drained)
        };
        let violation = match wrong {
            BalanceFault::Missing(slot) => {
                let (over, line, _) = cable(*slot);
                let message = format!("`{name}`: `{text}` omits `{over}`, which also leads to {address}");
                Violation::new(&UNUSED_WAY, place, message).and(line)
            }
            BalanceFault::Needless(slot) => {
                let (over, line, drained) = cable(*slot);
                let why =
                    if drained { "which is drained" } else { "behind which less capacity or none is left" };
                let message = format!("`{name}`: `{text}` leads to {address} over `{over}`, {why}");
                Violation::new(&UNUSED_WAY, place, message).and(line)
            }
            BalanceFault::Weights(meant) => {
                let found: Vec<u32> = row.next_hops.iter().map(|way| way.weight).collect();
                let meant: Vec<u128> = meant.clone();
                let message = format!(
                    "`{name}`: `{text}` has weights {}; the remaining capacity to {address} is {}",
                    format_numbers(&found),
                    format_numbers(&meant)
                );
                Violation::new(&SHARE, place, message)
            }
        };
        self.findings.report(violation.towards(id, address));
    }
}

/// Formats at most the first twelve numbers.
fn format_numbers<T: ToString>(numbers: &[T]) -> String {
    let first: Vec<String> = numbers.iter().take(12).map(T::to_string).collect();
    let more = if numbers.len() > 12 { " : ..." } else { "" };
    first.join(" : ") + more
}

/// Returns the smallest integers in the ratio of the fractions.
fn integer_ratio(shares: &[(u16, Fraction)]) -> Vec<u128> {
    let scale = shares.iter().fold(1, |scale, (_, part)| scale / gcd(scale, part.of) * part.of);
    let numbers: Vec<u128> = shares.iter().map(|(_, part)| part.number * (scale / part.of)).collect();
    let divisor = numbers.iter().copied().fold(0, gcd).max(1);
    numbers.into_iter().map(|number| number / divisor).collect()
}

/// Checks that weights have the ratio of the capacities. If exact weights do not fit the group size, each weight must
/// be within one member of its share. Next hops whose share is below one member still get one, which widens the
/// tolerance.
fn weight_ratio_fault(
    weights: &BTreeMap<u16, u128>,
    shares: &[(u16, Fraction)],
    width: u64,
) -> Option<BalanceFault> {
    if let Some((slot, _)) = shares.iter().find(|(slot, _)| !weights.contains_key(slot)) {
        return Some(BalanceFault::Missing(*slot));
    }
    let meant = integer_ratio(shares);
    let found: Vec<u128> = shares.iter().map(|(slot, _)| weights[slot]).collect();
    let divisor = found.iter().copied().fold(0, gcd).max(1);
    if found.iter().map(|weight| weight / divisor).eq(meant.iter().copied()) {
        return None;
    }
    let (all, sum): (u128, u128) = (meant.iter().sum(), found.iter().sum());
    if all <= u128::from(width) || sum > u128::from(width) {
        return Some(BalanceFault::Weights(meant));
    }
    let forced: u128 = meant.iter().map(|meant| all.saturating_sub(meant * sum)).sum();
    let near = |(found, meant): (&u128, &u128)| (found * all).abs_diff(meant * sum) <= all + forced;
    let fits = found.iter().zip(&meant).all(near) && found.iter().all(|weight| *weight > 0);
    (!fits).then_some(BalanceFault::Weights(meant))
}

/// Checks that BGP converges to the best cables, with weights by bandwidth. FRR scales weights to 255, rounds them
/// down, and uses at least 1.
fn weight_fault(row: &Row, ways: &[(u16, u128)]) -> Option<BalanceFault> {
    let found: BTreeMap<u16, u128> =
        row.next_hops.iter().filter_map(|way| Some((way.slot?, u128::from(way.weight)))).collect();
    let meant: BTreeMap<u16, u128> = ways.iter().copied().collect();
    if let Some(slot) = meant.keys().find(|slot| !found.contains_key(slot)) {
        return Some(BalanceFault::Missing(*slot));
    }
    if let Some(slot) = found.keys().find(|slot| !meant.contains_key(slot)) {
        return Some(BalanceFault::Needless(*slot));
    }
    let (most, greatest) = (found.values().max()?, meant.values().max()?);
    // Both are compared relative to their maximum, in units of 1/255, with a tolerance of one unit.
    let near = |(found, meant): (&u128, &u128)| {
        let scale = 255;
        let (is, should) = (found * scale * greatest, meant * scale * most);
        is.abs_diff(should) <= most * greatest
    };
    let fits = found.values().zip(meant.values()).all(near);
    (!fits).then(|| BalanceFault::Weights(meant.into_values().collect()))
}

/// Returns the total capacity of the widest `at + 1` next hops, if each carries as much as `part`, the
/// narrowest of them.
fn even_capacity((at, part): (usize, &Fraction)) -> Fraction {
    Fraction { number: part.number * (at as u128 + 1), of: part.of }
}

/// Checks routes without weights: all next hops carry as much as the narrowest, and their number must maximise the
/// total.
fn equal(weights: &BTreeMap<u16, u128>, shares: &[(u16, Fraction)]) -> Option<BalanceFault> {
    let different: BTreeSet<u128> = weights.values().copied().collect();
    if different.len() > 1 {
        return Some(BalanceFault::Weights(vec![1; shares.len()]));
    }
    let mut parts: Vec<Fraction> = shares.iter().map(|(_, part)| *part).collect();
    parts.sort_unstable_by(|a, b| b.cmp(a));
    let most = parts.iter().enumerate().map(even_capacity).max()?;
    let used = || shares.iter().filter(|(slot, _)| weights.contains_key(slot));
    let least = used().map(|(_, part)| *part).min()?;
    if even_capacity((used().count() - 1, &least)).cmp(&most).is_eq() {
        return None;
    }
    let left_out = shares.iter().find(|(slot, part)| *part >= least && !weights.contains_key(slot));
    // Either the narrowest used next hop limits the others, or an unused one would add capacity.
    let narrow = || used().find(|(_, part)| *part == least).map(|(slot, _)| BalanceFault::Needless(*slot));
    let any = || {
        shares
            .iter()
            .find(|(slot, _)| !weights.contains_key(slot))
            .map(|(slot, _)| BalanceFault::Missing(*slot))
    };
    left_out.map(|(slot, _)| BalanceFault::Missing(*slot)).or_else(|| {
        let without = used().filter(|(_, part)| *part > least).map(|(_, part)| *part);
        let better = without.clone().min().map(|next| even_capacity((without.count() - 1, &next)));
        if better.is_some_and(|better| better > even_capacity((used().count() - 1, &least))) {
            narrow()
        } else {
            any()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(parts: &[(u128, u128)]) -> Vec<(u16, Fraction)> {
        parts
            .iter()
            .enumerate()
            .map(|(slot, (number, of))| (slot as u16, Fraction::new(*number, *of)))
            .collect()
    }

    fn weights(all: &[u128]) -> BTreeMap<u16, u128> {
        all.iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0)
            .map(|(slot, weight)| (slot as u16, *weight))
            .collect()
    }

    #[test]
    fn weights_are_as_parts() {
        let parts = shares(&[(1, 2), (1, 1), (1, 1)]);
        assert!(weight_ratio_fault(&weights(&[1, 2, 2]), &parts, 64).is_none());
        assert!(weight_ratio_fault(&weights(&[2, 4, 4]), &parts, 64).is_none());
        assert!(matches!(
            weight_ratio_fault(&weights(&[1, 1, 1]), &parts, 64),
            Some(BalanceFault::Weights(_))
        ));
        assert!(matches!(
            weight_ratio_fault(&weights(&[0, 1, 1]), &parts, 64),
            Some(BalanceFault::Missing(0))
        ));
    }

    #[test]
    fn weights_that_do_not_fit_come_near() {
        let parts = shares(&[(12, 12), (11, 12), (6, 12)]);
        assert!(weight_ratio_fault(&weights(&[3, 3, 2]), &parts, 8).is_none());
        assert!(weight_ratio_fault(&weights(&[12, 11, 6]), &parts, 32).is_none());
        assert!(weight_ratio_fault(&weights(&[3, 3, 2]), &parts, 32).is_some(), "they would fit exactly");
        assert!(weight_ratio_fault(&weights(&[6, 1, 1]), &parts, 8).is_some(), "too far away");
    }

    #[test]
    fn without_weights_the_best_set_is_taken() {
        let parts = shares(&[(2, 2), (2, 2), (1, 2), (2, 2)]);
        assert!(equal(&weights(&[1, 1, 0, 1]), &parts).is_none());
        assert!(matches!(equal(&weights(&[1, 1, 1, 1]), &parts), Some(BalanceFault::Needless(2))));
        assert!(matches!(equal(&weights(&[1, 1, 0, 0]), &parts), Some(BalanceFault::Missing(3))));
        assert!(matches!(equal(&weights(&[1, 1, 0, 2]), &parts), Some(BalanceFault::Weights(_))));
        let parts = shares(&[(4, 4), (3, 4), (3, 4), (3, 4)]);
        assert!(matches!(equal(&weights(&[1, 0, 0, 0]), &parts), Some(BalanceFault::Missing(_))));
    }
}
