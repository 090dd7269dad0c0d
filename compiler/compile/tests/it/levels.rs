//! Every fabric file in `tests/errors/levels` results in exactly the message beside it. Other tests cover the
//! effect of levels.
//!
//! In: Markdown files with a fabric and its message. Out: one failure per file. `CLOSC_BLESS=1` rewrites the
//! messages; review them before you commit.

use closc_compile::front::{LevelError, Options, Reading, Source, read_text, rules, warning};
use closc_diagnostics::{Level, Levels, show};

use crate::topology_support as support;
use crate::topology_support::Case;

const FABRIC: &str = "\
fabric: pod
planes: 2
hosts: { groups: 4, per_group: 2, nic: { speed: 200G } }
tiers:
  t0: { platform: linux, os: linux, up: 2 }
  t1: { platform: linux, os: linux }
services: { ntp: [\"2001:db8::1\"] }
qos: none
";

fn read(text: &str, levels: Levels) -> Reading {
    let options = Options { levels, ..Options::default() };
    read_text(&Source::File("fabric.yaml".into()), text.as_bytes(), &options).expect("the text is here")
}

/// Returns the codes of all findings, and whether there is a plan.
fn finding_codes(text: &str, levels: Levels) -> (Vec<&'static str>, bool) {
    let reading = read(text, levels);
    (reading.diagnostics.iter().map(|found| found.rule.code).collect(), reading.plan.is_some())
}

fn levels(code: &str, level: Level) -> Levels {
    let mut levels = Levels::default();
    levels.state(warning(code).expect("a warning"), level, "a test");
    levels
}

#[test]
fn every_case_gives_its_message() {
    let folder = support::folder().join("levels");
    let entries = std::fs::read_dir(folder).expect("the cases are in the repository");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a case is text");
        let case = Case::parse(&text).expect("the file has a fence ```yaml");
        let reading = read(&case.yaml, Levels::default());
        assert!(reading.plan.is_none(), "{} is at fault", path.display());
        let shown = show::text::all(&reading.diagnostics, &reading.sources, show::text::Colour::Plain);
        let shown = shown.trim_end().to_owned() + "\n";
        if std::env::var_os("CLOSC_BLESS").is_some() {
            let (head, _) = text.split_once("```text\n").expect("the file has a fence ```text");
            std::fs::write(&path, format!("{head}```text\n{shown}```\n")).expect("the case can be written");
        } else {
            assert_eq!(shown, case.expected, "{}", path.display());
        }
    }
}

#[test]
fn the_example_of_the_rule_breaks_it() {
    let rule = rules().into_iter().find(|rule| rule.code == "E0123").expect("it is a rule");
    assert_eq!(finding_codes(rule.example, Levels::default()), (vec!["E0123"], false));
}

#[test]
fn a_file_states_levels_and_the_command_line_comes_first() {
    assert_eq!(finding_codes(FABRIC, Levels::default()), (vec!["W0803"], true));
    for (word, codes, is_valid) in
        [("allow", vec![], true), ("warn", vec!["W0803"], true), ("deny", vec!["W0803"], false)]
    {
        let text = format!("{FABRIC}warnings: {{ W0803: {word} }}\n");
        assert_eq!(finding_codes(&text, Levels::default()), (codes, is_valid), "{word}");
        assert_eq!(finding_codes(&text, levels("W0803", Level::Allow)), (vec![], true), "{word}");
        assert_eq!(finding_codes(&text, levels("W0803", Level::Warn)), (vec!["W0803"], true), "{word}");
        assert_eq!(finding_codes(&text, levels("W0803", Level::Deny)), (vec!["W0803"], false), "{word}");
    }
    // A level for another warning has no effect.
    assert_eq!(finding_codes(FABRIC, levels("W0801", Level::Deny)), (vec!["W0803"], true));
}

/// For a file with thousands of unknown codes, one page of findings is printed, and the number of the others.
/// With one finding per code, the run took 69 s and printed 22 MB.
#[test]
fn thousands_of_unknown_codes_are_counted_and_not_all_shown() {
    let codes: Vec<String> = (10_000..70_000).map(|code| format!("W{code}: allow")).collect();
    let text = format!("{FABRIC}warnings: {{ {} }}\n", codes.join(", "));
    let reading = read(&text, Levels::default());
    let of_rule: Vec<_> = reading.diagnostics.iter().filter(|found| found.rule.code == "E0123").collect();
    assert_eq!((of_rule.len(), reading.plan.is_none()), (20, true));
    assert_eq!(of_rule[19].notes, ["not shown: 59980 more like this"]);
    let shown = show::text::all(&reading.diagnostics, &reading.sources, show::text::Colour::Plain);
    assert!(shown.len() < 20_000, "{} bytes", shown.len());
}

/// Levels only affect how findings are reported. They do not change the plan.
#[test]
fn levels_change_no_plan() {
    let meaning = |text: &str| {
        let plan = read(text, Levels::default()).plan.expect("it is valid");
        closc_compile::plan_digest(&plan)
    };
    assert_eq!(meaning(FABRIC), meaning(&format!("{FABRIC}warnings: {{ W0803: allow }}\n")));
}

#[test]
fn a_code_is_that_of_a_warning() {
    let near = |code: &str| match warning(code) {
        Err(LevelError::Unknown { nearest, .. }) => nearest,
        other => panic!("{code}: {other:?}"),
    };
    assert_eq!(near("W0830"), Some("W0803"));
    assert_eq!(near("w0803"), Some("W0803"));
    assert_eq!(near("unused-settings"), None);
    assert!(matches!(warning("E0203"), Err(LevelError::Error { code: "E0203", .. })));
    for rule in rules().into_iter().filter(|rule| rule.code.starts_with('W')) {
        assert_eq!(warning(rule.code), Ok(rule));
    }
}
