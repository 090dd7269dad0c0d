//! What a fabric file names stays in its folder, and nothing of somebody else's file is shown.

mod common;

use std::os::unix::fs::symlink;

use common::Place;

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
        // In the folder, but no file of pins: its first line is nobody's business either.
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
    assert!(said.contains("outside of the folder"), "{said}");
    assert!(!said.contains(SECRET), "{said}");
}
