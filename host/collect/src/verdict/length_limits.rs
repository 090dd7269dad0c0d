//! Elements that pass short packets only.
//!
//! In: full-length probes that agents lost, while short ones returned. Out: verdicts, each with the longest packet that
//! passed and the shortest that did not. Invariants: an element is named only if short packets pass it, no element
//! before it is named, and no agent's full-length probes return over it. Agents that send no long probes are ignored.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::schedule::TurnPoint;
use closc_topology::{Link, Nic, NicPort, TierId};

use super::dead_cables::{GRAY_MAX, combine};
use super::lossy_cables::required_evidence;
use super::{Kind, Scene, Verdict, by_upper};
use crate::element::{Element, last_link, links};
use crate::evidence::{Agent, LongState};

/// Number of consecutive lost full-length probes that makes an agent a witness.
const RUN_MIN: u32 = 3;

/// Packet lengths above and below an element's limit, in bytes of IP packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The longest packet that passed.
    pub passes: u16,
    /// The shortest that did not.
    pub loses: u16,
}

impl Lengths {
    /// Combines the bounds of two agents, which may differ if they searched at different times.
    fn with(self, other: Lengths) -> Lengths {
        Lengths { passes: self.passes.min(other.passes), loses: self.loses.max(other.loses) }
    }
}

pub(super) fn judge(scene: &Scene<'_>, known: &[Element]) -> Vec<Verdict> {
    let is_known = |link: Link| known.iter().any(|element| element.covers(scene.topology(), link));
    let mut narrow: BTreeMap<Link, Verdict> = BTreeMap::new();
    let suspects = suspects(scene);
    let level = |link: &Link| match link {
        Link::Host(_) => 0,
        Link::Fabric { lower, .. } => lower.tier.level() + 1,
    };
    for wanted in 0..=2 {
        for (link, probes) in suspects.iter().filter(|(link, _)| level(link) == wanted && !is_known(**link)) {
            if let Some(verdict) = cable(scene, *link, probes, &narrow, &is_known) {
                narrow.insert(*link, verdict);
            }
        }
    }
    let mut out = Vec::new();
    nics(scene, &mut narrow, &mut out);
    switches(scene, &mut narrow, &mut out);
    out.extend(narrow.into_values());
    out
}

/// Returns cables with lost full-length probes, and the agents that lost them.
fn suspects(scene: &Scene<'_>) -> BTreeMap<Link, Vec<(Nic, TurnPoint, LongState)>> {
    let mut out: BTreeMap<Link, Vec<(Nic, TurnPoint, LongState)>> = BTreeMap::new();
    for (nic, agent) in scene.fresh_agents() {
        for (turn, state) in agent.long.iter().flatten().filter(|(_, state)| state.lost > 0) {
            if let Some(link) = last_link(scene.topology(), nic, *turn) {
                out.entry(link).or_default().push((nic, *turn, *state));
            }
        }
    }
    out
}

fn cable(
    scene: &Scene<'_>,
    link: Link,
    probes: &[(Nic, TurnPoint, LongState)],
    narrow: &BTreeMap<Link, Verdict>,
    is_known: &dyn Fn(Link) -> bool,
) -> Option<Verdict> {
    let is_open = |nic: Nic, turn: TurnPoint| {
        let before = links(scene.topology(), nic, turn).into_iter().flatten();
        before
            .take_while(|other| *other != link)
            .all(|other| !narrow.contains_key(&other) && !is_known(other))
    };
    let own = scene.evidence.suspects.get(&link);
    let tally = |nic: Nic, turn: TurnPoint| own.and_then(|suspect| suspect.tallies.get(&(nic, turn)));
    let is_witness = |(nic, turn, state): &&(Nic, TurnPoint, LongState)| {
        // If short probes are lost too, another kind of fault applies.
        is_open(*nic, *turn) && state.lost >= RUN_MIN && tally(*nic, *turn).is_none_or(|tally| tally.run == 0)
    };
    let witnesses: Vec<_> = probes.iter().filter(is_witness).collect();
    let (mut lost, mut sure, mut bounds) = (0, 0.0, None::<Lengths>);
    for (nic, turn, state) in &witnesses {
        let share = tally(*nic, *turn).map_or(0.0, |tally| tally.lost() as f64 / tally.sent().max(1) as f64);
        lost += u64::from(state.lost);
        sure -= f64::from(state.lost) * share.max(GRAY_MAX).ln();
        let own = Lengths { passes: state.passes, loses: state.loses };
        bounds = Some(bounds.map_or(own, |bounds| bounds.with(own)));
    }
    if sure < required_evidence(scene) || passes(scene, link) {
        return None;
    }
    Some(Verdict {
        element: Element::Cable(link),
        kind: Kind::ShortOnly,
        lost,
        sent: lost,
        witnesses: witnesses.len(),
        confidence: 1.0 - (-sure).exp(),
        or: None,
        since_ms: witnesses.iter().map(|(_, _, state)| state.since_ms).min().unwrap_or(scene.now_ms),
        reported_ms: reported_ms(scene, link, &witnesses).unwrap_or(scene.now_ms),
        counters: None,
        damaged: 0,
        unheard_ms: None,
        lengths: bounds,
        is_open: false,
        lost_from_ms: 0,
    })
}

