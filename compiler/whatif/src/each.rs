//! All combinations of failures of given kinds, one or more at a time.
//!
//! In: kinds and the number of simultaneous failures. Out: classes of failures with equal impact, each with
//! its size and that impact. Invariants: every combination is counted exactly once, without sampling.
//! Combinations that are equal by symmetry are computed once. For example, the 5.5e11 pairs of T0-T1 cables
//! of the reference fabric have only five different impacts.

use std::collections::BTreeMap;

use serde::Serialize;

use closc_topology::{PortBlock, Switch};

use crate::WhatIf;
use crate::element::{Element, Kind};
use crate::outcome::Outcome;
use crate::state::State;
use crate::symmetry::TouchedElements;

/// Failures with equal impact.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Kinds of the elements that fail together, in order.
    pub kinds: Vec<Kind>,
    /// Number of combinations.
    pub count: u128,
    /// One combination of the class.
    pub example: Vec<Element>,
    /// Impact.
    pub outcome: Outcome,
}

/// Kinds of the failing elements, and the impact of their failure. Failures with equal values are one class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Cost {
    kinds: Vec<Kind>,
    newly_cut_off: u64,
    loss_max: u64,
    plane_loss_max: u64,
    loss_sum: u128,
    touched: u64,
    alone_min_mbps: u64,
    nics_cut_off: usize,
    nodes_cut_off: u64,
}

impl Cost {
    fn of(kinds: Vec<Kind>, outcome: &Outcome) -> Cost {
        Cost {
            kinds,
            newly_cut_off: outcome.newly_cut_off,
            loss_max: outcome.loss_max,
            plane_loss_max: outcome.plane_loss_max,
            loss_sum: outcome.loss_sum,
            touched: outcome.affected_pairs,
            alone_min_mbps: outcome.solo_min_mbps,
            nics_cut_off: outcome.nics_cut_off.len(),
            nodes_cut_off: outcome.nodes_cut_off,
        }
    }
}

/// Predicate that selects the elements that may fail: all elements of a fabric, or those of a part. For
/// cables and cages, it is called with their switch.
pub type ElementFilter<'a> = &'a dyn Fn(Element) -> bool;

/// Fails every combination of `together` different elements of some kinds. Classes with the greatest impact come first.
pub(crate) fn fail_combinations(
    whatif: &WhatIf<'_>,
    kinds: &[Kind],
    together: usize,
    chosen: ElementFilter<'_>,
) -> Vec<Class> {
    let topology = whatif.elements.fabric.topology();
    let mut touched = TouchedElements::of(topology);
    touched.add(topology, &whatif.earlier_losses);
    let mut found = ClassSearch { whatif, kinds, filter: chosen, classes: BTreeMap::new() };
    if together > 0 {
        found.extend(&whatif.state, &touched, &mut Vec::new(), together, 1);
    }
    let orders: u128 = (1..=together as u128).product();
    let mut classes: Vec<Class> = found
        .classes
        .into_iter()
        .map(|(cost, (count, example, outcome))| Class {
            kinds: cost.kinds,
            count: count / orders,
            example,
            outcome,
        })
        .collect();
    classes.sort_by(|a, b| {
        let cost =
            |class: &Class| (class.outcome.newly_cut_off, class.outcome.loss_max, class.outcome.loss_sum);
        cost(b).cmp(&cost(a)).then_with(|| (&a.kinds, &a.example).cmp(&(&b.kinds, &b.example)))
    });
    classes
}

struct ClassSearch<'a> {
    whatif: &'a WhatIf<'a>,
    kinds: &'a [Kind],
    filter: ElementFilter<'a>,
    /// Classes by impact: number of combinations, an example, and its outcome.
    classes: BTreeMap<Cost, (u128, Vec<Element>, Outcome)>,
}

impl ClassSearch<'_> {
    /// Returns representatives of a kind, each with the number of elements that it represents. If two
    /// switches are equivalent, their cables and cages are too. So one switch represents all equivalent ones.
    fn representatives(&self, kind: Kind, touched: &TouchedElements) -> Vec<(u128, Element)> {
        let elements = &self.whatif.elements;
        let Some(tiers) = kind.owners() else {
            let all = elements.all(kind).into_iter();
            return all.filter(|element| (self.filter)(*element)).map(|element| (1, element)).collect();
        };
        let topology = elements.fabric.topology();
        let mut known: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        // Ordered by the first switch of each class, so that examples are the first elements in fabric order.
        let mut owners: Vec<(u128, Switch)> = Vec::new();
        for switch in elements.fabric.switches().filter(|switch| tiers.contains(&switch.tier)) {
            if !(self.filter)(Element::Switch(switch)) {
                continue;
            }
            let mut key = touched.key_of_switch(topology, switch);
            if kind == Kind::Cage {
                let block = |block: PortBlock| {
                    let cages = (0..block.count).map(move |index| block.slot(index).cage);
                    [block.count].into_iter().chain(cages)
                };
                key.extend(topology.blocks(switch).into_iter().flat_map(block).map(u32::from));
            }
            let at = *known.entry(key).or_insert(owners.len());
            if at == owners.len() {
                owners.push((0, switch));
            }
            owners[at].0 += 1;
        }
        let of =
            |(count, switch)| elements.of_switch(kind, switch).into_iter().map(move |found| (count, found));
        owners.into_iter().flat_map(of).collect()
    }

    /// Adds one more element to those that already failed. `count` is the number of ordered combinations that `failed`
    /// represents.
    fn extend(
        &mut self,
        state: &State,
        touched: &TouchedElements,
        failed: &mut Vec<Element>,
        left: usize,
        count: u128,
    ) {
        let topology = self.whatif.elements.fabric.topology();
        let mut classes: BTreeMap<Vec<u32>, (u128, Element)> = BTreeMap::new();
        let standing = self.kinds.iter().flat_map(|kind| self.representatives(*kind, touched));
        // Failed elements are touched, so each represents only itself.
        for (more, element) in standing.filter(|(_, element)| !failed.contains(element)) {
            let mut key = touched.key(topology, &self.whatif.elements.losses(element));
            key.push(element.kind() as u32);
            let known = classes.entry(key).or_insert((0, element));
            *known = (known.0 + more, known.1.min(element));
        }
        for (more, element) in classes.into_values() {
            let losses = self.whatif.elements.losses(element);
            let mut state = state.clone();
            state.lose(&losses);
            failed.push(element);
            if left > 1 {
                let mut touched = touched.clone();
                touched.add(topology, &losses);
                self.extend(&state, &touched, failed, left - 1, count * more);
            } else {
                self.add(&state, failed, count * more);
            }
            failed.pop();
        }
    }

    fn add(&mut self, state: &State, failed: &[Element], count: u128) {
        let outcome = self.whatif.compare(state, 1);
        let mut kinds: Vec<Kind> = failed.iter().map(|element| element.kind()).collect();
        kinds.sort_unstable();
        let mut example = failed.to_vec();
        example.sort_unstable();
        let cost = Cost::of(kinds, &outcome);
        let known = self.classes.entry(cost).or_insert_with(|| (0, example.clone(), outcome));
        known.0 += count;
        // Keep the smallest example, so that a shard that contains it reports the same example as the
        // complete fabric.
        if example < known.1 {
            known.1 = example;
        }
    }
}
