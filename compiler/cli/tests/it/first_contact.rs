//! First steps of a new user: the list of commands, commands of other tools, formats, `--quiet`, tables from
//! spreadsheets.

use crate::common::Place;

const LAB: &str = "topologies/lab/two-planes.yaml";

#[test]
fn help_has_groups() {
    let place = Place::new();
    let help = place.ends(0, &["--help"]);
    let groups: Vec<&str> = help
        .lines()
        .filter(|line| !line.starts_with(' ') && line.ends_with(':') && !line.starts_with("Usage"))
        .collect();
    assert_eq!(groups, ["Design:", "Check:", "Build:", "Operate:", "Lab:", "Shell:", "Options:"], "{help}");
    assert!(help.contains("\n  push         Apply a compiled tree to switches\n"), "{help}");
    assert!(place.ends(0, &["check", "--help"]).contains("Usage: closc check [OPTIONS] <FILE>..."));
}

#[test]
fn commands_of_other_tools_are_answered() {
    let place = Place::new();
    for (word, answer) in [
        ("plan", "`closc push --dry-run`"),
        ("apply", "`closc push`"),
        ("graph", "`closc export drawing`"),
        ("lint", "`closc check`"),
        ("validate", "`closc check`"),
        ("show", "`closc explain device FILE SWITCH`"),
        ("list", "`closc platforms`"),
        ("ansible", "`closc export ansible`"),
        ("inventory", "`closc export ansible`"),
        ("ztp", "`closc export ztp`"),
        ("clab", "`closc export containerlab`"),
        ("ping", "`closc lab test`"),
    ] {
        let said = place.ends(64, &[word, "fabric.yaml"]);
        assert!(said.contains(&format!("unknown command `{word}`")) && said.contains(answer), "{said}");
    }
    for (word, answer) in [("clab", "containerlab"), ("netbox", "cables"), ("pdf", "report")] {
        let said = place.ends(64, &["export", word, "fabric.yaml"]);
        assert!(said.contains(&format!("`closc export {answer}`")), "{said}");
    }
    let said = place.ends(64, &["check", LAB, "--json"]);
    assert!(said.contains("`--format json`") && !said.contains("-- --json"), "{said}");
    let said = place.ends(64, &["export", "fabric.yaml"]);
    assert!(said.contains("`fabric.yaml` is not a command: write the command first"), "{said}");
    let said = place.ends(64, &["init", "--planes", "20"]);
    assert!(said.contains("20 is not a number from 1 to 16"), "{said}");
    let said = place.ends(1, &["verify", "nope"]);
    assert!(said.contains("`nope` does not exist: name the folder that"), "{said}");
    assert!(place.ends(64, &["verfy"]).contains("'verify'"), "spelling is still corrected");
    let said = place.ends(64, &["check", LAB, "--format", "markdown"]);
    assert!(said.contains("`closc check` does not support `--format markdown`"), "{said}");
}

#[test]
fn keys_in_the_singular_are_fixed_and_cause_no_other_findings() {
    let place = Place::new();
    let text = place.read("topologies/examples/rails.yaml");
    for (right, wrong) in
        [(" rails:", " rail:"), (" lanes:", " lane:"), ("\nhosts:", "\nhost:"), ("\ntiers:", "\ntier:")]
    {
        place.write("wrong.yaml", text.replace(right, wrong));
        let said = place.ends(1, &["check", "wrong.yaml"]);
        assert!(said.contains("\n1 error; nothing was written"), "{said}");
        place.ends(0, &["fix", "wrong.yaml"]);
        assert_eq!(place.read("wrong.yaml"), text, "{wrong}");
    }
    place.write("wrong.yaml", text.replace("nics_per_node:", "nic_per_node:"));
    let said = place.ends(1, &["check", "wrong.yaml"]);
    assert!(said.contains("did you mean `nics_per_node`?") && said.contains("1 error;"), "{said}");
}

