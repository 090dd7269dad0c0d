//! V03: both ends of a cable fit each other.

use closc_diagnostics::Rule;
use rayon::prelude::*;

use crate::finding::{Findings, Place, Violation};
use crate::model::cabling::{Cable, CableId, End, Party};
use crate::model::fabric::{About, Fabric};
use crate::model::switch::{EndState, Facts};

/// Addresses are two halves.
pub(crate) static HALVES: Rule = Rule {
    code: "V0301",
    title: "the addresses of a cable do not fit",
    what: "Each end of a cable has exactly one address, a /127, and the two are the two halves of one prefix.",
    why: "A route's next hop is the other half; without it the next hop is never resolved.",
    example: "\"INTERFACE\": { \"Ethernet256|2001:db8:2000:1300:1:2:0:a/126\": {} }",
    fix: "Compile again.",
};

/// Ends talk alike.
pub(crate) static WIRE: Rule = Rule {
    code: "V0302",
    title: "two ends of a cable differ in speed, packet size or error correction",
    what: "Speed, MTU and forward error correction are equal at both ends of a cable.",
    why: "Different speeds or codes give no link; a smaller MTU drops the large packets only, which looks like \
          a fault of the application.",
    example: "\"PORT\": { \"Ethernet256\": { \"mtu\": \"1500\" } }",
    fix: "Compile again; a template overlay may not set these for one end alone.",
};

/// Buffers are cut for the cable that is there.
pub(crate) static LENGTH: Rule = Rule {
    code: "V0303",
    title: "a cable is longer or shorter than a switch believes",
    what: "`CABLE_LENGTH` of a port is the length of the cable list, in whole metres rounded up, where the \
           switch is told lengths; it is told all of them or none.",
    why: "Headroom is computed from the length: for a longer cable it overflows and a lossless class loses \
          packets.",
    example: "\"CABLE_LENGTH\": { \"AZURE\": { \"Ethernet256\": \"5m\" } } for a cable of 30 m",
    fix: "Compile again.",
};

/// Neighbours are there before anybody talks.
pub(crate) static NEIGHBOUR: Rule = Rule {
    code: "V0304",
    title: "a static neighbour is missing or wrong",
    what: "For every cable to another switch there is exactly one static neighbour, with the address and the \
           MAC address of the other end.",
    why: "After a restart nobody talks first: a static route without a resolved next hop drops every packet, \
          and one with a wrong MAC address sends them to a device that throws them away.",
    example: "\"NEIGH\": { \"Ethernet256|2001:db8:2000:1300:1:2:0:b\": { \"neigh\": \"02:c1:13:00:00:09\" } }",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&HALVES, &WIRE, &LENGTH, &NEIGHBOUR];

/// Holds both ends of every cable against each other.
pub(crate) fn check(fabric: &Fabric) -> Findings {
    let cables = &fabric.cabling.cables;
    (0..cables.len())
        .into_par_iter()
        .with_min_len(1 << 14)
        .fold(Findings::default, |mut findings, at| {
            cable(fabric, CableId(at as u32), &cables[at], &mut findings);
            findings
        })
        .reduce(Findings::default, Findings::merge)
}

fn cable(fabric: &Fabric, id: CableId, cable: &Cable, findings: &mut Findings) {
    let ends = [(cable.lower, cable.upper), (cable.upper, cable.lower)];
    let states = ends.map(|(own, _)| fabric.end_state(own).filter(|state| state.configured));
    if let [Some(lower), Some(upper)] = states {
        halves(fabric, id, (lower, upper), findings);
        wire(fabric, cable, findings);
    }
    for (own, far) in ends {
        length(fabric, id, cable, own, findings);
        neighbour(fabric, id, (own, far), findings);
    }
}

/// What of an end of a cable is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aspect {
    Port,
    Address,
    Neighbour,
    Mac,
    Length,
}

/// Returns the place of something about one end of a cable.
pub(crate) fn place(fabric: &Fabric, end: End, aspect: Aspect) -> Place {
    let port = fabric.cabling.names.text(end.port);
    let about = match aspect {
        Aspect::Port => About::Port(port),
        Aspect::Address => About::Address(port),
        Aspect::Neighbour => About::Neighbour(port),
        Aspect::Mac => About::Mac(port),
        Aspect::Length => About::Length(port),
    };
    match end.party {
        Party::Switch(switch) => fabric.place(switch, about),
        Party::Node(node) => {
            let name = &fabric.cabling.nodes[node.0 as usize];
            Place::text(format!("hosts/{name}/ip.batch"), vec![format!(" dev {port} ")])
        }
    }
}

fn halves(fabric: &Fabric, id: CableId, (lower, upper): (&EndState, &EndState), findings: &mut Findings) {
    let cable = fabric.cabling.cable(id);
    let (Some(a), Some(b)) = (lower.address(), upper.address()) else {
        // A P4 target has no addresses; any other end without one was reported where the device was read.
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

fn wire(fabric: &Fabric, cable: &Cable, findings: &mut Findings) {
    let (Some(lower), Some(upper)) = (fabric.facts(cable.lower), fabric.facts(cable.upper)) else { return };
    findings.checked(&WIRE, 1);
    if lower.wire == upper.wire {
        return;
    }
    for (what, difference) in differences(lower, upper) {
        let message = format!("`{}`: {what} is {difference}", fabric.cabling.describe(cable));
        let violation = Violation::new(&WIRE, place(fabric, cable.lower, Aspect::Port), message);
        findings.broken(violation.and(place(fabric, cable.upper, Aspect::Port)));
    }
}

/// What both ends say and do not say alike; what one end does not say at all is left to the other.
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

fn length(fabric: &Fabric, id: CableId, cable: &Cable, own: End, findings: &mut Findings) {
    let Some(told) = fabric.facts(own).and_then(|facts| facts.length_m) else { return };
    findings.expect(told == cable.meters, &LENGTH, || {
        let end = fabric.cabling.end(own);
        let message = format!("`{end}` is told {told} m, and the cable has {} m", cable.meters);
        Violation::new(&LENGTH, place(fabric, own, Aspect::Length), message).and(fabric.cabling.place(id))
    });
}

/// A static neighbour has the MAC address that the other end really has.
fn neighbour(fabric: &Fabric, id: CableId, (own, far): (End, End), findings: &mut Findings) {
    let Some(state) = fabric.end_state(own) else { return };
    let Some(expected) = state.neighbour else { return };
    let Some(mac) = fabric.end_state(far).and_then(|state| state.mac) else { return };
    findings.expect(expected == mac, &NEIGHBOUR, || {
        let message = format!(
            "`{}` expects MAC address {expected} of `{}`, which has {mac}",
            fabric.cabling.end(own),
            fabric.cabling.end(far)
        );
        Violation::new(&NEIGHBOUR, place(fabric, own, Aspect::Neighbour), message)
            .and(place(fabric, far, Aspect::Mac))
            .and(fabric.cabling.place(id))
    });
}
