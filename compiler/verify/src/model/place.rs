//! A line of an artefact, and the fact that it states.
//!
//! In: a file, and the identity of a fact in it. Out: the line, once the file is read again.

use std::cmp::Ordering;
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
    /// Line number, from 1; absent for the whole file.
    pub line: Option<usize>,
    /// The subject, by which the line is found.
    #[serde(skip)]
    pub(crate) target: Target,
}

/// Subject of a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Target {
    /// The file, or a known line.
    #[default]
    File,
    /// The last of several texts, each searched for after the previous one.
    Text(Vec<String>),
    /// Facts in a document, the main one first.
    Facts(Vec<Fact>),
}

/// Identity of a fact in a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// The value at a path, or the innermost part of the path that exists.
    Path(Vec<Step>),
    /// A QoS setting of a port. The reader resolves the references again.
    Setting {
        /// The reader.
        follow: SettingResolver,
        /// The port.
        port: String,
        /// The setting.
        name: String,
    },
}

/// Returns the paths of a setting, the main path first, given the text of the file, the port and the setting.
#[derive(Clone, Copy)]
pub(crate) struct SettingResolver(pub(crate) fn(&str, &str, &str) -> Vec<Vec<Step>>);

// Every file has only one reader, so comparing the functions is unnecessary.
impl PartialEq for SettingResolver {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SettingResolver {}

impl PartialOrd for SettingResolver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SettingResolver {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl fmt::Debug for SettingResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("reader")
    }
}

/// A step of a path: a key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// The key.
    Key(String),
    /// The first key that begins with this text.
    Start(String),
    /// The first key that contains this text.
    Part(String),
    /// The first key that has this text after its last `|`.
    Last(String),
    /// The first key that begins with the first text and contains the second.
    Around(String, String),
}

impl Step {
    /// Creates a step to the first key that begins with a text.
    pub(crate) fn start(text: impl Into<String>) -> Self {
        Step::Start(text.into())
    }

    /// Creates a step to an IPv4 or IPv6 command, by the text after `ip` or `ipv6`.
    pub(crate) fn ip(rest: impl Into<String>) -> Self {
        Step::Around("ip".to_owned(), rest.into())
    }

    /// Returns whether a key matches the step.
    pub(crate) fn fits(&self, key: &str) -> bool {
        match self {
            Step::Key(own) => key == own,
            Step::Start(start) => key.starts_with(start.as_str()),
            Step::Part(part) => key.contains(part.as_str()),
            Step::Last(last) => key.rsplit('|').next() == Some(last),
            Step::Around(start, part) => key.starts_with(start.as_str()) && key.contains(part.as_str()),
        }
    }
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Step::Key(key.to_owned())
    }
}

impl Fact {
    /// Creates the fact of a table row.
    pub(crate) fn row(table: &str, row: impl Into<Step>) -> Self {
        Fact::Path(vec![table.into(), row.into()])
    }

    /// Creates the fact of a table.
    pub(crate) fn table(table: &str) -> Self {
        Fact::Path(vec![table.into()])
    }
}

impl From<Fact> for Target {
    fn from(fact: Fact) -> Self {
        Target::Facts(vec![fact])
    }
}

impl From<Vec<Fact>> for Target {
    fn from(facts: Vec<Fact>) -> Self {
        Target::Facts(facts)
    }
}

impl From<Vec<String>> for Target {
    fn from(needles: Vec<String>) -> Self {
        Target::Text(needles)
    }
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
        Place { file: file.into(), line: None, target: Target::File }
    }

    /// Returns the place of a known line.
    pub(crate) fn line(file: impl Into<Utf8PathBuf>, line: usize) -> Self {
        Place { file: file.into(), line: Some(line), target: Target::File }
    }

    /// Returns the place of the last of several texts, each searched for after the previous one.
    pub(crate) fn text(file: impl Into<Utf8PathBuf>, needles: Vec<String>) -> Self {
        Place::of(file, needles)
    }

    /// Returns the place of a subject.
    pub(crate) fn of(file: impl Into<Utf8PathBuf>, target: impl Into<Target>) -> Self {
        Place { file: file.into(), line: None, target: target.into() }
    }
}

/// Returns the offset of the last of several texts, each searched for after the previous one. If a text is missing,
/// returns the offset of the text before it.
pub(crate) fn search(text: &[u8], needles: &[String]) -> Option<usize> {
    let mut at = None;
    let mut from = 0;
    for needle in needles {
        let Some(found) = find(&text[from..], needle.as_bytes()) else { break };
        at = Some(from + found);
        from += found;
    }
    at
}

/// Returns the line number, from 1, of a byte offset.
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
    fn a_line_is_found_behind_its_block() {
        let text = b"a\n x\nb\n x\n";
        let line = |needles: &[&str]| {
            let needles: Vec<String> = needles.iter().map(|needle| (*needle).to_owned()).collect();
            search(text, &needles).map(|at| line_of(text, at))
        };
        assert_eq!(line(&["b", "x"]), Some(4));
        assert_eq!(line(&["b", "y"]), Some(3), "a missing text is missing from the block");
        assert_eq!(line(&["c"]), None);
    }
}
