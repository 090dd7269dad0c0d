//! Zones with different hardware and NICs: every routing mode verifies, and a fault in one zone is found there.

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_platform::{Catalogue, Hardware};
use closc_tests::shape;
use closc_topology::{Nic, ZoneId};
use closc_verify::{Options, Report, TreeSelection, verify};

use crate::common;

/// Three zones: 200G per NIC port, 100G with fewer NICs, and 200G with different T1s.
fn fabric(routing: &str) -> String {
    format!(
        "fabric: mixed
planes: 2
zones: 3
routing: {routing}
hosts:
  groups: 2
  groups_by_zone: {{ 1: 1 }}
  per_group: 4
  per_group_by_zone: {{ 1: 2 }}
  nics_per_node: 2
  nic: {{ speed: 400G, lanes: 4 }}
  nic_by_zone: {{ 1: {{ speed: 200G, lanes: 2 }} }}
  os: linux
tiers:
  t0:
    platform: spectrum5-sn5640
    os: sonic
    down: {{ breakout: 4x200G }}
    up: {{ count: 4, breakout: 4x200G }}
    by_zone: {{ 1: {{ platform: th5-512x100g }} }}
  t1:
    platform: spectrum5-sn5640
    os: sonic
    down: {{ breakout: 4x200G }}
    up: {{ count: 2, breakout: 4x200G }}
    by_zone:
      1: {{ down: {{ breakout: 8x100G }}, up: {{ first_cage: 40 }} }}
      2: {{ platform: linux, os: linux, down: {{ breakout: 1x200G }}, up: {{ breakout: 1x200G, first_cage: 100 }} }}
  t2: {{ platform: spectrum5-sn5640, os: sonic, ports_per_zone: 4, down: {{ breakout: 4x200G }} }}
cables:
  nic-t0: {{ length: 2m, medium: aec }}
  t0-t1: {{ length: 2m, medium: aec }}
  t1-t2: {{ length: 300m, medium: dr4 }}
  by_zone: {{ 2: {{ length: 80km, medium: zr }} }}
qos: {{ base: lossy-trim }}
"
    )
}

fn options() -> Options {
    let catalogue = Catalogue::builtin();
    let hardware = Hardware::by_hwsku(catalogue.iter());
    Options { hardware, ..Options::default() }
}

fn report(tree: &Memory) -> Report {
    verify(tree, &options()).expect("the tree can be read")
}

fn codes(report: &Report) -> Vec<&str> {
    report.violations.iter().map(|violation| violation.rule.code).collect()
}

/// Changes the first match of a text in a file.
fn change(tree: &mut Memory, file: &str, from: &str, to: &str) {
    let bytes = tree.files.get_mut(Utf8Path::new(file)).unwrap_or_else(|| panic!("there is no `{file}`"));
    let text = String::from_utf8(bytes.clone()).expect("text");
    assert!(text.contains(from), "`{file}` has `{from}`");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

#[test]
fn zones_of_other_hardware_hold_in_every_way_of_routing() {
    for routing in ["srv6-static", "ecmp-static"] {
        let report = report(&common::tree(&shape::plan(&fabric(routing))));
        assert!(report.holds(), "{routing}\n{}", report.text());
    }
}

/// More zones than default addresses can distinguish, with explicit widths of zone and index.
fn wide(routing: &str, target: &str, medium: &str) -> String {
    format!(
        "fabric: wide
planes: 2
zones: 20
routing: {routing}
hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}
tiers:
  t0: {{ {target}, up: 2 }}
  t1: {{ {target}, up: 2 }}
  t2: {{ {target}, ports_per_zone: 2 }}
srv6: {{ widths: {{ role: 3, plane: 1, zone: 5, index: 7 }} }}
cables:
  nic-t0: {{ length: 1m, medium: {medium} }}
  t0-t1: {{ length: 2m, medium: {medium} }}
  t1-t2: {{ length: 2m, medium: {medium} }}
addresses: {{ management: 10.64.0.0/13, widths: {{ zone: 5, index: 8 }} }}
qos: none
"
    )
}

#[test]
fn more_than_sixteen_zones_have_addresses_of_their_own() {
    for (routing, target, medium) in [
        ("srv6-static", "platform: linux, os: linux", "virtual"),
        ("bgp-unnumbered", "platform: linux, os: frr", "virtual"),
        ("ecmp-static", TH5, "dac"),
    ] {
        let plan = shape::plan(&wide(routing, target, medium));
        let last = Nic { zone: ZoneId(19), group: 1, downlink: 1 };
        assert_eq!(plan.addresses().nic(last).to_string(), "fd00:c105:1:9802::2");
        let mut tree = common::tree(&plan);
        let found = report(&tree);
        assert!(found.holds(), "{routing}\n{}", found.text());
        if target == TH5 {
            // Management addresses are decoded by the widths in the manifest.
            change(&mut tree, "manifest.json", "\"index\": 8", "\"index\": 7");
            assert!(codes(&report(&tree)).contains(&"V0404"));
        }
    }
}

