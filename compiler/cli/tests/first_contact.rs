//! First steps of a new user: the list of commands, commands of other tools, formats, `--quiet`, tables from
//! spreadsheets.

mod common;

use common::Place;

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
    ] {
        let said = place.ends(64, &[word, "fabric.yaml"]);
        assert!(said.contains(&format!("unknown command `{word}`")) && said.contains(answer), "{said}");
    }
    assert!(place.ends(64, &["verfy"]).contains("'verify'"), "spelling is still corrected");
    let said = place.ends(64, &["check", LAB, "--format", "markdown"]);
    assert!(said.contains("`closc check` does not support `--format markdown`"), "{said}");
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
        checked.contains("  rails\n") && checked.contains("\nT0: ") && checked.contains(", down to up "),
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

/// Some spreadsheets separate cells by `;`, write decimal commas, and begin with a byte order mark.
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