#[test]
fn names_of_elements_are_proposed_with_their_padding() {
    let place = Place::new();
    let text = place.read(LAB);
    let ranges = format!("{text}\nexceptions: {{ drained: [\"p0-t1-[1-2]\"] }}\n");
    place.write("ranges.yaml", &ranges);
    let said = place.ends(1, &["check", "ranges.yaml"]);
    assert!(said.contains("did you mean `p0-t1-[001-002]`?"), "{said}");
    place.ends(0, &["fix", "ranges.yaml"]);
    assert_eq!(place.read("ranges.yaml"), ranges.replace("[1-2]", "[001-002]"));
    // If only a part of the number is in brackets, there is no automatic fix.
    let partly = format!("{text}\nexceptions: {{ drained: [\"p0-t1-1[0-2]\"] }}\n");
    place.write("partly.yaml", &partly);
    place.ends(1, &["fix", "partly.yaml"]);
    assert_eq!(place.read("partly.yaml"), partly);

    for (name, meant) in [
        ("p0-t1-[1-2]", "p0-t1-[001-002]"),
        ("p0-t1-1", "p0-t1-001"),
        ("P0_T1_1", "p0-t1-001"),
        ("SU1-N1:NIC0", "su001-n001/nic0"),
        ("Planes 1", "plane 1"),
    ] {
        let said = place.ends(1, &["whatif", "--fail", name, LAB]);
        assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
    }
    let said = place.ends(1, &["whatif", "--fail", "plane", LAB]);
    assert!(said.contains("`plane 0`") && said.contains("`--each plane`"), "{said}");
    for (kind, form) in [("T1", "p0-t1-001"), ("node 1", "su001-n001"), ("cable", "p0-t0-001--p0-t1-001")] {
        let said = place.ends(1, &["whatif", "--fail", kind, LAB]);
        assert!(
            said.contains(&format!("`{kind}` is not the name of an element: write one as `{form}`")),
            "{said}"
        );
    }
    let said = place.ends(1, &["whatif", "--fail", "leaf1", LAB]);
    assert!(said.contains("; names look like `p0-t0-001`, "), "{said}");
    let said = place.ends(1, &["drain", "p0-t1-1", LAB]);
    assert!(said.contains("did you mean `p0-t1-001`?"), "{said}");
    let said = place.ends(1, &["explain", "p0-t0-001"]);
    assert!(said.contains("use `closc explain device FILE p0-t0-001`"), "{said}");
}

#[test]
fn advice_is_true() {
    let place = Place::new();
    let fabric = place.read(LAB);
    for (from, to, wanted, unwanted) in [
        ("planes: 2", "planes: 2.0", "not a whole number", "out of range"),
        ("platform: linux", "platform:", "help: give it a value\n", "remove the key"),
        ("t0-t1: {", "t1-t0: {", "did you mean `t0-t1`?", "t1-t2` describes"),
    ] {
        assert!(fabric.contains(from), "{from}");
        place.write("wrong.yaml", fabric.replacen(from, to, 1));
        let said = place.ends(1, &["check", "wrong.yaml"]);
        assert!(said.contains(wanted) && !said.contains(unwanted), "{to}: {said}");
    }
    // This name does not exist in the correct spelling either.
    let said = place.ends(1, &["whatif", LAB, "--fail", "p0-t0-99"]);
    assert!(said.contains("`p0-t0-99` does not exist: the last") && !said.contains("did you mean"), "{said}");
    let said = place.ends(1, &["paths", "su001-n001/nic0", "su002-n001/nic0", LAB]);
    assert!(said.contains("is not a fabric file: write `closc paths FILE FROM TO`"), "{said}");
    let said = place.ends(1, &["explain", "device", "p0-t0-001", LAB]);
    assert!(said.contains("`closc explain device FILE SWITCH`"), "{said}");
}

