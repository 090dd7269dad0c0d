//! Traffic matrix, in which equivalent pairs of NICs are one flow.
//!
//! In: the pattern, the NICs, and the cables that are down. Out: [`Flow`]s. Invariants: all-to-all traffic has at
//! most one flow per pair of T0 groups, plus those of NICs whose own ports are down.

use std::collections::BTreeMap;

use super::super::pattern::{Pattern, Work};
use super::state::{End, State, Wires};

/// Equivalent pairs of NICs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) from: End,
    pub(super) to: End,
    /// Number of pairs.
    pub(super) pairs: f64,
    /// Share of a sender's traffic that goes to one receiver.
    pub(super) weight: f64,
    /// The class of the receivers, and its size.
    pub(super) class: usize,
    pub(super) receivers: f64,
}

/// Returns the flows of the pattern.
pub(super) fn flows(work: &Work, wires: &Wires, now: &State) -> Vec<Flow> {
    let ends: Vec<End> = wires.ends(now).collect();
    if work.pattern() != Pattern::AllToAll {
        let one = |from: usize| {
            let to = work.destinations(from);
            let weight = 1.0 / (to.len().max(1) as f64);
            to.into_iter().map(move |to| (from, to, weight))
        };
        let flow = |(from, to, weight): (usize, usize, f64)| Flow {
            from: ends[from],
            to: ends[to],
            pairs: 1.0,
            weight,
            class: to,
            receivers: 1.0,
        };
        return (0..ends.len()).flat_map(one).map(flow).collect();
    }
    let mut classes: BTreeMap<End, u64> = BTreeMap::new();
    for end in &ends {
        *classes.entry(*end).or_default() += 1;
    }
    let weight = 1.0 / (ends.len().saturating_sub(1).max(1) as f64);
    let mut flows = Vec::with_capacity(classes.len() * classes.len());
    for (from, senders) in &classes {
        for (class, (to, receivers)) in classes.iter().enumerate() {
            // A NIC does not send to itself.
            let each = if from == to { receivers - 1 } else { *receivers };
            let (pairs, receivers) = ((senders * each) as f64, *receivers as f64);
            flows.push(Flow { from: *from, to: *to, pairs, weight, class, receivers });
        }
    }
    flows.retain(|flow| flow.pairs > 0.0);
    flows
}