/// Returns the time by which all relevant agents have reported. For the port of a NIC this includes the other NICs of
/// its T0, because the T0 may be faulty.
fn reported_ms(scene: &Scene<'_>, link: Link, witnesses: &[&(Nic, TurnPoint, LongState)]) -> Option<u64> {
    let own = witnesses.iter().map(|(nic, ..)| *nic);
    let beside: Vec<Nic> = match link {
        Link::Host(port) => {
            scene.ports_of(port.nic.t0(port.plane)).into_iter().map(|port| port.nic).collect()
        }
        Link::Fabric { .. } => Vec::new(),
    };
    own.chain(beside).filter_map(|nic| Some(scene.speaks(nic)?.last_seen_ms)).min()
}

/// Returns agents that may probe a cable, with the turn points of those probes.
fn probers<'a>(scene: &'a Scene<'_>, link: Link) -> impl Iterator<Item = (Nic, &'a Agent, TurnPoint)> + 'a {
    let is_near = move |nic: Nic| match link {
        Link::Host(port) => nic == port.nic,
        Link::Fabric { lower, .. } => {
            nic.zone == lower.zone && (lower.tier != TierId::T0 || nic.group == lower.index)
        }
    };
    let near = scene.fresh_agents().filter(move |(nic, _)| is_near(*nic));
    near.flat_map(move |(nic, agent)| {
        let here = move |turn: &&TurnPoint| last_link(scene.topology(), nic, **turn) == Some(link);
        agent.turn_points().iter().filter(here).map(move |turn| (nic, agent, *turn))
    })
}

/// Returns whether any agent's last full-length probe over a cable returned.
pub(super) fn passes(scene: &Scene<'_>, link: Link) -> bool {
    passes_after(scene, link, 0)
}

/// Returns whether an agent's last full-length probe over a cable returned, according to a report whose
/// interval began at `after_ms` or later.
fn passes_after(scene: &Scene<'_>, link: Link, after_ms: u64) -> bool {
    let suspects = &scene.evidence.suspects;
    // If short probes are lost too, no full-length ones are evaluated, so the last result is from before.
    let is_lost = |nic: Nic, turn: TurnPoint| {
        let tally = suspects.get(&link).and_then(|suspect| suspect.tallies.get(&(nic, turn)));
        tally.is_some_and(|tally| tally.run > 0)
    };
    probers(scene, link).any(|(nic, agent, turn)| {
        agent.interval_from_ms >= after_ms
            && !is_lost(nic, turn)
            && !agent.is_dark(link.plane())
            && agent.long.as_ref().is_some_and(|long| !long.contains_key(&turn))
    })
}

/// Finds NICs whose ports all pass short packets only.
fn nics(scene: &Scene<'_>, narrow: &mut BTreeMap<Link, Verdict>, out: &mut Vec<Verdict>) {
    let ports = narrow.keys().filter_map(|link| match link {
        Link::Host(port) => Some(port.nic),
        Link::Fabric { .. } => None,
    });
    for nic in ports.collect::<BTreeSet<Nic>>() {
        let Some(agent) = scene.speaks(nic) else { continue };
        let planes = scene.topology().plane_ids().filter(|plane| agent.planes >> plane.0 & 1 == 1);
        let lit =
            planes.filter(|plane| !agent.is_dark(*plane)).map(|plane| Link::Host(NicPort { plane, nic }));
        let links: Vec<Link> = lit.filter(|link| scene.plan.fabric().has_link(*link)).collect();
        if links.len() > 1 && links.iter().all(|link| narrow.contains_key(link)) {
            let parts: Vec<Verdict> = links.iter().filter_map(|link| narrow.remove(link)).collect();
            out.push(all_of(scene, Element::Nic(nic), &parts));
        }
    }
}

/// Finds switches whose cables with long probes all pass short packets only.
fn switches(scene: &Scene<'_>, narrow: &mut BTreeMap<Link, Verdict>, out: &mut Vec<Verdict>) {
    for (switch, links) in by_upper(scene, narrow.keys().copied()) {
        let others: Vec<Link> = scene.downlinks(switch).filter(|link| !links.contains(link)).collect();
        let onset_ms = links.iter().filter_map(|link| narrow.get(link)).map(|own| own.since_ms).max();
        let onset_ms = onset_ms.unwrap_or(scene.now_ms);
        if others.iter().any(|link| passes_after(scene, *link, onset_ms)) {
            continue;
        }
        let is_open = others.iter().any(|link| scene.evidence.good_ms(*link) > 0);
        if links.len() > 1 {
            let parts: Vec<Verdict> = links.iter().filter_map(|link| narrow.remove(link)).collect();
            let verdict = all_of(scene, Element::Switch(switch), &parts);
            out.push(Verdict { is_open, ..verdict });
        } else if let Some(verdict) = links.first().and_then(|link| narrow.get_mut(link)) {
            (verdict.or, verdict.is_open) = (Some(Element::Switch(switch)), is_open);
        }
    }
}

fn all_of(scene: &Scene<'_>, element: Element, parts: &[Verdict]) -> Verdict {
    let lengths = parts.iter().filter_map(|part| part.lengths).reduce(Lengths::with);
    Verdict { lengths, ..combine(scene, element, Kind::ShortOnly, parts) }
}
