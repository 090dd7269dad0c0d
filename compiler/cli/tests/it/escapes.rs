//! File names in a fabric file cannot refer to files outside its folder, and the content of other files is never
//! shown.

use std::os::unix::fs::symlink;

use crate::common::Place;

const FABRIC: &str = "
fabric: stranger
planes: 2
routing: ecmp-static
hosts: { groups: 4, per_group: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 4 }
  t1: { platform: linux, os: linux }
";

const SECRET: &str = "token-of-the-runner";

#[test]
fn pins_read_no_foreign_file() {
    let place = Place::new();
    std::fs::create_dir(place.path("repository")).expect("a folder can be made");
    place.write("secret", SECRET);
    place.write("repository/.config", format!("{SECRET}\n"));
    let link =
        |target: &str, name: &str| symlink(target, place.path("repository").join(name)).expect("a link");
    link("../secret", "out");
    link("/proc/self/environ", "environ");
    link("/dev/zero", "zero");
    nix::unistd::mkfifo(&place.path("repository/pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let absolute = place.text("secret");
    for pins in [
        "../secret",
        "../repository/../secret",
        absolute.as_str(),
        "out",
        "environ",
        "zero",
        "pipe",
        "/dev/zero",
        "/proc/self/environ",
        "/etc/passwd",
        ".",
        // A file in the folder that is not a file of pins; its first line must not be shown either.
        ".config",
    ] {
        place.write("repository/fabric.yaml", format!("{FABRIC}ecmp: {{ pins: {pins} }}\n"));
        for format in ["human", "json", "github"] {
            let output = place
                .command(&["check", "repository/fabric.yaml", "--format", format])
                .env("SECRET", SECRET)
                .output()
                .expect("closc runs");
            let shown = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8_lossy(&shown);
            assert_eq!(output.status.code(), Some(1), "{pins}: {shown}");
            assert!(shown.contains("E0713") || shown.contains("E0714"), "{pins}: {shown}");
            assert!(!shown.contains(SECRET) && !shown.contains("root:x"), "{pins}: {shown}");
        }
    }
}

#[test]
fn overlays_take_no_foreign_file() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("overlay")).expect("a folder can be made");
    place.write("secret", SECRET);
    symlink("../secret", place.path("overlay/linux")).expect("a link");
    let said = place
        .ends(1, &["compile", "topologies/lab/two-planes.yaml", "--out", "tree", "--templates", "overlay"]);
    assert!(said.contains("`linux` is not allowed; expected a path in the same folder or below"), "{said}");
    assert!(!said.contains(SECRET), "{said}");
}

/// Replaces a file of the tree with a link, pipe, socket or folder, depending on `number`.
fn instead(place: &Place, number: usize, path: &std::path::Path) {
    std::fs::remove_file(path).expect("a file of the tree");
    let secret = place.path("secret");
    let target = match number % 12 {
        0 => secret.to_str().expect("plain"),
        1 => "/proc/self/environ",
        2 => "/dev/zero",
        3 => "../../../secret",
        4 => "/etc/passwd",
        5 => "/proc/self/fd/0",
        6 => "/",
        7 => path.file_name().and_then(|name| name.to_str()).expect("plain"),
        8 => "/dev/stdin",
        9 => {
            nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
            return;
        }
        10 => {
            let (kind, mode) = (nix::sys::stat::SFlag::S_IFSOCK, nix::sys::stat::Mode::S_IRWXU);
            nix::sys::stat::mknod(path, kind, mode, 0).expect("a socket");
            return;
        }
        _ => {
            std::fs::create_dir(path).expect("a folder");
            return;
        }
    };
    symlink(target, path).expect("a link");
}

/// Every command that reads a tree rejects a file that is not a regular file of the tree, and does not show its
/// content.
#[test]
fn trees_lead_nowhere() {
    let place = Place::new();
    place.write("secret", SECRET);
    place.ends(0, &["compile", "topologies/lab/two-planes.yaml", "--out", "whole", "--quiet"]);
    let manifest: serde_json::Value =
        serde_json::from_str(&place.read("whole/manifest.json")).expect("a manifest");
    let files: Vec<&String> = manifest["files"].as_object().expect("files").keys().collect();
    let picked: Vec<&String> = files.iter().step_by(files.len().div_ceil(11)).copied().collect();
    let copied = place.program("cp").args(["-a", "whole", "tree"]).status().expect("every system has `cp`");
    assert!(copied.success());
    // One kind of replacement for each file, and all kinds for the manifest.
    let own = String::from("manifest.json");
    let cases = picked.into_iter().enumerate().chain((0..12).map(|kind| (kind, &own)));
    for (number, file) in cases {
        let path = place.path("tree").join(file);
        instead(&place, number, &path);
        for arguments in [&["verify", "tree"][..], &["diff", "whole", "tree", "--text"]] {
            let output = place.command(arguments).env("SECRET", SECRET).output().expect("closc runs");
            let shown = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8_lossy(&shown);
            assert!(!shown.contains(SECRET) && !shown.contains("root:x"), "{file}, {number}: {shown}");
            assert_ne!(output.status.code(), Some(0), "{file}, {number}, {arguments:?}: {shown}");
            if file != &own {
                // `diff` reads only files with different digests.
                let mut other = manifest.clone();
                other["files"][file.as_str()]["blake3"] = "0".repeat(64).into();
                place.write("tree/manifest.json", other.to_string());
            }
        }
        if file != &own {
            place.write("tree/manifest.json", manifest.to_string());
        }
        let removed = if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir(&path)
        } else {
            std::fs::remove_file(&path)
        };
        removed.expect("it is ours");
        std::fs::copy(place.path("whole").join(file), &path).expect("a file of the tree");
    }
    place.ends(0, &["diff", "whole", "tree"]);
    place.ends(0, &["verify", "tree", "--quiet"]);
}

