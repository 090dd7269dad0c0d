//! The walks that `docs/architecture.md` describes: each step exists, and none goes back.
//!
//! In: the tables of the document, and the sources. Out: rows that name missing items, or that go back.

use std::fs;

use super::rooms::sources;
use super::{root, stage_of};

/// A step of a walk: a file below `compiler/`, and the type that it produces or consumes.
#[derive(Debug)]
struct Step {
    file: String,
    type_name: String,
}

/// The walks of the document.
fn walks() -> Vec<Vec<Step>> {
    let text = fs::read_to_string(root().join("docs/architecture.md")).expect("the document is there");
    let section = text.split("\n## Two walks\n").nth(1).expect("it describes the walks");
    let section = section.split("\n## ").next().unwrap_or_default();
    let tables = section.split("| step | file | type |\n|---|---|---|\n").skip(1);
    tables.map(|table| table.lines().map_while(step).collect()).collect()
}

fn step(row: &str) -> Option<Step> {
    let cells: Vec<&str> = row.strip_prefix('|')?.split('|').map(str::trim).collect();
    let plain = |at: usize| cells.get(at).map(|cell| cell.trim_matches('`').to_owned());
    Some(Step { file: plain(1)?, type_name: plain(2)? })
}

/// The place of a step: its crate, and in verify also its module, which is a separate stage.
fn place(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    let module = if parts[0] == "verify" { parts[2].trim_end_matches(".rs") } else { "" };
    format!("{} {module}", parts[0])
}

/// Returns the step with which a walk goes back to a place that it had left, or to an earlier crate.
fn returns(walk: &[Step]) -> Option<String> {
    let mut left: Vec<String> = Vec::new();
    for pair in walk.windows(2) {
        let (from, to) = (place(&pair[0].file), place(&pair[1].file));
        let stage = |place: &str| place.split(' ').next().and_then(stage_of);
        if stage(&to) < stage(&from) || left.contains(&to) {
            return Some(format!("{} after {}", pair[1].file, pair[0].file));
        }
        if from != to {
            left.push(from);
        }
    }
    None
}

#[test]
fn each_step_is_there_and_none_goes_back() {
    let walks = walks();
    assert_eq!(walks.len(), 2, "a host count to a byte, and a file to a verdict");
    for walk in &walks {
        assert!(walk.len() > 8, "{walk:?}");
        for Step { file, type_name: word } in walk {
            let text = fs::read_to_string(root().join("compiler").join(file));
            let text = text.unwrap_or_else(|_| panic!("there is no {file}"));
            let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
            let name = word.rsplit("::").next().unwrap_or_default();
            assert!(text.split(|sign| !is_part(sign)).any(|part| part == name), "{file} has no `{word}`");
        }
        assert_eq!(returns(walk), None);
    }
}

#[test]
fn a_walk_that_returns_is_found() {
    let walk = |files: &[&str]| -> Vec<Step> {
        files.iter().map(|file| Step { file: (*file).to_owned(), type_name: String::new() }).collect()
    };
    let verify = ["artefacts/src/files.rs", "verify/src/load.rs", "verify/src/proof.rs"];
    assert_eq!(returns(&walk(&verify)), None);
    let back = [&verify[..], &["verify/src/load/lines.rs"]].concat();
    assert!(returns(&walk(&back)).is_some());
    assert!(returns(&walk(&["plan/src/plan.rs", "topology/src/model.rs"])).is_some());
}

/// After planning, units are made from the plan only. Only `meaning.rs` and `part.rs` also ask the topology.
#[test]
fn units_ask_the_plan_only() {
    // `meaning.rs` computes digests of the topology. `part.rs` chooses a part of the fabric by position, before units
    // exist.
    let may =
        ["compiler/compile/src/front.rs", "compiler/compile/src/meaning.rs", "compiler/compile/src/part.rs"];
    let compile = sources().into_iter().filter(|(path, _)| path.starts_with("compiler/compile/src/"));
    for (path, text) in compile.filter(|(path, _)| !may.contains(&path.as_str())) {
        assert!(
            !text.contains(".topology()"),
            "{path} asks the topology: the plan has to say what a unit needs"
        );
    }
}

/// Readers of a tree do not check it, and checks do not read it again.
#[test]
fn verify_loads_once_and_judges_after() {
    let verify = sources()
        .into_iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("compiler/verify/src/")?.to_owned(), text)));
    for (path, text) in verify {
        let stage = path.split(['/', '.']).next().unwrap_or_default();
        let later: &[&str] = match stage {
            "model" | "read" | "bind" | "load" => &["check", "proof", "walk", "forward", "lines"],
            "lib" => &[],
            _ => &["load"],
        };
        for module in later {
            let named = format!("crate::{module}::");
            assert!(!text.contains(&named), "{path} names {named}: a walk does not go back");
        }
    }
}
