//! V03: both ends of a cable agree.

use rayon::prelude::*;

use crate::check::negotiation;
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, CableId, DeviceId, End, Kind};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::place::Place;
use crate::model::stated;
use crate::model::switch::{EndState, Facts};
use crate::read::linux::place as linux;
use crate::rules::ports::{HALVES, LENGTH, NEIGHBOUR, WIRE};

/// Compares the two ends of every cable.
pub(crate) fn check(fabric: &Fabric, stated: Option<&stated::StatedValues>) -> Findings {
    (0..fabric.cabling.cables().len() as u32)
        .into_par_iter()
        .map(CableId)
        .with_min_len(1 << 14)
        .fold(Findings::default, |mut findings, id| {
            cable(fabric, stated, id, &mut findings);
            findings
        })
        .reduce(Findings::default, Findings::merge)
}

fn cable(fabric: &Fabric, stated: Option<&stated::StatedValues>, id: CableId, findings: &mut Findings) {
    let cable = &fabric.cabling.cable(id);
    let [lower, upper] = [cable.lower, cable.upper].map(|end| (end, fabric.end_state(end)));
    if let (Some(a), Some(b)) = (lower.1, upper.1)
        && a.configured
        && b.configured
    {
        halves(fabric, id, cable, (a, b), findings);
        wire(fabric, cable, (a, b), findings);
    }
    if let Some(fault) = negotiation::fault(fabric, stated, cable) {
        let message = format!("`{}`: {fault}", fabric.cabling.describe(cable));
        let violation = Violation::new(&WIRE, place(fabric, cable.upper, Aspect::Port), message);
        let violation = match cable.kind {
            Kind::NicT0 => violation,
            Kind::T0T1 | Kind::T1T2 => violation.and(place(fabric, cable.lower, Aspect::Port)),
        };
        findings.report(violation.and(fabric.cabling.place(id)));
    }
    for (own, far) in [(lower, upper), (upper, lower)] {
        length(fabric, id, cable, own, findings);
        neighbour(fabric, id, own, far, findings);
    }
}

/// An end of a cable, and the configuration of its device if the tree contains it.
type StatedEnd = (End, Option<EndState>);

/// The aspect of a cable end that a fault concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aspect {
    Port,
    Address,
    Neighbour,
    Mac,
    Length,
}

/// Returns the place of a fault at one end of a cable.
pub(crate) fn place(fabric: &Fabric, end: End, aspect: Aspect) -> Place {
    let port = fabric.cabling.names.text(end.port);
    let about = match aspect {
        Aspect::Port => FactKind::Port(port),
        Aspect::Address => FactKind::Address(port),
        Aspect::Neighbour => FactKind::Neighbour(port),
        Aspect::Mac => FactKind::Mac(port),
        Aspect::Length => FactKind::Length(port),
    };
    match end.party {
        DeviceId::Switch(switch) => fabric.place(switch, about),
        DeviceId::Node(node) => {
            let name = &fabric.cabling.nodes[node.0 as usize];
            Place::of(format!("hosts/{name}/{}", linux::FILE), linux::find(about).1)
        }
    }
}

fn halves(
    fabric: &Fabric,
    id: CableId,
    cable: &Cable,
    (lower, upper): (EndState, EndState),
    findings: &mut Findings,
) {
    let (Some(a), Some(b)) = (lower.address, upper.address) else {
        // P4 targets have no addresses, nor do ports between switches with BGP. Other ends without an address were
        // reported when the device was read.
        return;
    };
    let fit = u128::from(a) ^ u128::from(b) == 1;
    findings.expect(fit, &HALVES, || {
        let message = format!("`{}` is {a} and {b}", fabric.cabling.describe(cable));
        Violation::new(&HALVES, place(fabric, cable.lower, Aspect::Address), message)
            .and(place(fabric, cable.upper, Aspect::Address))
            .and(fabric.cabling.place(id))
    });
}

fn wire(fabric: &Fabric, cable: &Cable, (lower, upper): (EndState, EndState), findings: &mut Findings) {
    let [lower, upper] = [lower, upper].map(|state| state.facts.of(&fabric.facts));
    findings.count_facts(&WIRE, 1);
    if lower.wire == upper.wire {
        return;
    }
    for (what, difference) in differences(lower, upper) {
        let message = format!("`{}`: {what} is {difference}", fabric.cabling.describe(cable));
        let violation = Violation::new(&WIRE, place(fabric, cable.lower, Aspect::Port), message);
        findings.report(violation.and(place(fabric, cable.upper, Aspect::Port)));
    }
}

/// Compares both ends. A value that one end does not state is assumed to equal the other.
fn differences(lower: &Facts, upper: &Facts) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let (a, b) = (lower.wire, upper.wire);
    if let (Some(a), Some(b)) = (a.speed, b.speed)
        && a != b
    {
        found.push(("the speed", format!("{a} Mb/s and {b} Mb/s")));
    }
    if let (Some(a), Some(b)) = (a.mtu, b.mtu)
        && a != b
    {
        found.push(("the largest packet", format!("{a} and {b} bytes")));
    }
    if let (Some(a), Some(b)) = (a.fec, b.fec)
        && a != b
    {
        let word = |on| if on { "on" } else { "off" };
        found.push(("error correction", format!("{} and {}", word(a), word(b))));
    }
    found
}

fn length(fabric: &Fabric, id: CableId, cable: &Cable, (own, state): StatedEnd, findings: &mut Findings) {
    let Some(stated) = state.and_then(|state| state.facts.of(&fabric.facts).length_m) else { return };
    findings.expect(stated == cable.meters, &LENGTH, || {
        let end = fabric.cabling.end(own);
        let message = format!("`{end}` is set to {stated} m, but the cable has {} m", cable.meters);
        Violation::new(&LENGTH, place(fabric, own, Aspect::Length), message).and(fabric.cabling.place(id))
    });
}

/// Checks that a static neighbour has the MAC address of the other end.
fn neighbour(
    fabric: &Fabric,
    id: CableId,
    (own, state): StatedEnd,
    (far, far_state): StatedEnd,
    findings: &mut Findings,
) {
    let Some(expected) = state.and_then(|state| state.neighbour) else { return };
    let Some(far_state) = far_state else { return };
    // A switch port without a setting has an address that its system assigns, which the file may not contain. A NIC
    // port without one keeps its factory address, which a static neighbour cannot expect.
    if far_state.mac.is_none() && matches!(far.party, DeviceId::Switch(_)) {
        return;
    }
    findings.expect(far_state.mac == Some(expected), &NEIGHBOUR, || {
        let has =
            far_state.mac.map_or_else(|| "has no MAC address set".to_owned(), |mac| format!("has {mac}"));
        let message = format!(
            "`{}` expects MAC address {expected} of `{}`, which {has}",
            fabric.cabling.end(own),
            fabric.cabling.end(far)
        );
        Violation::new(&NEIGHBOUR, place(fabric, own, Aspect::Neighbour), message)
            .and(place(fabric, far, Aspect::Mac))
            .and(fabric.cabling.place(id))
    });
}
