//! What loses packets now and then.
//!
//! A cable is judged by the probes that turn behind it, compared with those of the same NICs that turn before it.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::schedule::Turn;
use closc_topology::{Link, Nic, Switch};

use super::dead::joined;
use super::{Kind, Scene, Verdict, by_upper};
use crate::chance::unexplained;
use crate::element::Element;
use crate::evidence::{DEAD_RUN, Suspect, Tally, last_link, needed};

/// How often a good fabric may be accused, over all of its cables.
pub(super) const FALSE: f64 = 0.01;
/// Losses that an agent should have seen, after which one that saw none contradicts the others.
const CONTRADICTS: f64 = 10.0;
/// Losses that a cable should have seen if its switch were to blame, after which it clears the switch.
const CLEARS: f64 = 4.0;

pub(super) fn judge(scene: &Scene<'_>, known: &[Element]) -> Vec<Verdict> {
    let mut gray: BTreeMap<Link, Verdict> = BTreeMap::new();
    for (link, suspect) in &scene.evidence.suspects {
        if known.iter().any(|element| element.covers(scene.topology(), *link)) {
            continue;
        }
        if let Some(verdict) = cable(scene, *link, suspect) {
            gray.insert(*link, verdict);
        }
    }
    let mut out = Vec::new();
    for (switch, links) in by_upper(scene, gray.keys().copied()) {
        if links.len() > 1 && blames(scene, switch, &links, &gray) {
            let parts: Vec<Verdict> = links.iter().filter_map(|link| gray.remove(link)).collect();
            out.push(joined(scene, Element::Switch(switch), Kind::Gray, &parts));
        }
    }
    out.extend(gray.into_values());
    out
}

/// Judges one cable.
fn cable(scene: &Scene<'_>, link: Link, suspect: &Suspect) -> Option<Verdict> {
    let fresh: Vec<(&(Nic, Turn), &Tally)> =
        suspect.tallies.iter().filter(|(_, tally)| scene.is_fresh(tally.seen_ms)).collect();
    let (mut lost, mut sent, mut before) = (0, 0, (0, 0));
    for ((nic, turn), tally) in &fresh {
        (lost, sent) = (lost + tally.lost(), sent + tally.sent());
        // Without a tally nothing was lost before.
        let first = turn_before(*turn).and_then(|turn| tally_of(scene, *nic, turn));
        before = first.map_or(before, |t| (before.0 + t.lost(), before.1 + t.sent()));
    }
    // Where nothing comes through any more, that is another verdict.
    let is_dead = fresh.iter().all(|(_, tally)| tally.run >= DEAD_RUN);
    if lost == 0 || is_dead || suspect.good >= needed(scene.enough, lost, sent) {
        return None;
    }
    let share = lost as f64 / sent as f64;
    let disagrees = |tally: &Tally| tally.lost() == 0 && tally.sent() as f64 * share >= CONTRADICTS;
    if fresh.iter().any(|(_, tally)| disagrees(tally)) {
        return None;
    }
    let chance = unexplained(lost, sent, before.0, before.1);
    let cables = scene.evidence.n_cables().max(1) as f64;
    (chance * cables < FALSE).then_some(Verdict {
        element: Element::Cable(link),
        kind: Kind::Gray,
        lost,
        sent,
        witnesses: fresh.len(),
        confidence: 1.0 - chance,
        or: None,
        since_ms: suspect.since_ms,
        counted: None,
    })
}

/// The probe that turns one switch earlier.
fn turn_before(turn: Turn) -> Option<Turn> {
    match turn {
        Turn::T0 { .. } => None,
        Turn::T1 { plane, .. } => Some(Turn::T0 { plane }),
        Turn::T2 { plane, uplink, .. } => Some(Turn::T1 { plane, uplink }),
    }
}

fn tally_of<'a>(scene: &'a Scene<'_>, nic: Nic, turn: Turn) -> Option<&'a Tally> {
    let link = last_link(scene.topology(), nic, turn)?;
    scene.evidence.suspects.get(&link)?.tallies.get(&(nic, turn))
}

/// Tells whether a switch is to blame for its cables: they lose alike, and no other one that anybody probes loses much
/// less.
fn blames(scene: &Scene<'_>, switch: Switch, links: &BTreeSet<Link>, gray: &BTreeMap<Link, Verdict>) -> bool {
    let sums = |(lost, sent), link: &Link| (lost + gray[link].lost, sent + gray[link].sent);
    let (lost, sent) = links.iter().fold((0, 0), sums);
    let share = lost as f64 / sent.max(1) as f64;
    // Cables of one switch are probed alike.
    let expected = lost as f64 / links.len() as f64;
    let clears = |link: Link| {
        let suspect = scene.evidence.suspects.get(&link);
        let own = suspect.map_or(0, |suspect| suspect.sums().0) as f64;
        !links.contains(&link) && scene.is_good_lately(link) && expected >= CLEARS && own < expected / 4.0
    };
    let alike = |link: &Link| (share / 4.0..share * 4.0).contains(&gray[link].share());
    links.iter().all(alike) && !scene.below(switch).any(clears)
}
