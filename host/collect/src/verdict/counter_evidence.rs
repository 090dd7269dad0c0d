//! Evidence from switch counters: the direction in which a cable loses packets, faults of cables without probes, and
//! cables that pass frames but no probes.

use std::collections::BTreeMap;

use closc_topology::{Link, Switch};

use super::dead_cables::GRAY_MAX;
use super::lossy_cables::FALSE;
use super::{DirectionCounters, Kind, Scene, Verdict};
use crate::chance::{BACKGROUND, at_least};
use crate::element::{Element, ends};
use crate::switches::{Direction, Flow};

/// Losses in one direction of a cable.
struct DirectionLosses {
    kind: Kind,
    counters: DirectionCounters,
    confidence: f64,
    since_ms: u64,
    reported_ms: u64,
}

/// Adds switch counters to verdicts, and adds verdicts for which there are only switch counters.
pub(super) fn complete(scene: &Scene<'_>, verdicts: &mut Vec<Verdict>) {
    let mut worst: BTreeMap<Link, DirectionLosses> = BTreeMap::new();
    for ((link, direction), flow) in
        scene.switches.flows.iter().filter(|(_, flow)| scene.is_fresh(flow.last_seen_ms))
    {
        let Some(failing) = direction_losses(scene, *link, *direction, flow) else { continue };
        let is_worse = worst.get(link).is_none_or(|other| failing.counters.share() > other.counters.share());
        if is_worse {
            worst.insert(*link, failing);
        }
    }
    for (link, failing) in worst {
        let covering = verdicts.iter_mut().find(|verdict| verdict.element.covers(scene.topology(), link));
        match covering {
            Some(verdict) if verdict.element == Element::Cable(link) => {
                verdict.counters = Some(failing.counters);
            }
            Some(_) => {}
            None => verdicts.push(Verdict {
                element: Element::Cable(link),
                kind: failing.kind,
                lost: failing.counters.lost,
                sent: failing.counters.sent,
                witnesses: 2,
                confidence: failing.confidence,
                or: None,
                since_ms: failing.since_ms,
                reported_ms: failing.reported_ms,
                counters: Some(failing.counters),
                damaged: 0,
                unheard_ms: None,
                lengths: None,
                is_open: false,
                lost_from_ms: failing.reported_ms,
            }),
        }
    }
    find_swapped_cables(scene, verdicts);
}

fn direction_losses(
    scene: &Scene<'_>,
    link: Link,
    direction: Direction,
    flow: &Flow,
) -> Option<DirectionLosses> {
    let from = sender(scene, link, direction)?;
    let (since_ms, reported_ms) = (flow.since_ms, flow.last_seen_ms);
    if flow.is_dead() {
        let n = flow.silent();
        let counted = DirectionCounters { from, lost: n, sent: n };
        return Some(DirectionLosses {
            kind: Kind::Dead,
            counters: counted,
            confidence: 1.0 - at_least(n, n, GRAY_MAX),
            since_ms,
            reported_ms,
        });
    }
    let (lost, sent) = flow.loss_counts();
    let chance = at_least(lost, sent, BACKGROUND);
    let cables = scene.evidence.n_cables().max(1) as f64;
    let counted = DirectionCounters { from, lost, sent };
    (lost > 0 && chance * cables < FALSE).then_some(DirectionLosses {
        kind: Kind::Gray,
        counters: counted,
        confidence: 1.0 - chance,
        since_ms,
        reported_ms,
    })
}

fn sender(scene: &Scene<'_>, link: Link, direction: Direction) -> Option<Switch> {
    let [lower, upper] = ends(scene.topology(), link);
    match direction {
        Direction::Up => lower,
        Direction::Down => upper,
    }
}

/// Finds swapped cables between switches. If exactly two cables of one plane and tier pass frames in both directions
/// but no probes, they are swapped. A cut cable would pass no frames.
fn find_swapped_cables(scene: &Scene<'_>, verdicts: &mut [Verdict]) {
    let carries = |link: Link| {
        [Direction::Up, Direction::Down].into_iter().all(|direction| {
            let flow =
                scene.switches.flows.get(&(link, direction)).filter(|flow| scene.is_fresh(flow.last_seen_ms));
            flow.is_some_and(Flow::carries)
        })
    };
    let candidate = |verdict: &Verdict| match (verdict.kind, verdict.element) {
        (Kind::Dead, Element::Cable(link @ Link::Fabric { lower, .. })) if carries(link) => {
            Some(((lower.plane, lower.tier), link))
        }
        _ => None,
    };
    let mut by_tier: BTreeMap<_, Vec<Link>> = BTreeMap::new();
    for (place, link) in verdicts.iter().filter_map(candidate) {
        by_tier.entry(place).or_default().push(link);
    }
    for pair in by_tier.into_values() {
        let [one, other] = pair[..] else { continue };
        for verdict in verdicts.iter_mut() {
            let with = match verdict.element {
                Element::Cable(link) if link == one => other,
                Element::Cable(link) if link == other => one,
                _ => continue,
            };
            verdict.kind = Kind::Swapped(Element::Cable(with));
            (verdict.or, verdict.counters) = (None, None);
        }
    }
}
