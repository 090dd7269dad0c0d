//! `closc verify` on compiled trees: output and exit codes.

use crate::common::Place;

/// A folder with a compiled tree of two planes.
fn compile_tree() -> Place {
    let place = Place::new();
    place.ends(0, &["compile", "topologies/lab/two-planes.yaml", "--out", "tree"]);
    place
}

/// Damages a route: a T0 sends uSID 4001 out of the port to another T1.
fn damage(place: &Place) {
    let file = "tree/switches/p0-t0-001/ip.batch";
    let batch = place.read(file);
    let route = batch.lines().find(|line| line.contains(":4001::/48 ")).expect("a route to the first T1");
    let other = batch.lines().find(|line| line.contains(":4002::/48 ")).expect("a route to the second T1");
    let via = other.split_once(" via ").expect("over a port").1;
    let wrong = format!("{} via {via}", route.split_once(" via ").expect("over a port").0);
    place.write(file, batch.replace(route, &wrong));
}

#[test]
fn a_compiled_tree_holds() {
    let run = compile_tree().closc(&["verify", "tree"]);
    let (printed, said) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(0), "{printed}");
    assert!(printed.contains("paths: 40 of 40 arrive (8 over one switch, 32 over three"), "{printed}");
    assert!(printed.contains("tested individually: 40 of 40 arrive"), "{printed}");
    assert!(printed.contains("all of them hold"), "{printed}");
    assert!(said.is_empty(), "{said}");
}

/// A missing file of a site platform is not a violation; the report names the option for it.
#[test]
fn platforms_of_the_site_are_asked_for() {
    let place = Place::new();
    std::fs::create_dir(place.path("site")).expect("the folder is new");
    let platform = place.ends(0, &["platforms", "sonic-vs", "--yaml"]);
    let own = platform.replace("id: sonic-vs", "id: hall-7").replace("Force10-S6000", "Hall-7");
    place.write("site/hall-7.yaml", own);
    place.write(
        "fabric.yaml",
        "fabric: f\nplanes: 1\nhosts: { groups: 2, per_group: 2, nic: { speed: 40G } }\ntiers:\n  \
         t0: { platform: hall-7, os: sonic, up: 2 }\n  t1: { platform: hall-7, os: sonic }\n\
         addresses: { management: 10.64.0.0/14 }\ncables:\n  nic-t0: { length: 1m, medium: virtual }\n  \
         t0-t1: { length: 1m, medium: virtual }\n",
    );
    place.ends(0, &["compile", "fabric.yaml", "--platforms", "site", "--out", "tree"]);
    let wanted = "not judged: the limits of `Hall-7` (add its platform with `--platforms`), 4 times";
    let without = place.ends(0, &["verify", "tree"]);
    assert!(without.contains(wanted), "{without}");
    let with = place.ends(0, &["verify", "tree", "--platforms", "site"]);
    assert!(!with.contains("the limits of"), "{with}");
}

/// `--tables` rejects tables of another fabric. It also rejects a folder that is not a part, even if tables are not
/// needed.
#[test]
fn tables_of_what_is_no_part_are_refused() {
    let place = compile_tree();
    place.ends(0, &["compile", "topologies/lab/bgp-unnumbered.yaml", "--out", "other"]);
    for (tables, wanted) in [
        ("nope", "`--tables nope` is not a part; in `.` there are `./other`, `./tree`"),
        ("tree/cables", "`--tables tree/cables` is not a part; there is none in `tree`"),
        ("other", "was not compiled from the same fabric file as the tree"),
    ] {
        let run = place.closc(&["verify", "tree", "--tables", tables]);
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains(wanted), "{tables}: {said}");
    }
    place.ends(0, &["verify", "tree", "--tables", "tree"]);
}

#[test]
fn a_damaged_tree_shows_the_trace_of_a_packet() {
    let place = compile_tree();
    damage(&place);
    let printed = place.ends_with_output(1, &["verify", "tree", "--no-digests"]);
    let wanted = "error[V0605]: `p0-t0-001` sends uSID 4001 to `p0-t1-002:eth1`, which does not own it\n  \
         --> switches/p0-t0-001/ip.batch:42\n  and cables/plane-0.csv:7\n  and \
         switches/p0-t1-002/ip.batch:26\n   packet: `su001-n001/nic0` sends to `su002-n001/nic0` with \
         fcbb:bbbb:1:4001:2:8001:: over `su001-n001:nic0p0 -- p0-t0-001:eth1`\n        -> `p0-t0-001` \
         removes its own uSID, has fcbb:bbbb:4001:2:8001::, sends through `eth502` to `p0-t1-002:eth1` \
         (switches/p0-t0-001/ip.batch:42)\n        -> `p0-t1-002` does not own the first uSID, has \
         fcbb:bbbb:4001:2:8001:: (switches/p0-t1-002/ip.batch:";
    assert!(printed.contains(wanted), "{printed}");
    assert!(printed.contains("-> `p0-t1-002` has a blackhole for it: dropped\n"), "{printed}");
    assert!(printed.contains("paths: 36 of 40 arrive"), "{printed}");
}

