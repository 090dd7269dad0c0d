//! Line numbers of violations. Each file with a violation is read a second time.
//!
//! In: a tree and its violations. Out: the violations with lines. Invariants: nothing is judged here, and files without
//! violations are not read. No text therefore has to be kept while paths are proved.

use std::collections::HashMap;

use camino::Utf8PathBuf;
use closc_artefacts::Files;

use crate::finding::Violation;
use crate::model::place::Place;

/// Fills in the line numbers of violations, reading each file once.
pub(crate) fn fill(tree: &dyn Files, violations: &mut [Violation]) {
    let mut by_file: HashMap<Utf8PathBuf, Vec<&mut Place>> = HashMap::new();
    for violation in violations {
        let steps = violation.trace.iter_mut().filter_map(|step| step.place.as_mut());
        let places = std::iter::once(&mut violation.place).chain(&mut violation.others).chain(steps);
        for place in places.filter(|place| place.line.is_none()) {
            by_file.entry(place.file.clone()).or_default().push(place);
        }
    }
    let mut buffer = Vec::new();
    for (file, places) in by_file {
        if tree.read_into(&file, &mut buffer).is_ok() {
            for place in places {
                place.locate(&buffer);
            }
        }
    }
}
