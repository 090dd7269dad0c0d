//! Cables that are plugged in where another one belongs.
//!
//! A swapped cable has a carrier at both ends and carries nothing for probes. Two such cables at one end are swapped with
//! each other: cables that are cut leave a port without a carrier.

use std::collections::BTreeMap;

use closc_topology::{Link, NicPort};

use super::{Kind, Scene, Verdict};
use crate::element::Element;

/// Finds pairs among ports that have a carrier and carry nothing: two of one NIC, or of two NICs at one T0.
pub(super) fn pairs(scene: &Scene<'_>, ports: &[NicPort]) -> BTreeMap<NicPort, NicPort> {
    let strays = |port: &NicPort| {
        let last_ms = scene.speaks(port.nic).and_then(|agent| agent.strays_ms(port.plane));
        last_ms.is_some_and(|last_ms| scene.is_fresh(last_ms))
    };
    let mut with: BTreeMap<NicPort, NicPort> = BTreeMap::new();
    for own in ports {
        // Frames for one NIC arrive at the other; a T0 drops what has the segments of another plane.
        let at_t0 = |other: &NicPort| {
            other.nic.t0(other.plane) == own.nic.t0(own.plane) && strays(other) && strays(own)
        };
        // A port that receives what is for other NICs is plugged in where one of them belongs, and no other port of its own.
        let in_nic = |other: &NicPort| other.nic == own.nic && !strays(other) && !strays(own);
        let fits = |other: &&NicPort| (other.nic == own.nic) != (other.plane == own.plane);
        let fitting = || ports.iter().filter(fits).filter(|other| in_nic(other) || at_t0(other));
        if let (Some(other), 1) = (fitting().next(), fitting().count()) {
            with.insert(*own, *other);
        }
    }
    let both = with.clone();
    with.retain(|own, other| both.get(other) == Some(own));
    with
}

/// Says of cables that are swapped with which.
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
