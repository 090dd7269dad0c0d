//! `closc diff`, `drain`, `undrain`, `grow`, and `push` of a saved difference on the command line.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::common::{Place, small_fabric};

fn p4() -> String {
    small_fabric("diffed", 2, "bmv2", "p4")
        + "qos: lossy-trim
"
}

fn with(lines: &str) -> String {
    p4() + lines
}

fn with_dscp() -> String {
    p4().replace("qos: lossy-trim", "qos: { base: lossy-trim, classes: { data: { dscp: [22] } } }")
}

/// A folder with two files that differ in a traffic class.
fn place() -> Place {
    let place = Place::new();
    place.write("a.yaml", p4());
    place.write("b.yaml", with_dscp());
    place
}

/// ECN thresholds that are too high for the buffer of the platform.
const LATE: &str = "\
fabric: diffed
planes: 1
routing: ecmp-static
hosts: { groups: 2, per_group: 32, nic: { speed: 400G } }
tiers:
  t0: { platform: th5-128x400g, up: 32 }
  t1: { platform: th5-128x400g }
cables:
  nic-t0: { length: 3m, medium: dac }
  t0-t1: { length: 30m, medium: dr4 }
qos: { base: lossless, classes: { data: { ecn: { thresholds: { min: 1GB, max: 2GB, probability: 5 } } } } }
";

#[test]
fn what_check_refuses_is_no_side() {
    let place = place();
    place.write("late.yaml", LATE);
    assert!(place.ends(1, &["check", "late.yaml"]).contains("error[E0721]"));
    assert!(place.ends(1, &["diff", "a.yaml", "late.yaml"]).contains("error[E0721]"));
    assert!(place.ends(1, &["diff", "late.yaml", "a.yaml"]).contains("error[E0721]"));
}

#[test]
fn sides_are_files_revisions_and_trees() {
    let place = place();
    assert_eq!(place.ends(0, &["diff", "a.yaml", "a.yaml"]), "a.yaml and a.yaml describe the same fabric\n");
    assert!(place.ends(2, &["diff", "a.yaml", "b.yaml"]).contains("~ qos.classes.data.dscp  "));
    place.ends(0, &["compile", "a.yaml", "--out", "a"]);
    place.ends(0, &["compile", "b.yaml", "--out", "b"]);
    let text = place.ends(2, &["diff", "a", "b", "--text"]);
    assert!(text.contains("qos|classes.data.dscp: [4] ->"), "{text}");
    assert!(
        text.contains("+ switches/entries.txtpb  8 files (`p0-t0-001`, ") && text.contains("dscp=22 ->"),
        "{text}"
    );
    assert!(text.contains("--- old/switches/p0-t0-001/"), "{text}");
    assert!(place.ends(1, &["diff", "a", "b.yaml"]).contains("compile the file first"));
    assert!(place.ends(1, &["diff", "a", "nowhere.yaml"]).contains("`nowhere.yaml` cannot be read"));
    if !place.program("git").arg("--version").output().is_ok_and(|run| run.status.success()) {
        closc_skip::skip("git is not installed");
        return;
    }
    let commit = "git init -q . && git add a.yaml && git -c user.name=t -c user.email=t@example.org commit -qm a && \
                  cp b.yaml a.yaml";
    assert!(place.program("sh").args(["-c", commit]).status().is_ok_and(|status| status.success()));
    let text = place.ends(2, &["diff", "git:HEAD:a.yaml", "a.yaml"]);
    assert!(text.contains("~ qos.classes.data.dscp  "), "{text}");
    assert!(place.ends(1, &["diff", "git:HEAD", "a.yaml"]).contains("write `git:REV:PATH`"));
}