/// A saved difference names its sides, but cannot make closc show their content.
#[test]
fn saved_differences_lead_nowhere() {
    let place = Place::new();
    place.write("secret", SECRET);
    place.write("old.yaml", place.read("topologies/lab/two-planes.yaml"));
    place.write("new.yaml", format!("{}exceptions: {{ drained: [p0-t0-001] }}\n", place.read("old.yaml")));
    nix::unistd::mkfifo(&place.path("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    symlink("pipe", place.path("link")).expect("a link");
    place.ends(2, &["diff", "old.yaml", "new.yaml", "--out", "saved.json"]);
    let saved: serde_json::Value = serde_json::from_str(&place.read("saved.json")).expect("JSON");
    let secret = place.text("secret");
    for source in [
        secret.as_str(),
        "secret",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "/dev/stdin",
        "pipe",
        "link",
        "/",
        "/proc/self",
        "git:HEAD:../../etc/passwd",
        "git:--output=x:y",
        "a\0b",
        "\u{1b}[31m",
        "",
    ] {
        for side in ["old", "new"] {
            let mut hostile = saved.clone();
            hostile[side]["source"] = source.into();
            place.write("hostile.json", hostile.to_string());
            let output = place.command(&["diff", "--check", "hostile.json"]).env("SECRET", SECRET).output();
            let output = output.expect("closc runs");
            let shown = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8_lossy(&shown);
            assert_eq!(output.status.code(), Some(1), "{source:?}: {shown}");
            assert!(!shown.contains(SECRET) && !shown.contains("root:x"), "{source:?}: {shown}");
        }
    }
    place.ends(2, &["diff", "--check", "saved.json"]);
}

/// Only regular files are accepted in a folder of platforms; the content of others is not shown.
#[test]
fn folders_of_platforms_lead_nowhere() {
    let place = Place::new();
    place.write("secret", SECRET);
    place.write("fabric.yaml", FABRIC);
    std::fs::create_dir(place.path("site")).expect("a folder can be made");
    let path = place.path("site/x.yaml");
    for number in 0..12 {
        std::fs::write(&path, "").expect("a file can be written");
        instead(&place, number, &path);
        let output =
            place.command(&["check", "fabric.yaml", "--platforms", "site"]).env("SECRET", SECRET).output();
        let output = output.expect("closc runs");
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert_eq!(output.status.code(), Some(1), "{number}: {shown}");
        assert!(!shown.contains(SECRET) && !shown.contains("root:x"), "{number}: {shown}");
        let removed = if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir(&path)
        } else {
            std::fs::remove_file(&path)
        };
        removed.expect("it is ours");
    }
    let shown = place.ends(1, &["check", "fabric.yaml", "--platforms", "site"]);
    assert!(shown.contains("`site` has no `.yaml` or `.yml` file"), "{shown}");
}

/// Control characters in untrusted names are escaped.
#[test]
fn names_of_others_move_no_cursor() {
    let place = Place::new();
    let escape = "\u{1b}[2J\u{9b}31m\u{202e}";
    place.write("fabric.yaml", FABRIC);
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "tree", "--quiet"]);
    let inventory =
        serde_json::json!({ "devices": { escape: { "endpoint": "127.0.0.1:1", "device_id": 1 } } });
    place.write("inventory.json", inventory.to_string());
    let object = format!("git:HEAD:{escape}");
    let push = ["push", "tree", "--inventory", "inventory.json", "--timeout", "1"];
    for arguments in [
        &push[..],
        &[&push[..], &["--device", escape]].concat(),
        &["drift", "tree", "--inventory", "inventory.json"],
        &["diff", "fabric.yaml", escape],
        &["diff", "fabric.yaml", &object],
        &["check", "fabric.yaml", "--platforms", escape],
        &["verify", escape],
    ] {
        let output = place.closc(arguments);
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert!(output.status.code().is_some_and(|code| code != 0), "{arguments:?}: {shown}");
        let acts = |c: char| c == '\u{1b}' || c == '\u{9b}' || c == '\u{202e}';
        assert!(!shown.contains(acts), "{arguments:?}: {shown:?}");
    }
}