#[test]
fn tools_get_the_same() {
    let place = compile_tree();
    damage(&place);
    let report = place.json(1, &["verify", "tree"]);
    let violations = report["violations"].as_array().expect("a list");
    assert_eq!(violations[0]["rule"], "V0101", "the file is not the compiled one");
    let owner = violations.iter().find(|v| v["rule"] == "V0605").expect("the wrong next hop is found");
    assert_eq!(owner["place"]["file"], "switches/p0-t0-001/ip.batch");
    assert!(owner["trace"].as_array().is_some_and(|steps| steps.len() == 4), "{owner:#}");
    let github = place.ends_with_output(1, &["verify", "tree", "--format", "github"]);
    let wanted = "::error file=tree/switches/p0-t0-001/ip.batch,line=42,col=1,title=V0605::";
    assert!(github.contains(wanted), "{github}");
}

/// Readers do not find the device of an empty folder, so `verify` reports the folder.
#[test]
fn a_folder_without_files_is_named() {
    let place = compile_tree();
    for folder in ["switches/p0-t0-009", "switches/p0-t0-001/old/older", "racks"] {
        std::fs::create_dir_all(place.path(&format!("tree/{folder}"))).expect("it is ours");
        let why = place.ends_with_output(1, &["verify", "tree"]);
        assert!(
            why.contains("V0107") && why.contains(&format!("`{folder}` is a folder without files")),
            "{why}"
        );
        let top = folder.replace("/old/older", "/old");
        std::fs::remove_dir_all(place.path(&format!("tree/{top}"))).expect("it is there");
        place.ends(0, &["verify", "tree"]);
    }
}

#[test]
fn what_cannot_be_read_is_another_exit_code() {
    let place = compile_tree();
    let why = place.ends(1, &["verify", "nothing"]);
    assert_eq!(why, "error: `nothing` does not exist: name the folder that `closc compile --out` wrote\n");
    let why = place.ends(1, &["verify", "."]);
    assert!(why.ends_with("`manifest.json` is missing: this is not an artefact tree\n"), "{why}");
    place.write("tree/manifest.json", "{");
    place.ends(1, &["verify", "tree"]);
}

#[test]
fn rules_are_explained() {
    let text = Place::new().ends(0, &["explain", "V0605"]);
    assert!(text.starts_with("# V0605: a route leads to a device that does not own the uSID"));
}

/// If a file is given instead of the folder, the error names the folder that was probably meant.
#[test]
fn a_file_is_no_tree() {
    let place = Place::new();
    let file = "topologies/lab/two-planes-p4.yaml";
    place.ends(0, &["compile", file, "--out", "t", "--archive", "a.tar.zst"]);
    let why = place.ends(1, &["verify", "t/manifest.json"]);
    assert!(why.contains("is a file of a compiled tree: name the folder, `t`"), "{why}");
    place.ends(0, &["verify", "a.tar.zst"]);
    assert!(place.ends(1, &["verify", file]).contains("is a file: name the folder of a compiled tree"));
}

/// An EOS configuration does not name the hardware. T1s have buffer thresholds, but T2s with virtual output queues do
/// not. The manifest distinguishes them.
#[test]
fn hardware_of_the_manifest_tells_ports_apart() {
    let place = Place::new();
    place.write(
        "mixed.yaml",
        "fabric: mixed\nplanes: 1\nrouting: bgp-unnumbered\nzones: 2\nqos: none\n\
         hosts: { groups: 2, per_group: 4, nics_per_node: 1, nic: { speed: 400G, lanes: 8 } }\n\
         tiers:\n  t0: { platform: th3-32x400g, os: eos, down: { count: 4 }, up: { count: 2 }, oversubscription: \"2:1\" }\n  \
         t1: { platform: th3-32x400g, os: eos, down: { count: 2 }, up: { count: 2 } }\n  \
         t2: { platform: q3d-7280r4-64x400g, os: eos, down: { count: 4 }, ports_per_zone: 2 }\n\
         cables:\n  nic-t0: { length: 2m, medium: dac }\n  t0-t1: { length: 30m, medium: dr4 }\n  \
         t1-t2: { length: 100m, medium: dr4 }\n\
         warnings: { W0302: allow, W0901: allow, W0904: allow, W0906: allow }\n",
    );
    place.ends(0, &["compile", "mixed.yaml", "--out", "tree"]);
    place.ends(0, &["verify", "tree"]);
}