#[test]
fn every_form_says_the_same() {
    let place = place();
    let diff = ["diff", "a.yaml", "b.yaml", "--waves"];
    let form = |form: &str| place.ends(2, &[&diff[..], &["--format", form]].concat());
    let text = form("human");
    assert!(text.contains("\n  wave 1 (4 min 40 s): plane 0, without 2 T1s"), "{text}");
    assert!(text.contains("\n    hosts leave 4 switches and cables of plane 0 (2 path tables)\n"), "{text}");
    assert!(text.ends_with("  in all about 10 min 20 s\n"), "{text}");
    let text = form("markdown");
    assert!(
        text.starts_with("### `a.yaml` -> `b.yaml`\n\n**Not hitless**: ")
            && text.contains("\nwaves 1 to 2 (4 min 40 s each), one per plane (0, 1); the first: plane 0")
            && text.matches("<details>").count() == text.matches("\n</details>\n").count(),
        "{text}"
    );
    let text = form("html");
    assert!(
        text.starts_with("<!doctype html>")
            && text.contains("<h3>Waves</h3>\n<ol>\n<li>plane 0, without 2 T1s"),
        "{text}"
    );
    let text = form("github");
    assert!(text.contains("::notice title=fabric difference::~ qos.classes.data.dscp: "), "{text}");
    assert!(text.contains("::notice title=rollout::wave 1 (") && text.contains("%0A  wait until"), "{text}");

    let json = place.json(2, &diff);
    let waves = json["waves"].as_array().expect("waves have a structure");
    assert_eq!(waves.len(), 3);
    assert_eq!(waves[1]["plane"], 1);
    assert_eq!(waves[1]["switches"], serde_json::json!(["p1-t0-001", "p1-t0-002", "p1-t1-001", "p1-t1-002"]));
    assert_eq!(waves[1]["steps"][0]["action"], "deny-paths");
    assert_eq!(waves[1]["back"][0]["action"], "deny-paths");
    assert_eq!(waves[1]["seconds"], 280);
    assert!(
        place
            .ends(64, &["check", "a.yaml", "--format", "html"])
            .contains("`closc check` does not support `--format html`")
    );
    let why = place.ends(2, &["diff", "a.yaml", "b.yaml", "--waves", "--share", "10"]);
    assert!(why.contains("but the limit is 10 %"), "{why}");
}

#[test]
fn a_saved_difference_is_shown_and_checked() {
    let place = place();
    let first = place.ends(2, &["diff", "a.yaml", "b.yaml", "--waves", "--out", "plan.diff"]);
    assert_eq!(place.ends(2, &["diff", "--show", "plan.diff"]), first);
    assert_eq!(place.ends(2, &["diff", "--check", "plan.diff"]), first);
    // A comment does not change the meaning of a file; a cable length does.
    place.write("a.yaml", format!("# looked at\n{}", p4()));
    place.ends(2, &["diff", "--check", "plan.diff"]);
    place.write("a.yaml", p4().replace("t0-t1: { length: 1m", "t0-t1: { length: 2m"));
    let why = place.ends(1, &["diff", "--check", "plan.diff"]);
    assert!(
        why.contains("the saved difference is stale: the digest of `a.yaml` changed from ")
            && why.contains("compare again"),
        "{why}"
    );
    let why = place.ends(1, &["push", "plan.diff", "--inventory", "lab"]);
    assert!(
        why.contains("is stale: the digest of `a.yaml` changed from "),
        "a stale difference is not pushed either: {why}"
    );
    place.write("other.json", "{}");
    assert!(place.ends(1, &["diff", "--show", "other.json"]).contains("is not a saved difference"));
}

