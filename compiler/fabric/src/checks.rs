//! Checks that need the expanded fabric: NICs and T0 groups that exceptions cut off.

use closc_diagnostics::figures::number;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_topology::{Link, Nic, NicPort, PlaneId, field};

use crate::reach::UnreachablePairs;
pub use crate::shared_fate::{EMPTY, WHOLE};
use crate::usable::{Descent, LossScope};
use crate::{Fabric, shared_fate};

/// All rules of this crate.
pub static RULES: &[&Rule] = &[&UNMANAGED, &CUT_OFF, &ISLANDS, &APART, &DRAINED_APART, &WHOLE, &EMPTY];

/// A switch without a line in the list of management ports.
pub static UNMANAGED: Rule = Rule {
    code: "E0516",
    title: "a switch has no management port",
    condition: "If `addresses.management_list` is set without the pool `addresses.management`, every existing \
           switch has a line.",
    impact: "A switch without a management address is reachable only over the fabric, so it is unreachable \
           during a repair.",
    example: "# listed.csv has some of the switches\nfabric: tiny\nplanes: 1\nhosts: { groups: 2, per_group: 2 }\n\
              addresses: { management_list: listed.csv }",
    fix: "Add lines for these switches, or a pool for all that are not listed.",
};

/// A NIC that no plane reaches.
pub static CUT_OFF: Rule = Rule {
    code: "E0820",
    title: "a NIC without a cable",
    condition: "Every NIC has at least one cable to a T0, after `exceptions.absent`.",
    impact: "A NIC without a cable is unreachable in every plane. Its node would hang in the first collective.",
    example: "fabric: tiny\nplanes: 1\nhosts: { groups: 2, per_group: 2 }\nexceptions: { absent: [p0-t0-001] }",
    fix: "Declare the NICs (or their nodes) absent too, or remove the exception for their last T0.",
};

/// A fabric in several pieces.
pub static ISLANDS: Rule = Rule {
    code: "E0821",
    title: "the fabric is partitioned",
    condition: "After `exceptions.absent`, any two T0 groups that the design connects have a path in at least \
           one plane. A path goes up, then down. Inside a zone, it uses T1s of that zone only. With \
           `srv6-static`, a path uses the same uplink numbers up and down, so both ends need a common one. \
           With `ecmp-static` and `bgp-unnumbered`, it can use any cable down.",
    impact: "NICs in different parts could not reach each other. A chain of cables alone is not a path, because \
           packets never go up a second time.",
    example: "fabric: tiny\nplanes: 1\nhosts: { groups: 2, per_group: 2 }\nexceptions: { absent: [p0-t1-001, p0-t1-002] }",
    fix: "Remove some of the exceptions, or describe the parts as separate fabrics.",
};

/// Pairs whose only paths use drained equipment.
pub static DRAINED_APART: Rule = Rule {
    code: "W0821",
    title: "drains leave pairs without a path",
    condition: "Any two NICs keep a path to each other in at least one plane, after `exceptions.drained` and \
           `exceptions.isolated`.",
    impact: "Hosts that choose paths have none for such a pair. Switches that choose paths use drained \
           equipment, which then carries traffic during maintenance.",
    example: "fabric: tiny\nplanes: 1\nhosts: { groups: 2, per_group: 2 }\nexceptions: { drained: [p0-t1-001, p0-t1-002] }",
    fix: "Drain less at a time, or stop the jobs on these NICs first.",
};

/// NICs without a common plane.
pub static APART: Rule = Rule {
    code: "W0820",
    title: "two NICs have no plane in common",
    condition: "Any two NICs have a cable in a common plane, with a path between their T0s, after \
           `exceptions.absent`. NICs without any cable are E0820, and a partitioned fabric is E0821.",
    impact: "A packet never leaves its plane. If one NIC is only in plane 0 and another only in plane 1, they \
           cannot communicate, although each reaches others. A collective over both hangs.",
    example: "fabric: tiny\nplanes: 2\nhosts: { groups: 2, per_group: 2, nic: { speed: 200G, lanes: 2 } }\n\
              exceptions: { absent: [su001-n001/nic0.p1, su002-n001/nic0.p0] }",
    fix: "Keep a cable of each NIC in a common plane, or declare one of the NICs absent.",
};

