//! Runs `closc te`: figures, pins on disk, exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn te(demand: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_closc"))
        .args(["te", "topologies/lab/two-planes.yaml", "--quiet", "--demand"])
        .arg(demand)
        .args(more)
        .current_dir(root())
        .output()
        .expect("closc runs")
}

fn demand(folder: &Path, rows: &str) -> PathBuf {
    let file = folder.join("demand.csv");
    std::fs::write(&file, format!("source,destination,gbps\n{rows}")).expect("a temporary file");
    file
}

#[test]
fn figures_pins_and_exit_codes_are_as_documented() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = demand(folder.path(), "group-0001,group-0002,240\n");
    let out = folder.path().join("pins.json");
    let path = out.to_str().expect("the path is text");
    let run = te(&file, &["--format", "json", "--fail", "p0-t1-001", "--out", path]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let report: Value = serde_json::from_slice(&run.stdout).expect("it prints JSON");
    assert_eq!((&report["format"], &report["fits"]), (&Value::from("closc-te/1"), &Value::from(true)));
    assert_eq!(report["failed"][0], "p0-t1-001");
    let max = |at: usize| report["methods"][at]["max"].as_f64().expect("a number");
    assert!(max(0) < 0.81 && (max(1) - 1.2).abs() < 1e-9, "{report:#}");
    assert!(report["bound"].as_f64().is_some_and(|bound| bound <= max(0)));
    let pins: Value = serde_json::from_slice(&std::fs::read(&out).expect("pins were written")).expect("JSON");
    assert_eq!(pins["format"], "closc-pins/1");
    assert_eq!(pins["pins"][0]["planes"][1]["weight"], 1000);
    assert!(!folder.path().join("pins.json.partial").exists());

    let csv = folder.path().join("pins.csv");
    te(&file, &["--fail", "p0-t1-001", "--out", csv.to_str().expect("the path is text")]);
    let text = std::fs::read_to_string(csv).expect("pins were written");
    assert_eq!(text.lines().count(), 3, "{text}");

    let file = demand(folder.path(), "group-0001,group-0002,500\n");
    let run = te(&file, &[]);
    assert_eq!(run.status.code(), Some(2));
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(text.contains("400.0 Gb/s of 500.0 Gb/s carried") && text.contains("full"), "{text}");

    let file = demand(folder.path(), "group-0001,group-0005,500\nsu1-n1,all,1\n");
    let run = te(&file, &[]);
    assert_eq!(run.status.code(), Some(1));
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(text.contains("demand.csv:2: `group-0005`") && text.contains("demand.csv:3: `su1-n1`"), "{text}");
    let run = te(&file, &["--fail", "p9-t1-001"]);
    assert_eq!(run.status.code(), Some(1));
    let run = te(&folder.path().join("none.csv"), &[]);
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn parquet_is_read_or_the_way_to_it_is_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("demand.parquet");
    std::fs::write(&file, "no table").expect("a temporary file");
    let run = te(&file, &[]);
    assert_eq!(run.status.code(), Some(1));
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    let wanted = if cfg!(feature = "parquet") { "no Parquet: " } else { "--features parquet" };
    assert!(text.contains(wanted), "{text}");
}

/// Two planes of FRR and Linux; the demand is skewed, so that hashing is not at its best.
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

fn closc(folder: &Path, args: &[&str]) -> Output {
    let mut run = Command::new(env!("CARGO_BIN_EXE_closc"));
    run.args(args).arg("--quiet").current_dir(folder).output().expect("closc runs")
}

/// What te places is what switches do: its file goes into the fabric, and every pinned NIC has a route of its own over the
/// cable that te names.
#[test]
fn pins_go_round_through_compile_and_verify() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = folder.path();
    std::fs::write(at.join("fabric.yaml"), PINNED).expect("a temporary file");
    demand(at, "group-0001,group-0002,300\ngroup-0003,group-0002,200\ngroup-0004,group-0001,100\n");
    for out in ["pins.csv", "pins.json"] {
        let run = closc(at, &["te", "fabric.yaml", "--demand", "demand.csv", "--out", out]);
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(text.contains("weighted ECMP, hashed"), "{text}");
    }
    let lines = std::fs::read_to_string(at.join("pins.csv")).expect("pins were written");
    let mut lines = lines.lines();
    assert_eq!(lines.next(), Some("switch,nic,uplink"));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 3 * 4 * 2, "three pairs of groups, four NICs, two planes");

    let pinned = PINNED.replace("hosts:", "ecmp: { pins: pins.csv }\nhosts:");
    std::fs::write(at.join("pinned.yaml"), pinned).expect("a temporary file");
    let run = closc(at, &["compile", "pinned.yaml", "--out", "tree"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let run = closc(at, &["verify", "tree"]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stdout));

    let read = |path: &str| std::fs::read_to_string(at.join("tree").join(path)).expect("it was compiled");
    let pins: Value =
        serde_json::from_slice(&std::fs::read(at.join("pins.json")).expect("pins were written"))
            .expect("JSON");
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
                // The T1 has one cable to the group, the one that te names.
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
    let folder = tempfile::tempdir().expect("a temporary folder");
    let yaml = PINNED.replace("ecmp-static", "bgp-unnumbered").replace("os: linux", "os: frr");
    std::fs::write(folder.path().join("fabric.yaml"), yaml).expect("a temporary file");
    demand(folder.path(), "group-0001,group-0002,300\n");
    let run = closc(folder.path(), &["te", "fabric.yaml", "--demand", "demand.csv", "--out", "pins.csv"]);
    assert_eq!(run.status.code(), Some(1));
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(text.contains("takes no pins"), "{text}");
    let run = closc(folder.path(), &["te", "fabric.yaml", "--demand", "demand.csv"]);
    assert_eq!(run.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&run.stdout).contains("no pins"));
}
