//! All checks that need a plan ([`RULES`]).
//!
//! In: a plan. Out: diagnostics. Invariants: QoS is checked on only one switch of each kind
//! ([`Plan::kinds`]), so the work does not grow with the fabric.

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};
use closc_platform::capability::{Capability, Support};
use closc_qos::QosError;
use closc_qos::buffer::BufferError;
use closc_qos::ecn::EcnError;
use closc_qos::units::Length;
use closc_topology::{FieldPath, HostOs, Link, Switch, TierId, Topology, field, tier_field};

use crate::cage_media::{self, MIXED_CAGE};
use crate::host::route_counts::HostRoutes;
use crate::intent::DeviceIntent;
use crate::plan::Plan;
use crate::qos::SwitchQos;
use crate::usable_values::{self, NoUsableValue};

/// Every rule of this crate.
pub static RULES: &[&Rule] = &[&HEADROOM, &MARKS, &MIXED_CAGE, &NOT_ISOLATED, &NO_USABLE_VALUE, &UNWRITTEN];

/// Headroom that exceeds the buffer.
pub static HEADROOM: Rule = Rule {
    code: "E0720",
    title: "PFC does not fit the buffer",
    condition: "On every kind of switch, the buffer has room for the headroom of all ports and lossless classes. \
           Reserved space and one packet per port fit as well. No port needs more headroom than its platform \
           permits.",
    impact: "After a pause, packets in flight still arrive: 2 x propagation delay x speed, plus what the peer \
           sends until it reacts. Without buffer for them a lossless class loses packets, and RoCE restarts \
           at the beginning of the message.",
    example: "fabric: far\nplanes: 1\nrouting: ecmp-static\nhosts: { groups: 2, per_group: 32, nic: { speed: 400G } }\n\
              tiers:\n  t0: { platform: th5-128x400g, up: 32 }\n  t1: { platform: th5-128x400g }\n\
              cables:\n  nic-t0: { length: 3m }\n  t0-t1: { length: 10km, medium: lr4 }\nqos: lossless",
    fix: "Use a lossy profile with early marking, end PFC at a switch with deep buffers, shorten the cable, \
           or use a platform with more buffer. The message states which of these work, with numbers.",
};

/// ECN thresholds that are too high.
pub static MARKS: Rule = Rule {
    code: "E0721",
    title: "queues would be marked too late",
    condition: "On every kind of switch, each queue with marking starts to mark before it pauses its senders or \
           is full.",
    impact: "Marks tell senders to slow down. A threshold above the point where PFC stops them, or where \
           packets are dropped, has no effect.",
    example: "fabric: late\nplanes: 1\nrouting: ecmp-static\nhosts: { groups: 2, per_group: 4, nic: { speed: 400G } }\n\
              tiers:\n  t0: { platform: th5-128x400g, up: 2 }\n  t1: { platform: th5-128x400g }\n\
              cables:\n  nic-t0: { length: 3m }\n  t0-t1: { length: 30m }\n\
              qos: { base: lossless, classes: { data: { ecn: { thresholds: { min: 1GB, max: 2GB, probability: 5 } } } } }",
    fix: "Lower the thresholds, let closc compute them, or use a platform with more buffer.",
};

/// An isolated cable in a fabric or at a switch without isolation.
pub static NOT_ISOLATED: Rule = Rule {
    code: "E0822",
    title: "a cable cannot be isolated",
    condition: "If `exceptions.isolated` is set, `routing` is `srv6-static`. closc isolates a cable with an \
           access list on the switch ports at its ends. These switches have `os: sonic`, because closc \
           writes the list only for it.",
    impact: "The list drops every received IPv6 packet except ICMPv6. It stops hosts that still send over a \
           drained cable. In other routing modes, switches avoid a drained cable themselves unless no \
           other path is left. There the list would drop this remaining traffic, and end BGP sessions. If \
           only one of two switches had the list, one direction would stay open.",
    example: "fabric: tiny\nplanes: 1\nrouting: ecmp-static\nhosts: { groups: 2, per_group: 4, nic: { speed: 400G } }\n\
              tiers:\n  t0: { platform: th5-128x400g, up: 4 }\n  t1: { platform: th5-128x400g }\n\
              exceptions: { isolated: [p0-t0-001--p0-t1-001] }",
    fix: "Use `exceptions.drained`, which every system and routing mode supports.",
};

