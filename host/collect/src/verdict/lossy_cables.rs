//! Cables that lose some packets.
//!
//! A cable is evaluated by the probes that turn at the switch behind it. They are compared with simultaneous probes of
//! the same NICs whose path differs only in this cable. Invariants: in a good fabric, some cable is named with at most
//! the probability [`FALSE`], however often verdicts are computed. Losses of a cable before it, or of an agent's
//! machine, are never attributed to it.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::schedule::TurnPoint;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch};

use super::dead_cables::combine;
use super::{Kind, Scene, Verdict, by_upper};
use crate::chance::{BACKGROUND, Trials, evidence, evidence_above, mean};
use crate::element::Element;
use crate::evidence::{Suspect, Tally, last_link, required_good_probes};

/// Probability that some cable of a good fabric is named.
pub(super) const FALSE: f64 = 0.01;
/// An agent contradicts the others if it should have this many losses but has none.
const CONTRADICTS: f64 = 10.0;
/// A cable clears its switch if the switch should have caused this many losses on it, but the cable has far fewer.
const CLEARS: f64 = 4.0;
/// Loss rate on all ports of a NIC that late answers of a busy machine may cause. It is not reported.
const BUSY: f64 = 0.002;

pub(super) fn judge(scene: &Scene<'_>, known: &[Element]) -> Vec<Verdict> {
    let is_known = |link: Link| known.iter().any(|element| element.covers(scene.topology(), link));
    let mut gray: BTreeMap<Link, Verdict> = BTreeMap::new();
    // Named cables are excluded from comparisons. So the worse of two lossy cables does not hide the other one.
    loop {
        let is_named = |link: Link| gray.contains_key(&link) || is_known(link);
        let suspects = scene.evidence.suspects.iter().filter(|(link, _)| !is_named(**link));
        let more: Vec<(Link, Verdict)> = suspects
            .filter_map(|(link, suspect)| Some((*link, cable(scene, *link, suspect, &is_named)?)))
            .collect();
        if more.is_empty() {
            break;
        }
        gray.extend(more);
    }
    let mut out = nics(scene, &|link| gray.contains_key(&link) || is_known(link));
    for (switch, links) in by_upper(scene, gray.keys().copied()) {
        let blamed = blame(scene, switch, &links, &gray);
        if blamed == Blame::Cables {
            continue;
        }
        let parts: Vec<Verdict> = links.iter().filter_map(|link| gray.remove(link)).collect();
        if blamed == Blame::Switch {
            out.push(combine(scene, Element::Switch(switch), Kind::Gray, &parts));
        }
    }
    out.extend(gray.into_values());
    out
}

/// Probes of one NIC over a cable, which are compared with others.
struct Witness<'a> {
    nic: Nic,
    turn_point: TurnPoint,
    tally: &'a Tally,
}

/// Returns the probers of a cable to which some probes return.
fn witnesses<'a>(scene: &Scene<'_>, suspect: &'a Suspect) -> Vec<Witness<'a>> {
    // If no probes return, `dead` handles the cable.
    let counts = |tally: &Tally| scene.is_fresh(tally.last_seen_ms) && !tally.is_dead();
    let all = suspect.tallies.iter().filter(|(_, tally)| counts(tally));
    all.map(|((nic, turn), tally)| Witness { nic: *nic, turn_point: *turn, tally }).collect()
}

/// Evaluates one cable.
fn cable(
    scene: &Scene<'_>,
    link: Link,
    suspect: &Suspect,
    is_named: &dyn Fn(Link) -> bool,
) -> Option<Verdict> {
    let witnesses = witnesses(scene, suspect);
    let sums = |(lost, sent), w: &Witness<'_>| (lost + w.tally.lost(), sent + w.tally.sent());
    let (lost, sent) = witnesses.iter().fold((0, 0), sums);
    if lost == 0 || suspect.good >= required_good_probes(scene.min_good_probes, lost, sent) {
        return None;
    }
    let share = lost as f64 / sent as f64;
    let disagrees = |tally: &Tally| tally.lost() == 0 && tally.sent() as f64 * share >= CONTRADICTS;
    if witnesses.iter().any(|w| disagrees(w.tally)) {
        return None;
    }
    let wanted = required_evidence(scene);
    let above = evidence_above(lost, sent, BACKGROUND);
    if above < wanted {
        return None;
    }
    let sure = above.min(relative_evidence(scene, link, &witnesses, is_named)?);
    (sure >= wanted).then(|| Verdict {
        element: Element::Cable(link),
        kind: Kind::Gray,
        lost,
        sent,
        witnesses: witnesses.len(),
        confidence: 1.0 - (-sure).exp(),
        or: None,
        since_ms: suspect.since_ms,
        reported_ms: witnesses.iter().map(|w| w.tally.last_seen_ms).min().unwrap_or(scene.now_ms),
        counters: None,
        damaged: 0,
        unheard_ms: None,
        lengths: None,
    })
}

