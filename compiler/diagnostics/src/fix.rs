//! Suggestions that `closc fix` can apply.
//!
//! In: the changes of a suggestion, from the check that suggests them. Out: a [`Fix`]. Callers that have the
//! text convert it to edits. Invariants: a fix makes exactly the change that its suggestion describes.
//! The check decides whether it may be applied without review.

use crate::Span;

/// A suggestion that can be applied automatically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The text of the suggestion.
    pub help: String,
    /// Changes, to be applied together.
    pub changes: Vec<Change>,
    /// Whether it may be applied without review.
    pub trust: Trust,
}

/// Whether a fix may be applied without review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The fix is the only plausible one.
    Sure,
    /// The fix is one of several possible ones, so the user chooses.
    Choice,
}

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Replaces a text.
    Replace {
        /// The text that is replaced.
        span: Span,
        /// The new text.
        text: String,
    },
    /// Sets the field at a dotted path, whether it is present or not. In a mapping, only the keys in `value`
    /// change.
    Set {
        /// The path.
        path: String,
        /// The value, as YAML on one line.
        value: String,
    },
}