/// Only denied entropy values.
pub static NO_USABLE_VALUE: Rule = Rule {
    code: "W0702",
    title: "every entropy value of a NIC is denied although paths exist",
    condition: "After `exceptions`, at least one active or backup entropy value of a NIC selects a path to each \
           T0 group. This applies to planes that have such a path.",
    impact: "Entropy values select a few of all paths. When faults deny all of them, the NIC does not use the \
           plane for that group although packets could arrive. With one T0 uplink and a T2 tier, a single \
           fault is enough.",
    example: "fabric: narrow\nplanes: 1\nzones: 2\nhosts: { groups: 1, per_group: 1, nic: { speed: 100G, lanes: 1 } }\n\
              tiers:\n  t0: { platform: linux, os: linux, up: 1 }\n  t1: { platform: linux, os: linux, up: 2 }\n  \
              t2: { platform: linux, os: linux }\n\
              exceptions: { drained: [ z0-p0-t1-001--p0-t2-001 ] }",
    fix: "Increase `entropy.backup`, give T0s more uplinks, or drain the plane.",
};

/// Routes of nodes that are omitted.
pub static UNWRITTEN: Rule = Rule {
    code: "W0704",
    title: "nodes get no routes to other nodes",
    condition: "With `hosts.os: linux` and `srv6-static`, the routes between NICs of different nodes have at most \
           262,144 next hops in total. This is the number of NICs squared, times the paths in use per pair. \
           In larger fabrics, `routes.batch` is not written. The same applies if the next-hop ids do not fit \
           (8 zones, 511 groups, 255 NICs in a group).",
    impact: "Nodes still decapsulate received packets and select the port by the first segment. But the kernel \
           does not send its own packets over paths.",
    example: "fabric: large\nplanes: 2\nhosts: { groups: 64, per_group: 64, nic: { speed: 200G, lanes: 2 }, os: linux }\n\
              tiers:\n  t0: { platform: linux, os: linux, up: 64 }\n  t1: { platform: linux, os: linux }",
    fix: "Let senders read the path tables, which contain the same in kilobytes. Or lower `entropy.active`, \
           build a smaller fabric, or remove `hosts.os`.",
};

/// Runs all checks of this crate.
pub fn check(plan: &Plan, diagnostics: &mut Diagnostics) {
    check_isolation(plan, diagnostics);
    cage_media::check(plan, diagnostics);
    if let Some(found) = usable_values::find(plan) {
        diagnostics.push(no_value(plan, &found));
    }
    if let Some(found) = unwritten(plan) {
        diagnostics.push(found);
    }
    let mut said = BTreeSet::new();
    for switch in plan.kinds() {
        let intent = plan.device(switch);
        if let Err(error) = SwitchQos::of(&intent)
            // Equal planes and zones give the same message.
            && said.insert((switch.tier, intent.platform.id.clone(), error.to_string()))
        {
            diagnostics.push(report(plan.topology(), &intent, &error));
        }
    }
}

/// Reports isolation in fabrics where switches choose paths, and isolated cables of switches without the access list.
fn check_isolation(plan: &Plan, diagnostics: &mut Diagnostics) {
    let (fabric, topology) = (plan.fabric(), plan.topology());
    let exceptions = &topology.exceptions;
    let mut report = |diagnostic: Diagnostic| {
        let diagnostic = diagnostic.help("use `exceptions.drained`");
        diagnostics.push(match topology.spans.get(field!("exceptions.isolated")) {
            Some(span) => diagnostic.at(span, ""),
            None => diagnostic,
        });
    };
    if exceptions.has_isolation && !topology.routing.is_source_routed() {
        let (routing, needed) = (topology.routing.keyword(), Routing::Srv6Static.keyword());
        let message =
            format!("`exceptions.isolated` needs `routing: {needed}`; this fabric uses `{routing}`");
        report(
            Diagnostic::error(&NOT_ISOLATED, message)
                .note("a drained cable already makes switches choose other paths"),
        );
        return;
    }
    for link in exceptions.isolated_links.iter().filter(|link| fabric.has_link(**link)) {
        let lower = match link {
            Link::Fabric { lower, .. } => Some(*lower),
            Link::Host(_) => None,
        };
        let upper = fabric.upper_end(*link).map(|(switch, _)| switch);
        let unable = lower.into_iter().chain(upper).find_map(|switch| {
            let os = plan.os(switch);
            match os.support(Capability::Isolation) {
                Support::Not(why) => Some((switch, os, why)),
                Support::Whole | Support::Part(_) => None,
            }
        });
        let Some((switch, os, why)) = unable else { continue };
        let (switch, os) = (plan.switch_name(switch), os.keyword());
        let name = plan.link_name(*link);
        let message = format!("`{name}` cannot be isolated: `{switch}` runs `{os}`");
        report(Diagnostic::error(&NOT_ISOLATED, message).note(format!("`{os}`: {why}")));
    }
}

