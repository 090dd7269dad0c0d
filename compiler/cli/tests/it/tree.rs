//! Trees are written to disk reproducibly, incrementally and atomically.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;
use std::time::Instant;

use crate::common::{self, Place};

const BASE: &str = "\
fabric: tree
planes: 2
hosts: { groups: 3, per_group: 2, nic: { speed: 200G, lanes: 2 }, os: linux }
tiers:
  t0: { platform: linux, os: linux, up: 2 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
";

/// More helpers for these tests.
impl Place {
    fn compile(&self, text: &str, out: &str, more: &[&str]) -> String {
        self.write("fabric.yaml", text);
        self.ends(0, &[&["compile", "fabric.yaml", "--out", out], more].concat())
    }

    /// Paths, bytes and inodes of a tree.
    fn tree(&self, out: &str) -> BTreeMap<String, (Vec<u8>, u64)> {
        let root = self.path(out);
        let mut files = BTreeMap::new();
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("the tree can be read") {
                let path = entry.expect("the tree can be read").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(&root).expect("it lies below").display().to_string();
                    let inode = fs::metadata(&path).expect("the file is there").ino();
                    files.insert(name, (fs::read(&path).expect("the file can be read"), inode));
                }
            }
        }
        files
    }

    fn bytes(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        self.tree(out).into_iter().map(|(name, (bytes, _))| (name, bytes)).collect()
    }
}

/// Asserts that the digests in the manifest match the files.
fn assert_whole(tree: &BTreeMap<String, Vec<u8>>) {
    let manifest: serde_json::Value =
        serde_json::from_slice(&tree["manifest.json"]).expect("the manifest is JSON");
    let files = manifest["files"].as_object().expect("it lists files");
    assert_eq!(files.len() + 1, tree.len());
    for (name, entry) in files {
        assert_eq!(entry["blake3"], blake3::hash(&tree[name]).to_string(), "{name}");
        assert_eq!(entry["size"], tree[name].len(), "{name}");
    }
}

#[test]
fn threads_and_repetition_change_no_byte() {
    let place = Place::new();
    place.compile(BASE, "one", &["--jobs", "1"]);
    place.compile(BASE, "two", &["--jobs", "2"]);
    place.compile(BASE, "again", &[]);
    place.compile(BASE, "again", &["--force"]);
    assert_whole(&place.bytes("one"));
    assert_eq!(place.bytes("one"), place.bytes("two"));
    assert_eq!(place.bytes("one"), place.bytes("again"));
}

#[test]
fn the_order_of_keys_changes_no_byte() {
    let place = Place::new();
    place.compile(BASE, "one", &[]);
    let permuted = "\
# The same fabric, the other way round.
cables:
  t0-t1: { medium: virtual, length: 1m }
  nic-t0: { length: 1m, medium: virtual }
tiers:
  t1: { os: linux, platform: linux }
  t0: { up: 2, os: linux, platform: linux }
hosts: { os: linux, nic: { lanes: 2, speed: 200G }, per_group: 2, groups: 3 }
planes: 2
fabric: tree
";
    place.compile(permuted, "two", &[]);
    assert_eq!(place.bytes("one"), place.bytes("two"));
}

#[test]
fn a_second_run_keeps_every_file() {
    let place = Place::new();
    place.compile(BASE, "out", &[]);
    let before = place.tree("out");
    let report = place.compile(BASE, "out", &[]);
    assert!(report.contains("; 0 written,"), "{report}");
    let after = place.tree("out");
    let inodes = |tree: &BTreeMap<String, (Vec<u8>, u64)>| {
        tree.iter()
            .filter(|(n, _)| *n != "manifest.json")
            .map(|(n, (_, i))| (n.clone(), *i))
            .collect::<Vec<_>>()
    };
    assert_eq!(inodes(&before), inodes(&after));
}

#[test]
fn one_cable_rewrites_what_names_it() {
    let place = Place::new();
    place.compile(BASE, "out", &[]);
    let before = place.bytes("out");
    let longer = format!(
        "{BASE}exceptions: {{ cables: {{ p1-t0-002--p1-t1-001: {{ length: 7m, medium: virtual }} }} }}\n"
    );
    place.compile(&longer, "out", &[]);
    let after = place.bytes("out");
    let changed: Vec<&String> = after.keys().filter(|name| before.get(*name) != after.get(*name)).collect();
    assert_eq!(changed, ["cables/plane-1.csv", "manifest.json"]);
    assert_whole(&after);
    // A run into a new folder gives the same tree.
    place.compile(&longer, "fresh", &[]);
    assert_eq!(after, place.bytes("fresh"));
}

