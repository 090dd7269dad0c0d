//! Testbeds of sonic-mgmt: every switch and cable once, read by its own modules.
//!
//! With `CLOSC_SONIC_MGMT`, a checkout or git directory of sonic-net/sonic-mgmt, its modules read the files
//! and allocate addresses for `deploy-cfg`. `CLOSC_NVUESCHEMA` names the Python that has `PyYAML`; otherwise
//! it is `python3`.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;

use closc_exports::sonic_mgmt::{Generator, Testbed};
use closc_plan::Plan;
use serde_json::Value;

/// Two planes of SONiC switches, with an absent NIC, T1 and cable.
const SONIC: &str = "\
fabric: uneven
planes: 2
hosts: { groups: 4, per_group: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x100g, os: sonic, up: 2 }
  t1: { platform: spectrum4-sn5600-256x100g, os: sonic }
addresses: { management: 10.64.0.0/14 }
exceptions:
  absent: [su001-n001/nic0, p0-t1-002, p1-t0-002--p1-t1-001]
";

fn plan(text: &str) -> Plan {
    closc_tests::shape::plan(text)
}

fn generators(count: u8) -> Vec<Generator> {
    let one = |at| Generator {
        name: format!("tg-{at}"),
        address: format!("192.0.2.{at}/24").parse().expect("an address"),
    };
    (1..=count).map(one).collect()
}

/// Returns path and text of each file.
fn files(plan: &Plan, generators: &[Generator]) -> Vec<(String, String)> {
    let testbed = Testbed::new(plan, "site", generators).expect("all run SONiC");
    let text = |file: &closc_exports::File<'_>| {
        let mut out = Vec::new();
        file.write(&mut out).expect("memory takes everything");
        (file.path.clone(), String::from_utf8(out).expect("text"))
    };
    testbed.files().iter().map(text).collect()
}

#[test]
fn every_switch_and_cable_is_listed_once() {
    let plan = plan(SONIC);
    let counts = plan.fabric().counts();
    let [none, two] = [0, 2].map(|count| files(&plan, &generators(count)));
    let rows = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&none[0].1).len() as u64, counts.t0 + counts.t1);
    assert_eq!(rows(&none[1].1).len() as u64, counts.fabric_links);
    assert_eq!(rows(&two[0].1).len() as u64, counts.t0 + counts.t1 + 2);
    let links = rows(&two[1].1);
    assert_eq!(links.len() as u64, counts.fabric_links + counts.host_links);
    let ends: Vec<(&str, &str)> = links
        .iter()
        .flat_map(|row| {
            let cells: Vec<&str> = row.split(',').collect();
            [(cells[0], cells[1]), (cells[2], cells[3])]
        })
        .collect();
    assert_eq!(ends.iter().collect::<BTreeSet<_>>().len(), ends.len(), "a port has one cable");
    assert!(ends.iter().any(|end| end.0 == "tg-1") && ends.iter().any(|end| end.0 == "tg-2"), "{links:?}");
    // The first NIC is absent: its ports are not given to others.
    assert!(!ends.contains(&("tg-1", "Port1.1")) && ends.contains(&("tg-1", "Port2.1")), "{links:?}");
    assert!(none[2].1.contains("  tgs: []\n"), "{}", none[2].1);
}

#[test]
fn what_sonic_mgmt_cannot_test_is_refused() {
    let refused = |text: &str| {
        let plan = plan(text);
        Testbed::new(&plan, "site", &[]).err().map(|refused| refused.to_string()).unwrap_or_default()
    };
    let nvue =
        refused(&SONIC.replace("os: sonic, up", "os: nvue, up").replace("planes: 2", "planes: 2\nqos: none"));
    assert!(nvue.contains("no tests for `nvue`, which p0-t0-001 runs; all switches"), "{nvue}");
    let unmanaged = refused(&SONIC.replace("addresses: { management: 10.64.0.0/14 }\n", ""));
    assert!(
        unmanaged.contains("no management address of p0-t0-001; set `addresses.management`"),
        "{unmanaged}"
    );
}

/// The modules of sonic-mgmt find each cable with both ends, and `deploy-cfg` has an address for each.
#[test]
fn modules_of_sonic_mgmt_read_the_testbed() {
    let Some(checkout) = env::var_os("CLOSC_SONIC_MGMT") else {
        closc_skip::skip("CLOSC_SONIC_MGMT is not set: no module of sonic-mgmt reads the testbed");
        return;
    };
    let python = env::var("CLOSC_NVUESCHEMA").unwrap_or_else(|_| "python3".to_owned());
    if !Command::new(&python).args(["-c", "import yaml"]).output().is_ok_and(|out| out.status.success()) {
        closc_skip::skip("no Python with PyYAML: CLOSC_NVUESCHEMA names one");
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    for path in [
        "ansible/library/nut_allocate_ip.py",
        "ansible/library/nut_test_facts.py",
        "ansible/module_utils/graph_utils.py",
    ] {
        let out =
            Command::new("git").arg("-C").arg(&checkout).args(["show", &format!("HEAD:{path}")]).output();
        let out = out.expect("git runs");
        assert!(out.status.success(), "{path}: {}", String::from_utf8_lossy(&out.stderr));
        let name = Path::new(path).file_name().expect("a name");
        std::fs::write(place.path().join(name), out.stdout).expect("written");
    }
    let plan = plan(SONIC);
    let generators = generators(2);
    for (path, text) in files(&plan, &generators) {
        let path = place.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nut.py");
    let mut python = Command::new(python);
    python.arg(script).args([place.path(), place.path()]).args(["uneven", "site"]);
    let out = python.output().expect("it ran before");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let made: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let counts = plan.fabric().counts();
    let sum = |part: &str| -> usize {
        let devices = made[part].as_object().expect("devices");
        devices.values().map(|ports| ports.as_object().expect("ports").len()).sum()
    };
    let cables = counts.host_links + counts.fabric_links;
    assert_eq!(sum("links") as u64, 2 * cables);
    assert_eq!(sum("neighbours") as u64, 2 * cables);
    let types: BTreeSet<&str> =
        made["meta"].as_object().expect("devices").values().filter_map(|own| own["type"].as_str()).collect();
    assert_eq!(types, BTreeSet::from(["LeafRouter", "ToRRouter"]));
    assert_eq!(made["devices"]["p0-t0-001"]["mgmtip"], plan_address(&plan));
}

fn plan_address(plan: &Plan) -> String {
    let first = plan.switches().find(|switch| plan.switch_name(*switch) == "p0-t0-001").expect("there");
    plan.addresses().management(first).expect("a pool").addr().to_string()
}