/// Checks the expanded fabric.
pub fn check(fabric: &Fabric, diagnostics: &mut Diagnostics) {
    report_unmanaged(fabric, diagnostics);
    shared_fate::check(fabric, diagnostics);
    shared_fate::empty(fabric, diagnostics);
    let topology = fabric.topology();
    let exceptions = &topology.exceptions;
    // Only absences can isolate a NIC or partition the fabric.
    if (exceptions.absent_switches.is_empty() && exceptions.absent_links.is_empty())
        || !absences(fabric, diagnostics)
    {
        report_drained(fabric, diagnostics);
    }
}

/// Reports switches without a management port if other switches of the fabric have one.
fn report_unmanaged(fabric: &Fabric, diagnostics: &mut Diagnostics) {
    let topology = fabric.topology();
    let addresses = &topology.addresses;
    if addresses.management.is_some() || addresses.management_list.is_empty() {
        return;
    }
    let without = fabric.switches().filter(|switch| !addresses.management_list.contains_key(switch));
    let mut names = without.map(|switch| topology.naming.switch(switch));
    let Some(first) = names.next() else { return };
    let text = match names.count() {
        0 => format!("`{first}` has no management port"),
        1 => format!("`{first}` and 1 more switch have no management port"),
        more => format!("`{first}` and {} more switches have no management port", number(more as u64)),
    };
    let found = Diagnostic::error(&UNMANAGED, text)
        .help("add lines, or a pool for all that are not listed (`addresses.management`)");
    diagnostics.push(match topology.spans.get(field!("addresses.management_list")) {
        Some(list) => found.at(list, "the only management ports"),
        None => found,
    });
}

/// Reports NICs and groups that absences cut off, and returns whether there are any.
fn absences(fabric: &Fabric, diagnostics: &mut Diagnostics) -> bool {
    let topology = fabric.topology();
    let place = topology.spans.get(field!("exceptions.absent"));
    if let Some((first, lonely)) = fabric.isolated_nics() {
        let (node, nic) = topology.node_of(first);
        let name = topology.naming.nic(node, nic);
        let message = match lonely {
            1 => format!("NIC `{name}` has no cable left in any plane"),
            more => format!("{more} NICs have no cable left in any plane; the first is `{name}`"),
        };
        let diagnostic = Diagnostic::error(&CUT_OFF, message)
            .help("declare these NICs absent too, or keep one of their T0s");
        diagnostics.push(match place {
            Some(span) => diagnostic.at(span, "removes the last cable"),
            None => diagnostic,
        });
        return true;
    }
    let islands = fabric.islands();
    if islands > fabric.planned_islands() {
        let diagnostic =
            Diagnostic::error(&ISLANDS, format!("the fabric splits into {islands} disconnected pieces"))
                .help(if topology.has_t1() {
                    "keep at least one plane in which switches connect the T0s of all groups"
                } else {
                    "keep at least one plane in which every NIC of a T0 group has its cable"
                });
        diagnostics.push(match place {
            Some(span) => diagnostic.at(span, "leaves no cable between the pieces"),
            None => diagnostic,
        });
        return true;
    }
    if let Some(pair) = fabric.pair_without_common_plane() {
        diagnostics.push(disjoint_planes(fabric, pair));
        return true;
    }
    let unreachable = fabric.unreachable_pairs(LossScope::Absent);
    if let Some(unreachable) = unreachable {
        diagnostics.push(missing_path(fabric, unreachable));
    }
    unreachable.is_some()
}

/// Returns the names of two NICs.
fn names(fabric: &Fabric, pair: (Nic, Nic)) -> [String; 2] {
    let topology = fabric.topology();
    [pair.0, pair.1].map(|nic| {
        let (node, number) = topology.node_of(nic);
        topology.naming.nic(node, number)
    })
}

