//! Errors of a program: one enum, data in fields, the user's own names in every message.

use thiserror::Error;

/// A BMv2 JSON document that cannot be read or compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The text is not JSON, or an object does not have the shape the format asks for.
    #[error("line {line}, column {column}: {problem}")]
    Syntax {
        /// Line in the document, from 1.
        line: usize,
        /// Column in the line, from 1.
        column: usize,
        /// Message of the reader about it.
        problem: String,
    },
    /// Brackets nest deeper than any compiler writes.
    #[error("brackets nest deeper than {limit} levels at byte {offset}")]
    Depth {
        /// The limit.
        limit: usize,
        /// Where it was passed.
        offset: usize,
    },
    /// The format version is not one this reader knows.
    #[error("format version {major}.{minor} is not supported, this switch reads 2.x")]
    Version {
        /// Major version found.
        major: i64,
        /// Minor version found.
        minor: i64,
    },
    /// A name or an id refers to nothing.
    #[error("{place} refers to {kind} `{name}`, which the program does not define")]
    Unknown {
        /// Kind of object, such as `header`.
        kind: &'static str,
        /// The name or id that was used.
        name: String,
        /// User.
        place: String,
    },
    /// Two objects of a kind have the same name or id.
    #[error("two objects of kind {kind} are called `{name}`")]
    Duplicate {
        /// Kind of object.
        kind: &'static str,
        /// The name or id they share.
        name: String,
    },
    /// Something that the architecture needs is not there.
    #[error("the program defines no {kind} `{name}`, which v1model needs")]
    Missing {
        /// Kind of object.
        kind: &'static str,
        /// Its name.
        name: &'static str,
    },
    /// An object is there but makes no sense.
    #[error("{place}: {problem}")]
    Invalid {
        /// The object.
        place: String,
        /// The error.
        problem: String,
    },
    /// A number passes what one switch may allocate.
    #[error("{place}: {what} is {value}, at most {limit} is supported")]
    Limit {
        /// The object.
        place: String,
        /// Excessive values.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    /// Returns an [`Error::Invalid`].
    pub(crate) fn invalid(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), problem: problem.into() }
    }

    /// Returns an [`Error::Unknown`].
    pub(crate) fn unknown(
        kind: &'static str,
        name: impl std::fmt::Display,
        place: impl Into<String>,
    ) -> Self {
        Self::Unknown { kind, name: name.to_string(), place: place.into() }
    }
}
