//! Errors of a program. Messages use the names of the P4 source.

use thiserror::Error;

/// A BMv2 JSON document that cannot be read or compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The text is not JSON, or an object does not have the shape that the format requires.
    #[error("line {line}, column {column}: {problem}")]
    Syntax {
        /// Line in the document, from 1.
        line: usize,
        /// Column in the line, from 1.
        column: usize,
        /// Message of the JSON parser.
        problem: String,
    },
    /// Brackets are nested too deeply.
    #[error("brackets nest deeper than {limit} levels at byte {offset}")]
    Depth {
        /// The limit.
        limit: usize,
        /// Position at which it was exceeded.
        offset: usize,
    },
    /// The format version is not supported.
    #[error("format version {major}.{minor} is not supported, this switch reads 2.x")]
    Version {
        /// Major version found.
        major: i64,
        /// Minor version found.
        minor: i64,
    },
    /// A name or an id is undefined.
    #[error("{place} refers to {kind} `{name}`, which the program does not define")]
    Unknown {
        /// Kind of object, such as `header`.
        kind: &'static str,
        /// The name or id that was used.
        name: String,
        /// The object that uses it.
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
    /// An object that the architecture requires is missing.
    #[error("the program defines no {kind} `{name}`, which v1model needs")]
    Missing {
        /// Kind of object.
        kind: &'static str,
        /// Its name.
        name: &'static str,
    },
    /// An object is invalid.
    #[error("{place}: {problem}")]
    Invalid {
        /// The object.
        place: String,
        /// The reason.
        problem: String,
    },
    /// A number exceeds the limits of the switch.
    #[error("{place}: {property} is {value}, at most {limit} is supported")]
    Limit {
        /// The object.
        place: String,
        /// The property that exceeds it.
        property: &'static str,
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