/// The planes that a push worked on, in the order of its events.
fn planes(place: &Place, args: &[&str]) -> Vec<u64> {
    let output = place.closc(&[args, &["--format", "json"]].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut planes: Vec<u64> = events.filter_map(|event| event["plane"].as_u64()).collect();
    planes.dedup();
    planes
}

#[test]
fn live_switches_are_a_side_and_take_a_saved_difference() {
    let place = place();
    place.ends(0, &["lab", "up", "a.yaml"]);
    assert!(place.ends(1, &["diff", "live", "a.yaml"]).contains("`live` needs `--inventory`"));

    // Empty switches need the complete first file. After the push, they have no differences.
    let text =
        place.ends(2, &["diff", "live", "a.yaml", "--inventory", "lab", "--waves", "--out", "first.diff"]);
    assert!(
        text.contains("~ pipeline  `p0-t0-001`, `p0-t0-002`, `p0-t1-001` and 5 more: none -> 0x"),
        "{text}"
    );
    place.ends(2, &["diff", "--check", "first.diff", "--inventory", "lab"]);
    assert!(
        place.ends(0, &["push", "first.diff", "--inventory", "lab"]).starts_with("8 switches up to date")
    );
    assert_eq!(
        place.ends(0, &["diff", "live", "a.yaml", "--inventory", "lab"]),
        "live and a.yaml describe the same fabric\n"
    );
    let why = place.ends(1, &["push", "first.diff", "--inventory", "lab"]);
    assert!(why.contains("is stale: the state of switches has changed"), "{why}");

    live_and_a_tree(&place);
    a_saved_difference_has_its_order(&place);

    // Another controller changed the switch in the meantime.
    place.write("c.yaml", with_dscp().replace("[22]", "[24]"));
    place.ends(2, &["diff", "live", "c.yaml", "--inventory", "lab", "--out", "other.diff"]);
    place.ends(0, &["push", "other.diff", "--inventory", "lab"]);
    let why = place.ends(1, &["push", "plan.diff", "--inventory", "lab"]);
    assert!(
        why.contains("the live state has changed: `p0-t0-001`, ")
            && why.contains(" and 3 more match neither side"),
        "{why}"
    );
}

/// Compares live switches and a tree in both directions.
fn live_and_a_tree(place: &Place) {
    let lab = ["--inventory", "lab"];
    place.ends(0, &["compile", "b.yaml", "--out", "b"]);
    let text = place.ends(2, &[&["diff", "live", "b"][..], &lab].concat());
    assert!(text.contains("+ ingress.dscp_class  `p0-t0-001`") && text.contains(": dscp=22 ->"), "{text}");
    let text = place.ends(2, &[&["diff", "b", "live"][..], &lab].concat());
    assert!(text.contains("- ingress.dscp_class  `p0-t0-001`"), "{text}");
}

/// A push follows the order of waves in a saved difference, and a second push changes nothing.
fn a_saved_difference_has_its_order(place: &Place) {
    place.ends(2, &["diff", "a.yaml", "b.yaml", "--waves", "--out", "plan.diff"]);
    let mut saved: serde_json::Value = serde_json::from_str(&place.read("plan.diff")).unwrap();
    saved["waves"].as_array_mut().unwrap().swap(0, 1);
    place.write("plan.diff", saved.to_string());
    assert!(
        place
            .ends(2, &["push", "plan.diff", "--inventory", "lab", "--dry-run"])
            .contains("8 switches change")
    );
    assert_eq!(
        planes(place, &["push", "plan.diff", "--inventory", "lab"]),
        [1, 0],
        "as the file orders them"
    );
    assert!(place.ends(0, &["push", "plan.diff", "--inventory", "lab"]).contains("; 0 updates sent"));
    place.ends(0, &["drift", "b", "--inventory", "lab"]);
}

/// The switches of a test, each in its own process.
struct Switches(Vec<Child>);

impl Switches {
    /// Starts them, and writes the inventory `lab.yaml`.
    fn begin(place: &Place, names: &[String]) -> Switches {
        let mut inventory = String::from("devices:\n");
        let mut all = Switches(Vec::new());
        for (number, name) in names.iter().enumerate() {
            let (id, at) = (format!("{}", number + 1), format!("unix:{name}.sock"));
            let arguments = ["switch", "--no-p4", "--device-id", &id, "--", "--grpc-server-addr", &at];
            let mut command = place.command(&arguments);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("closc runs");
            // The switch prints its address when it is ready.
            let mut line = String::new();
            let output = child.stderr.as_mut().expect("its messages are a pipe");
            BufReader::new(output).read_line(&mut line).expect("it says where it is");
            assert!(line.contains(&format!("{name}.sock")), "{line}");
            all.0.push(child);
            let plane = &name[1..2];
            let _ =
                writeln!(inventory, "  {name}: {{ endpoint: \"{at}\", device_id: {id}, plane: {plane} }}");
        }
        place.write("lab.yaml", inventory);
        all
    }
}

impl Drop for Switches {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// T1s are added above T0s in service. Plane by plane, all switches configure their ports towards the new T1s before
/// a switch sends over them.
#[test]
fn a_saved_growth_is_pushed_in_stages() {
    let place = Place::new();
    let fabric = |up: u8, more: &str| {
        format!(
            "fabric: grown\nplanes: 2\nrouting: ecmp-static\n\
             hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
             tiers:\n  t0: {{ platform: bmv2, os: p4, up: {up} }}\n  t1: {{ platform: bmv2, os: p4 }}\nqos: none\n{more}"
        )
    };
    let later = "exceptions: { drained: [p0-t1-003, p0-t1-004, p1-t1-003, p1-t1-004] }\n";
    for (name, text) in [("old", fabric(2, "")), ("new", fabric(4, "")), ("stage", fabric(4, later))] {
        place.write(&format!("{name}.yaml"), text);
        place.ends(0, &["compile", &format!("{name}.yaml"), "--out", name]);
    }
    let tiers = ["t0-001", "t0-002", "t1-001", "t1-002", "t1-003", "t1-004"];
    let names: Vec<String> =
        ["p0", "p1"].iter().flat_map(|plane| tiers.map(|name| format!("{plane}-{name}"))).collect();
    let _switches = Switches::begin(&place, &names);
    let lab = ["--inventory", "lab.yaml"];
    let old = ["push", "old", "--select", "device=p*-t0-*,device=p*-t1-001,device=p*-t1-002"];
    place.ends(0, &[&old[..], &lab].concat());
    let text = place.ends(2, &["diff", "old.yaml", "new.yaml", "--waves", "--out", "grow.diff"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("compiled with 4 T1s (`p0-t1-003` to `p1-t1-004`) in `exceptions.drained`"),
        "{text}"
    );
    // The push stops after the first plane of the first stage. That plane then has the state with the new T1s
    // drained.
    let push = [&["push", "grow.diff"][..], &lab].concat();
    let why = place.ends(1, &[&push[..], &["--gate", "false"]].concat());
    assert!(why.contains("stopped: "), "{why}");
    place.ends(0, &[&["drift", "stage", "--plane", "0"][..], &lab].concat());
    place.ends(2, &[&["drift", "new", "--plane", "0"][..], &lab].concat());
    place.ends(0, &[&["drift", "old", "--select", "device=p1-t0-*"][..], &lab].concat());
    // The next push finishes the work; another one does not return to an earlier stage.
    place.ends(0, &push);
    place.ends(0, &[&["drift", "new"][..], &lab].concat());
    assert!(place.ends(0, &push).contains("; 0 updates sent"));
}

/// A fabric file does not contain files of switches, so a difference of two fabric files changes only switches with
/// P4Runtime.
#[test]
fn a_saved_difference_names_the_switches_that_it_does_not_change() {
    let place = Place::new();
    for (name, mtu) in [("a", 9100), ("b", 9214)] {
        let text = format!(
            "fabric: mixed\nplanes: 1\nrouting: ecmp-static\n\
             hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 100G, lanes: 1 }} }}\n\
             tiers:\n  t0: {{ platform: bmv2, os: p4, up: 2 }}\n  t1: {{ platform: linux, os: frr }}\n\
             qos: none\nmtu: {{ link: {mtu} }}\n"
        );
        place.write(&format!("{name}.yaml"), text);
        place.ends(0, &["compile", &format!("{name}.yaml"), "--out", name]);
    }
    let _switches = Switches::begin(&place, &["p0-t0-001", "p0-t0-002"].map(str::to_owned));
    let lab = ["--inventory", "lab.yaml"];
    place.ends(0, &[&["push", "a"][..], &lab].concat());
    let warnings = |args: &[&str]| {
        let output = place.closc(&[args, &lab].concat());
        String::from_utf8(output.stderr).expect("messages are text")
    };
    let rest = "2 switches run `frr` and are skipped (first: `p0-t1-001`";
    let of_files = format!(
        "{rest}): a fabric file contains no files for them; compile both sides and compare the trees"
    );
    let of_trees = format!("{rest} with `daemons`");
    for (old, new, saved, named) in
        [("a.yaml", "b.yaml", "files.diff", &of_files), ("a", "b", "trees.diff", &of_trees)]
    {
        place.ends(2, &["diff", old, new, "--out", saved]);
        let said = warnings(&["push", saved]);
        assert!(said.contains(named), "{said}");
        let json = place.json(0, &[&["push", saved][..], &lab].concat());
        assert_eq!(json["left-alone"][0]["switches"], 2, "{json}");
    }
    let said = warnings(&["diff", "live", "a.yaml"]);
    assert!(said.contains(&of_files), "{said}");
    // A rule makes the switches reachable, but the difference contains nothing for them.
    let rule = "ssh:\n- { devices: 'p0-t1-*', address: '{name}.invalid', plane: 0 }\n";
    place.write("lab.yaml", place.read("lab.yaml") + rule);
    let said = place.ends(1, &[&["push", "files.diff"][..], &lab].concat());
    assert!(said.contains("`p0-t1-001` is configured by files, which a fabric file does not have"), "{said}");
    place.ends(0, &[&["push", "files.diff", "--select", "device=p0-t0-*"][..], &lab].concat());
}

/// Isolated cables are also drained, so they leave both lists.
#[test]
fn isolated_cables_are_not_undrained() {
    let place = Place::new();
    let base = "fabric: isolated\nplanes: 2\nhosts: { groups: 2, per_group: 4, nic: { speed: 200G, lanes: 2 } }\n\
                tiers:\n  t0: { platform: th5-512x100g, os: sonic, up: 2 }\n  t1: { platform: th5-512x100g, os: sonic }\n\
                qos: none\n";
    for lists in [
        "isolated: [p0-t0-001--p0-t1-002]",
        "isolated: [p0-t0-001--p0-t1-002], drained: [p0-t0-001--p0-t1-002]",
    ] {
        place.write("a.yaml", format!("{base}exceptions: {{ {lists} }}\n"));
        let text = place.ends(1, &["undrain", "p0-t0-001--p0-t1-002", "a.yaml"]);
        assert!(text.contains("is isolated") && text.contains("from `exceptions.isolated`"), "{text}");
    }
}

#[test]
fn drain_and_undrain_switches_planes_and_cables() {
    let place = place();
    for (name, line, denied) in [
        ("p1-t1-002", "drained: [p1-t1-002]", "lose 1 of their 4 paths, in plane 1 (25 %)"),
        ("plane 1", "drained: [plane 1]", "in plane 1 (50 %)"),
        ("p0-t0-001--p0-t1-001", "drained: [p0-t0-001--p0-t1-001]", "lose 1 of their 4 paths, in plane 0"),
    ] {
        place.write("a.yaml", p4());
        let text = place.ends(2, &["drain", name, "a.yaml"]);
        assert!(text.contains(denied) && text.contains("hitless: hosts stop using it"), "{text}");
        assert_eq!(place.read("a.yaml"), p4(), "nothing is written unless it was asked for");
        place.ends(0, &["drain", name, "a.yaml", "--write"]);
        let drained = place.read("a.yaml");
        assert!(
            drained.replace(['\n', '-', '"'], " ").contains(&name.replace('-', " ")),
            "{line}\n{drained}"
        );
        // Path tables of hosts list the drained element in their denylist.
        place.ends(0, &["compile", "a.yaml", "--out", "tree"]);
        let table: serde_json::Value =
            serde_json::from_str(&place.read("tree/path-tables/group-0001.json")).unwrap();
        assert!(table["denied"].as_array().is_some_and(|denied| !denied.is_empty()), "{name}: {table}");
        let text = place.ends(0, &["undrain", name, "a.yaml", "--write"]);
        assert!(text.contains("gain"), "{text}");
        assert!(place.ends(0, &["diff", "a.yaml", "a.yaml"]).contains("describe the same fabric"));
        assert!(!place.read("a.yaml").contains(name), "{}", place.read("a.yaml"));
    }
    assert!(
        place.ends(1, &["drain", "p9-t0-001", "a.yaml"]).contains("no plane, switch or cable `p9-t0-001`")
    );
}

/// If switches choose the path, a drain moves traffic only if it changes an artefact of a device that has an
/// alternative path.
#[test]
fn a_drain_says_who_sends_past_it() {
    let place = Place::new();
    let base = small_fabric("moved", 2, "linux", "frr") + "qos: none\n";
    let fabric = |routing: &str, os: &str| {
        base.replace("hosts:", &format!("routing: {routing}\nhosts:"))
            .replace("nic: {", &format!("os: {os}, nic: {{"))
    };
    let none = "no artefact makes nodes avoid";
    for (routing, os, name, hitless, text) in [
        ("ecmp-static", "none", "p0-t0-001", false, none),
        ("ecmp-static", "none", "plane 1", false, none),
        ("ecmp-static", "none", "su001-n001/nic0.p0", false, none),
        ("bgp-unnumbered", "none", "su001-n001/nic0.p0", false, none),
        ("ecmp-static", "none", "p0-t1-001", true, "hitless: switches route around it before it is changed"),
        ("bgp-unnumbered", "none", "p0-t1-001", true, "a last resort (RFC 8326)"),
        ("ecmp-static", "linux", "p0-t0-001", true, "hitless: nodes route around it before it is changed"),
    ] {
        place.write("m.yaml", fabric(routing, os));
        let shown = place.ends(2, &["drain", name, "m.yaml"]);
        assert!(shown.contains(text), "{routing}, {os}, {name}:\n{shown}");
        assert_eq!(!shown.contains("not hitless"), hitless, "{routing}, {os}, {name}:\n{shown}");
    }
}

#[test]
fn growth_is_a_work_order_with_ports_and_lengths() {
    let place = place();
    place.write("c.yaml", p4().replace("groups: 2", "groups: 3"));
    let text = place.ends(2, &["grow", "a.yaml", "c.yaml"]);
    assert!(text.starts_with("install 2 switches, remove 0; 2 NICs added\n"), "{text}");
    assert!(
        text.contains("add t0-t1: 4 cables of 1m virtual")
            && text.contains("existing addresses and segments are unchanged"),
        "{text}"
    );
    let csv = place.ends(2, &["grow", "a.yaml", "c.yaml", "--csv"]);
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "action,plane,kind,lower_device,lower_port,upper_device,upper_port,from_device,from_port,length,medium"
        )
    );
    let lines: Vec<&str> = lines.collect();
    // Each plane gets two NIC cables and two uplinks; no cables are pulled or moved.
    assert_eq!(lines.len(), 8, "{csv}");
    assert!(lines.iter().all(|line| line.starts_with("add,") && line.ends_with(",1m,virtual")), "{csv}");
    assert!(
        lines.iter().any(|line| line.starts_with("add,1,t0-t1,p1-t0-003,") && line.contains(",p1-t1-002,")),
        "{csv}"
    );
    let json = place.json(2, &["grow", "a.yaml", "c.yaml"]);
    assert_eq!((json["switches_added"].as_u64(), json["jobs"].as_array().map(Vec::len)), (Some(2), Some(8)));
    assert_eq!(json["renumbers"], serde_json::json!([]));
    place.ends(0, &["grow", "a.yaml", "a.yaml"]);
    // Other widths do not move cables, but change every segment.
    place.write("d.yaml", with("srv6: { widths: { plane: 4, index: 10 } }\n"));
    let json = place.json(2, &["grow", "a.yaml", "d.yaml"]);
    assert_eq!(json["renumbers"], serde_json::json!(["`srv6.widths`"]));
    // So does another plan. It is named first, because it determines the widths.
    place.write("e.yaml", with("srv6: { plan: plane-in-block }\n"));
    let text = place.ends(2, &["grow", "a.yaml", "e.yaml"]);
    assert!(
        text.contains("not only growth: `srv6.plan`, `srv6.widths` would renumber existing elements"),
        "{text}"
    );
}

/// A fabric with BGP and one plane.
const BGP: &str = "fabric: bgp
planes: 1
routing: bgp-unnumbered
hosts: { groups: 8, per_group: 4, nic: { speed: 100G, lanes: 1 }, os: linux }
tiers:
  t0: { platform: linux, os: frr, up: 8 }
  t1: { platform: linux, os: frr }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
";

/// Counts the switches and nodes whose files differ between two trees.
fn differing(place: &Place, old: &str, new: &str) -> [u64; 2] {
    ["switches", "hosts"].map(|kind| {
        let folder = place.path(&format!("{old}/{kind}"));
        let devices =
            std::fs::read_dir(folder).expect("it can be listed").map(|entry| entry.expect("a folder"));
        let differs = |device: &std::fs::DirEntry| {
            let other = place.path(new).join(kind).join(device.file_name());
            let mut files =
                std::fs::read_dir(device.path()).expect("a folder").map(|file| file.expect("a file"));
            other.is_dir()
                && files.any(|file| {
                    std::fs::read(file.path()).ok() != std::fs::read(other.join(file.file_name())).ok()
                })
        };
        devices.filter(differs).count() as u64
    })
}

#[test]
fn what_bgp_leaves_alone_is_not_announced_as_changed() {
    let place = Place::new();
    place.write("a.yaml", BGP);
    place.ends(0, &["compile", "a.yaml", "--out", "a"]);
    for (number, exceptions) in [
        "drained: [p0-t1-003]",
        "drained: [p0-t0-002]",
        "drained: [\"p0-t0-002--p0-t1-003\"]",
        "absent: [\"p0-t0-002--p0-t1-003\"]",
        "absent: [p0-t1-008]",
        "absent: [su003-n001]",
    ]
    .into_iter()
    .enumerate()
    {
        place.write("b.yaml", format!("{BGP}exceptions: {{ {exceptions} }}\n"));
        let tree = format!("b{number}");
        place.ends(0, &["compile", "b.yaml", "--out", &tree]);
        let [switches, nodes] = differing(&place, "a", &tree);
        let json = place.json(2, &["diff", "a.yaml", "b.yaml", "--waves"]);
        let changed = |kind: &str| {
            let all = json["artefacts"].as_array().expect("a list").iter();
            all.filter(|of| of["kind"] == kind)
                .map(|of| of["changed"].as_u64().expect("a number"))
                .sum::<u64>()
        };
        assert_eq!([changed("switches"), changed("nodes")], [switches, nodes], "{exceptions}");
        assert_eq!(changed("path tables"), 0);
        let text = place.ends(2, &["diff", "a.yaml", "b.yaml", "--waves"]);
        assert!(!text.contains("segment") && !text.contains("path table"), "{text}");
    }
}

/// With one plane, a T0 cannot be changed without cutting off its NICs. This is a result, not a failure.
#[test]
fn waves_of_one_plane_are_refused_with_the_reason_and_the_report() {
    let place = Place::new();
    place.write("a.yaml", BGP);
    place.write("c.yaml", format!("{BGP}mtu: {{ link: 9100, payload: 9000 }}\n"));
    let text = place.ends(2, &["diff", "a.yaml", "c.yaml", "--waves"]);
    assert!(
        text.contains("~ mtu.link") && text.contains("\nwaves\n  none: draining `p0-t0-001` cuts"),
        "{text}"
    );
    assert!(text.contains("there is no other plane"), "{text}");
    let json = place.json(2, &["diff", "a.yaml", "c.yaml", "--waves"]);
    assert!(json["no_waves"].as_str().is_some_and(|why| why.contains("no other plane")), "{json}");
}

/// A fabric of SONiC switches, some of them with exceptions.
fn sonic(more: &str) -> String {
    format!(
        "fabric: pod\nplanes: 2\nhosts: {{ groups: 3, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: 2 }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n\
         cables: {{ nic-t0: {{ length: 3m }}, t0-t1: {{ length: 30m }} }}\n\
         exceptions:\n  absent: [p1-t0-001--p1-t1-002]\n  cables: {{ p0-t0-003--p0-t1-001: {{ length: 90m }} }}\n{more}"
    )
}

/// Compiles both files, applies every patch to the old CONFIG_DB of its switches, and asserts that the result is the
/// new CONFIG_DB.
#[track_caller]
fn patches_lead_from_one_to_the_other(old: &str, new: &str) -> (Vec<usize>, serde_json::Value) {
    let place = Place::new();
    place.write("a.yaml", old);
    place.write("b.yaml", new);
    for side in ["a", "b"] {
        place.ends(0, &["compile", "--quiet", &format!("{side}.yaml"), "--out", side]);
    }
    place.ends(2, &["diff", "a.yaml", "b.yaml", "--patches", "p"]);
    let json = |path: &str| -> serde_json::Value { serde_json::from_str(&place.read(path)).expect("JSON") };
    let index = json("p/patches.json");
    let folders = std::fs::read_dir(place.path("b/switches")).expect("a folder");
    let mut left: std::collections::BTreeSet<String> = folders
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("text"))
        .collect();
    let mut sizes = Vec::new();
    for group in index["groups"].as_array().expect("a list") {
        let names = group["switches"].as_array().expect("a list");
        sizes.push(names.len());
        for name in names {
            let name = name.as_str().expect("a name");
            assert!(left.remove(name), "{name} is in two groups");
            let mut config = json(&format!("a/switches/{name}/config_db.json"));
            for file in group["files"].as_array().expect("a list") {
                let patch = json(&format!("p/{}", file.as_str().expect("a name")));
                let patch: json_patch::Patch = serde_json::from_value(patch).expect("RFC 6902");
                json_patch::patch(&mut config, &patch).expect("it fits");
            }
            if group["method"] == "patch" {
                assert_eq!(config, json(&format!("b/switches/{name}/config_db.json")), "{name}");
            }
        }
    }
    for name in left {
        let of = |side: &str| place.read(&format!("{side}/switches/{name}/config_db.json"));
        assert_eq!(of("a"), of("b"), "{name} changes and is in no group");
    }
    (sizes, index)
}

