//! Dead elements: ports without a carrier, cables and switches over which no probes return.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::schedule::TurnPoint;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId};

use super::{Kind, Scene, Verdict, by_upper, swap, t0s};
use crate::chance::at_least;
use crate::element::{Element, links};
use crate::evidence::{Suspect, Tally};

/// Maximum loss rate of gray loss. An element with more losses is soon dead.
pub(super) const GRAY_MAX: f64 = 0.05;

/// Dead cables, and ports without a carrier. Those that belong to a named element are removed.
struct DeadCables {
    links: BTreeMap<Link, Verdict>,
    dark: BTreeSet<NicPort>,
    /// Ports with swapped cables.
    swapped_ports: BTreeMap<NicPort, NicPort>,
    /// All ports that are dark or have a dead cable.
    cut: BTreeSet<NicPort>,
}

pub(super) fn judge(scene: &Scene<'_>) -> Vec<Verdict> {
    let dark = dark_ports(scene);
    let links = dead_links(scene, &dark);
    let ports: Vec<NicPort> = links.keys().filter_map(host_port).collect();
    let cut = ports.iter().chain(&dark).copied().collect();
    let mut dead = DeadCables { links, dark, swapped_ports: swap::pairs(scene, &ports), cut };
    let mut out = Vec::new();
    hosts(scene, &mut dead, &mut out);
    for tier in [TierId::T1, TierId::T2] {
        switches(scene, tier, &mut dead, &mut out);
    }
    for port in &dead.dark {
        let t0 = port.nic.t0(port.plane);
        let is_open = dead.t0_state(scene, t0, dead.onset_ms(scene, *port)) == State::Open;
        out.push(Verdict { or: is_open.then_some(Element::Switch(t0)), is_open, ..one_dark(scene, *port) });
    }
    out.extend(dead.links.into_values());
    swap::name(&dead.swapped_ports, &mut out);
    out
}

fn host_port(link: &Link) -> Option<NicPort> {
    match link {
        Link::Host(port) => Some(*port),
        Link::Fabric { .. } => None,
    }
}

fn dark_ports(scene: &Scene<'_>) -> BTreeSet<NicPort> {
    let planes = |down: u32| scene.topology().plane_ids().filter(move |plane| down >> plane.0 & 1 == 1);
    let all = scene.fresh_agents().filter(|(_, agent)| agent.down != 0);
    all.flat_map(|(nic, agent)| planes(agent.down).map(move |plane| NicPort { plane, nic }))
        .filter(|port| scene.plan.fabric().has_link(Link::Host(*port)))
        .collect()
}

/// Returns cables over which no probes return, although the path to the cable is good. All agents that probe it must
/// agree.
fn dead_links(scene: &Scene<'_>, dark: &BTreeSet<NicPort>) -> BTreeMap<Link, Verdict> {
    let mut out: BTreeMap<Link, Verdict> = BTreeMap::new();
    let level = |link: &Link| match link {
        Link::Host(_) => 0,
        Link::Fabric { lower, .. } => lower.tier.level() + 1,
    };
    for wanted in 0..=2 {
        for (link, suspect) in scene.evidence.suspects.iter().filter(|(link, _)| level(link) == wanted) {
            // Without a carrier no probes are sent, so earlier counts are obsolete.
            if matches!(link, Link::Host(port) if dark.contains(port)) {
                continue;
            }
            if let Some(verdict) = one_dead(scene, &out, *link, suspect) {
                out.insert(*link, verdict);
            }
        }
    }
    out
}

fn one_dead(
    scene: &Scene<'_>,
    dead: &BTreeMap<Link, Verdict>,
    link: Link,
    suspect: &Suspect,
) -> Option<Verdict> {
    let counts = |entry: &(&(Nic, TurnPoint), &Tally)| {
        let ((nic, turn), tally) = entry;
        let way = links(scene.topology(), *nic, *turn);
        let is_open =
            way.iter().flatten().take_while(|other| **other != link).all(|other| !dead.contains_key(other));
        scene.is_fresh(tally.last_seen_ms) && is_open
    };
    let fresh: Vec<&Tally> = suspect.tallies.iter().filter(counts).map(|(_, tally)| tally).collect();
    if fresh.is_empty() || !fresh.iter().all(|tally| tally.is_dead()) {
        return None;
    }
    let run: u64 = fresh.iter().map(|tally| u64::from(tally.run)).sum();
    Some(Verdict {
        element: Element::Cable(link),
        kind: Kind::Dead,
        lost: run,
        sent: run,
        witnesses: fresh.len(),
        confidence: 1.0 - at_least(run, run, GRAY_MAX),
        or: None,
        since_ms: suspect.since_ms,
        reported_ms: reported_ms(scene, link, &fresh),
        counters: None,
        damaged: 0,
        unheard_ms: None,
        lengths: None,
        is_open: false,
        lost_from_ms: 0,
    })
}