#[test]
fn every_kind_of_exception_gives_the_same_tree_as_a_fresh_run() {
    let exceptions = [
        "absent: [p0-t1-002]",
        "absent: [p0-t0-001]",
        "absent: [su002-n001]",
        "absent: [su002-n001/nic0.p1]",
        "absent: [p1-t0-001--p1-t1-002]",
        "drained: [p0-t1-002]",
        "drained: [plane 1]",
        "drained: [p0-t0-003]",
        "drained: [su001-n002/nic0.p0]",
        "drained: [p1-t0-001--p1-t1-002]",
        "devices: { p0-t0-002: { os: frr } }",
        "cables: { su003-n001/nic0.p0: { length: 2m, medium: virtual } }",
    ];
    // If switches choose paths, an exception also changes the weights of distant switches.
    for routing in ["srv6-static", "ecmp-static"] {
        let place = Place::new();
        let base = format!("{BASE}routing: {routing}\n");
        place.compile(&base, "out", &[]);
        for (at, exception) in exceptions.iter().enumerate() {
            let text = format!("{base}exceptions: {{ {exception} }}\n");
            place.compile(&text, "out", &[]);
            let fresh = format!("fresh-{at}");
            place.compile(&text, &fresh, &[]);
            assert_eq!(place.bytes("out"), place.bytes(&fresh), "{routing}: {exception}");
        }
    }
}

#[test]
fn a_damaged_or_missing_file_is_written_again() {
    let place = Place::new();
    place.compile(BASE, "out", &[]);
    let whole = place.bytes("out");
    fs::write(place.path("out/switches/p0-t0-001/ip.batch"), "# edited by hand\n").unwrap();
    fs::remove_file(place.path("out/cables/plane-0.csv")).unwrap();
    place.compile(BASE, "out", &[]);
    assert_eq!(place.bytes("out"), whole);
}

#[test]
fn files_of_others_stay() {
    let place = Place::new();
    place.compile(BASE, "out", &[]);
    place.write("out/notes.txt", "do not lose this\n");
    place.compile(&BASE.replace("per_group: 2", "per_group: 3"), "out", &[]);
    assert_eq!(fs::read_to_string(place.path("out/notes.txt")).unwrap(), "do not lose this\n");
}

#[test]
fn what_is_no_tree_is_not_replaced() {
    let place = Place::new();
    fs::create_dir(place.path("precious")).unwrap();
    place.write("precious/thesis.tex", "\\documentclass{article}");
    place.write("fabric.yaml", BASE);
    for (out, why) in [
        ("precious", "it is not a tree of closc; name another with --out"),
        ("precious/thesis.tex", "`--out precious/thesis.tex` is a file; expected a folder"),
    ] {
        let shown = place.ends(1, &["compile", "fabric.yaml", "--out", out]);
        assert!(shown.contains(why), "{shown}");
    }
    assert!(place.path("precious/thesis.tex").exists());
}

/// A damaged manifest, as after a power failure, does not block a later run with `--force`.
#[test]
fn a_tree_whose_manifest_cannot_be_read_is_replaced_with_force() {
    let place = Place::new();
    let compile = |code, more: &[&str]| {
        place.ends(code, &[&["compile", "topologies/lab/two-planes.yaml", "--out", "tree"], more].concat())
    };
    compile(0, &[]);
    let whole = place.read("tree/manifest.json");
    for damage in ["", "{", "\0\0\0\0", &whole[..whole.len() / 2]] {
        place.write("tree/manifest.json", damage);
        place.write("tree/note", "of others");
        let why = compile(1, &[]);
        assert!(why.contains("`tree`: ") && why.contains("`--force` replaces the tree"), "{why}");
        assert_eq!(place.read("tree/manifest.json"), damage, "nothing is touched without being asked for");
        compile(0, &["--force"]);
        assert_eq!(place.read("tree/manifest.json"), whole);
        place.ends(0, &["verify", "tree"]);
    }
}

