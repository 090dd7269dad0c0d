//! Lines of violations: each file that one is in is read again, once.
//!
//! In: a tree and what was found in it. Out: the same with lines. Invariants: nothing is judged here, and a file without a
//! violation is not read; so that none of the text is kept while paths are proved.

use std::collections::HashMap;

use camino::Utf8PathBuf;
use closc_artefacts::Files;

use crate::finding::Violation;
use crate::model::place::Place;

/// Fills in the lines of violations, reading each file again once.
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
