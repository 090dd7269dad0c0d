//! Zones of other hardware and NICs: every way of routing holds, and what is wrong in one zone alone is found there.

mod common;

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_platform::{Catalogue, Hardware};
use closc_tests::shape;
use closc_verify::{Options, Report, verify};

/// Three zones: 200G a NIC port, 100G with fewer NICs, and 200G with other T1s.
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
    platform: th5-256x200g
    os: sonic
    up: 4
    by_zone: {{ 1: {{ platform: th5-512x100g }} }}
  t1:
    platform: th5-256x200g
    os: sonic
    up: 2
    by_zone:
      1: {{ down: {{ breakout: 8x100G }}, up: {{ first_cage: 40 }} }}
      2: {{ platform: linux, os: linux, down: {{ breakout: 1x200G }}, up: {{ breakout: 1x200G, first_cage: 100 }} }}
  t2: {{ platform: th5-256x200g, os: sonic, ports_per_zone: 4 }}
cables:
  nic-t0: {{ length: 2m, medium: aec }}
  t0-t1: {{ length: 2m, medium: aec }}
  t1-t2: {{ length: 300m, medium: dr4 }}
  by_zone: {{ 2: {{ length: 80km, medium: zr }} }}
qos: {{ base: lossy-trim }}
"
    )
}

fn report(tree: &Memory) -> Report {
    let catalogue = Catalogue::builtin();
    let hardware = Hardware::by_hwsku(catalogue.iter());
    verify(tree, &Options { hardware, ..Options::default() }).expect("the tree can be read")
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

#[test]
fn what_is_wrong_in_one_zone_is_found() {
    let whole = common::tree(&shape::plan(&fabric("srv6-static")));
    let table = "path-tables/z1-group-0001.json";
    let text = String::from_utf8(whole.files[Utf8Path::new(table)].clone()).expect("text");
    let value = |key: &str| {
        let at = text.find(key).expect("the table states it") + key.len();
        text[at..].split([',', '}', '\n']).next().expect("a number").trim().to_owned()
    };
    // What is in flight at the speed of the other zones' NICs.
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
