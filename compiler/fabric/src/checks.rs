//! What can only be seen in the expanded fabric: holes that cut something off.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_topology::{Link, Nic, NicPort, PlaneId, field};

pub use crate::shared_fate::{EMPTY, WHOLE};
use crate::{Fabric, shared_fate};

/// Every rule of this crate.
pub static RULES: &[&Rule] = &[&CUT_OFF, &ISLANDS, &APART, &WHOLE, &EMPTY];

/// A NIC that no plane reaches.
pub static CUT_OFF: Rule = Rule {
    code: "E0820",
    title: "a NIC has no cable left",
    what: "Every NIC that is there has at least one cable to a T0 that is there, after `exceptions.absent`.",
    why: "A NIC without a cable cannot be reached in any plane; its node would hang in the first collective.",
    example: "fabric: tiny\nplanes: 1\nhosts: { groups: 2, per_group: 2 }\nexceptions: { absent: [p0-t0-001] }",
    fix: "Declare the NICs (or their nodes) absent too, or remove the exception that takes their last T0 away.",
};

/// A fabric in several pieces.
pub static ISLANDS: Rule = Rule {
    code: "E0821",
    title: "the fabric falls apart",
    what: "All NICs are connected with each other in at least one plane, after `exceptions.absent`.",
    why: "Path tables are written for every pair of groups; pairs on different islands would have none.",
    example: "fabric: tiny\nplanes: 1\nhosts: { groups: 2, per_group: 2 }\nexceptions: { absent: [p0-t1-001, p0-t1-002] }",
    fix: "Remove some of the exceptions, or describe the pieces as fabrics of their own.",
};

/// NICs that never meet.
pub static APART: Rule = Rule {
    code: "W0820",
    title: "two NICs have no plane in common",
    what: "Any two NICs have a cable to a T0 in at least one plane together, after `exceptions.absent`. NICs without any cable \
           are E0820, and pieces of a fabric E0821.",
    why: "A packet never leaves its plane. Two NICs of which one is in plane 0 alone and the other in plane 1 alone cannot talk, \
          although each of them reaches others; a collective over both hangs.",
    example: "fabric: tiny\nplanes: 2\nhosts: { groups: 2, per_group: 2, nic: { speed: 200G, lanes: 2 } }\n\
              exceptions: { absent: [su001-n001/nic0.p1, su002-n001/nic0.p0] }",
    fix: "Keep a cable of both in one plane, or declare one of the NICs absent.",
};

/// Checks the expanded fabric.
pub fn check(fabric: &Fabric, diagnostics: &mut Diagnostics) {
    shared_fate::check(fabric, diagnostics);
    shared_fate::empty(fabric, diagnostics);
    let topology = fabric.topology();
    let exceptions = &topology.exceptions;
    // Only an absence leaves a NIC alone or makes islands.
    if exceptions.absent_switches.is_empty() && exceptions.absent_links.is_empty() {
        return;
    }
    let place = topology.spans.get(field!("exceptions.absent"));
    if let Some((first, lonely)) = fabric.lonely_nics() {
        let (node, nic) = topology.node_of(first);
        let name = topology.naming.nic(node, nic);
        let message = match lonely {
            1 => format!("NIC `{name}` has no cable left in any plane"),
            more => format!("{more} NICs have no cable left in any plane, `{name}` is the first"),
        };
        let diagnostic = Diagnostic::error(&CUT_OFF, message)
            .help("declare these NICs absent too, or keep one of their T0s");
        diagnostics.push(match place {
            Some(span) => diagnostic.at(span, "takes away the last T0"),
            None => diagnostic,
        });
        return;
    }
    let islands = fabric.islands();
    if islands > 1 {
        let diagnostic = Diagnostic::error(&ISLANDS, format!("the fabric falls apart into {islands} pieces"))
            .help("keep at least one plane in which every T0 has an uplink");
        diagnostics.push(match place {
            Some(span) => diagnostic.at(span, "leaves no cable between the pieces"),
            None => diagnostic,
        });
        return;
    }
    if let Some(pair) = fabric.apart() {
        diagnostics.push(apart(fabric, pair));
    }
}

fn apart(fabric: &Fabric, (first, second, pairs): (Nic, Nic, u64)) -> Diagnostic {
    let topology = fabric.topology();
    let [one, other] = [first, second].map(|nic| {
        let (node, number) = topology.node_of(nic);
        topology.naming.nic(node, number)
    });
    let message = format!("`{one}` and `{other}` have no plane in common, so no packet goes between them");
    let mut diagnostic = Diagnostic::warning(&APART, message);
    if let Some(span) = topology.spans.get(field!("exceptions.absent")) {
        let planes = |nic| {
            let there = |plane: &PlaneId| fabric.has_link(Link::Host(NicPort { plane: *plane, nic }));
            topology.plane_ids().filter(there).map(|plane| plane.to_string()).collect::<Vec<_>>().join(", ")
        };
        diagnostic = diagnostic
            .at(span, format!("leaves one in {} and the other in {}", planes(first), planes(second)));
    }
    if pairs > 1 {
        diagnostic = diagnostic.note(format!("so it is for {pairs} pairs of NICs"));
    }
    diagnostic.help("keep a cable of both in one plane, or declare one of the NICs absent")
}