/// Returns the evidence required for a verdict. It grows with the number of cables, because chance may affect any of
/// them.
pub(super) fn required_evidence(scene: &Scene<'_>) -> f64 {
    (scene.evidence.n_cables().max(1) as f64 / FALSE).ln()
}

/// Returns the evidence that a cable loses more than comparable paths, which the same NICs probe. `None` if a
/// comparison is necessary but impossible.
fn relative_evidence(
    scene: &Scene<'_>,
    link: Link,
    witnesses: &[Witness<'_>],
    is_named: &dyn Fn(Link) -> bool,
) -> Option<f64> {
    let (mut with_all, mut with_before) = (Vec::new(), Vec::new());
    for witness in witnesses {
        let (mut all, mut before) = ((0, 0), (0, 0));
        for (turn, (lost, sent)) in rivals(scene, witness, is_named) {
            all = (all.0 + lost, all.1 + sent);
            if Some(turn) == previous_turn_point(witness.turn_point) {
                before = (lost, sent);
            }
        }
        with_all.extend(trials(witness.tally, all));
        with_before.extend(trials(witness.tally, before));
    }
    match (link, with_all.is_empty(), with_before.is_empty()) {
        // The NIC has no other port to compare with, so no comparison is necessary.
        (Link::Host(_), true, _) => Some(f64::INFINITY),
        (Link::Fabric { .. }, true, _) => None,
        (_, false, true) => Some(evidence(&with_all)),
        // If many paths lose equally, only a comparison with elements before the cable shows that they are to blame.
        (_, false, false) => Some(mean(evidence(&with_all), evidence(&with_before))),
    }
}

/// Returns the trials for a comparison. If all paths lose equally, the probability that a loss is on this cable is its
/// share of the probes.
fn trials(own: &Tally, (lost, sent): (u64, u64)) -> Option<Trials> {
    let chance = own.sent() as f64 / (own.sent() + sent) as f64;
    (sent > 0 && own.sent() > 0).then(|| Trials { hits: own.lost(), misses: lost, chance })
}

/// Returns the probes of the same NIC that the witness is compared with, with their losses in the same period. They use
/// other uplinks, or turn at the previous switch. For the port of a NIC, they use its other ports.
fn rivals<'a>(
    scene: &'a Scene<'_>,
    witness: &'a Witness<'_>,
    is_named: &'a dyn Fn(Link) -> bool,
) -> impl Iterator<Item = (TurnPoint, (u64, u64))> + 'a {
    let agent = scene.speaks(witness.nic);
    let turns = agent.map_or(&[][..], |agent| agent.turn_points()).iter().copied();
    let is_lit = move |turn: &TurnPoint| agent.is_some_and(|agent| !agent.is_dark(PlaneId(turn.plane())));
    turns.filter(|turn| is_rival(witness.turn_point, *turn)).filter(is_lit).filter_map(move |turn| {
        let link = last_link(scene.topology(), witness.nic, turn)?;
        if is_named(link) {
            return None;
        }
        let tally =
            scene.evidence.suspects.get(&link).and_then(|suspect| suspect.tallies.get(&(witness.nic, turn)));
        let sent = witness.tally.sent();
        match tally {
            Some(tally) if tally.is_dead() => None,
            Some(tally) => Some((turn, (tally.lost(), tally.covered_probes(sent)))),
            // Without a tally there were no losses, unless some were not recorded.
            None => (scene.evidence.untracked_losses == 0).then_some((turn, (0, sent))),
        }
    })
}

fn is_rival(own: TurnPoint, other: TurnPoint) -> bool {
    let is_beside = match (own, other) {
        (TurnPoint::T0 { .. }, TurnPoint::T0 { .. }) => true,
        (TurnPoint::T1 { plane, .. }, TurnPoint::T1 { plane: at, .. }) => plane == at,
        (TurnPoint::T2 { plane, uplink, .. }, TurnPoint::T2 { plane: at, uplink: by, .. }) => {
            (plane, uplink) == (at, by)
        }
        (TurnPoint::T0 { .. } | TurnPoint::T1 { .. } | TurnPoint::T2 { .. }, _) => false,
    };
    other != own && (is_beside || previous_turn_point(own) == Some(other))
}

