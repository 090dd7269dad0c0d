//! What the checks find: facts that hold, and violations with the line of the artefact at fault.
//!
//! In: one fact after the other. Out: [`Findings`], merged from many tasks. Always: nothing is lost: of every
//! rule the first violations are kept in full and the rest are counted, so that a tree in which everything is
//! wrong still fits in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv6Addr;

use camino::Utf8PathBuf;
use closc_diagnostics::Rule;
use serde::Serialize;

use crate::model::cabling::SwitchId;
use crate::model::segment::Usid;
use crate::walk::journey::Step;

/// Violations of one rule that one task keeps in full.
const KEPT: u64 = 16;

/// A line of an artefact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The file, relative to the tree.
    pub file: Utf8PathBuf,
    /// The line, from 1; absent where the whole file is meant.
    pub line: Option<usize>,
    /// What to look for to find the line, outermost first.
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
    /// Points at a whole file.
    pub(crate) fn file(file: impl Into<Utf8PathBuf>) -> Self {
        Place { file: file.into(), line: None, needles: Vec::new() }
    }

    /// Points at a line whose number is known.
    pub(crate) fn line(file: impl Into<Utf8PathBuf>, line: usize) -> Self {
        Place { file: file.into(), line: Some(line), needles: Vec::new() }
    }

    /// Points at the line where the last of some texts stands, each looked for behind the one before.
    pub(crate) fn text(file: impl Into<Utf8PathBuf>, needles: Vec<String>) -> Self {
        Place { file: file.into(), line: None, needles }
    }

    /// Works the line out from the text of the file: where a text is not found, the one before it counts.
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

/// Returns the line, from 1, of a place in a text.
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

/// A rule that a tree breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The rule.
    #[serde(serialize_with = "code")]
    pub rule: &'static Rule,
    /// One line in the user's names.
    pub message: String,
    /// The artefact at fault.
    pub place: Place,
    /// Other lines that conflict with it: any of them may be the one that is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Place>,
    /// A packet that comes to harm, hop by hop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub journey: Vec<Step>,
    /// The switch and the uSID whose packets come to harm.
    #[serde(skip)]
    pub(crate) about: Option<(SwitchId, Usid)>,
    /// The switch and the destination whose packets come to harm, where switches choose the way.
    #[serde(skip)]
    pub(crate) towards: Option<(SwitchId, Ipv6Addr)>,
}

fn code<S: serde::Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.code)
}

impl Violation {
    /// Says what is wrong where.
    pub(crate) fn new(rule: &'static Rule, place: Place, message: impl Into<String>) -> Self {
        Violation {
            rule,
            message: message.into(),
            place,
            others: Vec::new(),
            journey: Vec::new(),
            about: None,
            towards: None,
        }
    }

    /// Adds another line that conflicts with it.
    #[must_use]
    pub(crate) fn and(mut self, other: Place) -> Self {
        self.others.push(other);
        self
    }

    /// Says whose packets come to harm, so that one of them can be followed.
    #[must_use]
    pub(crate) fn about(mut self, switch: SwitchId, usid: Usid) -> Self {
        self.about = Some((switch, usid));
        self
    }

    /// The same where switches choose the way.
    #[must_use]
    pub(crate) fn towards(mut self, switch: SwitchId, address: Ipv6Addr) -> Self {
        self.towards = Some((switch, address));
        self
    }

    fn key(&self) -> (&'static str, &Place, &str) {
        (self.rule.code, &self.place, &self.message)
    }
}

/// How often a rule was applied, and how often it was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Facts checked.
    pub facts: u64,
    /// Facts that do not hold.
    pub broken: u64,
}

/// What a task found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    tallies: BTreeMap<&'static str, (&'static Rule, Tally)>,
    violations: Vec<Violation>,
}

impl Findings {
    /// Counts facts that were checked, whether or not they hold.
    pub(crate) fn checked(&mut self, rule: &'static Rule, facts: u64) {
        self.tally(rule).facts += facts;
    }

    /// Adds a violation.
    pub(crate) fn broken(&mut self, violation: Violation) {
        let tally = self.tally(violation.rule);
        tally.broken += 1;
        if tally.broken <= KEPT {
            self.violations.push(violation);
        }
    }

    /// Counts a fact and adds a violation where it does not hold.
    pub(crate) fn expect(&mut self, holds: bool, rule: &'static Rule, otherwise: impl FnOnce() -> Violation) {
        self.checked(rule, 1);
        if !holds {
            self.broken(otherwise());
        }
    }

    fn tally(&mut self, rule: &'static Rule) -> &mut Tally {
        &mut self.tallies.entry(rule.code).or_insert((rule, Tally::default())).1
    }

    /// Adds what another task found.
    pub(crate) fn merge(mut self, other: Findings) -> Findings {
        for (rule, tally) in other.tallies.into_values() {
            let own = self.tally(rule);
            own.facts += tally.facts;
            own.broken += tally.broken;
        }
        self.violations.extend(other.violations);
        self
    }

    /// Tells whether nothing is broken.
    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// Returns the tallies by code, and the violations in the order of codes and places.
    pub(crate) fn finish(mut self) -> (BTreeMap<&'static str, (&'static Rule, Tally)>, Vec<Violation>) {
        self.violations.sort_by(|a, b| a.key().cmp(&b.key()));
        self.violations.dedup();
        (self.tallies, self.violations)
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