#[test]
fn patches_are_those_of_every_switch_and_switches_that_are_alike_share_one() {
    let dscp = "qos: { base: lossy-trim, classes: { data: { dscp: [22] } } }\n";
    let (sizes, index) = patches_lead_from_one_to_the_other(&sonic(""), &sonic(dscp));
    assert_eq!(sizes.iter().sum::<usize>(), 10, "{index}");
    assert_eq!(sizes.iter().max(), Some(&2), "{index}");
    assert!(index["groups"].to_string().contains("\"method\":\"patch\""), "{index}");
    // Servers are the same for all switches; addresses differ.
    let services = "services: { ntp: [10.0.0.1], syslog: [10.0.0.2] }\n";
    let (sizes, _) = patches_lead_from_one_to_the_other(&sonic(""), &sonic(services));
    assert!(sizes.len() < 10, "{sizes:?}");
    let (sizes, _) = patches_lead_from_one_to_the_other(&sonic(""), &sonic("mtu: { link: 9100 }\n"));
    assert!(sizes.len() < 10, "{sizes:?}");
    let links = "addresses: { loopbacks: \"fd00:7::/64\" }\n";
    let (sizes, _) = patches_lead_from_one_to_the_other(&sonic(""), &sonic(links));
    assert_eq!(sizes, [1; 10]);
}

