//! `closc verify` on compiled trees: what it prints, and its exit codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn closc(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_closc")).args(args).current_dir(folder).output().expect("closc runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is text")
}

/// A compiled tree of two planes in a folder of its own.
fn compiled() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../topologies/lab/two-planes.yaml");
    let run = closc(folder.path(), &["compile", file, "--out", "tree"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let tree = folder.path().join("tree");
    (folder, tree)
}

/// Sends uSID 4001 of a T0 out of the port to another T1.
fn damage(tree: &Path) {
    let file = tree.join("switches/p0-t0-001/ip.batch");
    let batch = fs::read_to_string(&file).expect("the tree has it");
    let route = batch.lines().find(|line| line.contains(":4001::/48 ")).expect("a route to the first T1");
    let other = batch.lines().find(|line| line.contains(":4002::/48 ")).expect("a route to the second T1");
    let via = other.split_once(" via ").expect("over a port").1;
    let wrong = format!("{} via {via}", route.split_once(" via ").expect("over a port").0);
    fs::write(&file, batch.replace(route, &wrong)).expect("the tree can be written");
}

#[test]
fn a_compiled_tree_holds() {
    let (folder, _) = compiled();
    let run = closc(folder.path(), &["verify", "tree"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stdout));
    let printed = text(&run.stdout);
    assert!(printed.contains("paths: 40 of 40 arrive (8 over one switch, 32 over three"), "{printed}");
    assert!(printed.contains("walked one by one: 40 of 40 arrive"), "{printed}");
    assert!(printed.contains("all of them hold"), "{printed}");
    assert!(text(&run.stderr).is_empty(), "{}", text(&run.stderr));
}

#[test]
fn a_damaged_tree_shows_a_packets_journey() {
    let (folder, tree) = compiled();
    damage(&tree);
    let run = closc(folder.path(), &["verify", "tree", "--no-digests"]);
    assert_eq!(run.status.code(), Some(2), "{}", text(&run.stdout));
    let printed = text(&run.stdout);
    let wanted = "error[V0605]: `p0-t0-001` sends uSID 4001 to `p0-t1-002:eth1`, which does not own it\n  \
                  --> switches/p0-t0-001/ip.batch:42\n  and cables/plane-0.csv:7\n  \
                  and switches/p0-t1-002/ip.batch:26\n   packet: `su001-n001/nic0` sends to `su002-n001/nic0` by \
                  fcbb:bbbb:1:4001:2:8001:: over `su001-n001:nic0p0 -- p0-t0-001:eth1`\n        \
                  -> `p0-t0-001` shifts its own uSID away, has fcbb:bbbb:4001:2:8001::, sends by `eth502` to \
                  `p0-t1-002:eth1` (switches/p0-t0-001/ip.batch:42)\n        \
                  -> `p0-t1-002` does not own the first uSID, has fcbb:bbbb:4001:2:8001:: \
                  (switches/p0-t1-002/ip.batch:";
    assert!(printed.contains(wanted), "{printed}");
    assert!(printed.contains("-> `p0-t1-002` has a blackhole for it: dropped\n"), "{printed}");
    assert!(printed.contains("paths: 36 of 40 arrive"), "{printed}");
}

#[test]
fn tools_get_the_same() {
    let (folder, tree) = compiled();
    damage(&tree);
    let run = closc(folder.path(), &["verify", "tree", "--format", "json"]);
    assert_eq!(run.status.code(), Some(2));
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("the report is JSON");
    let violations = report["violations"].as_array().expect("a list");
    assert_eq!(violations[0]["rule"], "V0101", "the file is not the compiled one");
    let owner = violations.iter().find(|v| v["rule"] == "V0605").expect("the wrong next hop is found");
    assert_eq!(owner["place"]["file"], "switches/p0-t0-001/ip.batch");
    assert!(owner["journey"].as_array().is_some_and(|steps| steps.len() == 4), "{owner:#}");
    let github = closc(folder.path(), &["verify", "tree", "--format", "github"]);
    let wanted = "::error file=tree/switches/p0-t0-001/ip.batch,line=42,col=1,title=V0605::";
    assert!(text(&github.stdout).contains(wanted), "{}", text(&github.stdout));
}

#[test]
fn what_cannot_be_read_is_another_exit_code() {
    let (folder, tree) = compiled();
    let run = closc(folder.path(), &["verify", "nothing"]);
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(text(&run.stderr), "error: `manifest.json` is missing: this is no artefact tree\n");
    fs::write(tree.join("manifest.json"), "{").expect("the tree can be written");
    assert_eq!(closc(folder.path(), &["verify", "tree"]).status.code(), Some(1));
}

#[test]
fn rules_are_explained() {
    let (folder, _) = compiled();
    let run = closc(folder.path(), &["explain", "V0605"]);
    assert!(text(&run.stdout).starts_with("# V0605: a route leads to a device that does not own the uSID"));
}
