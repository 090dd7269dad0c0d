//! `closc te`: results, files of pins, exit codes.

use serde_json::Value;

use crate::common::Place;

const TE: [&str; 4] = ["te", "topologies/lab/two-planes.yaml", "--quiet", "--demand"];

const HEADER: &str = "source,destination,gbps\n";

/// Places demands; returns the output, or the error.
fn te(place: &Place, code: i32, rows: &str, more: &[&str]) -> String {
    place.write("demand.csv", format!("{HEADER}{rows}"));
    place.ends(code, &[&TE[..], &["demand.csv"], more].concat())
}

#[test]
fn figures_pins_and_exit_codes_are_as_documented() {
    let place = Place::new();
    let rows = "group-0001,group-0002,240\n";
    let failed = ["--format", "json", "--fail", "p0-t1-001", "--out", "pins.json"];
    let report: Value = serde_json::from_str(&te(&place, 0, rows, &failed)).expect("it prints JSON");
    assert_eq!((&report["format"], &report["fits"]), (&Value::from("closc-te/1"), &Value::from(true)));
    assert_eq!(report["failed"][0], "p0-t1-001");
    let max = |at: usize| report["methods"][at]["max"].as_f64().expect("a number");
    assert!(max(0) < 0.81 && (max(1) - 1.2).abs() < 1e-9, "{report:#}");
    assert!(report["bound"].as_f64().is_some_and(|bound| bound <= max(0)));
    let pins: Value = serde_json::from_str(&place.read("pins.json")).expect("JSON");
    assert_eq!(pins["format"], "closc-pins/1");
    assert_eq!(pins["pins"][0]["planes"][1]["weight"], 1000);
    assert!(!place.path("pins.json.partial").exists());

    te(&place, 0, rows, &["--fail", "p0-t1-001", "--out", "pins.csv"]);
    let text = place.read("pins.csv");
    assert_eq!(text.lines().count(), 3, "{text}");

    let text = te(&place, 1, "group-0001,group-0002,500\n", &[]);
    assert!(text.contains("400.0 Gb/s of 500.0 Gb/s carried") && text.contains("full"), "{text}");

    let unknown = "group-0001,group-0005,500\nsu1-n1,all,1\n";
    let text = te(&place, 1, unknown, &[]);
    assert!(text.contains("demand.csv:2: `group-0005`") && text.contains("demand.csv:3: `su1-n1`"), "{text}");
    te(&place, 1, unknown, &["--fail", "p9-t1-001"]);
    place.ends(1, &[&TE[..], &["none.csv"]].concat());
}

#[test]
fn parquet_is_read_or_the_way_to_it_is_shown() {
    let place = Place::new();
    place.write("demand.parquet", "no table");
    let text = place.ends(1, &[&TE[..], &["demand.parquet"]].concat());
    let wanted = if cfg!(feature = "parquet") { "not Parquet: " } else { "--features parquet" };
    assert!(text.contains(wanted), "{text}");
}

/// Two planes of FRR and Linux, for a skewed demand for which hashing is not optimal.
const PINNED: &str = "fabric: pinned
planes: 2
routing: ecmp-static
hosts: { groups: 4, per_group: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 4, by_plane: { 1: { os: frr } } }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
";

/// Switches apply the pins of `te`. With its file in the fabric, every pinned NIC has its own route over the cable
/// that `te` names.
#[test]
fn pins_go_round_through_compile_and_verify() {
    let place = Place::new();
    place.write("fabric.yaml", PINNED);
    let rows = "group-0001,group-0002,300\ngroup-0003,group-0002,200\ngroup-0004,group-0001,100\n";
    place.write("demand.csv", format!("{HEADER}{rows}"));
    for out in ["pins.csv", "pins.json"] {
        let text = place.ends(0, &["te", "fabric.yaml", "--quiet", "--demand", "demand.csv", "--out", out]);
        assert!(text.contains("weighted ECMP, hashed"), "{text}");
    }
    let lines = place.read("pins.csv");
    let mut lines = lines.lines();
    assert_eq!(lines.next(), Some("switch,nic,uplink"));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 3 * 4 * 2, "three pairs of groups, four NICs, two planes");

    let pinned = PINNED.replace("hosts:", "ecmp: { pins: pins.csv }\nhosts:");
    place.write("pinned.yaml", pinned);
    place.ends(0, &["compile", "pinned.yaml", "--quiet", "--out", "tree"]);
    place.ends(0, &["verify", "--quiet", "tree"]);

    let read = |path: &str| place.read(&format!("tree/{path}"));
    let pins: Value = serde_json::from_str(&place.read("pins.json")).expect("JSON");
    let mut seen = 0;
    for pin in pins["pins"].as_array().expect("a list") {
        let nics = pin["to_nics"].as_array().expect("a slice is a part of its group");
        for plane in pin["planes"].as_array().expect("a list") {
            let number = &plane["plane"];
            let hops = plane["hops"].as_array().expect("a list");
            assert_eq!(hops.len(), 2, "in two tiers the first hop decides the path");
            let word = |hop: usize, key: &str| hops[hop][key].as_str().expect("text").to_owned();
            for nic in nics.iter().map(|nic| nic.as_str().expect("text")) {
                let row = lines.iter().find(|line| line[0] == word(0, "switch") && line[1] == nic);
                assert!(row.is_some(), "{nic} has no line");
                let (node, number_of_nic) = nic.split_once("/nic").expect("a NIC");
                let unit: u16 = node[2..5].parse().expect("a number");
                let index: u16 = node[7..].parse().expect("a number");
                assert_eq!(number_of_nic, "0");
                let address = format!("fd00:c105:1:{unit}::{index}/128");
                let file = if number == 1 { "frr.conf" } else { "ip.batch" };
                let config = read(&format!("switches/{}/{file}", word(0, "switch")));
                let routes: Vec<&str> = config.lines().filter(|line| line.contains(&address)).collect();
                assert_eq!(routes.len(), 1, "{nic} in {config}");
                assert!(
                    routes[0].ends_with(&format!(" {}", word(0, "port"))),
                    "{} in {routes:?}",
                    word(0, "port")
                );
                // The route of the T1 to the group is over the cable that `te` names.
                let t1 = read(&format!("switches/{}/ip.batch", word(1, "switch")));
                let group = format!("fd00:c105:1:{unit}::/64 ");
                let down: Vec<&str> = t1.lines().filter(|line| line.contains(&group)).collect();
                assert!(down.len() == 1 && down[0].ends_with(&format!(" {}", word(1, "port"))), "{down:?}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, lines.len());
}

#[test]
fn bgp_takes_no_pins_and_says_so() {
    let place = Place::new();
    place.write(
        "fabric.yaml",
        PINNED.replace("ecmp-static", "bgp-unnumbered").replace("os: linux", "os: frr"),
    );
    place.write("demand.csv", format!("{HEADER}group-0001,group-0002,300\n"));
    let te = ["te", "fabric.yaml", "--quiet", "--demand", "demand.csv"];
    let why = place.ends(1, &[&te[..], &["--out", "pins.csv"]].concat());
    assert!(why.contains("does not support pins"), "{why}");
    assert!(place.ends(0, &te).contains("no pins"));
}
