//! A line of an artefact.
//!
//! In: a file and texts to search in it. Out: the line, once the file is read again.

use std::fmt;

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::Serialize;

/// A line of an artefact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Place {
    /// The file, relative to the tree.
    #[schemars(with = "String")]
    pub file: Utf8PathBuf,
    /// The line, from 1; absent for the whole file.
    pub line: Option<usize>,
    /// Texts to search for the line, outermost first.
    #[serde(skip)]
    pub(crate) needles: Vec<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => write!(f, "{}", self.file),
        }
    }
}

impl Place {
    /// Returns the place of a whole file.
    pub(crate) fn file(file: impl Into<Utf8PathBuf>) -> Self {
        Place { file: file.into(), line: None, needles: Vec::new() }
    }

    /// Returns the place of a known line.
    pub(crate) fn line(file: impl Into<Utf8PathBuf>, line: usize) -> Self {
        Place { file: file.into(), line: Some(line), needles: Vec::new() }
    }

    /// Returns the place of the last of some texts, each searched after the previous one.
    pub(crate) fn text(file: impl Into<Utf8PathBuf>, needles: Vec<String>) -> Self {
        Place { file: file.into(), line: None, needles }
    }

    /// Finds the line in the text of the file. If a text is missing, the line of the previous one is used.
    pub(crate) fn locate(&mut self, text: &[u8]) {
        let mut at = None;
        let mut from = 0;
        for needle in &self.needles {
            let Some(found) = find(&text[from..], needle.as_bytes()) else { break };
            at = Some(from + found);
            from += found;
        }
        if let Some(at) = at {
            self.line = Some(line_of(text, at));
        }
    }
}

/// Returns the line, from 1, of a byte offset.
pub(crate) fn line_of(text: &[u8], at: usize) -> usize {
    text[..at].split(|byte| *byte == b'\n').count()
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    loop {
        from += text[from..].iter().position(|byte| *byte == first)?;
        if text[from..].starts_with(needle) {
            return Some(from);
        }
        from += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_behind_its_table() {
        let text = b"{\n \"A\": {\n  \"x\": 1\n },\n \"B\": {\n  \"x\": 2\n }\n}\n";
        let mut place = Place::text("f", vec!["\"B\":".into(), "\"x\":".into()]);
        place.locate(text);
        assert_eq!(place.line, Some(6));
        let mut missing = Place::text("f", vec!["\"B\":".into(), "\"y\":".into()]);
        missing.locate(text);
        assert_eq!(missing.line, Some(5), "what is missing is missing from the table");
        let mut nowhere = Place::text("f", vec!["\"C\":".into()]);
        nowhere.locate(text);
        assert_eq!(nowhere.line, None);
    }
}
