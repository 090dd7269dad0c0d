//! A shape as a fabric file.

use closc_artefacts::Routing;
use closc_diagnostics::figures::number;

use super::shape::{Shape, Want};

/// What the file says of a routing that hashes, where switches cannot hash queue pairs.
pub(super) const HASHED: &str = "
warnings:
  W0901: allow  # switches hash flows without their queue pair: let hosts use several UDP source ports
";

/// Writes it.
pub(super) fn text(want: &Want, shape: &Shape<'_>) -> String {
    let Want { name, nics, planes, speed, nics_per_node, routing, .. } = want;
    let Shape { platform, per_group, groups, parallel, breakout, .. } = shape;
    let lanes = u32::from(*planes) * u32::from(platform.panel.lanes / breakout.ports.max(1)).max(1);
    let split = if shape.is_split() { format!(", breakout: {breakout}") } else { String::new() };
    let down =
        if split.is_empty() { String::new() } else { format!(", down: {{ count: {per_group}{split} }}") };
    let up =
        if split.is_empty() { per_group.to_string() } else { format!("{{ count: {per_group}{split} }}") };
    let cables = if *parallel > 1 { format!(", parallel: {parallel}") } else { String::new() };
    let below = groups * parallel;
    let t1 = match (shape.spare, split.is_empty()) {
        (0, true) => String::new(),
        (0, false) => format!(", down: {{ count: {below}{split} }}"),
        (spare, _) => format!(", down: {{ count: {below}, spare: {spare}{split} }}"),
    };
    let t1s = per_group / parallel;
    let (near, far, unit) = cables_of(shape);
    format!(
        "\
# {total} NICs of {speed} in {planes} planes of two tiers. `closc check` says what this describes, `closc explain` what a
# finding means; `closc schema` is for editors.

fabric: {name}
planes: {planes}  # every NIC has a port of {port} in each
routing: {routing}  # {how}

hosts:
  groups: {groups}  # T0s of each plane; those of one number serve the same NICs
  per_group: {per_group}  # NICs on each of them
  nics_per_node: {nics_per_node}
  nic: {{ speed: {speed}, lanes: {lanes} }}

tiers:
  # {per_group} ports of each T0 down and {per_group} up: not oversubscribed.
  t0: {{ platform: {id}, os: {os}{down}, up: {up}{cables} }}
  t1: {{ platform: {id}, os: {os}{t1} }}  # {t1s} in each plane

cables:  # {unit}: buffers and delays follow from it
  nic-t0: {near}
  t0-t1: {far}

qos: {qos}  # {what}
",
        total = number((*nics).into()),
        port = breakout.speed,
        routing = routing.word(),
        how = how(*routing),
        id = platform.id,
        os = shape.os.word(),
        qos = shape.qos,
        what = what(shape.qos),
    )
}

/// Cables of NICs and between switches, and what is to be said of them.
fn cables_of(shape: &Shape<'_>) -> (&'static str, &'static str, &'static str) {
    if shape.is_virtual() {
        let cable = "{ length: 1m, medium: virtual }";
        return (cable, cable, "they are virtual here");
    }
    let (near, far) = ("{ length: 2m, medium: dac }", "{ length: 30m, medium: dr4 }");
    (near, far, "the longest of each kind, with its medium")
}

fn how(routing: Routing) -> &'static str {
    match routing {
        Routing::Srv6Static => "NICs write the path into each packet",
        Routing::EcmpStatic => "switches spread flows over static next-hop groups",
        Routing::BgpUnnumbered => "switches announce routes to each other",
    }
}

fn what(qos: &str) -> &'static str {
    match qos {
        "lossy-trim" => "full queues trim packets, so that receivers ask again at once",
        "lossless" => "full queues pause their senders",
        _ => "switches get no classes of their own",
    }
}
