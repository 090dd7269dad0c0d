//! The audit log has a line with the author before and after each change. Without a log, nothing changes.

use std::fs;
use std::time::Instant;

use serde_json::Value;

use crate::common::{self, Place};

fn lines(place: &Place) -> Vec<Value> {
    let text = place.read("audit.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn a_drain_is_logged_before_and_after() {
    let place = Place::new();
    place.write("fabric.yaml", place.read("topologies/lab/two-planes.yaml"));
    let log = place.text("audit.jsonl");
    place.ends(2, &["drain", "plane 1", "fabric.yaml"]);
    assert!(!place.path("audit.jsonl").exists(), "it was not requested, and nothing was changed");
    place.ends(2, &["drain", "plane 1", "fabric.yaml", "--audit-log", &log]);
    assert!(!place.path("audit.jsonl").exists(), "nothing was changed");
    let before = fs::read(place.path("fabric.yaml")).expect("it is there");
    place.ends(0, &["drain", "plane 1", "fabric.yaml", "--write", "--audit-log", &log]);
    place.ends(0, &["undrain", "plane 1", "fabric.yaml", "--write", "--audit-log", &log]);
    let lines = lines(&place);
    let said: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["operation"].as_str().expect("text"), line["result"].as_str().expect("text")))
        .collect();
    assert_eq!(said, [("drain", "begun"), ("drain", "done"), ("undrain", "begun"), ("undrain", "done")]);
    assert_eq!(lines[0]["digest"], Value::from(blake3::hash(&before).to_string()));
    assert_eq!(lines[1]["details"]["name"], "plane 1");
    assert!(lines[0]["user"]["uid"].is_u64());
}

/// Regression: changed or removed lines were not detected.
#[test]
fn a_changed_log_is_found() {
    let place = Place::new();
    place.write("fabric.yaml", place.read("topologies/lab/two-planes.yaml"));
    let log = place.text("audit.jsonl");
    for verb in ["drain", "undrain", "drain"] {
        place.ends(0, &[verb, "plane 1", "fabric.yaml", "--write", "--audit-log", &log]);
    }
    place.ends(0, &["audit", "verify", "audit.jsonl"]);
    let all = lines(&place);
    assert_eq!(all[0]["prev"], Value::from("0".repeat(64)));
    let text = place.read("audit.jsonl");
    let last = blake3::hash(text.lines().last().expect("it has lines").as_bytes()).to_string();
    place.ends(0, &["audit", "verify", "audit.jsonl", "--last", &last]);
    place.write("bad.jsonl", text.replacen("\"undrain\"", "\"inspect\"", 1));
    let why = place.ends(1, &["audit", "verify", "bad.jsonl"]);
    assert!(why.contains("`bad.jsonl`: line 4 does not follow"), "{why}");
    let cut = text.lines().take(5).fold(String::new(), |cut, line| cut + line + "\n");
    place.write("cut.jsonl", &cut);
    place.ends(0, &["audit", "verify", "cut.jsonl"]);
    let why = place.ends(1, &["audit", "verify", "cut.jsonl", "--last", &last]);
    assert!(why.contains("lines were removed or added at the end"), "{why}");
    // Rotated files, oldest first.
    let (first, second) = text.split_at(text.match_indices('\n').nth(1).expect("it has lines").0 + 1);
    place.write("log.1", first);
    place.write("log", second);
    place.ends(0, &["audit", "verify", "log.1", "log", "--last", &last]);
    place.ends(1, &["audit", "verify", "log", "log.1"]);
}