/// Returns the turn one switch earlier.
fn previous_turn_point(turn: TurnPoint) -> Option<TurnPoint> {
    match turn {
        TurnPoint::T0 { .. } => None,
        TurnPoint::T1 { plane, .. } => Some(TurnPoint::T0 { plane }),
        TurnPoint::T2 { plane, uplink, .. } => Some(TurnPoint::T1 { plane, uplink }),
    }
}

/// Finds NICs that lose equally on all ports, so that their cables cannot be compared with each other.
fn nics(scene: &Scene<'_>, is_named: &dyn Fn(Link) -> bool) -> Vec<Verdict> {
    let mut ports: BTreeMap<Nic, Vec<(&Suspect, &Tally)>> = BTreeMap::new();
    for (link, suspect) in &scene.evidence.suspects {
        let Link::Host(NicPort { plane, nic }) = *link else { continue };
        let own = suspect.tallies.get(&(nic, TurnPoint::T0 { plane: plane.0 }));
        let own =
            own.filter(|tally| scene.is_fresh(tally.last_seen_ms) && !tally.is_dead() && !is_named(*link));
        ports.entry(nic).or_default().extend(own.map(|tally| (suspect, tally)));
    }
    ports.into_iter().filter_map(|(nic, ports)| nic_verdict(scene, nic, &ports, is_named)).collect()
}

fn nic_verdict(
    scene: &Scene<'_>,
    nic: Nic,
    ports: &[(&Suspect, &Tally)],
    is_named: &dyn Fn(Link) -> bool,
) -> Option<Verdict> {
    let agent = scene.speaks(nic)?;
    let is_used = |turn: &&TurnPoint| {
        let plane = PlaneId(turn.plane());
        let link = Link::Host(NicPort { plane, nic });
        matches!(turn, TurnPoint::T0 { .. }) && !agent.is_dark(plane) && !is_named(link)
    };
    let used = agent.turn_points().iter().filter(is_used).count();
    let sums = |(lost, sent), (_, tally): &(&Suspect, &Tally)| (lost + tally.lost(), sent + tally.sent());
    let (lost, sent) = ports.iter().fold((0, 0), sums);
    let each = lost / ports.len().max(1) as u64;
    let is_alike = |(_, tally): &(&Suspect, &Tally)| tally.lost() * 4 >= each;
    let good = ports.iter().map(|(suspect, _)| suspect.good).min().unwrap_or(0);
    if used < 2 || ports.len() < used || !ports.iter().all(is_alike) || (each as f64) < CLEARS {
        return None;
    }
    // Losses of the machine occur on all ports at the same time, so they count once.
    let sure = evidence_above(each, sent / ports.len() as u64, BUSY);
    (sure >= required_evidence(scene) && good < required_good_probes(scene.min_good_probes, lost, sent)).then(
        || Verdict {
            element: Element::Nic(nic),
            kind: Kind::Gray,
            lost,
            sent,
            witnesses: 1,
            confidence: 1.0 - (-sure).exp(),
            or: None,
            since_ms: ports.iter().map(|(suspect, _)| suspect.since_ms).min().unwrap_or(scene.now_ms),
            reported_ms: agent.last_seen_ms,
            counters: None,
            damaged: 0,
            unheard_ms: None,
            lengths: None,
        },
    )
}

/// The cause of losses on cables of one switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    Cables,
    Switch,
    /// Unknown: other cables of the switch may have losses too, which will soon be known.
    Open,
}

/// Decides whether a switch causes the losses of its cables. It does if they lose equally, and no other probed cable of
/// it loses much less. If only one cable has known losses and others may lose as much, the result is open.
fn blame(scene: &Scene<'_>, switch: Switch, links: &BTreeSet<Link>, gray: &BTreeMap<Link, Verdict>) -> Blame {
    let sums = |(lost, sent), link: &Link| (lost + gray[link].lost, sent + gray[link].sent);
    let (lost, sent) = links.iter().fold((0, 0), sums);
    let share = lost as f64 / sent.max(1) as f64;
    // The cables of a switch are probed equally often.
    let expected = lost as f64 / links.len() as f64;
    let own = |link: Link| scene.evidence.suspects.get(&link).map_or(0, |suspect| suspect.sums().0) as f64;
    let others =
        || scene.downlinks(switch).filter(|link| !links.contains(link) && scene.is_good_lately(*link));
    let alike = |link: &Link| (share / 4.0..share * 4.0).contains(&gray[link].share());
    if expected >= CLEARS && others().any(|link| own(link) < expected / 4.0) || !links.iter().all(alike) {
        return Blame::Cables;
    }
    match (links.len(), others().next()) {
        (1, None) => Blame::Cables,
        (1, Some(_)) => Blame::Open,
        _ => Blame::Switch,
    }
}
