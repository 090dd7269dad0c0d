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
