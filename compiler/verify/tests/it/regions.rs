//! No false alarms if zones differ. Delays of tables and nodes equal those computed by hand.

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_tests::region::region;
use closc_tests::shape::{self, try_plan};
use closc_verify::{Options, Report, verify};
use proptest::prelude::*;

use crate::common;

fn report(tree: &Memory) -> Report {
    verify(tree, &Options::default()).expect("the tree can be read")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Fabrics with several NIC speeds, ports and lengths, one or several zones below T2s, with and without node files,
    /// in every routing mode.
    #[test]
    fn fabrics_whose_zones_differ_verify(region in region(), nodes: bool) {
        let yaml = region.yaml(nodes);
        let plan = try_plan(&yaml);
        prop_assert!(plan.is_ok(), "{yaml}\n{}", plan.err().unwrap_or_default());
        let report = report(&common::tree(&plan.expect("it is one")));
        let broken: Vec<String> = report.violations.iter().map(|found| format!("{} {}", found.rule.code, found.message)).collect();
        prop_assert!(report.holds(), "{yaml}\n{}", broken.join("\n"));
    }
}

/// One zone below a T2, whose cables no path uses.
const ONE_ZONE: &str = "fabric: one
planes: 1
qos: none
hosts: { groups: 2, per_group: 1, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x200g, up: 1 }
  t1: { platform: spectrum4-sn5600-256x200g, up: 1 }
  t2: { platform: spectrum4-sn5600-256x200g, ports_per_zone: 1 }
cables:
  nic-t0: { length: 1m, medium: dac }
  t0-t1: { length: 1m, medium: dac }
  t1-t2: { length: 80km, medium: dr4 }
";

/// Ports of 100G and 200G whose language does not state the speed.
const TWO_SPEEDS: &str = "fabric: two
planes: 1
zones: 2
qos: none
hosts: { groups: 1, per_group: 2, nic: { speed: 100G, lanes: 1 }, nic_by_zone: { 1: { speed: 200G, lanes: 1 } }, os: linux, outputs: [nic] }
tiers:
  t0: { platform: linux, up: 2, by_zone: { 1: { down: { breakout: 1x200G } } } }
  t1: { platform: linux, up: 1 }
  t2: { platform: linux, ports_per_zone: 2 }
cables:
  nic-t0: { length: 10m, medium: virtual }
  t0-t1: { length: 10m, medium: virtual }
  t1-t2: { length: 10m, medium: virtual }
";

/// Wrong delays are also found in such fabrics.
#[test]
fn delays_of_other_cables_and_speeds_are_found() {
    let one = ONE_ZONE.replace("80km, medium: dr4", "80km, medium: zr");
    for (yaml, name, table, rtt, flight) in [
        (one.as_str(), "one", "path-tables/z0-group-0001.json", "808080", "20202000"),
        (TWO_SPEEDS, "two", "path-tables/z1-group-0001.json", "200", "5000"),
        (TWO_SPEEDS, "two", "path-tables/z1-group-0001.json", "", "7"),
    ] {
        let mut tree = common::tree(&shape::plan(yaml));
        assert!(report(&tree).holds(), "{yaml}\n{}", report(&tree).text());
        let bytes = tree.files.get_mut(Utf8Path::new(table)).expect("a table");
        let mut text: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
        if !rtt.is_empty() {
            text["delay"]["base_rtt_ns"] = rtt.parse::<u64>().expect("a number").into();
        }
        text["delay"]["bandwidth_delay_bytes"] = flight.parse::<u64>().expect("a number").into();
        *bytes = serde_json::to_vec_pretty(&text).expect("it was JSON");
        common::sign(&mut tree, name, "srv6-static");
        let found = report(&tree);
        assert!(found.violations.iter().any(|found| found.rule.code == "V0708"), "{yaml}\n{}", found.text());
    }
}