/// SONiC's updater lists hwskus by release: TH6 since 202605, SN6600 on master only.
#[test]
fn the_stated_release_decides_between_patch_and_reload() {
    let method = |platform: &str, release: &str| {
        let file = |detection: &str| {
            format!(
                "fabric: wd\nplanes: 1\nrouting: ecmp-static\n{release}\
                 hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 800G, lanes: 8 }} }}\n\
                 tiers:\n  t0: {{ platform: {platform}, os: sonic, up: 2 }}\n  t1: {{ platform: {platform}, os: sonic }}\n\
                 cables: {{ nic-t0: {{ length: 3m, medium: aoc }}, t0-t1: {{ length: 30m, medium: dr4 }} }}\n\
                 qos: {{ base: lossless, watchdog: {{ action: drop, detection: {detection} }} }}\n"
            )
        };
        let (_, index) = patches_lead_from_one_to_the_other(&file("400ms"), &file("800ms"));
        index["groups"][0]["method"].as_str().expect("a method").to_owned()
    };
    let of = |release: &str| format!("releases: {{ sonic: {release} }}\n");
    assert_eq!(method("th6-128x800g", ""), "reload");
    assert_eq!(method("th6-128x800g", &of("202511")), "reload");
    assert_eq!(method("th6-128x800g", &of("202605")), "patch");
    assert_eq!(method("spectrum6-sn6600", &of("202605")), "reload");
    assert_eq!(method("spectrum6-sn6600", &of("master")), "patch");
}

#[test]
fn a_cable_is_two_patches_and_a_folder_has_those_of_one_change() {
    let more = sonic("").replace("absent: [", "absent: [p0-t0-001--p0-t1-001, ");
    let (sizes, index) = patches_lead_from_one_to_the_other(&sonic(""), &more);
    assert_eq!(sizes, [1, 1], "{index}");
    let place = place();
    std::fs::create_dir(place.path("p")).expect("a folder");
    place.write("p/old.json", "");
    let said = place.ends(1, &["diff", "a.yaml", "b.yaml", "--patches", "p"]);
    assert!(said.contains("`p` is not empty"), "{said}");
    let said = place.ends(1, &["diff", "a.yaml", "live", "--patches", "q"]);
    assert!(said.contains("push --dry-run"), "{said}");
}
