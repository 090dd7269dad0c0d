//! Validates every document that real commands print or save against its schema in the repository.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::{Place, root, schemas};

const FILE: &str = "topologies/lab/two-planes-p4.yaml";
const LOSSLESS: &str = "topologies/reference/roce-pfc-ecn.yaml";

/// A folder with two fabric files that differ, and a tree of the first.
fn place() -> Place {
    let place = Place::new();
    let text = place.read(FILE);
    place.write("a.yaml", &text);
    place.write("b.yaml", text.replace("t0-t1: { length: 1m", "t0-t1: { length: 3m"));
    let sonic = place.read(LOSSLESS);
    let cable = sonic.lines().find(|line| line.contains("t0-t1:")).expect("it has cables between tiers");
    place.write("sonic.yaml", &sonic);
    place.write("longer.yaml", sonic.replace(cable, &cable.replace("length: ", "length: 1")));
    place.write("broken.yaml", "fabric: x\nplanes: many\n");
    let racks = (0..64).map(|at| format!("R{at},A,{at},0,48\n")).collect::<Vec<_>>().concat();
    place.write("floor.csv", format!("rack,row,x,y,units\n{racks}"));
    place.write("demand.csv", "source,destination,gbps\nsu001-n001/nic0,su002-n001/nic0,1\n");
    place.write("trace.csv", "10,down,p0-t1-001\n20,up,p0-t1-001\n");
    place.write("audit.log", "");
    place.write("seen.json", "{\"lldp\": {\"interface\": []}}");
    place.ends(0, &["compile", "a.yaml", "--out", "a"]);
    place.ends(0, &["export", "cables", "a.yaml", "--out", "network"]);
    place
}

/// Commands that do not need a lab, with the expected exit code and document.
const PLAIN: &[(i32, &str, &str)] = &[
    (2, "cables check a.yaml p0-t0-001=seen.json", "closc-cables/1"),
    (0, "check a.yaml", "closc-check/1"),
    (1, "check broken.yaml", "closc-diagnostics/1"),
    (1, "check a.yaml broken.yaml nowhere.yaml", "closc-checks/1"),
    (1, "check nowhere.yaml", "closc-error/1"),
    (0, "compile a.yaml --out c", "closc-compile/1"),
    (1, "collect a.yaml --nic none.sock --listen 127.0.0.1:0 --for 1", "closc-collect/1"),
    (2, "diff a.yaml b.yaml --waves --list", "closc-diff/1"),
    (2, "drain p0-t1-001 a.yaml", "closc-diff/1"),
    (0, "explain E0203", "closc-code/1"),
    (0, "explain codes", "closc-codes/1"),
    (0, "explain targets", "closc-targets/1"),
    (0, "explain device a.yaml p0-t0-001", "closc-device/1"),
    (0, "explain device topologies/lab/bgp-unnumbered.yaml p0-t0-001", "closc-device/1"),
    (0, "export host a.yaml su001-n001 --out hosts", "closc-export/1"),
    (0, "export ranks a.yaml --out ranks --tp 1 --dp 2 --pp 1", "closc-ranks/1"),
    (0, "fix a.yaml", "closc-fix/1"),
    (0, "fmt a.yaml", "closc-fmt/1"),
    (0, "grow a.yaml a.yaml", "closc-grow/1"),
    (0, "init --nics 128 --planes 2 --speed 400G --out new.yaml", "closc-init/2"),
    (0, "man --out man", "closc-man/1"),
    (0, "paths a.yaml su001-n001 su002-n001 --limit 2", "closc-paths/1"),
    (0, "platforms", "closc-platforms/1"),
    (0, "platforms th5-512x100g", "closc-platform/1"),
    (0, "schema documents", "closc-documents/1"),
    (0, "audit verify audit.log", "closc-audit/1"),
    (0, "design --nics 64 --planes 1", "closc-design/1"),
    (0, "design --nics 64 --planes 2 --explain a.yaml", "closc-design-explain/1"),
    (0, "design --compare a.yaml b.yaml", "closc-design-compare/1"),
    (0, "place sonic.yaml --floor floor.csv", "closc-place/1"),
    (0, "te a.yaml --demand demand.csv", "closc-te/1"),
    (0, "verify a", "closc-verify/1"),
    (0, "whatif a.yaml", "closc-whatif-each/1"),
    (0, "whatif a.yaml --fail p0-t1-001", "closc-whatif-answer/1"),
    (0, "whatif a.yaml --random t0-t1=1 --trials 2", "closc-whatif-trials/1"),
    (0, "whatif a.yaml --trace trace.csv", "closc-whatif-trace/1"),
    (0, "whatif a.yaml --against b.yaml", "closc-whatif-against/1"),
];

