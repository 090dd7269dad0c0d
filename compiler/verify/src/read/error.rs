//! Errors of parsing a file, with the line if known.

use std::fmt;

use crate::model::place::{Step, line_of};

/// An error of parsing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadError {
    /// The line, if known.
    pub(crate) line: Option<usize>,
    /// The error.
    pub(crate) message: String,
    /// The file of the error, if it differs from the file that was read.
    pub(crate) file: Option<&'static str>,
    /// Whether the syntax is valid, but the verifier does not know a word.
    pub(crate) unknown: bool,
    /// Path of the error in its document, if the line is unknown.
    pub(crate) path: Vec<Step>,
}

impl ReadError {
    /// Creates an error in a line.
    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        ReadError { line: Some(line), message: message.into(), file: None, unknown: false, path: Vec::new() }
    }

    /// Creates an error about a file.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ReadError { line: None, message: message.into(), file: None, unknown: false, path: Vec::new() }
    }

    /// Creates an error at a path.
    pub(crate) fn of(path: Vec<Step>, message: impl Into<String>) -> Self {
        ReadError { path, ..ReadError::new(message) }
    }

    /// Creates an error about an unknown word in a line.
    pub(crate) fn unknown(line: usize, message: impl Into<String>) -> Self {
        ReadError { unknown: true, ..ReadError::at(line, message) }
    }

    /// Sets the line, unless it is already known.
    #[must_use]
    pub(crate) fn or_at(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// Sets the file of an error that is not in the file that was read.
    #[must_use]
    pub(crate) fn with_file(mut self, file: &'static str) -> Self {
        self.file = Some(file);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for ReadError {
    fn from(message: String) -> Self {
        ReadError::new(message)
    }
}

impl From<&str> for ReadError {
    fn from(message: &str) -> Self {
        ReadError::new(message)
    }
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        ReadError {
            line: Some(error.line()).filter(|line| *line > 0),
            message: error.to_string(),
            file: None,
            unknown: false,
            path: Vec::new(),
        }
    }
}

/// Returns the text of a file.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, ReadError> {
    std::str::from_utf8(bytes)
        .map_err(|error| ReadError::at(line_of(bytes, error.valid_up_to()), "not UTF-8 text"))
}