fn unwritten(plan: &Plan) -> Option<Diagnostic> {
    let topology = plan.topology();
    let routes = HostRoutes::new(topology);
    if topology.hosts.os != HostOs::Linux || !plan.is_source_routed() || routes.are_written() {
        return None;
    }
    let HostRoutes { nics, paths, has_identifiers } = routes;
    let message = format!("`routes.batch` is not written: nodes get no routes to the {nics} NICs");
    let mut diagnostic = Diagnostic::warning(&UNWRITTEN, message);
    if let Some(span) = topology.spans.get(field!("hosts.os")) {
        diagnostic = diagnostic.at(span, "requests kernel routes");
    }
    let (hops, most) = (routes.next_hops(), HostRoutes::NEXT_HOPS_MAX);
    if hops > most {
        let sum = format!(
            "{nics} x {nics} NICs x {paths} paths in use = {hops} next hops; at most {most} are written"
        );
        diagnostic = diagnostic.note(sum);
    }
    if !has_identifiers {
        let numbers = "identifiers of next hops have room for 8 zones, 511 groups and 255 NICs in a group";
        diagnostic = diagnostic.note(numbers);
    }
    Some(diagnostic.help(if has_identifiers {
        "let senders read the path tables, lower `entropy.active`, or remove `hosts.os`"
    } else {
        "let senders read the path tables, or remove `hosts.os`"
    }))
}

fn no_value(plan: &Plan, found: &NoUsableValue) -> Diagnostic {
    let topology = plan.topology();
    let (node, number) = topology.node_of(found.from);
    let (zone, group) = found.to;
    let to = match topology.t2 {
        Some(_) => format!("zone {zone} group {}", group + 1),
        None => format!("group {}", group + 1),
    };
    let message = format!(
        "`{}` has no entropy value left for {to} in plane {}, although {} of {} paths are open",
        topology.naming.nic(node, number),
        found.plane,
        found.open.0,
        found.open.1
    );
    let mut diagnostic = Diagnostic::warning(&NO_USABLE_VALUE, message);
    if let Some(span) = topology.spans.get(field!("exceptions")) {
        let what = if found.values == 1 {
            "denies its only value".to_owned()
        } else {
            format!("denies all {}", found.values)
        };
        diagnostic = diagnostic.at(span, what);
    }
    if found.count > 1 {
        diagnostic =
            diagnostic.note(format!("this affects {} combinations of NIC, group and plane", found.count));
    }
    let room = u64::from(topology.t0.up.count) > u64::from(found.values);
    diagnostic.help(if room {
        "raise `entropy.backup`, or drain the plane"
    } else {
        "give T0s more uplinks, or drain the plane: a T0 has as many values as uplinks already"
    })
}