#[test]
fn a_folder_is_not_a_fabric_file() {
    let place = Place::new();
    place.ends(0, &["compile", LAB, "--out", "tree"]);
    let said = place.ends(1, &["check", "tree"]);
    assert!(said.contains("`tree` is a folder") && said.contains("`closc verify tree`"), "{said}");
    let said = place.ends(1, &["check", "topologies/lab"]);
    assert!(
        said.contains("is a folder: name a fabric file; it has no `manifest.json`")
            && !said.contains("os error"),
        "{said}"
    );
}

#[test]
fn warnings_of_push_are_those_of_other_commands() {
    let place = Place::new();
    place.ends(0, &["compile", "topologies/examples/planes-by-nic.yaml", "--out", "tree"]);
    place.write("inventory.json", "{}");
    let said = place.ends(1, &["push", "tree", "--inventory", "inventory.json", "--dry-run"]);
    assert!(said.lines().any(|line| line.starts_with("warning: ") && line.contains("run `sonic`")), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains("closc::commands"), "{said}");
}

#[test]
fn success_is_short() {
    let place = Place::new();
    place.ends(0, &["compile", LAB, "--out", "tree", "--quiet"]);
    let short = place.ends(0, &["verify", "tree"]);
    assert!(short.contains(": all of them hold\n`--verbose` lists the rules\n"), "{short}");
    assert!(!short.contains("V0101"), "{short}");
    assert!(place.ends(0, &["verify", "tree", "--verbose"]).contains("\n  V0101  "));
    let checked = place.ends(0, &["check", LAB]);
    assert!(
        checked.contains("  rail\n") && checked.contains("\nT0: ") && checked.contains(", down to up "),
        "{checked}"
    );
}

#[test]
fn warnings_are_printed_by_check_and_counted_later() {
    let place = Place::new();
    let text = place.read(LAB);
    place.write("warned.yaml", format!("{text}\nservices: {{ ntp: [192.0.2.1] }}\n"));
    let said = |args: &[&str]| String::from_utf8(place.closc(args).stderr).expect("text");
    let first = said(&["check", "warned.yaml"]);
    assert!(first.contains("warning["), "{first}");
    place.write("demand.csv", "source,destination,gbps\ngroup-0001,group-0002,1\n");
    let later = said(&["te", "warned.yaml", "--demand", "demand.csv"]);
    assert!(
        !later.contains("warning[") && later.contains("`closc check warned.yaml` prints them"),
        "{later}"
    );
    assert!(said(&["te", "warned.yaml", "--demand", "demand.csv", "-v"]).contains("warning["));
    let nics = ["su001-n001/nic0", "su002-n001/nic0"];
    for args in [
        &["whatif", "warned.yaml", "--fail", "plane 0"][..],
        &["paths", "warned.yaml", nics[0], nics[1]],
        &["explain", "device", "warned.yaml", "p0-t0-001"],
    ] {
        let later = said(args);
        assert!(!later.contains("warning[") && later.contains("prints them"), "{later}");
    }
}

#[test]
fn init_replaces_a_file_by_force_only() {
    let place = Place::new();
    place.write("mine.yaml", "mine");
    let said = place.ends(1, &["init", "--out", "mine.yaml"]);
    assert!(said.contains("`mine.yaml` exists") && said.contains("`--force`"), "{said}");
    place.ends(0, &["init", "--out", "mine.yaml", "--force"]);
    assert!(place.read("mine.yaml").contains("\nhosts:\n"));
}

/// Some spreadsheets separate cells with `;`, write decimal commas, and begin with a byte order mark.
fn spreadsheet(csv: &str) -> String {
    format!("\u{feff}{}", csv.replace(',', ";").replace("0.5", "0,5").replace('\n', "\r\n"))
}

