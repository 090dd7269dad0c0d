//! Probes that returned with changed bytes.
//!
//! In: sent and damaged probes of each report. Out: counts for every turn point near a damaged probe. Invariants: the
//! first damaged probe near an element only starts the counting, so it is never evidence. Damaged probes are forgotten
//! after so many good ones that a fault at the observed rate would have damaged another. The number of turn points is
//! limited.
//!
//! Full queues and busy machines lose probes, but they never change bytes. So a few damaged probes suffice to find a
//! fault that is as rare as losses by chance.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::schedule::TurnPoint;
use closc_topology::{Nic, Topology};

use crate::element::{Element, ends, links};

/// Maximum number of turn points with counts.
const TURNS_MAX: usize = 1 << 16;
/// Logarithm of a million. If a fault lasts, as many good probes in a row follow one in a million damaged ones.
const RECOVERY: f64 = 13.82;
/// Number of good probes after which a single damaged probe is forgotten.
const SINGLE_FORGOTTEN: u64 = 200_000;

/// Probes of one agent with the same turn point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProbeCounts {
    pub(crate) sent: u64,
    pub(crate) damaged: u64,
    /// When the first damaged probe was reported; 0 if there is none.
    pub(crate) since_ms: u64,
}

/// Damaged probes, and all other probes over the same elements.
#[derive(Debug, Default)]
pub(crate) struct CorruptionLog {
    /// Elements on the path of a damaged probe, with the number of good probes since the last damaged one.
    watched: BTreeMap<Element, u64>,
    turns: BTreeMap<(Nic, TurnPoint), ProbeCounts>,
}

/// Returns the elements that a probe passes: its NIC, and each cable with the switch behind it.
pub(crate) fn elements(
    topology: &Topology,
    nic: Nic,
    turn: TurnPoint,
) -> impl Iterator<Item = Element> + use<> {
    let cables = links(topology, nic, turn)
        .map(|link| link.map(|link| (Element::Cable(link), ends(topology, link)[1].map(Element::Switch))));
    let parts = cables.into_iter().flatten();
    parts.flat_map(|(cable, switch)| [Some(cable), switch]).flatten().chain([Element::Nic(nic)])
}

/// Returns the number of consecutive good probes after which an element counts as recovered. Takes the probes up to the
/// last damaged one. With few damaged probes, the rate of the fault may be a third of the measured one.
fn required_good_probes(sent: u64, damaged: u64) -> u64 {
    if damaged == 0 {
        return SINGLE_FORGOTTEN;
    }
    let damaged = damaged as f64;
    let least = (damaged - 2.0 * damaged.sqrt()).max(damaged / 3.0);
    (RECOVERY * sent.max(1) as f64 / least) as u64
}

impl CorruptionLog {
    /// Records the probes of one turn point since the last report.
    pub(crate) fn record(
        &mut self,
        topology: &Topology,
        (nic, turn): (Nic, TurnPoint),
        (sent, damaged): (u64, u64),
        now_ms: u64,
    ) {
        if damaged == 0 && self.watched.is_empty() {
            return;
        }
        let path: Vec<Element> = elements(topology, nic, turn).collect();
        let is_watched = path.iter().any(|element| self.watched.contains_key(element));
        let has_room = self.turns.len() < TURNS_MAX || self.turns.contains_key(&(nic, turn));
        if (is_watched || damaged > 0) && has_room {
            let counts = self.turns.entry((nic, turn)).or_default();
            if is_watched {
                (counts.sent, counts.damaged) = (counts.sent + sent, counts.damaged + damaged);
            }
            if damaged > 0 && counts.since_ms == 0 {
                counts.since_ms = now_ms;
            }
        }
        for element in path {
            if damaged > 0 {
                self.watched.insert(element, 0);
            } else if let Some(good) = self.watched.get_mut(&element) {
                *good += sent;
            }
        }
    }

    /// Returns the counts of all turn points near damaged probes.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (Nic, TurnPoint, ProbeCounts)> + '_ {
        self.turns.iter().map(|((nic, turn), counts)| (*nic, *turn, *counts))
    }

    /// Forgets damaged probes over elements that have recovered since.
    pub(crate) fn forget(&mut self, topology: &Topology) {
        if self.watched.is_empty() {
            return;
        }
        let mut sums: BTreeMap<Element, (u64, u64)> = BTreeMap::new();
        for (nic, turn, counts) in self.counts() {
            for element in elements(topology, nic, turn).filter(|element| self.watched.contains_key(element))
            {
                let sum = sums.entry(element).or_default();
                *sum = (sum.0 + counts.sent, sum.1 + counts.damaged);
            }
        }
        let is_over = |(element, good): (&Element, &u64)| {
            let (sent, damaged) = sums.get(element).copied().unwrap_or_default();
            (*good >= required_good_probes(sent.saturating_sub(*good), damaged)).then_some(*element)
        };
        let over: BTreeSet<Element> = self.watched.iter().filter_map(is_over).collect();
        if over.is_empty() {
            return;
        }
        self.turns.retain(|(nic, turn), _| !elements(topology, *nic, *turn).any(|own| over.contains(&own)));
        let near: BTreeSet<Element> = self
            .turns
            .iter()
            .filter(|(_, counts)| counts.since_ms > 0)
            .flat_map(|((nic, turn), _)| elements(topology, *nic, *turn))
            .collect();
        self.watched.retain(|element, _| near.contains(element));
        let watched = &self.watched;
        self.turns.retain(|(nic, turn), _| {
            elements(topology, *nic, *turn).any(|element| watched.contains_key(&element))
        });
    }

    /// Moves all times, because the clock was set.
    pub(crate) fn shift(&mut self, by_ms: i64) {
        for counts in self.turns.values_mut().filter(|counts| counts.since_ms > 0) {
            counts.since_ms = counts.since_ms.saturating_add_signed(by_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Sends `n` probes of every NIC over two uplinks. Some probes of the first NIC are damaged.
    fn send(log: &mut CorruptionLog, n: u64, damaged: u64) {
        let plan = testing::eight_planes();
        for (at, nic) in plan.fabric().nics().enumerate() {
            for uplink in 0..2 {
                let turn = TurnPoint::T1 { plane: 3, uplink };
                let own = if at == 0 && uplink == 1 { damaged } else { 0 };
                log.record(plan.topology(), (nic, turn), (n, own), 1_000);
            }
        }
        log.forget(plan.topology());
    }

    #[test]
    fn few_damaged_probes_are_forgotten_after_enough_good_ones() {
        let mut log = CorruptionLog::default();
        send(&mut log, 100, 0);
        assert_eq!(log.counts().count(), 0, "nothing is damaged");
        send(&mut log, 100, 1);
        assert!(log.counts().all(|(.., counts)| counts.damaged == 0), "the first one only begins the count");
        for _ in 0..3 {
            send(&mut log, 100, 1);
        }
        assert_eq!(log.counts().map(|(.., counts)| counts.damaged).sum::<u64>(), 3);
        // Three of some hundred probes: the rate may be a third of that.
        send(&mut log, 3_000, 0);
        assert!(log.counts().count() > 0);
        send(&mut log, 3_000, 0);
        assert_eq!(log.counts().count(), 0);
    }
}
