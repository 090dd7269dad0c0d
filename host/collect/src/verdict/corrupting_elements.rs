//! Elements that change bytes of packets.
//!
//! Each cable, switch or NIC on the path of a damaged probe is a candidate. It explains the damaged probes that passed
//! it, but then it also damages its other probes at the same rate. Invariants: an element is named only if it explains
//! them far better than every other one does, and far better than chance.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::schedule::TurnPoint;
use closc_topology::Nic;

use super::lossy_cables::required_evidence;
use super::{Kind, Scene, Verdict};
use crate::corruption::{ProbeCounts, elements};
use crate::element::Element;

/// Share of probes that good elements damage.
const BACKGROUND: f64 = 1e-6;
/// Logarithm of the likelihood ratio by which an element must exceed all others: one in a hundred is wrong.
const DECISIVE: f64 = 4.61;

/// Probes of one agent with the same turn point, and the elements on their path.
struct Trial {
    nic: Nic,
    path: BTreeSet<Element>,
    counts: ProbeCounts,
}

/// Sums over the trials of one element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    sent: u64,
    damaged: u64,
}

pub(super) fn judge(scene: &Scene<'_>, known: &[Element]) -> Vec<Verdict> {
    let trial = |(nic, turn, counts): (Nic, TurnPoint, ProbeCounts)| {
        let path = elements(scene.topology(), nic, turn).collect();
        Trial { nic, path, counts }
    };
    let mut trials: Vec<Trial> = scene.evidence.corruption.counts().map(trial).collect();
    let mut out = Vec::new();
    while let Some((element, or)) = candidate(&trials, required_evidence(scene)) {
        let (own, others): (Vec<Trial>, Vec<Trial>) =
            trials.into_iter().partition(|trial| trial.path.contains(&element));
        if !known.contains(&element) {
            out.push(verdict(scene, &own, element, or));
        }
        trials = others;
    }
    out
}

/// Returns an element that explains its damaged probes better than any other, and one that explains them equally.
fn candidate(trials: &[Trial], wanted: f64) -> Option<(Element, Option<Element>)> {
    let mut sums: BTreeMap<Element, Sums> = BTreeMap::new();
    for trial in trials {
        for element in &trial.path {
            let sum = sums.entry(*element).or_default();
            (sum.sent, sum.damaged) = (sum.sent + trial.counts.sent, sum.damaged + trial.counts.damaged);
        }
    }
    let mut ranked: Vec<(Element, Sums)> =
        sums.iter().filter(|(_, sum)| sum.damaged > 0).map(|(element, sum)| (*element, *sum)).collect();
    // Among equals, a cable comes before a NIC or switch.
    ranked.sort_by(|(a, one), (b, other)| evidence(*other).total_cmp(&evidence(*one)).then_with(|| b.cmp(a)));
    ranked.into_iter().find_map(|(element, own)| {
        let sure = evidence(own);
        if sure < wanted {
            return None;
        }
        let mut or = None;
        for (other, shared) in rivals(trials, element) {
            let sent = sums.get(&other).map_or(0, |sum| sum.sent);
            let is_same = shared == own.damaged && sent == own.sent;
            if is_same {
                or = or.max(Some(other));
            } else if evidence(Sums { sent, damaged: shared }) > sure - DECISIVE {
                return None;
            }
        }
        Some((element, or))
    })
}

/// Returns the other elements on the paths of an element's damaged probes, with the number of these probes.
fn rivals(trials: &[Trial], element: Element) -> BTreeMap<Element, u64> {
    let mut shared: BTreeMap<Element, u64> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.counts.damaged > 0 && trial.path.contains(&element)) {
        for other in trial.path.iter().filter(|other| **other != element) {
            *shared.entry(*other).or_default() += trial.counts.damaged;
        }
    }
    shared
}

/// Returns the logarithm of the likelihood ratio of an element's own rate and that of good elements.
fn evidence(sums: Sums) -> f64 {
    let (damaged, expected) = (sums.damaged as f64, BACKGROUND * sums.sent.max(1) as f64);
    if damaged <= expected { 0.0 } else { damaged * (damaged / expected).ln() - damaged + expected }
}

fn verdict(scene: &Scene<'_>, own: &[Trial], element: Element, or: Option<Element>) -> Verdict {
    let add = |sum: Sums, trial: &Trial| Sums {
        sent: sum.sent + trial.counts.sent,
        damaged: sum.damaged + trial.counts.damaged,
    };
    let Sums { sent, damaged } = own.iter().fold(Sums::default(), add);
    let witnesses: BTreeSet<Nic> =
        own.iter().filter(|trial| trial.counts.damaged > 0).map(|trial| trial.nic).collect();
    let seen = witnesses.iter().filter_map(|nic| Some(scene.speaks(*nic)?.last_seen_ms));
    let since = own.iter().map(|trial| trial.counts.since_ms).filter(|at_ms| *at_ms > 0);
    Verdict {
        element,
        kind: Kind::Corrupt,
        lost: damaged,
        sent,
        witnesses: witnesses.len(),
        confidence: 1.0 - (-evidence(Sums { sent, damaged })).exp(),
        or,
        since_ms: since.min().unwrap_or(scene.now_ms),
        reported_ms: seen.min().unwrap_or(scene.now_ms),
        counters: None,
        damaged,
        unheard_ms: None,
        lengths: None,
        is_open: false,
        lost_from_ms: 0,
    }
}