#[test]
fn tables_of_spreadsheets_are_read() {
    let place = Place::new();
    let csv = "source,destination,gbps\ngroup-0001,group-0002,240.5\n";
    place.write("demand.csv", csv);
    place.write("excel.csv", spreadsheet(csv));
    let te = |file: &str| place.ends(0, &["te", LAB, "--quiet", "--demand", file, "--format", "json"]);
    assert_eq!(te("demand.csv"), te("excel.csv"));

    place.ends(0, &["export", "cables", LAB, "--out", "lists"]);
    let lists = ["lists/cables/point-to-point-0.csv", "lists/cables/point-to-point-1.csv"];
    for list in lists {
        let text = place.read(list);
        place.write(&list.replace("lists/cables/", ""), spreadsheet(&text));
    }
    place.ends(0, &["import", lists[0], lists[1], "--out", "plain.yaml"]);
    place.ends(0, &["import", "point-to-point-0.csv", "point-to-point-1.csv", "--out", "excel.yaml"]);
    assert_eq!(place.read("plain.yaml"), place.read("excel.yaml"));
}

#[test]
fn mistakes_in_inventories_have_a_place_and_a_form() {
    let place = Place::new();
    let fabric = "fabric: pod\nplanes: 2\nhosts: { groups: 2, per_group: 2, nic: { speed: 200G } }\ntiers:\n  \
                  t0: { platform: linux, os: linux, up: 2 }\n  t1: { platform: linux, os: linux }\nqos: none\n";
    place.write("pod.yaml", fabric);
    place.ends(0, &["compile", "--quiet", "pod.yaml", "--out", "tree"]);
    let push = |inventory: &str, more: &[&str], code: i32| {
        place.write("i.yaml", inventory);
        place.ends(code, &[&["push", "tree", "--inventory", "i.yaml", "--dry-run"], more].concat())
    };
    let rule = "ssh:\n- { devices: 'p*', address: '{name}.invalid' }\n";
    let form = "help: an inventory has `devices`, `p4runtime`, `sonic` or `ssh`; docs/push.md has examples";
    for (text, wanted) in [
        (
            "ssh:\n- { devices: 'p*', address: a, plane: zero }\n",
            "i.yaml:2:39: expected a number from 0 to 255",
        ),
        ("- { devices: 'p*', address: a }\n", "i.yaml:1:1: expected `key: value`"),
        ("ssh: { devices: 'p*' }\n", "i.yaml:1:6: expected a list of `- { devices: PATTERN, ... }`"),
    ] {
        let said = push(text, &[], 1);
        assert!(said.contains(wanted) && said.contains(form), "{wanted}: {said}");
    }
    let said = push(rule, &["--device", "p0-*"], 1);
    assert!(said.contains("write `--select 'device=p0-*'` for a pattern"), "{said}");
    let said = push(rule, &["--plane", "0-1"], 64);
    assert!(said.contains("expected a plane number from 0, or several as `0,1`"), "{said}");
    let said = push("ssh:\n- { devices: 'p*', address: '{address}' }\n", &[], 1);
    assert!(said.contains("`{address}` needs `addresses: FILE`, the site's list of switches"), "{said}");
    let said = push("ssh:\n- { devices: 'p*', address: 192.0.2.300 }\n", &[], 1);
    assert!(said.contains("address `192.0.2.300` is neither a host name nor an address"), "{said}");
    for (address, answer) in [
        ("192.0.2.3", "have the address 192.0.2.3: `p0-t0-001`"),
        ("192.0.2.3:22", "`192.0.2.3:22` has a port: write `address: 192.0.2.3` and `port: 22`"),
        ("{hostname}.lab", "`{hostname}` is not a placeholder: use `{name}` or `{address}`"),
    ] {
        let said = push(&format!("ssh:\n- {{ devices: 'p*', address: '{address}' }}\n"), &[], 1);
        assert!(said.contains(answer), "{said}");
    }
    place.write("list.csv", "name,address\np0-t0-001,192.0.2.300\n");
    let said = push(&format!("addresses: list.csv\n{rule}"), &[], 1);
    assert!(
        said.contains("`list.csv`: `p0-t0-001` has address `192.0.2.300`, which is not an IPv4"),
        "{said}"
    );
}
