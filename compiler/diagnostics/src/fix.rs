//! Suggestions that `closc fix` can apply.
//!
//! In: the changes of a suggestion, from the check that makes it. Out: a [`Fix`], which callers with the text turn into
//! edits. Invariants: a fix does what its suggestion states. The check decides whether it may be applied without
//! review.

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
    /// The input has only one plausible reading.
    Sure,
    /// One of several possible fixes: the user chooses.
    Choice,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Replaces a text.
    Replace {
        /// The text that is replaced.
        span: Span,
        /// The new text.
        text: String,
    },
    /// Sets the field at a dotted path, present or not. In a mapping, only the keys in `value` change.
    Set {
        /// The path.
        path: String,
        /// The value, as YAML in one line.
        value: String,
    },
}
