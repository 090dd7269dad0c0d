//! Planes that are planned but not built yet. No files are written for them, the other planes pass `verify`, and
//! building them later does not change existing switches.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Place;

/// Four planes with a routing mode; `absent` is appended to the file.
fn fabric(routing: &str, os: &str, absent: &str) -> String {
    format!(
        "fabric: half\nplanes: 4\nrouting: {routing}\n\
         hosts: {{ groups: 4, per_group: 4, nics_per_node: 2, rails: 2, os: linux, nic: {{ speed: 400G, lanes: 4 }} }}\n\
         tiers:\n  t0: {{ platform: linux, os: {os}, up: 4 }}\n  t1: {{ platform: linux, os: {os} }}\n\
         cables:\n  nic-t0: {{ length: 1m, medium: virtual }}\n  t0-t1: {{ length: 1m, medium: virtual }}\n\
         qos: none\n{absent}"
    )
}

const ABSENT: &str = "exceptions: { absent: [plane 1, plane 3] }\n";

/// The same planes as a list of switches.
const LISTED: &str = "exceptions: { absent: [\"p1-t0-[001-004]\", \"p1-t1-[001-004]\", \"p3-t0-[001-004]\", \
                      \"p3-t1-[001-004]\"] }\n";

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// The files of a tree, without its manifest.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &Path| path.strip_prefix(folder).expect("it is inside").to_string_lossy().into_owned();
    let all = files(folder).into_iter().map(|path| (name(&path), fs::read(&path).expect("it can be read")));
    all.filter(|(name, _)| name != "manifest.json").collect()
}

fn compile(place: &Place, name: &str, text: &str) -> BTreeMap<String, Vec<u8>> {
    let file = format!("{name}.yaml");
    place.write(&file, text);
    place.ends(0, &["compile", "--quiet", &file, "--out", name]);
    place.ends(0, &["verify", "--quiet", name]);
    tree(&place.path(name))
}

fn is_of_absent_plane(name: &str) -> bool {
    ["p1-", "p3-", "plane-1", "plane-3"].iter().any(|part| name.contains(part))
}

#[test]
fn absent_planes_have_no_files_and_come_later_without_a_change() {
    for (routing, os) in [("srv6-static", "linux"), ("ecmp-static", "linux"), ("bgp-unnumbered", "frr")] {
        let place = Place::new();
        let half = compile(&place, "half", &fabric(routing, os, ABSENT));
        assert!(half.keys().all(|name| !is_of_absent_plane(name)), "{routing}: {:?}", half.keys());
        assert!(
            half.contains_key("cables/plane-2.csv") && half.keys().any(|name| name.contains("p2-t1-004"))
        );
        let listed = compile(&place, "listed", &fabric(routing, os, LISTED));
        assert!(half == listed, "{routing}: the name of a plane stands for all its switches");
        let full = compile(&place, "full", &fabric(routing, os, ""));
        for (name, bytes) in half.iter().filter(|(name, _)| !name.starts_with("path-tables/")) {
            // Nodes get an interface for each new plane.
            if !name.starts_with("hosts/") {
                assert!(full.get(name) == Some(bytes), "{routing}: {name} changes");
            }
        }
        let is_new = |name: &&String| !half.contains_key(*name);
        assert!(full.keys().filter(is_new).all(|name| is_of_absent_plane(name)), "{routing}");
    }
}

#[test]
fn hosts_spread_over_the_planes_that_are_there() {
    let place = Place::new();
    compile(&place, "half", &fabric("srv6-static", "linux", ABSENT));
    compile(&place, "full", &fabric("srv6-static", "linux", ""));
    let table = |tree: &str| -> serde_json::Value {
        serde_json::from_str(&place.read(&format!("{tree}/path-tables/group-0001.json"))).expect("it is JSON")
    };
    let (half, full) = (table("half"), table("full"));
    let denied: Vec<&str> =
        half["denied"].as_array().unwrap().iter().filter_map(|denied| denied["name"].as_str()).collect();
    assert_eq!(denied, ["plane 1", "plane 3"]);
    let floor = |table: &serde_json::Value| table["entropy"]["min_active"].as_u64().expect("a number");
    assert_eq!(2 * floor(&half), floor(&full));
    // Names, addresses and segments of every position are the same.
    for key in ["segments", "planes", "nics", "destinations", "probes"] {
        assert_eq!(half[key], full[key], "{key}");
    }
}