/// Returns the time by which all relevant agents have reported. For the port of a NIC this includes the other NICs of
/// its T0, because the T0 may be dead, or cables may be swapped.
fn reported_ms(scene: &Scene<'_>, link: Link, fresh: &[&Tally]) -> u64 {
    let (mut others, mut place) = (Vec::new(), None);
    if let Some(own) = host_port(&link) {
        let of_t0 = scene.ports_of(own.nic.t0(own.plane));
        let others_of_t0 = of_t0.into_iter().filter(|port| *port != own);
        others = others_of_t0.filter_map(|port| Some(last_result(scene, port)?.0)).collect();
        place = scene.speaks(own.nic).and_then(|agent| agent.actual_port(own.plane)).and_then(|found| {
            let nic = Nic { downlink: found.downlink, ..own.nic };
            let (at_ms, is_clear) = last_result(scene, NicPort { plane: PlaneId(found.plane), nic })?;
            // Wait if the port at that place is neither dead nor good yet. It will soon be one of them.
            Some(if is_clear { at_ms } else { 0 })
        });
    }
    let all = fresh.iter().map(|tally| tally.last_seen_ms).chain(others).chain(place);
    all.min().unwrap_or(scene.now_ms)
}

/// Returns the time of the last result for a port and its T0, and whether the port is clearly dead or good. `None` if
/// its agent is silent or the port has no carrier.
fn last_result(scene: &Scene<'_>, port: NicPort) -> Option<(u64, bool)> {
    scene.speaks(port.nic).filter(|agent| !agent.is_dark(port.plane))?;
    let link = Link::Host(port);
    let suspect = scene.evidence.suspects.get(&link);
    let tally =
        suspect.and_then(|suspect| suspect.tallies.get(&(port.nic, TurnPoint::T0 { plane: port.plane.0 })));
    Some(match (suspect, tally) {
        (Some(suspect), Some(tally)) => (tally.last_seen_ms, tally.is_dead() || suspect.good > 0),
        _ => (scene.evidence.good_ms(link), true),
    })
}

fn one_dark(scene: &Scene<'_>, port: NicPort) -> Verdict {
    Verdict {
        element: Element::Port(port),
        kind: Kind::Dead,
        lost: 0,
        sent: 0,
        witnesses: 1,
        confidence: 1.0,
        or: None,
        since_ms: scene.now_ms,
        reported_ms: scene.speaks(port.nic).map_or(scene.now_ms, |agent| agent.last_seen_ms),
        counters: None,
        damaged: 0,
        unheard_ms: None,
        lengths: None,
        is_open: false,
        lost_from_ms: 0,
    }
}

/// Returns a time by which an outage of a cable had begun: every probe reported since then was lost.
fn onset_ms(scene: &Scene<'_>, link: Link) -> u64 {
    let suspect = scene.evidence.suspects.get(&link);
    let tallies = suspect.into_iter().flat_map(|suspect| suspect.tallies.values());
    let dead = tallies.filter(|tally| tally.is_dead() && scene.is_fresh(tally.last_seen_ms));
    dead.map(|tally| tally.run_since_ms).max().unwrap_or(scene.now_ms)
}

/// Conclusion about a larger element, part of which is dead, from its other parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Another part has passed a probe that was sent after the outage began.
    Works,
    /// Another part worked earlier and is not dead, but no probe that was sent after the outage began is known to have
    /// passed it.
    Open,
    /// Nothing is known about any other part.
    Unknown,
}

impl State {
    /// Returns the conclusion from the other cables, none of which is dead.
    fn of(scene: &Scene<'_>, others: impl Iterator<Item = Link>, onset_ms: u64) -> State {
        let mut state = State::Unknown;
        for link in others.filter(|link| scene.evidence.good_ms(*link) > 0) {
            if scene.evidence.is_good_after(link, onset_ms) {
                return State::Works;
            }
            state = State::Open;
        }
        state
    }
}

