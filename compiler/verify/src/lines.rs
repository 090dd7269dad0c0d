//! Finds the line numbers of violations. Each file with a violation is read a second time.
//!
//! In: a tree and its violations. Out: the violations with lines. Invariants: nothing is judged here, and files without
//! violations are not read. Texts and positions therefore need not be kept while paths are proved.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Files;

use crate::finding::Violation;
use crate::model::place::{Fact, Place, Step, Target, line_of, search};
use crate::read::{blocks, json, yaml};

/// Fills in the line numbers of violations, reading each file once. If a place has several facts, each further fact
/// becomes a place of its own.
pub(crate) fn fill(tree: &dyn Files, violations: &mut [Violation]) {
    let mut by_file: HashMap<Utf8PathBuf, Vec<(usize, &mut Place)>> = HashMap::new();
    for (number, violation) in violations.iter_mut().enumerate() {
        let steps = violation.trace.iter_mut().filter_map(|step| step.place.as_mut());
        let places = std::iter::once(&mut violation.place).chain(&mut violation.others).chain(steps);
        for place in places.filter(|place| place.target != Target::File) {
            by_file.entry(place.file.clone()).or_default().push((number, place));
        }
    }
    let (mut buffer, mut further) = (Vec::new(), Vec::new());
    for (file, places) in by_file {
        if tree.read_into(&file, &mut buffer).is_err() {
            continue;
        }
        for (number, place) in places {
            let mut lines = lines(&file, &buffer, &place.target).into_iter();
            place.line = lines.next();
            further.extend(lines.map(|line| (number, Place::line(file.clone(), line))));
        }
    }
    further.sort_unstable();
    for (number, place) in further {
        let violation = &mut violations[number];
        let is_new = |known: &Place| known.file != place.file || known.line != place.line;
        if is_new(&violation.place) && violation.others.iter().all(is_new) {
            violation.others.push(place);
        }
    }
}

/// Returns the offset of a path in a text.
type PathLocator = fn(&str, &[Step]) -> Option<usize>;

/// Returns the lines of a target in the text of its file, the main line first.
fn lines(file: &Utf8Path, text: &[u8], target: &Target) -> Vec<usize> {
    let offsets: Vec<usize> = match target {
        Target::File => Vec::new(),
        Target::Text(needles) => search(text, needles).into_iter().collect(),
        Target::Facts(facts) => {
            let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
            let find: PathLocator = match file.extension() {
                Some("yaml") => yaml::find,
                Some("conf" | "batch") => blocks::find,
                _ => json::find,
            };
            facts.iter().flat_map(|fact| offsets(find, text, fact)).collect()
        }
    };
    offsets.into_iter().map(|at| line_of(text, at)).collect()
}

/// Returns the offsets of a fact in a text.
fn offsets(find: PathLocator, text: &str, fact: &Fact) -> Vec<usize> {
    match fact {
        Fact::Path(path) => find(text, path).into_iter().collect(),
        Fact::Setting { follow, port, name } => {
            (follow.0)(text, port, name).iter().filter_map(|path| find(text, path)).collect()
        }
    }
}
