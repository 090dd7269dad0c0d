//! Fabrics for the tests of render, as a user would write them.

#![allow(dead_code, reason = "each test file uses a part")]

use closc_plan::Plan;
use closc_render::{Artefact, Templates, targets};
use closc_tests::namespaces::File;
use closc_tests::shape::plan;

/// A fabric of two tiers with many features: services, spare ports, absent equipment, a cable of a
/// different length.
pub(crate) const LOSSY: &str = r#"
fabric: lossy
planes: 2
routing: srv6-static
hosts: { groups: 4, per_group: 3, nics_per_node: 2, rails: 2, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: th5-512x100g, os: sonic, down: { count: 3, spare: 2 }, up: 3 }
  t1: { platform: th5-512x100g, os: sonic }
addresses: { management: 10.64.0.0/14 }
cables:
  nic-t0: { length: 3m, medium: dac }
  t0-t1: { length: 30m, medium: dr4 }
qos: lossy-trim
services:
  ntp: [ 192.0.2.2, 192.0.2.1, "2001:db8::7b" ]
  syslog: [ 192.0.2.9 ]
  snmp: { contact: 'noc "at" site\1', location: "hall 3, row 2" }
exceptions:
  absent: [ p1-t1-003, p0-t0-001--p0-t1-002 ]
  drained: [ p0-t1-001 ]
  cables: { p0-t0-002--p0-t1-001: { length: 45m, medium: dr4 } }
"#;

/// Two tiers with two cables between a T0 and a T1, IPv6 management.
pub(crate) const PARALLEL: &str = r#"
fabric: parallel
planes: 4
routing: srv6-static
hosts: { groups: 2, per_group: 4, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x200g, os: sonic, up: 4, parallel: 2 }
  t1: { platform: spectrum4-sn5600-256x200g, os: sonic }
addresses: { management: "2001:db8:99::/64" }
cables:
  nic-t0: { length: 2m, medium: dac }
  t0-t1: { length: 30m, medium: dr4 }
qos: lossy-trim
"#;

/// Three tiers over two zones.
pub(crate) const ZONES: &str = "
fabric: zones
planes: 2
zones: 2
routing: srv6-static
hosts: { groups: 2, per_group: 2, nic: { speed: 800G, lanes: 8 } }
tiers:
  t0: { platform: th5-128x400g, os: sonic, up: 2 }
  t1: { platform: th5-128x400g, os: sonic, up: 2 }
  t2: { platform: th5-128x400g, os: sonic }
cables:
  nic-t0: { length: 2m, medium: dac }
  t0-t1: { length: 30m, medium: dr4 }
  t1-t2: { length: 300m, medium: dr4 }
qos: lossy-trim
";

/// Two tiers with isolated cables: one between switches, and one of a NIC.
pub(crate) fn isolated() -> String {
    format!("{PARALLEL}exceptions: {{ isolated: [p0-t0-001--p0-t1-002#2, su002-n001/nic0.p1] }}\n")
}

/// Presets with PFC.
pub(crate) const LOSSLESS_PRESETS: [&str; 5] =
    ["lossless", "sonic-azure", "nvidia-roce", "juniper-dcqcn", "meta-roce"];

/// SONiC platforms that together cover every headroom model. Fields: platform, NIC speed in one plane, and whether it
/// forwards uSIDs and trims packets.
pub(crate) const PLATFORMS: [(&str, &str, bool); 6] = [
    ("th5-128x400g", "400G", true),
    ("spectrum4-sn5600", "800G", true),
    ("spectrum1-msn2700", "100G", false),
    ("th3-32x400g", "400G", false),
    ("q3d-7280r4-64x400g", "400G", false),
    ("sonic-vs", "40G", true),
];

/// A small fabric on a platform with a profile.
pub(crate) fn small(platform: &str, nic: &str, qos: &str, routing: &str) -> String {
    format!(
        "
fabric: small
planes: 1
routing: {routing}
hosts: {{ groups: 2, per_group: 4, nic: {{ speed: {nic} }} }}
tiers:
  t0: {{ platform: {platform}, os: sonic, up: 2 }}
  t1: {{ platform: {platform}, os: sonic }}
addresses: {{ management: 10.64.0.0/14 }}
cables:
  nic-t0: {{ length: 5m, medium: aoc }}
  t0-t1: {{ length: 40m, medium: sr }}
qos: {qos}
"
    )
}

/// Renders every switch of a fabric.
pub(crate) fn switches(plan: &Plan) -> Vec<Artefact> {
    let templates = Templates::builtin();
    let render = |switch| {
        let intent = plan.device(switch);
        let target = targets::target(intent.os).expect("the fabrics here have targets that render");
        target.device(&intent, &templates).unwrap_or_else(|error| panic!("{error}"))
    };
    plan.switches().flat_map(render).collect()
}

/// Renders every switch and node of a fabric.
pub(crate) fn files(plan: &Plan) -> Vec<File> {
    let templates = Templates::builtin();
    let nodes = plan.nodes().flat_map(|node| {
        targets::host(&plan.host(node), &templates).unwrap_or_else(|error| panic!("{error}"))
    });
    switches(plan).into_iter().chain(nodes).map(|artefact| (artefact.path, artefact.bytes)).collect()
}

/// Every SONiC configuration of the tests, by name.
pub(crate) fn sonic() -> Vec<(String, Vec<u8>)> {
    let mut fabrics: Vec<(String, String)> = [("lossy", LOSSY), ("parallel", PARALLEL), ("zones", ZONES)]
        .map(|(name, yaml)| (name.to_owned(), yaml.to_owned()))
        .into();
    fabrics.push(("isolated".to_owned(), isolated()));
    for (platform, nic, modern) in PLATFORMS {
        let routing = if modern { "srv6-static" } else { "ecmp-static" };
        for qos in LOSSLESS_PRESETS.into_iter().chain(modern.then_some("lossy-trim")) {
            fabrics.push((format!("{platform}-{qos}"), small(platform, nic, qos, routing)));
        }
    }
    // The thresholds of `sonic-ai-lossy` are published for these platforms and are too high for others.
    for platform in ["th5-512x100g", "spectrum4-sn5600-256x100g"] {
        fabrics.push((format!("{platform}-ai"), small(platform, "100G", "sonic-ai-lossy", "srv6-static")));
    }
    for routing in ["ecmp-static", "bgp-unnumbered"] {
        fabrics.push((routing.to_owned(), small("th5-128x400g", "400G", "lossless", routing)));
    }
    let file = |name: &str, artefact: Artefact| {
        (format!("{name}/{}", artefact.path.parent().map_or("", |p| p.as_str())), artefact.bytes)
    };
    fabrics
        .iter()
        .flat_map(|(name, yaml)| switches(&plan(yaml)).into_iter().map(move |artefact| (name, artefact)))
        .filter(|(_, artefact)| artefact.path.file_name() == Some("config_db.json"))
        .map(|(name, artefact)| file(name, artefact))
        .collect()
}