/// Combines several verdicts into one: counts are added, and the highest confidence is kept.
pub(super) fn combine(scene: &Scene<'_>, element: Element, kind: Kind, parts: &[Verdict]) -> Verdict {
    Verdict {
        element,
        kind,
        lost: parts.iter().map(|part| part.lost).sum(),
        sent: parts.iter().map(|part| part.sent).sum(),
        witnesses: parts.iter().map(|part| part.witnesses).sum(),
        confidence: parts.iter().map(|part| part.confidence).fold(0.0, f64::max),
        or: None,
        since_ms: parts.iter().map(|part| part.since_ms).min().unwrap_or(scene.now_ms),
        reported_ms: parts.iter().map(|part| part.reported_ms).min().unwrap_or(scene.now_ms),
        counters: None,
        damaged: 0,
        unheard_ms: None,
        lengths: None,
        is_open: false,
        lost_from_ms: parts.iter().map(|part| part.lost_from_ms).max().unwrap_or(0),
    }
}

impl DeadCables {
    /// Returns whether a NIC port is dead.
    fn is_cut(&self, port: NicPort) -> bool {
        self.cut.contains(&port)
    }

    /// Returns when the outage of a cut port was first reported.
    fn onset_ms(&self, scene: &Scene<'_>, port: NicPort) -> u64 {
        if self.dark.contains(&port) {
            let agent = scene.evidence.agents.get(&port.nic);
            return agent.and_then(|agent| agent.dark_since_ms(port.plane)).unwrap_or(scene.now_ms);
        }
        onset_ms(scene, Link::Host(port))
    }

    /// Returns whether the other ports of a T0 show that it works, if one of its ports is cut.
    fn t0_state(&self, scene: &Scene<'_>, t0: Switch, onset_ms: u64) -> State {
        let others = scene.known_ports_of(t0).filter(|port| !self.is_cut(*port));
        let state = State::of(scene, others.map(Link::Host), onset_ms);
        // If one of its ports is swapped, the T0 answers another port.
        let is_swapped = scene.ports_of(t0).iter().any(|port| self.swapped_ports.contains_key(port));
        if is_swapped { State::Works } else { state }
    }

    /// Removes and returns the verdicts for ports.
    fn take(&mut self, scene: &Scene<'_>, ports: &[NicPort]) -> Vec<Verdict> {
        let one = |port: &NicPort| {
            let was_dark = self.dark.remove(port).then(|| one_dark(scene, *port));
            self.links.remove(&Link::Host(*port)).or(was_dark)
        };
        ports.iter().filter_map(one).collect()
    }
}

/// Finds planes, T0s and NICs that are dead as a whole.
fn hosts(scene: &Scene<'_>, dead: &mut DeadCables, out: &mut Vec<Verdict>) {
    let links = dead.links.keys().filter_map(host_port);
    let cut: Vec<NicPort> = links.chain(dead.dark.iter().copied()).collect();
    let mut t0_dead: BTreeMap<Switch, Vec<NicPort>> = BTreeMap::new();
    for t0 in cut.iter().map(|port| port.nic.t0(port.plane)).collect::<BTreeSet<Switch>>() {
        let ports = scene.ports_of(t0);
        // If one of its ports is swapped, the T0 answers another port, so it is not dead.
        let swapped = ports.iter().any(|port| dead.swapped_ports.contains_key(port));
        if ports.len() > 1 && !swapped && ports.iter().all(|port| dead.is_cut(*port)) {
            t0_dead.insert(t0, ports);
        }
    }
    for nic in cut.iter().map(|port| port.nic).collect::<BTreeSet<Nic>>() {
        let there = |port: &NicPort| scene.plan.fabric().has_link(Link::Host(*port));
        let planes = scene.topology().plane_ids();
        let ports: Vec<NicPort> = planes.map(|plane| NicPort { plane, nic }).filter(there).collect();
        let swapped = ports.iter().any(|port| dead.swapped_ports.contains_key(port));
        let all = ports.len() > 1 && !swapped && ports.iter().all(|port| dead.is_cut(*port));
        // If all T0s are dead too, the rack has failed, not the NIC.
        if all && ports.iter().any(|port| !t0_dead.contains_key(&nic.t0(port.plane))) {
            let parts = dead.take(scene, &ports);
            out.push(combine(scene, Element::Nic(nic), Kind::Dead, &parts));
        }
    }
    t0s_and_planes(scene, dead, &t0_dead, out);
    // Without results of the other agents, a cable and its T0 cannot be distinguished.
    for port in dead.links.keys().filter_map(host_port).collect::<Vec<NicPort>>() {
        let t0 = port.nic.t0(port.plane);
        let state = dead.t0_state(scene, t0, dead.onset_ms(scene, port));
        let is_cut_off = out.iter().any(|verdict| verdict.element == Element::Switch(t0));
        let is_single = scene.known_ports_of(t0).count() < 2;
        if let Some(verdict) = dead.links.get_mut(&Link::Host(port))
            && !is_cut_off
            && (state == State::Open || state == State::Unknown && is_single)
        {
            (verdict.or, verdict.is_open) = (Some(Element::Switch(t0)), state == State::Open);
        }
    }
}