/// Commands on a lab, in order, with the expected exit code and document.
const LAB: &[(i32, &str, &str)] = &[
    (0, "lab status", "closc-labs/1"),
    (0, "lab up a", "closc-lab-up/1"),
    (2, "push a --inventory lab --dry-run", "closc-push-preview/1"),
    (0, "push a --inventory lab", "closc-push/1"),
    (0, "drift a --inventory lab", "closc-drift/1"),
    (2, "drift c --inventory lab", "closc-drift/1"),
    (0, "lab status a", "closc-lab-status/1"),
    (0, "lab test a", "closc-lab-test/1"),
    (0, "lab cut a p0-t0-001--p0-t1-001", "closc-lab-cut/1"),
    (0, "lab miswire a p0-t0-001--p0-t1-001 p0-t0-002--p0-t1-001", "closc-lab-miswire/1"),
    (0, "lab down a", "closc-lab-down/1"),
    (0, "lab run a", "closc-lab-run/1"),
    (0, "lab job a --seconds 1", "closc-lab-job/1"),
];

/// Runs a command, and compares its output with the schema.
#[track_caller]
fn prints(place: &Place, (code, words, name): (i32, &str, &str)) -> Value {
    let words: Vec<&str> = words.split(' ').collect();
    let document = place.json(code, &words);
    assert_eq!(document["schema"], name, "{words:?}");
    document
}

/// Reads a saved document, and compares it with the schema.
fn check_document(place: &Place, file: &str) -> String {
    let document: Value = serde_json::from_str(&place.read(file)).expect("a document");
    schemas::compare(&document);
    let name = ["schema", "format"].iter().find_map(|key| document[key].as_str());
    name.expect("a document has a name").to_owned()
}

#[test]
fn every_document_fits_its_schema() {
    let place = place();
    let mut seen = BTreeSet::new();
    for &command in PLAIN {
        prints(&place, command);
        seen.insert(command.2.to_owned());
    }
    let device = prints(&place, (0, "explain device sonic.yaml p0-t0-001", "closc-device/1"));
    let port = device["ports"][0]["name"].as_str().expect("a switch has ports");
    let headroom = format!("explain headroom sonic.yaml p0-t0-001 {port}");
    prints(&place, (0, &headroom, "closc-headroom/1"));
    seen.insert("closc-headroom/1".to_owned());
    place.ends(2, &["diff", "sonic.yaml", "longer.yaml", "--patches", "patches"]);
    seen.insert(check_document(&place, "patches/patches.json"));
    let folder = place.path("network/cables");
    let lists = std::fs::read_dir(folder).expect("cables were written").flatten();
    let lists = lists.map(|entry| format!("network/cables/{}", entry.file_name().to_string_lossy()));
    let lists: Vec<String> = lists.filter(|name| name.contains("point-to-point")).collect();
    let import = format!("import {} --out imported.yaml", lists.join(" "));
    prints(&place, (0, &import, "closc-import/1"));
    seen.insert("closc-import/1".to_owned());
    labs(&place, &mut seen);
    let entries = std::fs::read_dir(root().join("docs/schemas")).expect("the folder is there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let all: BTreeSet<String> =
        names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
    // Other tests validate the rest: `collect.rs` the documents that are only served, `switch/frozen.rs` JSON lines
    // on stderr, and `conformance.rs` the report of `closc conformance`.
    let all: BTreeSet<String> = all
        .into_iter()
        .filter(|name| name == "closc-collect-1" || !name.starts_with("closc-collect-"))
        .filter(|name| name != "closc-event-1" && name != "closc-conformance-1")
        .collect();
    let seen: BTreeSet<String> = seen.iter().map(|name| name.replace('/', "-")).collect();
    assert_eq!(all, seen, "every document is printed here, and every one that is printed has a schema");
}

/// Compares the output of labs and pushes.
fn labs(place: &Place, seen: &mut BTreeSet<String>) {
    let other = place.read("a.yaml") + "exceptions: { absent: [p0-t0-001--p0-t1-001] }\n";
    place.write("c.yaml", other);
    place.ends(0, &["compile", "c.yaml", "--out", "c"]);
    for &command in LAB {
        if command.1 == "push a --inventory lab" {
            place.ends(2, &["push", "a", "--inventory", "lab", "--out", "plan.json"]);
            seen.insert(check_document(place, "plan.json"));
        }
        prints(place, command);
        seen.insert(command.2.to_owned());
    }
}

/// A document that does not fit its schema fails.
#[test]
fn what_does_not_fit_is_found() {
    schemas::compare(&json!({ "schema": "closc-error/1", "error": "why" }));
    let wrong = [
        json!({ "schema": "closc-error/1" }),
        json!({ "schema": "closc-error/1", "error": 3 }),
        json!({ "schema": "closc-error/1", "error": "why", "more": 1 }),
        json!({ "schema": "closc-nothing/1", "error": "why" }),
        json!({ "error": "why" }),
    ];
    for document in wrong {
        let found = std::panic::catch_unwind(|| schemas::compare(&document));
        assert!(found.is_err(), "{document}");
    }
}
