//! Scope of an addition, as described in CONTRIBUTING.md: a switch OS and a routing mode are named only where
//! they are registered. All other code queries their capabilities.

use std::collections::BTreeSet;
use std::fs;

use super::rooms::sources;
use super::root;

/// Files that register a switch OS: a new one adds lines to them.
const OS_REGISTRIES: &[&str] = &[
    "compiler/artefacts/src/paths.rs",
    "compiler/platform/src/os.rs",
    "compiler/render/src/targets.rs",
    "compiler/verify/src/read.rs",
];

/// Files that may name an OS as `Os::NAME`. The list of OSes itself does not contain such names.
const OS_NAMED: &[&str] = &[
    // Matches that name every OS.
    "compiler/hwsku/src/measure/command_output.rs",
    "compiler/provision/src/skeleton.rs",
    "compiler/render/src/targets.rs",
];

/// Cost of an addition, by its row in CONTRIBUTING.md: places to write, and files to which a line is added.
/// Another test checks that the files exist. If an addition needs more, move the boundary between crates; if
/// it needs fewer, lower the number here.
const COSTS: &[(&str, usize, usize)] = &[
    ("a check", 2, 1),
    ("a field of the language", 4, 1),
    ("a switch OS", 3, 4),
    ("a switch SKU", 1, 0),
    ("a pipeline", 3, 4),
    ("a verb", 3, 2),
    ("an export", 3, 2),
    ("a transport over SSH", 2, 3),
    ("a known fault of a release", 1, 1),
    ("a fault kind of labs", 3, 4),
    ("a QoS field", 4, 4),
];

/// Files that register a verb of the command line.
const VERB_REGISTRIES: &[&str] = &["compiler/cli/src/args.rs", "compiler/cli/src/commands.rs"];

/// The list of OSes: variants and words.
fn oses() -> Vec<(String, String)> {
    let path = "compiler/platform/src/os.rs";
    let text = fs::read_to_string(root().join(path)).expect("the file is there");
    let (_, rest) = text.split_once("\noses! {\n").unwrap_or_else(|| panic!("{path} has no list"));
    let body = rest.split("\n}").next().unwrap_or_default();
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let entry = |line: &str| {
        let (name, word) = line.trim_end_matches(';').split_once(", ")?;
        Some((name.to_owned(), word.trim_matches('"').to_owned()))
    };
    let list: Vec<_> = lines.filter_map(entry).collect();
    assert!(list.len() >= 4, "{list:?}");
    list
}

/// A new OS causes compile errors wherever it must be handled; no other code names an OS.
#[test]
fn an_os_is_named_in_its_registries_only() {
    let list = oses();
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':';
    let named: BTreeSet<String> = sources()
        .into_iter()
        .filter(|(_, text)| {
            text.split(|sign| !is_part(sign)).any(|word| {
                word.strip_prefix("Os::").is_some_and(|rest| list.iter().any(|(name, _)| name == rest))
            })
        })
        .map(|(path, _)| path)
        .collect();
    assert_eq!(named, OS_NAMED.iter().map(|path| (*path).to_owned()).collect(), "where an OS is named");
}

/// A comparison with one OS or routing mode misses new ones, whereas a match over all of them does not
/// compile without the new one.
#[test]
fn no_os_and_no_routing_is_compared_with() {
    for (path, text) in sources() {
        let plain: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for kind in ["Os", "Routing"] {
            for before in ["== ", "!= "] {
                let found = plain.match_indices(&format!("{before}{kind}::")).next();
                assert!(
                    found.is_none(),
                    "{path} has `{before}{kind}::..`: ask a method that names every kind"
                );
            }
        }
    }
}

/// Every OS has the parts that CONTRIBUTING.md requires: rendered text, and a reader that checks this text.
#[test]
fn every_os_is_rendered_and_read() {
    for (_, word) in oses() {
        let read = root().join(format!("compiler/verify/src/read/{word}.rs"));
        assert!(read.exists(), "no reader of {word} in verify");
        let rendered = root().join(format!("compiler/render/src/targets/{word}.rs")).exists()
            && root().join(format!("templates/{word}")).is_dir();
        let programmed = root().join("p4/entries/src/pipeline/fabric.rs").exists() && word == "p4";
        assert!(rendered || programmed, "nothing renders {word}");
    }
}

/// CONTRIBUTING.md names the registries, so that a newcomer finds all of them.
#[test]
fn contributing_names_every_registry() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it is there");
    for path in OS_REGISTRIES.iter().chain(VERB_REGISTRIES) {
        assert!(text.contains(&format!("`{path}`")), "CONTRIBUTING.md does not name {path}");
    }
}

#[test]
fn additions_take_what_contributing_says() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it is there");
    let paths = |cell: &str| cell.split('`').skip(1).step_by(2).filter(|word| word.contains('/')).count();
    for (what, written, registered) in COSTS {
        let head = format!("| {what} |");
        let row = text.lines().find_map(|line| line.strip_prefix(&head));
        let row = row.unwrap_or_else(|| panic!("CONTRIBUTING.md has no row for {what}"));
        let (write, registry) = row.split_once('|').expect("a row has three cells");
        assert_eq!((paths(write), paths(registry)), (*written, *registered), "{what}: {row}");
    }
}
