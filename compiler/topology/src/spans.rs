//! Places of values in a file.
//!
//! In: the places of all values, by dotted path. Out: the place of a field. Invariants: callers pass a [`Field`], so a
//! path that the language does not have does not compile.

use std::collections::BTreeMap;

use closc_diagnostics::Span;

use crate::field::FieldPath;

/// Places in the text by the path of the value.
#[derive(Debug, Clone, Default)]
pub struct Spans(BTreeMap<String, Span>);

impl Spans {
    /// Stores the places that a loader found, by dotted path. The empty path is the file itself.
    pub(crate) fn new(places: BTreeMap<String, Span>) -> Self {
        Spans(places)
    }

    /// Returns the place of a value if it is in the file.
    pub fn stated_span(&self, path: impl Into<FieldPath>) -> Option<Span> {
        self.0.get(path.into().path()).copied()
    }

    /// Returns the place of a value, or of the nearest part of the path that the file contains. If it contains none,
    /// this is the place of the key `fabric`.
    pub fn get(&self, path: impl Into<FieldPath>) -> Option<Span> {
        let path = path.into();
        let mut path = path.path();
        loop {
            if let Some(span) = self.0.get(path) {
                return Some(*span);
            }
            if path.is_empty() {
                return None;
            }
            path = &path[..path.rfind('.').unwrap_or(0)];
        }
    }
}
