//! `closc explain device`: groups with their weights and reasons, and BGP sessions.

use serde_json::Value;

use crate::common::Place;

const FABRIC: &str = "fabric: explained
planes: 1
routing: ecmp-static
hosts: { groups: 3, per_group: 1, nic: { speed: 100G, lanes: 1 } }
tiers:
  t0: { platform: linux, os: linux, up: 6, parallel: 2 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
exceptions:
  absent: [ p0-t0-002--p0-t1-001, p0-t0-003--p0-t1-002, \"p0-t0-003--p0-t1-002#2\" ]
";

/// The command line of these tests.
const DEVICE: [&str; 5] = ["explain", "device", "fabric.yaml", "p0-t0-001", "--quiet"];

fn place(yaml: &str) -> Place {
    let place = Place::new();
    place.write("fabric.yaml", yaml);
    place
}

fn text(yaml: &str) -> String {
    place(yaml).ends(0, &DEVICE)
}

fn json(yaml: &str) -> Value {
    place(yaml).json(0, &DEVICE)
}

#[test]
fn groups_say_what_their_weights_are_from() {
    let found = text(FABRIC);
    let line = |prefix: &str| {
        let line = found.lines().find(|line| line.starts_with(prefix));
        line.unwrap_or_else(|| panic!("no {prefix} in {found}")).to_owned()
    };
    assert!(
        line("fd00:c105:1:2::/64").ends_with(
            " weight 1 (1/2 left): eth501, eth502; weight 2 (1/1 left): eth503, eth504, eth505, eth506"
        ),
        "{found}"
    );
    assert!(
        line("fd00:c105:1:3::/64").ends_with(
            " weight 1 (1/1 left): eth501, eth502, eth505, eth506; not used (0/1 left): eth503, eth504"
        ),
        "{found}"
    );
    assert!(line("fd00:c105:1::/52").ends_with(" eth501, eth502, eth503, eth504, eth505, eth506"), "{found}");
    assert!(!found.contains("BGP"), "{found}");

    let report = json(FABRIC);
    let routes = report["routes"].as_array().expect("a list");
    let route = routes.iter().find(|route| route["prefix"] == "fd00:c105:1:2::/64").expect("a route");
    assert_eq!(
        route["over"][0],
        serde_json::json!({ "port": "eth501", "weight": 1, "left": "1/2" }),
        "{report:#}"
    );
    assert_eq!(report["bgp"], Value::Null);

    // Static routes of FRR do not support weights.
    let found = text(&FABRIC.replace("os: linux", "os: frr"));
    let narrow = found.lines().find(|line| line.starts_with("fd00:c105:1:2::/64")).expect("a route");
    assert!(
        narrow.contains("not used (1/2 left): eth501, eth502") && narrow.contains("does not support weights"),
        "{narrow}"
    );
}

#[test]
fn drained_ways_and_pins_are_called_so() {
    let base = FABRIC.split("exceptions").next().expect("it has some").to_owned();
    let drained = format!("{base}exceptions: {{ drained: [ \"p0-t1-00[1-3]\" ] }}\n");
    let found = text(&drained);
    assert!(found.contains("(only drained paths are left)"), "{found}");
    let pinned = base.replace("hosts:", "ecmp: { pin: downlink }\nhosts:");
    assert!(text(&pinned).contains("fd00:c105:1:2::1/128       eth501  (a pin)"));
}

#[test]
fn sessions_are_listed_with_their_filters_and_limits() {
    let yaml = FABRIC.replace("ecmp-static", "bgp-unnumbered").replace("os: linux", "os: frr");
    let drained = yaml.replace("exceptions:", "exceptions:\n  drained: [ p0-t1-003 ]");
    let found = text(&drained);
    for wanted in [
        "BGP: AS ",
        "announces fd00:c105:1:1::/64, fd00:c105:3::1/128",
        "accepts /64 in fd00:c105:1::/48, /128 in fd00:c105:3::/64",
        "above: accepts paths of any length, ends the session beyond ",
        "announces its own only, with the bandwidth of a cable",
        "900 ms by BFD, 9 s by BGP",
        "above, drained: a last resort",
    ] {
        assert!(found.contains(wanted), "no `{wanted}` in {found}");
    }
    // Prefixes of an IPv4 pool have at most 32 bits.
    let ipv4 = format!("{yaml}addresses: {{ hosts: 10.0.0.0/16, loopbacks: 10.1.0.0/16 }}\n");
    let found = text(&ipv4);
    assert!(found.contains("accepts /22 in 10.0.0.0/16, /32 in 10.1.0.0/16"), "{found}");
    let report = json(&drained);
    let bgp = &report["bgp"];
    assert_eq!(bgp["sessions"].as_array().map(Vec::len), Some(6), "{bgp:#}");
    assert_eq!(bgp["sessions"][0]["neighbour"], "p0-t1-001");
    assert_eq!(
        (&bgp["sessions"][0]["drained"], &bgp["sessions"][5]["drained"]),
        (&false.into(), &true.into())
    );
    assert_eq!(bgp["sides"][0]["longest_announced"], 0);
    assert!(bgp["sides"][0]["prefixes_max"].as_u64().is_some_and(|max| max >= 8), "{bgp:#}");
}