fn report(topology: &Topology, intent: &DeviceIntent<'_>, error: &QosError) -> Diagnostic {
    let spans = |path: FieldPath| topology.spans.get(path);
    let (name, platform) = (&intent.name, &intent.platform.id);
    let profile = intent.qos.name();
    let hardware = spans(tier_field!(intent.switch.tier, "platform").into());
    let label = |diagnostic: Diagnostic, span: Option<Span>, text: String| match span {
        Some(span) => diagnostic.and(span, text),
        None => diagnostic,
    };
    let QosError::Buffer(BufferError::HeadroomDoesNotFit(refusal)) = error else {
        let diagnostic = match error {
            QosError::Buffer(_) => Diagnostic::error(
                &HEADROOM,
                format!("`{name}` cannot pause as profile `{profile}` requires: {error}"),
            ),
            other => Diagnostic::error(&MARKS, format!("`{name}` cannot apply profile `{profile}`: {other}"))
                .help(suggestion(other)),
        };
        let diagnostic = match spans(field!("qos").into()) {
            Some(span) => diagnostic.at(span, ""),
            None => diagnostic,
        };
        return label(diagnostic, hardware, format!("`{platform}`")).of_tier(intent.switch.tier.level());
    };
    let worst = refusal.lines.first();
    let cable = worst.and_then(|line| cable_path(topology, intent.switch, line.cable));
    let message = format!("PFC does not fit the buffer of `{name}`, a `{platform}`");
    let mut diagnostic = Diagnostic::error(&HEADROOM, message).of_tier(intent.switch.tier.level());
    let need = worst.map_or_else(String::new, |line| {
        format!("{} for each lossless class of a port of {}", line.each.human(), line.speed)
    });
    diagnostic = match cable.clone().and_then(spans).or_else(|| spans(field!("qos").into())) {
        Some(span) => diagnostic.at(span, need),
        None => diagnostic,
    };
    diagnostic = label(diagnostic, hardware, format!("a buffer of {}", refusal.memory.human()));
    if cable.is_some() {
        let classes = intent.qos.lossless().count();
        let what = if classes == 1 { "lossless class" } else { "lossless classes" };
        diagnostic =
            label(diagnostic, spans(field!("qos").into()), format!("profile `{profile}`, {classes} {what}"));
    }
    diagnostic = diagnostic.note(error.to_string());
    refusal.ways.iter().fold(diagnostic, |diagnostic, way| diagnostic.help(way.to_string()))
}

/// Returns the suggestion for a queue without valid ECN thresholds, or for headroom that cannot be computed.
fn suggestion(error: &QosError) -> String {
    match error {
        QosError::Ecn(EcnError::ThresholdOrder { max, .. }) => {
            format!(
                "keep `min` of the class's `ecn` below {max}, or remove `ecn` to use the profile's own \
                 thresholds"
            )
        }
        QosError::Ecn(EcnError::AboveLimit { limit, .. }) => {
            format!("keep `max` of the class's `ecn` below {limit}, or write `ecn: {{computed: {{}}}}`")
        }
        QosError::Ecn(EcnError::NoRoom { .. }) => {
            "use a platform with more buffer for each port, a smaller `mtu.link`, or `ecn: off` for the class"
                .to_owned()
        }
        QosError::Headroom(_) | QosError::Model(_) | QosError::Buffer(_) => {
            "use another speed or length of cable, or a platform whose `headroom` model covers these"
                .to_owned()
        }
    }
}

/// Returns the path of a cable length in the file: that of a kind of cable below or above the switch, otherwise that
/// of a cable in `exceptions`.
fn cable_path(topology: &Topology, switch: Switch, length: Length) -> Option<FieldPath> {
    let is_it = |cable: Length| cable.meters_ceil() == length.meters_ceil();
    let cables = &topology.cables;
    let t1_t2 = || {
        let zones = cables.t1_t2_by_zone.iter();
        let of_zone = zones
            .filter(|(zone, _)| switch.tier == TierId::T2 || **zone == switch.zone)
            .map(|(zone, cable)| (field!("cables.by_zone.*.length").with_key(zone), cable.length));
        let kind = cables.t1_t2.iter().map(|cable| (field!("cables.t1-t2.length").into(), cable.length));
        of_zone.chain(kind).collect::<Vec<_>>()
    };
    let kinds = match switch.tier {
        TierId::T0 => vec![
            (field!("cables.nic-t0.length").into(), cables.nic_t0.length),
            (field!("cables.t0-t1.length").into(), cables.t0_t1.length),
        ],
        TierId::T1 => {
            let mut kinds = vec![(field!("cables.t0-t1.length").into(), cables.t0_t1.length)];
            kinds.extend(t1_t2());
            kinds
        }
        TierId::T2 => t1_t2(),
    };
    let own = topology.exceptions.cables.iter().filter(|(_, cable)| is_it(cable.length));
    let mut own = own.filter_map(|(link, _)| {
        Some(field!("exceptions.cables.*.length").with_key(topology.link_name(*link)?))
    });
    kinds.into_iter().find(|(_, cable)| is_it(*cable)).map(|(path, _)| path).or_else(|| own.next())
}
