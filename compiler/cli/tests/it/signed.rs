//! `compile --sign`, `verify --key`, `push --require-signature` on the command line.

use std::process::Command;

use crate::common::{Place, small_fabric};

/// A folder with a fabric, an inventory of unreachable switches, and two keys; `None` if keys cannot be created.
fn place() -> Option<Place> {
    let place = Place::new();
    place.write("fabric.yaml", small_fabric("signed", 1, "bmv2", "p4"));
    let devices = ["p0-t0-001", "p0-t0-002", "p0-t1-001", "p0-t1-002"];
    let entry = |(number, name): (usize, &&str)| {
        format!("  {name}: {{ endpoint: '127.0.0.1:9', device_id: {number} }}\n")
    };
    let devices: String = devices.iter().enumerate().map(entry).collect();
    place.write("inventory.yaml", format!("devices:\n{devices}"));
    for key in ["ours", "theirs"] {
        let mut keygen: Command = place.program("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key]);
        if !keygen.status().is_ok_and(|status| status.success()) {
            closc_skip::skip("ssh-keygen is not installed, which makes the keys");
            return None;
        }
    }
    Some(place)
}

#[test]
fn a_tree_is_verified_by_the_key_that_signed_it() {
    let Some(place) = place() else { return };
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree", "--sign", "ours"]);
    place.ends(0, &["verify", "tree", "--key", "ours.pub"]);
    let why = place.ends(1, &["verify", "tree", "--key", "theirs.pub"]);
    assert!(why.contains("`manifest.json` is not signed by SHA256:"), "{why}");
    // Files outside the manifest are not covered by its signature.
    place.write("tree/switches/extra.conf", "x");
    let why = place.ends(1, &["verify", "tree", "--key", "ours.pub"]);
    assert!(why.contains("`switches/extra.conf` is not in `manifest.json`"), "{why}");
    std::fs::remove_file(place.path("tree/switches/extra.conf")).expect("it is there");
    std::fs::create_dir_all(place.path("tree/switches/p0-t0-009")).expect("it is ours");
    let why = place.ends(1, &["verify", "tree", "--key", "ours.pub"]);
    assert!(why.contains("`switches/p0-t0-009` is a folder without files"), "{why}");
    std::fs::remove_dir(place.path("tree/switches/p0-t0-009")).expect("it is there");
    // If a file and its digest are both changed, only the signature reveals it.
    let manifest = place.read("tree/manifest.json").replace("\"closc\": \"", "\"closc\": \"1");
    place.write("tree/manifest.json", manifest);
    place.ends(0, &["verify", "tree"]);
    let why = place.ends(1, &["verify", "tree", "--key", "ours.pub"]);
    assert!(why.contains("was changed after it was signed"), "{why}");
}

#[test]
fn a_tree_that_is_not_signed_is_not_pushed() {
    let Some(place) = place() else { return };
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree"]);
    let push = [
        "push",
        "tree",
        "--inventory",
        "inventory.yaml",
        "--require-signature",
        "ours.pub",
        "--timeout",
        "1",
    ];
    let why = place.ends(1, &push);
    assert!(why.contains("the tree is not signed"), "{why}");
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree", "--sign", "theirs"]);
    let why = place.ends(1, &push);
    assert!(why.contains("is not signed by SHA256:"), "{why}");
    place.write("saved.json", "{}");
    let why = place
        .ends(1, &["push", "saved.json", "--inventory", "inventory.yaml", "--require-signature", "ours.pub"]);
    assert!(why.contains("has no signature"), "{why}");
}

/// Simulates the passage of time: changes the last day of a tree to one in the past, and signs it again.
fn expire(place: &Place) {
    let manifest = place.read("tree/manifest.json").replace("2999-12-31", "2020-02-29");
    place.write("tree/manifest.json", manifest);
    std::fs::remove_file(place.path("tree/manifest.json.sig")).expect("it is there");
    let mut keygen: Command = place.program("ssh-keygen");
    keygen.args(["-q", "-Y", "sign", "-n", "closc-manifest", "-f", "ours", "tree/manifest.json"]);
    assert!(keygen.status().is_ok_and(|status| status.success()), "ssh-keygen signs");
}

/// Regression: an older tree, or a tree of another fabric with the same key, was pushed despite
/// `--require-signature`.
#[test]
fn older_trees_and_those_of_other_fabrics_are_refused() {
    let Some(place) = place() else { return };
    let devices = place.read("inventory.yaml");
    let inventory = |pins: &str| place.write("inventory.yaml", format!("{pins}{devices}"));
    let compile = |more: &[&str]| {
        place.ends(0, &[&["compile", "fabric.yaml", "--out", "tree", "--sign", "ours"], more].concat());
    };
    let log = place.text("audit.jsonl");
    let push = |more: &[&str]| {
        let all = [
            "push",
            "tree",
            "--inventory",
            "inventory.yaml",
            "--require-signature",
            "ours.pub",
            "--timeout",
            "1",
        ];
        place.ends(1, &[&all[..], &["--audit-log", &log], more].concat())
    };
    compile(&[]);
    let why = push(&[]);
    assert!(why.contains("has no sequence number"), "{why}");
    assert!(!place.path("audit.jsonl").exists(), "nothing began");
    compile(&["--sequence", "3", "--expires", "2999-12-31"]);
    expire(&place);
    let why = push(&[]);
    assert!(why.contains("expired with 2020-02-29"), "{why}");
    place.ends(0, &["verify", "tree", "--key", "ours.pub"]);
    inventory("fabric: signed\nmin_sequence: 4\n");
    compile(&["--sequence", "3"]);
    let why = push(&[]);
    assert!(why.contains("has sequence number 3, but the inventory needs at least 4"), "{why}");
    // A deliberate rollback is logged, and then fails only because the switches do not exist.
    let why = push(&["--allow-older"]);
    assert!(!why.contains("sequence number"), "{why}");
    assert!(place.read("audit.jsonl").contains("\"result\":\"older-allowed\""));
    compile(&["--sequence", "4"]);
    let why = push(&[]);
    assert!(!why.contains("sequence number") && why.contains("p0-t0-001"), "{why}");
    inventory("fabric: another\n");
    for more in [&[][..], &["--allow-older"]] {
        let why = push(more);
        assert!(why.contains("is of fabric `signed`, but the inventory is of `another`"), "{why}");
    }
}

/// Regression: one stolen key was enough.
#[test]
fn several_keys_are_required() {
    let Some(place) = place() else { return };
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree", "--sign", "ours", "--sequence", "4"]);
    let both = [
        "push",
        "tree",
        "--inventory",
        "inventory.yaml",
        "--require-signature",
        "ours.pub",
        "--require-signature",
        "theirs.pub",
        "--timeout",
        "1",
    ];
    let why = place.ends(1, &both);
    assert!(why.contains("is signed by 1 of the 2 keys"), "{why}");
    let why = place.ends(1, &[&both[..], &["--signatures", "1"]].concat());
    assert!(!why.contains("is signed by"), "{why}");
    let why = place.ends(1, &[&both[..], &["--signatures", "3"]].concat());
    assert!(why.contains("more than the 2 keys"), "{why}");
}