fn t0s_and_planes(
    scene: &Scene<'_>,
    dead: &mut DeadCables,
    t0_dead: &BTreeMap<Switch, Vec<NicPort>>,
    out: &mut Vec<Verdict>,
) {
    for plane in t0_dead.keys().map(|t0| t0.plane).collect::<BTreeSet<PlaneId>>() {
        let own = || t0_dead.iter().filter(|(t0, _)| t0.plane == plane);
        let probed = t0s(scene.plan, plane).filter(|t0| !scene.ports_of(*t0).is_empty()).count();
        if own().count() > 1 && own().count() == probed {
            let ports: Vec<NicPort> = own().flat_map(|(_, ports)| ports.iter().copied()).collect();
            let parts = dead.take(scene, &ports);
            out.push(combine(scene, Element::Plane(plane), Kind::Dead, &parts));
            continue;
        }
        for (t0, ports) in own() {
            let onset_ms = ports.iter().map(|port| dead.onset_ms(scene, *port)).max().unwrap_or(scene.now_ms);
            let is_open = dead.t0_state(scene, *t0, onset_ms) == State::Open;
            let others = t0s(scene.plan, plane).filter(|other| !t0_dead.contains_key(other));
            let others = others.flat_map(|t0| scene.known_ports_of(t0)).filter(|port| !dead.is_cut(*port));
            let of_plane = State::of(scene, others.map(Link::Host), onset_ms);
            let parts = dead.take(scene, ports);
            if !parts.is_empty() {
                let or = (of_plane == State::Open).then_some(Element::Plane(plane));
                let verdict = combine(scene, Element::Switch(*t0), Kind::Dead, &parts);
                out.push(Verdict { or, is_open: is_open || or.is_some(), ..verdict });
            }
        }
    }
}

/// Finds dead T1s or T2s, all of whose probed cables from below are dead.
fn switches(scene: &Scene<'_>, tier: TierId, dead: &mut DeadCables, out: &mut Vec<Verdict>) {
    let of_tier = by_upper(scene, dead.links.keys().copied());
    for (switch, links) in of_tier.into_iter().filter(|(switch, _)| switch.tier == tier) {
        // A cable behind another dead element shows nothing about the switch.
        let is_behind = |link: &Link| out.iter().any(|own| own.element.covers(scene.topology(), *link));
        let others = scene.downlinks(switch).filter(|link| !links.contains(link) && !is_behind(link));
        // The switch explains all of them only if it failed before the last of them.
        let onset_ms = links.iter().map(|link| onset_ms(scene, *link)).max().unwrap_or(scene.now_ms);
        let state = State::of(scene, others, onset_ms);
        let is_open = state == State::Open;
        if state == State::Works {
            continue;
        }
        if links.len() > 1 {
            let parts: Vec<Verdict> = links.iter().filter_map(|link| dead.links.remove(link)).collect();
            let verdict = combine(scene, Element::Switch(switch), Kind::Dead, &parts);
            out.push(Verdict { is_open, ..verdict });
        } else if let Some(verdict) = links.first().and_then(|link| dead.links.get_mut(link)) {
            (verdict.or, verdict.is_open) = (Some(Element::Switch(switch)), is_open);
        }
    }
}
