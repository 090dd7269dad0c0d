//! A key that occurs twice in an object is reported with both lines, in every JSON file of a tree. In YAML, it is a
//! syntax error.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Memory, paths};
use closc_verify::{Report, verify};

use crate::base::{self, Base, Trees};
use crate::common;

/// Fabrics that together have each kind of JSON file.
const BASES: [Base; 6] =
    [Base::Sonic, Base::ChosenSonic, Base::Fixed, Base::ChosenTools, Base::P4, Base::Pins];

/// Maximum number of repeated lines per kind of file.
const LINES: usize = 4;

/// Returns the kind of a file: its name, or the folder of files that have a number in their name.
fn kind(path: &Utf8Path) -> String {
    let name = path.file_name().unwrap_or_default();
    match path.parent() {
        Some(folder) if !folder.starts_with(paths::SWITCHES) && !folder.starts_with(paths::HOSTS) => {
            format!("{folder}/*")
        }
        Some(_) | None => name.to_owned(),
    }
}

/// Returns line numbers, from 1, of some members of objects that can be repeated as they are: one line with a comma at
/// its end.
fn members(text: &str) -> Vec<usize> {
    let is_member = |line: &str| {
        line.trim_start().starts_with('"')
            && line.contains("\": ")
            && line.ends_with(',')
            && !line.ends_with("[,")
    };
    let all: Vec<usize> =
        (1..).zip(text.lines()).filter(|(_, line)| is_member(line)).map(|(at, _)| at).collect();
    let step = all.len().div_ceil(LINES).max(1);
    all.into_iter().step_by(step).collect()
}

/// Returns a tree in which a line of a file occurs twice.
fn with_repeated_line(tree: &Memory, path: &Utf8Path, line: usize) -> Memory {
    let mut tree = tree.clone();
    let text = String::from_utf8(tree.files[path].clone()).expect("the file is text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(line, lines[line - 1]);
    tree.files.insert(path.to_owned(), (lines.join("\n") + "\n").into_bytes());
    tree
}

/// Returns the lines of the violations of a rule in a file, each with the other line.
fn places(report: &Report, rule: &str, path: &Utf8Path) -> Vec<(Option<usize>, Vec<Option<usize>>)> {
    let own = report.violations.iter().filter(|found| found.rule.code == rule && found.place.file == path);
    own.map(|found| (found.place.line, found.others.iter().map(|place| place.line).collect())).collect()
}

#[test]
fn a_repeated_key_has_both_lines_in_every_json_file() {
    let trees = Trees::of(&BASES);
    let mut kinds = BTreeSet::new();
    for base in BASES {
        let tree = trees.tree(base);
        let json = |path: &&Utf8PathBuf| path.extension() == Some("json") && *path != paths::MANIFEST;
        for path in tree.files.keys().filter(json) {
            if !kinds.insert(kind(path)) {
                continue;
            }
            let text = String::from_utf8(tree.files[path].clone()).expect("the file is text");
            for line in members(&text) {
                let mut tree = with_repeated_line(tree, path, line);
                common::sign(&mut tree, "shape", base.routing());
                let report = verify(&tree, base::options()).expect("the tree can be read");
                let found = places(&report, "V0110", path);
                assert_eq!(found, [(Some(line + 1), vec![Some(line)])], "{base:?} {path}\n{}", report.text());
            }
        }
    }
    for wanted in ["config_db.json", "path-tables/*", "backup-ports.json", "delay.json", "p4/*"] {
        assert!(kinds.contains(wanted), "no {wanted} in {kinds:?}");
    }
}

#[test]
fn the_second_of_two_routes_to_one_prefix_is_reported() {
    let trees = Trees::of(&[Base::ChosenSonic]);
    let mut tree = trees.tree(Base::ChosenSonic).clone();
    let path = Utf8Path::new("switches/p0-t0-001/config_db.json");
    let text = String::from_utf8(tree.files[path].clone()).expect("the file is text");
    let table = text.find("\"STATIC_ROUTE\": {").expect("the switch has routes");
    let start = table + text[table..].find("\"default|").expect("the table has rows");
    let end = start + text[start..].find('}').expect("the row ends") + 1;
    let twice = [&text[..start], &text[start..end], ",\n", &text[start..]].concat();
    tree.files.insert(path.to_owned(), twice.into_bytes());
    common::sign(&mut tree, "shape", Base::ChosenSonic.routing());
    let report = verify(&tree, base::options()).expect("the tree can be read");
    let own: Vec<&str> = report
        .violations
        .iter()
        .filter(|found| found.rule.code == "V0110")
        .map(|found| found.message.as_str())
        .collect();
    let [message] = own.as_slice() else { panic!("{}", report.text()) };
    assert!(message.starts_with("key `default|"), "{message}");
    assert!(message.ends_with("` of `STATIC_ROUTE` occurs twice in one object"), "{message}");
}

#[test]
fn a_repeated_key_of_the_manifest_is_an_error() {
    let trees = Trees::of(&[Base::Sonic]);
    let tree = trees.tree(Base::Sonic);
    let path = Utf8Path::new(paths::MANIFEST);
    let text = String::from_utf8(tree.files[path].clone()).expect("the file is text");
    let row = "    \"cables/plane-0.csv\": {";
    let start = text.find(row).expect("the manifest lists cables");
    let line = text[..start].lines().count() + 1;
    let end = start + text[start..].find("},\n").expect("the row ends") + 3;
    let mut tree = tree.clone();
    tree.files.insert(path.to_owned(), [&text[..end], &text[start..]].concat().into_bytes());
    let error = verify(&tree, base::options()).expect_err("the manifest has no single meaning").to_string();
    let expected = format!(
        "`manifest.json` has the key `cables/plane-0.csv` twice in one object, in lines {line} and {}",
        line + 4
    );
    assert_eq!(error, expected);
}

#[test]
fn a_repeated_key_in_yaml_is_a_syntax_error() {
    for (base, path, line) in [
        (Base::ChosenNvue, "switches/p0-t0-001/nvue.yaml", "hostname:"),
        (Base::Tools, "hosts/su001-n001/netplan.yaml", "version:"),
    ] {
        let trees = Trees::of(&[base]);
        let path = Utf8Path::new(path);
        let text = String::from_utf8(trees.tree(base).files[path].clone()).expect("the file is text");
        let at = text.lines().position(|own| own.contains(line)).expect("the file has the line") + 1;
        let mut tree = with_repeated_line(trees.tree(base), path, at);
        common::sign(&mut tree, "shape", base.routing());
        let report = verify(&tree, base::options()).expect("the tree can be read");
        assert_eq!(places(&report, "V0102", path), [(Some(at + 1), vec![])], "{}", report.text());
    }
}
