//! A shape as a fabric file.

use closc_artefacts::Routing;
use closc_diagnostics::figures::number;

use super::shape::{Shape, Want};

/// Message of the file about a routing that hashes, where switches cannot hash queue pairs.
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
    let t1s = per_group / parallel;
    let above = above(shape, &split, *routing);
    let t1 = down_of_t1(shape, below, &split);
    let (near, far, unit) = cables_of(shape);
    format!(
        "\
# {total} NICs of {speed} in {planes} planes of {tiers} tiers. `closc check` prints the counts, `closc explain CODE` explains a
# finding, and `closc schema` is for editors.

fabric: {name}
planes: {planes}  # every NIC has a port of {port} in each
routing: {routing}  # {how}
{zones}
hosts:
  groups: {groups}  # T0s of each plane{and_zone}; those with the same number serve the same NICs
  per_group: {per_group}  # NICs on each of them
  nics_per_node: {nics_per_node}
  nic: {{ speed: {speed}, lanes: {lanes} }}

tiers:
  # {per_group} ports of each T0 down and {per_group} up: not oversubscribed.
  t0: {{ platform: {id}, os: {os}{down}, up: {up}{cables} }}
  t1: {{ platform: {id}, os: {os}{t1}{t1_up} }}  # {t1s} in each plane{and_zone}
{t2}
{srv6}cables:  # {unit}: buffers and delays follow from it
  nic-t0: {near}
  t0-t1: {far}
{highest}
qos: {qos}  # {what}
",
        total = number((*nics).into()),
        port = breakout.speed,
        routing = routing.word(),
        how = how(*routing),
        id = platform.id,
        os = shape.os.word(),
        qos = shape.qos,
        tiers = if shape.third.is_some() { "three" } else { "two" },
        and_zone = if shape.third.is_some() { " and zone" } else { "" },
        zones = above.zones,
        t1_up = above.t1_up,
        t2 = above.t2,
        srv6 = above.srv6,
        highest = above.cable,
        what = what(shape.qos),
    )
}

/// Downlinks of a T1, where they are not what follows from the rest; the last tier keeps ports free.
fn down_of_t1(shape: &Shape<'_>, below: u32, split: &str) -> String {
    let spare = if shape.third.is_some() { 0 } else { shape.spare };
    match (spare, split.is_empty()) {
        (0, true) => String::new(),
        (0, false) => format!(", down: {{ count: {below}{split} }}"),
        (spare, _) => format!(", down: {{ count: {below}, spare: {spare}{split} }}"),
    }
}

/// Layout of uSIDs in three tiers, so that they name more switches than by default.
const SEGMENTS: &str =
    "srv6: { plan: plane-in-block }  # each plane has a block of its own: uSIDs name more switches\n\n";

/// Additions of a third tier, line by line.
#[derive(Default)]
struct Above {
    zones: String,
    t1_up: String,
    t2: String,
    srv6: String,
    cable: String,
}

fn above(shape: &Shape<'_>, split: &str, routing: Routing) -> Above {
    let Some(third) = shape.third else { return Above::default() };
    let (groups, ports_per_zone) = (shape.groups, third.ports_per_zone(shape.per_group));
    let (zones, rows) = (third.zones, third.rows);
    let up = if split.is_empty() { groups.to_string() } else { format!("{{ count: {groups}{split} }}") };
    let used = zones * ports_per_zone;
    let down = match (shape.spare, split.is_empty()) {
        (0, true) => String::new(),
        (0, false) => format!(", down: {{ count: {used}{split} }}"),
        (spare, _) => format!(", down: {{ count: {used}, spare: {spare}{split} }}"),
    };
    let (wiring, reach) = match rows {
        1 => (String::new(), "each reaches every T1".to_owned()),
        rows => (format!(", wiring: rows, rows: {rows}"), format!("each reaches one T1 in {rows}")),
    };
    let (id, os, t2s) = (&shape.platform.id, shape.os.word(), rows * groups);
    let cable =
        if shape.is_virtual() { "{ length: 1m, medium: virtual }" } else { "{ length: 100m, medium: dr4 }" };
    Above {
        zones: format!("zones: {zones}  # each of T0s and T1s, all under the T2s\n"),
        t1_up: format!(", up: {up}"),
        t2: format!(
            "  t2: {{ platform: {id}, os: {os}{down}{wiring}, ports_per_zone: {ports_per_zone} }}  # {t2s} in each plane; {reach}\n"
        ),
        srv6: if routing.is_source_routed() { SEGMENTS.to_owned() } else { String::new() },
        cable: format!("  t1-t2: {cable}\n"),
    }
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