#[test]
fn counts_bills_and_pools_are_of_the_planes_that_are_there() {
    let place = Place::new();
    place.write("half.yaml", fabric("srv6-static", "linux", ABSENT));
    let checked = place.json(0, &["check", "half.yaml"]);
    assert_eq!(checked["absent_planes"], serde_json::json!([1, 3]));
    let counts = &checked["counts"];
    assert_eq!((&counts["t0"], &counts["t1"]), (&serde_json::json!(8), &serde_json::json!(8)));
    assert_eq!(
        (&counts["host_links"], &counts["fabric_links"]),
        (&serde_json::json!(32), &serde_json::json!(32))
    );
    assert!(place.ends(0, &["check", "half.yaml"]).contains("4  planes, 2 of them absent"));
    assert_eq!(counts["paths_local"], 2);
    for kind in ["cables", "kubernetes", "tables"] {
        place.ends(0, &["export", kind, "--quiet", "half.yaml", "--out", kind]);
        for (name, bytes) in tree(&place.path(kind)) {
            let text = String::from_utf8_lossy(&bytes);
            let of_absent = ["p1-t", "p3-t", "nic0p1", "nic0p3"].iter().any(|part| text.contains(part));
            let named = ["-1.", "-3.", "nic0p1", "nic0p3"].iter().any(|part| name.contains(part));
            assert!(!of_absent && !named, "{name}:\n{text}");
        }
    }
}

#[test]
fn parts_of_a_fabric_with_absent_planes_verify() {
    let place = Place::new();
    // Files of nodes cover all planes, so a fabric with such files cannot be verified in parts.
    place.write("half.yaml", fabric("srv6-static", "linux", ABSENT).replace(" os: linux, nic", " nic"));
    let trees = ["0", "1"].map(|shard| format!("part{shard}"));
    for (shard, tree) in trees.iter().enumerate() {
        place.ends(0, &["compile", "--quiet", "half.yaml", "--shard", &format!("{shard}/2"), "--out", tree]);
    }
    for (shard, tree) in trees.iter().enumerate() {
        let sum = format!("{shard}.json");
        place.ends(0, &["verify", tree, "--summary", &sum, "--tables", &trees[0], &trees[1]]);
    }
    place.ends(0, &["compile", "--quiet", "half.yaml", "--out", "whole"]);
    let paths = |report: String| report.lines().find(|line| line.starts_with("paths: ")).map(str::to_owned);
    let whole = paths(place.ends_with_output(0, &["verify", "whole"]));
    assert_eq!(paths(place.ends_with_output(0, &["merge", "0.json", "1.json"])), whole);
    assert!(whole.is_some());
}

/// Planes that are not built have no paths, and cannot fail.
#[test]
fn absent_planes_have_no_paths() {
    for (routing, os) in [("srv6-static", "linux"), ("ecmp-static", "linux")] {
        let place = Place::new();
        place.write("half.yaml", fabric(routing, os, ABSENT));
        let counts = place.json(0, &["check", "half.yaml"])["counts"].clone();
        let answer = place.json(0, &["whatif", "half.yaml", "--fail", "plane 0"]);
        let worst = &answer["left"]["worst"][0];
        let planned = [&counts["paths_local"], &counts["paths_zone"]];
        assert!(planned.contains(&&worst["paths_planned"]), "{worst:#} {counts:#}");
        assert_eq!(worst["paths"].as_u64().map(|paths| 2 * paths), worst["paths_planned"].as_u64());
        let text = place.ends(1, &["whatif", "half.yaml", "--fail", "plane 1"]);
        assert!(text.contains("`plane 1` is declared absent in the fabric file"), "{text}");
    }
    let place = Place::new();
    let tree = compile(&place, "half", &fabric("srv6-static", "linux", ABSENT));
    assert!(!tree.is_empty());
    let report = place.ends_with_output(0, &["verify", "half"]);
    let line =
        report.lines().find(|line| line.starts_with("paths: ")).expect("hosts choose paths").to_owned();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[1], words[3], "all paths of a fabric without failures arrive: {line}");
}

/// `check` and `verify` count the same paths: all shortest ones if switches choose.
#[test]
fn check_counts_the_paths_that_verify_proves() {
    let place = Place::new();
    let file = |t1: &str, t2: &str| {
        format!(
            "fabric: p\nplanes: 2\nrouting: ecmp-static\nzones: 2\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: linux, up: 4, parallel: 2 }}\n  \
             t1: {{ platform: linux, os: linux{t1} }}\n  t2: {{ platform: linux, os: linux{t2} }}\nqos: none\n"
        )
    };
    for (t1, t2) in [(", up: 2", ""), (", up: 4, parallel: 2", ""), (", up: 2", ", wiring: rows, rows: 2")] {
        place.write("p.yaml", file(t1, t2));
        let counts = place.json(0, &["check", "p.yaml"])["counts"].clone();
        let _ = std::fs::remove_dir_all(place.path("tree"));
        place.ends(0, &["compile", "--quiet", "p.yaml", "--out", "tree"]);
        let report = place.json(0, &["verify", "tree"]);
        let each = |kind: &str| counts[format!("paths_{kind}")].as_u64().expect("a count");
        // Of 8 NICs, each has 1 other on its T0, 2 on the other T0 of its zone, and 4 in the other zone.
        let all = 8 * (each("local") + 2 * each("zone") + 4 * each("far"));
        assert_eq!(report["delivery"]["ways"].as_u64(), Some(all), "{t1} {t2}: {counts:#}");
    }
}
