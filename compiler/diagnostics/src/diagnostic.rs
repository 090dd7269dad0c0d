//! One finding and the list that collects them.
//!
//! A diagnostic says what is wrong in the user's own names and numbers, points at the line and at the other
//! line that conflicts, and says what would fix it. Messages are lower case, without a full stop, with
//! backticks around literals.

use std::collections::BTreeMap;

use closc_budget::Tally;

use crate::{Change, Fix, Rule, Span, Trust};

/// Severity. Errors end the run at the end of the stage; warnings do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is written.
    Error,
    /// Worth a look; the result is still right.
    Warning,
}

impl Severity {
    /// Returns the word shown to people and tools.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A place with a few words about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// Label, for example `512 ports at 100G`; may be empty.
    pub text: String,
    /// Whether this is the place at fault, or one that conflicts with it.
    pub primary: bool,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that was broken.
    pub rule: &'static Rule,
    /// Severity.
    pub severity: Severity,
    /// One line.
    pub message: String,
    /// Places, the primary one first.
    pub labels: Vec<Label>,
    /// The arithmetic, and other facts.
    pub notes: Vec<String>,
    /// Fix.
    pub help: Vec<String>,
    /// The helps that a program can follow.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// Starts an error.
    pub fn error(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Error, message)
    }

    /// Starts a warning.
    pub fn warning(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Warning, message)
    }

    fn new(rule: &'static Rule, severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            rule,
            severity,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// Points at the place at fault.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: true });
        self
    }

    /// Points at another place that conflicts with the first.
    #[must_use]
    pub fn and(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds the arithmetic or another fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds what would fix it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds a help that is the one thing to write in the place of a span.
    #[must_use]
    pub fn replace(self, span: Span, text: impl Into<String>, help: impl Into<String>) -> Self {
        self.fix(vec![Change::Replace { span, text: text.into() }], Trust::Sure, help.into())
    }

    /// Adds a help that writes something else in the place of a span, where something else may have been meant.
    #[must_use]
    pub fn propose(self, span: Span, text: impl Into<String>, help: impl Into<String>) -> Self {
        self.fix(vec![Change::Replace { span, text: text.into() }], Trust::Choice, help.into())
    }

    /// Adds a help that gives fields other values: dotted paths, and values as YAML in one line.
    #[must_use]
    pub fn set<const N: usize>(self, fields: [(&str, String); N], help: impl Into<String>) -> Self {
        let changes = fields.map(|(path, value)| Change::Set { path: path.to_owned(), value });
        self.fix(changes.into(), Trust::Choice, help.into())
    }

    /// Adds the same for a number of fields that is not known beforehand.
    #[must_use]
    pub fn set_all(self, fields: Vec<(String, String)>, help: impl Into<String>) -> Self {
        let changes = fields.into_iter().map(|(path, value)| Change::Set { path, value });
        self.fix(changes.collect(), Trust::Choice, help.into())
    }

    /// Adds a help that gives a field one of several values.
    #[must_use]
    pub fn set_either(
        self,
        path: &str,
        values: impl IntoIterator<Item = u64>,
        help: impl Into<String>,
    ) -> Self {
        let mut values = values.into_iter().map(|value| value.to_string());
        let help = help.into();
        let Some(first) = values.next() else { return self.help(help) };
        values.fold(self.set([(path, first)], help), |found, value| found.or_set([(path, value)]))
    }

    /// Adds what else the last help may be followed with.
    #[must_use]
    pub fn or_set<const N: usize>(mut self, fields: [(&str, String); N]) -> Self {
        let changes = fields.map(|(path, value)| Change::Set { path: path.to_owned(), value });
        let help = self.help.last().cloned().unwrap_or_default();
        self.fixes.push(Fix { help, changes: changes.into(), trust: Trust::Choice });
        self
    }

    fn fix(mut self, changes: Vec<Change>, trust: Trust, help: String) -> Self {
        self.help.push(help.clone());
        self.fixes.push(Fix { help, changes, trust });
        self
    }

    /// Returns the place at fault, where there is one.
    pub fn span(&self) -> Option<Span> {
        self.labels.iter().find(|l| l.primary).or_else(|| self.labels.first()).map(|l| l.span)
    }
}

/// The most findings of one rule that are shown; the last of them has the number of the others.
const SHOWN_MAX: usize = 20;

/// The most findings of one rule that are kept: enough to sort them before the first ones are shown.
const KEPT_MAX: usize = 10 * SHOWN_MAX;

/// The findings of a run, in the order of their places. The first of each rule are kept and the others counted, so that a hostile
/// input takes no memory for findings that are not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    pushed: Tally<&'static str>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Diagnostics { list: Vec::new(), pushed: Tally::new(KEPT_MAX) }
    }
}

impl Diagnostics {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.pushed.count(diagnostic.rule.code) {
            self.list.push(diagnostic);
        }
    }

    /// Adds a finding that is made only if it is kept.
    pub fn push_with(&mut self, rule: &'static Rule, diagnostic: impl FnOnce() -> Diagnostic) {
        if self.pushed.count(rule.code) {
            self.list.push(diagnostic());
        }
    }

    /// Adds every finding of another list.
    pub fn extend(&mut self, other: Diagnostics) {
        let dropped = other.pushed.dropped();
        for diagnostic in other.list {
            self.push(diagnostic);
        }
        for (code, count) in dropped {
            self.pushed.add(code, count);
        }
    }

    /// Leaves the findings that `keep` keeps.
    #[must_use]
    pub fn retained(mut self, keep: impl FnMut(&Diagnostic) -> bool) -> Self {
        self.list.retain(keep);
        self
    }

    /// Changes every finding, or drops it.
    pub(crate) fn changed(mut self, change: impl FnMut(Diagnostic) -> Option<Diagnostic>) -> Self {
        self.list = self.list.into_iter().filter_map(change).collect();
        self
    }

    /// Leaves the first findings of each rule, and says at the last of them how many more there were. The findings
    /// should be in order.
    #[must_use]
    pub fn shortened(self) -> Self {
        let mut total = self.pushed.dropped();
        for finding in &self.list {
            *total.entry(finding.rule.code).or_default() += 1;
        }
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut left = Diagnostics::new();
        for finding in self.list {
            let code = finding.rule.code;
            let number = seen.entry(code).or_default();
            *number += 1;
            let more = total[code].saturating_sub(SHOWN_MAX);
            match (*number).cmp(&SHOWN_MAX) {
                std::cmp::Ordering::Equal if more > 0 => {
                    left.push(finding.note(format!("{more} more like this are not shown")));
                }
                std::cmp::Ordering::Less | std::cmp::Ordering::Equal => left.push(finding),
                std::cmp::Ordering::Greater => {}
            }
        }
        left
    }

    /// Tells whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// Returns the number of errors.
    pub fn errors(&self) -> usize {
        self.list.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// Returns the number of warnings.
    pub fn warnings(&self) -> usize {
        self.list.len() - self.errors()
    }

    /// Tells whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Puts the findings in the order of their places, then codes; those without a place come last.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|d| (d.span().is_none(), d.span(), d.rule.code));
        self.list.dedup();
    }

    /// Returns the findings.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}