/// Kills two processes at the same time, at arbitrary moments. `CLOSC_KILLS=500` tries more moments.
#[test]
fn no_kill_breaks_the_chain() {
    let kills = common::kills(10);
    let place = Place::new();
    let fabric = place.read("topologies/lab/two-planes.yaml");
    let log = place.text("audit.jsonl");
    let start = Instant::now();
    place.write("a.yaml", &fabric);
    place.ends(0, &["drain", "plane 1", "a.yaml", "--write", "--audit-log", &log]);
    let (complete, mut seen) = (2 * start.elapsed(), 2);
    for kill in 0..kills {
        let mut children = ["a.yaml", "b.yaml"].map(|file| {
            place.write(file, &fabric);
            let words = ["drain", "plane 1", file, "--write", "--audit-log", &log];
            let mut command = place.command(&words);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            command.spawn().expect("closc runs")
        });
        // The progress at this time differs between machines, but the assertions hold at any moment.
        std::thread::sleep(common::moment(kill, complete));
        for child in &mut children {
            child.kill().expect("it is ours");
            child.wait().expect("it ended");
        }
        if place.path("audit.jsonl").exists() {
            place.ends(0, &["audit", "verify", "audit.jsonl"]);
            let now = place.read("audit.jsonl").lines().count();
            assert!(now >= seen, "lines were lost");
            seen = now;
        }
    }
    place.write("a.yaml", &fabric);
    place.ends(0, &["drain", "plane 1", "a.yaml", "--write", "--audit-log", &log]);
    place.ends(0, &["audit", "verify", "audit.jsonl"]);
    println!("{kills} kills, {seen} lines");
}

#[test]
fn nothing_is_changed_where_the_log_cannot_be_written() {
    let place = Place::new();
    place.write("fabric.yaml", place.read("topologies/lab/two-planes.yaml"));
    let before = place.read("fabric.yaml");
    place.ends(
        1,
        &["drain", "plane 1", "fabric.yaml", "--write", "--audit-log", "no/such/folder/audit.jsonl"],
    );
    assert_eq!(place.read("fabric.yaml"), before);
}

/// A log behind a link could be replaced by another user.
#[test]
fn a_link_is_no_log() {
    let place = Place::new();
    place.write("fabric.yaml", place.read("topologies/lab/two-planes.yaml"));
    place.write("elsewhere", String::new());
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("audit.jsonl"))
        .expect("a folder of this test");
    let log = place.text("audit.jsonl");
    place.ends(1, &["drain", "plane 1", "fabric.yaml", "--write", "--audit-log", &log]);
    assert_eq!(place.read("elsewhere"), "");
}

#[test]
fn a_push_that_cannot_begin_is_logged_as_failed() {
    let place = Place::new();
    place.write(
        "inventory.yaml",
        "devices: { p0-t0-001: { endpoint: \"unix:absent.sock\", device_id: 1 } }\n",
    );
    let tree = place.text("tree");
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", &tree, "--quiet"]);
    let log = place.text("audit.jsonl");
    let inventory = place.text("inventory.yaml");
    place.ends(
        1,
        &[
            "push",
            &tree,
            "--inventory",
            &inventory,
            "--device",
            "p0-t0-001",
            "--timeout",
            "1",
            "--audit-log",
            &log,
        ],
    );
    let lines = lines(&place);
    let manifest = fs::read(place.path("tree/manifest.json")).expect("it is there");
    let results: Vec<&Value> = lines.iter().map(|line| &line["result"]).collect();
    assert_eq!(results, ["begun", "switch-begun", "switch-failed", "failed"]);
    assert_eq!(lines[1]["details"]["device"], "p0-t0-001");
    assert_eq!(lines[1]["digest"], Value::from(blake3::hash(&manifest).to_string()));
}

#[test]
fn the_journal_and_syslog_receive_the_same_lines() {
    for (kind, start) in [("journald", "SYSLOG_IDENTIFIER=closc\n"), ("syslog", "<85>closc[")] {
        let place = Place::new();
        place.write("fabric.yaml", place.read("topologies/lab/two-planes.yaml"));
        let socket =
            std::os::unix::net::UnixDatagram::bind(place.path("socket")).expect("a folder of this test");
        let log = format!("{kind}:{}", place.text("socket"));
        place.ends(0, &["drain", "plane 1", "fabric.yaml", "--write", "--audit-log", &log]);
        // Both lines were sent before the program ended.
        socket.set_nonblocking(true).expect("a socket");
        for result in ["begun", "done"] {
            let mut bytes = [0; 4096];
            let length = socket.recv(&mut bytes).expect("a line");
            let text = str::from_utf8(&bytes[..length]).expect("text");
            assert!(text.starts_with(start), "{text}");
            assert!(text.contains(&format!("\"result\":\"{result}\"")), "{text}");
        }
    }
}
