//! Automatic edit for a finding.
//!
//! In: the changes that a help describes, from whoever writes the help. Out: nothing yet: who has the text makes edits of it.
//! Invariants: a fix says what its help says; whether it may be made unread is decided where it is written.

use crate::Span;

/// A help that a program can follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The help that it follows.
    pub help: String,
    /// Changes, all of them together.
    pub changes: Vec<Change>,
    /// Whether it may be made unread.
    pub trust: Trust,
}

/// Whether a fix may be made unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// There is one thing that can have been meant.
    Sure,
    /// It mends the finding, and so may something else: somebody chooses.
    Choice,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Write a text in the place of another one.
    Replace {
        /// Replaced state.
        span: Span,
        /// Text written there.
        text: String,
    },
    /// Give a value to the field at a dotted path, whether it is there or not; of a mapping only what is named changes.
    Set {
        /// The path.
        path: String,
        /// The value, as YAML in one line.
        value: String,
    },
}