/// Two zones of two T0s and two T1s; each T0 of zone 0 has a different T1.
fn separate_zones(routing: &str, target: &str, medium: &str) -> String {
    format!(
        "fabric: apart
planes: 2
zones: 2
routing: {routing}
hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}
tiers:
  t0: {{ {target}, up: 2 }}
  t1: {{ {target}, up: 2 }}
  t2: {{ {target}, ports_per_zone: 4 }}
cables:
  nic-t0: {{ length: 1m, medium: {medium} }}
  t0-t1: {{ length: 2m, medium: {medium} }}
  t1-t2: {{ length: 2m, medium: {medium} }}
addresses: {{ management: 10.64.0.0/14 }}
qos: none
exceptions:
  absent: [z0-p0-t0-001--z0-p0-t1-002, z0-p0-t0-002--z0-p0-t1-001, z0-p1-t0-001--z0-p1-t1-002, z0-p1-t0-002--z0-p1-t1-001]
"
    )
}

const TH5: &str = "platform: th5-512x100g";

/// Zones follow from addresses, not from connectivity: no packet leaves its zone through a T2 and returns.
#[test]
fn t0s_of_a_zone_may_share_no_t1() {
    let sonic = format!("{TH5}, os: sonic");
    let (eos, pins) = (format!("{TH5}, os: eos"), format!("{TH5}, os: pins"));
    let nvue = "platform: spectrum4-sn5600-256x100g, os: nvue";
    let cases = [
        ("ecmp-static", "platform: linux, os: linux", "virtual"),
        ("ecmp-static", "platform: linux, os: frr", "virtual"),
        ("bgp-unnumbered", "platform: linux, os: frr", "virtual"),
        ("ecmp-static", "platform: bmv2, os: p4", "virtual"),
        ("ecmp-static", sonic.as_str(), "dac"),
        ("bgp-unnumbered", sonic.as_str(), "dac"),
        ("ecmp-static", pins.as_str(), "dac"),
        ("ecmp-static", eos.as_str(), "dac"),
        ("ecmp-static", nvue, "dac"),
        ("bgp-unnumbered", nvue, "dac"),
    ];
    for (routing, target, medium) in cases {
        let tree = common::tree(&shape::plan(&separate_zones(routing, target, medium)));
        let whole = report(&tree);
        assert!(whole.holds(), "{routing}, {target}\n{}", whole.text());
        for plane in [0, 1] {
            let judged = TreeSelection::Shard { index: plane, of: 2 };
            let part =
                verify(&tree, &Options { selection: judged, ..options() }).expect("the tree can be read");
            assert!(part.holds(), "{routing}, {target}, plane {plane}\n{}", part.text());
        }
    }
}

/// A T1 with addresses of another zone is found, whether one or all of its addresses are wrong.
#[test]
fn a_switch_that_names_another_zone_is_found() {
    let whole =
        common::tree(&shape::plan(&separate_zones("ecmp-static", "platform: linux, os: linux", "virtual")));
    let path = Utf8Path::new("switches/z0-p0-t1-001/ip.batch");
    let text = String::from_utf8(whole.files[path].clone()).expect("text");
    let zones = |text: &str, what: &[(&str, &str)]| {
        what.iter().fold(text.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}\n{text}");
            text.replace(from, to)
        })
    };
    let own = [("fd00:c105:3:0:1::1/128", "fd00:c105:3:0:1:0:1:1/128"), ("02:c1:10:00:", "02:c1:10:01:")];
    for what in [&own[..1], &own[1..], &own] {
        let mut tree = whole.clone();
        tree.files.insert(path.to_owned(), zones(&text, what).into_bytes());
        common::sign(&mut tree, "apart", "ecmp-static");
        let report = report(&tree);
        assert!(codes(&report).contains(&"V0404"), "{what:?}\n{}", report.text());
    }
}

#[test]
fn what_is_wrong_in_one_zone_is_found() {
    let whole = common::tree(&shape::plan(&fabric("srv6-static")));
    let table = "path-tables/z1-group-0001.json";
    let text = String::from_utf8(whole.files[Utf8Path::new(table)].clone()).expect("text");
    let value = |key: &str| {
        let at = text.find(key).expect("the table states it") + key.len();
        text[at..].split([',', '}', '\n']).next().expect("a number").trim().to_owned()
    };
    // Bytes in flight at the NIC speed of the other zone.
    let flight = value("\"bandwidth_delay_bytes\":");
    let double = (flight.parse::<u64>().expect("a number") * 2).to_string();
    let switch = "switches/z1-p0-t0-001/config_db.json";
    let damages = [
        (
            table,
            format!("\"bandwidth_delay_bytes\": {flight}"),
            format!("\"bandwidth_delay_bytes\": {double}"),
            "V0708",
        ),
        (switch, "\"speed\": \"100000\"".to_owned(), "\"speed\": \"200000\"".to_owned(), "V0305"),
    ];
    for (file, from, to, code) in damages {
        let mut tree = whole.clone();
        change(&mut tree, file, &from, &to);
        common::sign(&mut tree, "mixed", "srv6-static");
        let report = report(&tree);
        assert!(codes(&report).contains(&code), "{file}: {to}\n{}", report.text());
    }
}
