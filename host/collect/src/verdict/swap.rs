//! Cables that are swapped with others.
//!
//! A swapped cable has a carrier at both ends, but probes over it are lost. Agents find out where their ports are
//! plugged in. Ports that are at each other's places, in pairs or cycles, are swapped. A T0 with neighbour discovery
//! may answer only the port that belongs there, so the places are unknown. Then two such ports of a NIC are swapped if
//! no third one is possible. They are not cut, because the port of a cut cable has no carrier.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::{Link, Nic, NicPort, PlaneId};

use super::{Kind, Scene, Verdict};
use crate::element::Element;

/// Returns the actual places of swapped ports among the dead ports with a carrier. Each port is at the place
/// of its partner or, if more than two are swapped, at that of the next port in the cycle.
pub(super) fn pairs(scene: &Scene<'_>, ports: &[NicPort]) -> BTreeMap<NicPort, NicPort> {
    let places = places(scene, ports);
    let mut with = BTreeMap::new();
    for own in places.keys() {
        // Only ports in a closed cycle are swapped. Others were only moved.
        let next = |at: &NicPort| places.get(at).copied();
        let round = std::iter::successors(next(own), next).take(places.len());
        if round.into_iter().any(|at| at == *own) {
            with.insert(*own, places[own]);
        }
    }
    let named: BTreeSet<NicPort> = places.iter().flat_map(|(own, place)| [*own, *place]).collect();
    let rest: Vec<NicPort> = ports.iter().filter(|port| !named.contains(port)).copied().collect();
    with.extend(inferred_swaps(scene, ports, &rest));
    with
}

/// Returns ports known to be at the place of another dead port. A place that two ports claim is omitted, because it can
/// have only one.
fn places(scene: &Scene<'_>, ports: &[NicPort]) -> BTreeMap<NicPort, NicPort> {
    let dead: BTreeSet<NicPort> = ports.iter().copied().collect();
    let mut claims: BTreeMap<NicPort, u32> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for own in ports {
        let Some(found) = scene.speaks(own.nic).and_then(|agent| agent.actual_port(own.plane)) else {
            continue;
        };
        let place = NicPort { plane: PlaneId(found.plane), nic: Nic { downlink: found.downlink, ..own.nic } };
        // If the place belongs to another NIC, its frames must still arrive.
        let is_lately = place.nic == own.nic || strays(scene, *own);
        if is_lately && place != *own && dead.contains(&place) {
            *claims.entry(place).or_default() += 1;
            places.insert(*own, place);
        }
    }
    places.retain(|_, place| claims[place] == 1);
    places
}

/// Returns whether frames for other NICs were received recently.
fn strays(scene: &Scene<'_>, port: NicPort) -> bool {
    let last_ms = scene.speaks(port.nic).and_then(|agent| agent.strays_ms(port.plane));
    last_ms.is_some_and(|last_ms| scene.is_fresh(last_ms))
}

/// Returns pairs of swapped ports whose places are unknown: two ports of one NIC, or of two NICs at one T0.
fn inferred_swaps(scene: &Scene<'_>, dead: &[NicPort], ports: &[NicPort]) -> Vec<(NicPort, NicPort)> {
    let resolves = |port: &NicPort| {
        let t0 = port.nic.t0(port.plane);
        // If a T0 is dead for all of its NICs, the T0 has failed, and no cables are swapped.
        let is_alive = scene.ports_of(t0);
        let is_alive = is_alive.len() < 2 || is_alive.iter().any(|port| !dead.contains(port));
        is_alive && !scene.topology().hardware(t0).1.has_static_neighbours()
    };
    let mut with: BTreeMap<NicPort, NicPort> = BTreeMap::new();
    for own in ports {
        // Both NICs receive frames for others. They must be in the same plane, because a T0 drops frames for another
        // plane.
        let at_t0 = |other: &NicPort| {
            other.nic.t0(other.plane) == own.nic.t0(own.plane) && strays(scene, *other) && strays(scene, *own)
        };
        // A port that receives frames for another NIC is at the place of that NIC, not of another port of its own NIC.
        let in_nic = |other: &NicPort| {
            other.nic == own.nic
                && !strays(scene, *other)
                && !strays(scene, *own)
                && resolves(own)
                && resolves(other)
        };
        let fits = |other: &&NicPort| (other.nic == own.nic) != (other.plane == own.plane);
        let mut fitting = ports.iter().filter(fits).filter(|other| in_nic(other) || at_t0(other));
        if let (Some(other), None) = (fitting.next(), fitting.next()) {
            with.insert(*own, *other);
        }
    }
    let is_mutual = |(own, other): &(&NicPort, &NicPort)| with.get(other) == Some(own);
    with.iter().filter(is_mutual).map(|(own, other)| (*own, *other)).collect()
}

/// Adds the swapped cable to the verdicts.
pub(super) fn name(pairs: &BTreeMap<NicPort, NicPort>, verdicts: &mut [Verdict]) {
    for verdict in verdicts {
        let (Kind::Dead, Element::Cable(Link::Host(port))) = (verdict.kind, verdict.element) else {
            continue;
        };
        if let Some(other) = pairs.get(&port) {
            verdict.kind = Kind::Swapped(Element::Cable(Link::Host(*other)));
            verdict.or = None;
        }
    }
}