#[test]
fn a_failed_run_leaves_the_old_tree() {
    let place = Place::new();
    place.compile(BASE, "out", &[]);
    let before = place.bytes("out");
    // A custom template with an undefined variable fails when the first switch is rendered.
    fs::create_dir_all(place.path("overlay/linux")).unwrap();
    place.write("overlay/linux/switch.batch.j2", "{{ nothing.of.this }}\n");
    let run = place.closc(&["compile", "fabric.yaml", "--out", "out", "--templates", "overlay"]);
    assert_eq!(run.status.code(), Some(1));
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(message.contains("linux/switch.batch.j2"), "{message}");
    // An invalid fabric file.
    place.write("fabric.yaml", BASE.replace("up: 2", "up: 2000"));
    assert_eq!(place.closc(&["compile", "fabric.yaml", "--out", "out"]).status.code(), Some(1));
    assert_eq!(place.bytes("out"), before);
    assert!(!place.path(".out.closc-new").exists());
}

/// `CLOSC_KILLS=100` tries more moments.
#[test]
fn a_killed_run_leaves_the_old_tree_and_the_next_one_works() {
    let place = Place::new();
    place.compile(BASE, "out", &[]);
    let before = place.bytes("out");
    place.write(
        "large.yaml",
        BASE.replace("groups: 3, per_group: 2", "groups: 6, per_group: 2").replace("up: 2", "up: 20"),
    );
    // Replacing a tree takes longer than writing the first one, especially after a kill.
    place.compile(BASE, "other", &[]);
    let start = Instant::now();
    place.ends(0, &["compile", "large.yaml", "--out", "other", "--quiet"]);
    let complete = 2 * start.elapsed();
    let (kills, mut finished) = (common::kills(4), 0);
    for kill in 1..=kills {
        let mut child = place
            .command(&["compile", "large.yaml", "--out", "out", "--quiet"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("closc runs");
        std::thread::sleep(common::moment(kill, complete));
        let _ = child.kill();
        let status = child.wait().expect("it ends");
        let now = place.bytes("out");
        assert_whole(&now);
        if !status.success() && now == before {
            continue;
        }
        // The run had finished before the kill, so the tree is the complete new one.
        assert_ne!(now, before);
        finished += 1;
        place.compile(BASE, "out", &["--force"]);
    }
    println!("{kills} kills of a compiler, {finished} after the exchange");
    place.compile(BASE, "out", &[]);
    assert_eq!(place.bytes("out"), before);
}

#[test]
fn two_runs_at_a_time_do_not_mix() {
    let place = Place::new();
    place.write("fabric.yaml", BASE);
    let runs: Vec<_> = (0..4)
        .map(|_| {
            place
                .command(&["compile", "fabric.yaml", "--out", "out"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("closc runs")
        })
        .collect();
    let fine = runs
        .into_iter()
        .filter_map(|mut run| run.wait().ok())
        .filter(std::process::ExitStatus::success)
        .count();
    assert!(fine >= 1);
    assert_whole(&place.bytes("out"));
}

#[test]
fn a_selection_is_compiled_into_a_tree_of_the_same_fabric_only() {
    let place = Place::new();
    place.compile(BASE, "out", &[]);
    let whole = place.bytes("out");
    place.compile(BASE, "out", &["--select", "plane=1,tier=t0"]);
    assert_eq!(place.bytes("out"), whole, "the rest of the tree stays");
    place.compile(BASE, "part", &["--select", "plane=1,tier=t0"]);
    let part = place.bytes("part");
    assert!(
        part.keys().all(|name| name == "manifest.json" || name.starts_with("switches/p1-t0-")),
        "{part:?}"
    );
    place.write("fabric.yaml", BASE.replace("per_group: 2", "per_group: 3"));
    let run = place.closc(&["compile", "fabric.yaml", "--out", "out", "--select", "plane=1"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&run.stderr).contains("was compiled from another description of `"));
}

#[test]
fn an_archive_holds_the_same_files() {
    let place = Place::new();
    place.compile(BASE, "out", &["--archive", "one.tar.zst"]);
    place.closc(&["compile", "fabric.yaml", "--archive", "two.tar.zst", "--jobs", "1"]);
    let (one, two) =
        (fs::read(place.path("one.tar.zst")).unwrap(), fs::read(place.path("two.tar.zst")).unwrap());
    assert_eq!(one, two);
    let plain = zstd::decode_all(one.as_slice()).expect("it is zstd");
    let mut inside = BTreeMap::new();
    for entry in tar::Archive::new(plain.as_slice()).entries().expect("it is tar") {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a path").display().to_string();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).expect("its bytes");
        inside.insert(name, bytes);
    }
    assert_eq!(inside, place.bytes("out"));
}

#[test]
fn growth_removes_no_line_of_any_switch() {
    let place = Place::new();
    place.compile(BASE, "before", &[]);
    let before = place.bytes("before");
    for (what, grown) in [
        ("one more T1 a plane", BASE.replace("up: 2", "up: 3")),
        ("one more T0 group", BASE.replace("groups: 3", "groups: 4")),
    ] {
        let out = what.replace(' ', "-");
        place.compile(&grown, &out, &[]);
        let after = place.bytes(&out);
        let (mut removed, mut added) = (0, 0);
        for (name, old) in before.iter().filter(|(name, _)| name.starts_with("switches/")) {
            let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(&after[name]));
            removed += old.lines().filter(|line| !new.lines().any(|l| l == *line)).count();
            added += new.lines().filter(|line| !old.lines().any(|l| l == *line)).count();
        }
        println!("{what}: {removed} lines removed from switches that were there, {added} added");
        assert_eq!(removed, 0, "{what}");
    }
}

#[test]
fn hostile_input_is_refused_with_a_place_and_writes_nothing() {
    let place = Place::new();
    let deep = format!("fabric: {}{}", "[".repeat(20_000), "]".repeat(20_000));
    let bomb = {
        let mut text = String::from("x-0: &a0 [1,1,1,1,1,1,1,1,1]\n");
        for n in 1..12 {
            let refs = vec![format!("*a{}", n - 1); 9].join(",");
            let _ = writeln!(text, "x-{n}: &a{n} [{refs}]");
        }
        text
    };
    let huge = "#".repeat(100 << 20);
    let inputs: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("binary", (0..=255u8).cycle().take(4096).collect()),
        ("huge", huge.into_bytes()),
        ("bomb", bomb.into_bytes()),
        ("deep", deep.into_bytes()),
        ("duplicate", format!("{BASE}planes: 3\n").into_bytes()),
        ("unknown", BASE.replace("planes:", "plains:").into_bytes()),
        ("unit", BASE.replace("length: 1m", "length: 1").into_bytes()),
        ("negative", BASE.replace("planes: 2", "planes: -2").into_bytes()),
        ("large number", BASE.replace("groups: 3", "groups: 99999999999999999999999").into_bytes()),
        ("not a number", BASE.replace("groups: 3", "groups: .nan").into_bytes()),
        ("tabs", BASE.replace("  t0:", "\tt0:").into_bytes()),
        ("list", b"- a\n- b\n".to_vec()),
        ("two documents", format!("{BASE}---\n{BASE}").into_bytes()),
    ];
    for (what, bytes) in inputs {
        place.write("bad.yaml", bytes);
        let run = place.closc(&["compile", "bad.yaml", "--out", "out"]);
        let message = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{what}: {message}");
        assert!(!message.contains("panicked"), "{what}: {message}");
        assert!(message.contains("error[E"), "{what}: {message}");
        assert!(message.contains("bad.yaml"), "{what}: {message}");
        assert!(message.len() < 20_000, "{what}: {} bytes of message", message.len());
        assert!(!place.path("out").exists(), "{what}");
    }
}

#[test]
fn programs_that_write_one_archive_at_once_each_leave_it_whole() {
    let place = Place::new();
    place.write("fabric.yaml", BASE);
    for _ in 0..4 {
        let compile = || {
            place.command(&["compile", "fabric.yaml", "--archive", "tree.tar.zst"]).spawn().expect("it runs")
        };
        let running: Vec<_> = (0..3).map(|_| compile()).collect();
        for mut child in running {
            assert!(child.wait().expect("it ends").success());
        }
    }
    let left = fs::read_dir(place.path(".")).expect("a folder");
    let names: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}: the link, the file and the archive");
}
