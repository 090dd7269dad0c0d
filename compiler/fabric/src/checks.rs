//! What can only be seen in the expanded fabric: holes that cut something off.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_topology::field;

pub use crate::shared_fate::{EMPTY, WHOLE};
use crate::{Fabric, shared_fate};

/// Every rule of this crate.
pub static RULES: &[&Rule] = &[&CUT_OFF, &ISLANDS, &WHOLE, &EMPTY];

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
    }
}
