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
    /// The file of the error, if it is beside the one that was read.
    pub(crate) file: Option<&'static str>,
    /// Whether the syntax is valid, but a word is unknown to the verifier.
    pub(crate) unknown: bool,
    /// The path of the error in its document, if the line is not known.
    pub(crate) path: Vec<Step>,
}

impl ReadError {
    /// Makes the error of a line.
    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        ReadError { line: Some(line), message: message.into(), file: None, unknown: false, path: Vec::new() }
    }

    /// Makes the error of a file.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ReadError { line: None, message: message.into(), file: None, unknown: false, path: Vec::new() }
    }

    /// Makes the error of a path.
    pub(crate) fn of(path: Vec<Step>, message: impl Into<String>) -> Self {
        ReadError { path, ..ReadError::new(message) }
    }

    /// Makes the error of an unknown word in a line.
    pub(crate) fn unknown(line: usize, message: impl Into<String>) -> Self {
        ReadError { unknown: true, ..ReadError::at(line, message) }
    }

    /// Sets the line, unless a more exact one is known.
    #[must_use]
    pub(crate) fn or_at(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// Sets the file beside the one that was read.
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