/// Adds the number of affected pairs of T0 groups as a note, if there are several.
fn and_others(diagnostic: Diagnostic, groups: u64) -> Diagnostic {
    if groups > 1 {
        diagnostic.note(format!("this affects {} pairs of T0 groups", number(groups)))
    } else {
        diagnostic
    }
}

/// Returns the finding for two T0 groups that have cables but no path, otherwise for two NICs that have no common plane
/// with a path.
fn missing_path(fabric: &Fabric, unreachable: UnreachablePairs) -> Diagnostic {
    let [one, other] = names(fabric, unreachable.example);
    let place = fabric.topology().spans.get(field!("exceptions.absent"));
    let diagnostic = if unreachable.groups > 0 {
        let message = format!("no path leads from `{one}` to `{other}` in any plane");
        Diagnostic::error(&ISLANDS, message).help(match Descent::of(fabric.topology().routing) {
            Descent::SameNumbers => {
                "keep an uplink number of the T0s that works at both ends, and between zones one of the T1s; \
                 `ecmp-static` can use any remaining cable down"
            }
            Descent::Any => "keep a switch that both NICs can reach on the way up",
        })
    } else {
        let message = format!(
            "`{one}` and `{other}` have no common plane with a path between their T0s; they cannot communicate"
        );
        Diagnostic::warning(&APART, message)
            .help("keep a path in a plane that both have a cable in, or declare one of the NICs absent")
    };
    let diagnostic = and_others(diagnostic, unreachable.groups);
    match place {
        Some(span) => diagnostic.at(span, "leaves no path between them"),
        None => diagnostic,
    }
}

/// Reports pairs whose only paths use drained equipment.
fn report_drained(fabric: &Fabric, diagnostics: &mut Diagnostics) {
    let topology = fabric.topology();
    let exceptions = &topology.exceptions;
    let none = exceptions.drained_switches.is_empty() && exceptions.drained_links.is_empty();
    if none && exceptions.drained_planes.is_empty() {
        return;
    }
    let Some(unreachable) = fabric.unreachable_pairs(LossScope::AbsentOrDrained) else { return };
    let [one, other] = names(fabric, unreachable.example);
    let message = match Descent::of(topology.routing) {
        Descent::SameNumbers => format!("drains leave `{one}` and `{other}` without a path"),
        Descent::Any => format!("`{one}` and `{other}` only have paths over drained equipment"),
    };
    let diagnostic = and_others(Diagnostic::warning(&DRAINED_APART, message), unreachable.groups)
        .help("drain less at a time, or stop the jobs on these NICs first");
    let lists = [field!("exceptions.drained"), field!("exceptions.isolated")];
    diagnostics.push(match lists.into_iter().find_map(|list| topology.spans.get(list)) {
        Some(span) => diagnostic.at(span, "takes the last path"),
        None => diagnostic,
    });
}

fn disjoint_planes(fabric: &Fabric, (first, second, pairs): (Nic, Nic, u64)) -> Diagnostic {
    let topology = fabric.topology();
    let [one, other] = names(fabric, (first, second));
    let message = format!("`{one}` and `{other}` have no plane in common; they cannot communicate");
    let mut diagnostic = Diagnostic::warning(&APART, message);
    if let Some(span) = topology.spans.get(field!("exceptions.absent")) {
        let planes = |nic| {
            let there = |plane: &PlaneId| fabric.has_link(Link::Host(NicPort { plane: *plane, nic }));
            let there: Vec<_> = topology.plane_ids().filter(there).map(|plane| plane.to_string()).collect();
            format!("plane{} {}", if there.len() == 1 { "" } else { "s" }, there.join(", "))
        };
        diagnostic = diagnostic
            .at(span, format!("leaves one in {} and the other in {}", planes(first), planes(second)));
    }
    if pairs > 1 {
        diagnostic = diagnostic.note(format!("this affects {pairs} pairs of NICs"));
    }
    diagnostic.help("keep a cable of each NIC in a common plane, or declare one of the NICs absent")
}
