//! A diagnostic (finding), and the list that collects them.
//!
//! A diagnostic states the error with the user's own names and numbers. It points at the line and at conflicting lines,
//! and suggests a fix. Messages are lower case, without a full stop, with backticks around literals.

use std::collections::BTreeMap;

use closc_budget::Tally;

use crate::{Change, Fix, Rule, Span, Trust};

/// Severity. Errors end the run after the current stage; warnings do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// An error: output is not written.
    Error,
    /// A warning: the result is correct, but needs attention.
    Warning,
}

impl Severity {
    /// Returns the keyword in all output formats.
    pub fn keyword(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A span with a short text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The span.
    pub span: Span,
    /// Text of the label, for example `512 ports at 100G`; may be empty.
    pub text: String,
    /// Whether this is the place of the error, not another place that conflicts with it.
    pub primary: bool,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that was broken.
    pub rule: &'static Rule,
    /// Severity.
    pub severity: Severity,
    /// One-line message.
    pub message: String,
    /// Labels, the primary one first.
    pub labels: Vec<Label>,
    /// Notes: the calculation behind the finding, and other facts.
    pub notes: Vec<String>,
    /// Suggestions.
    pub help: Vec<String>,
    /// Suggestions that can be applied automatically.
    pub fixes: Vec<Fix>,
    /// The tier of the switches that break the rule, counted from the NICs, if there is a single one. It is
    /// not printed.
    pub tier: Option<u8>,
}

impl Diagnostic {
    /// Creates an error.
    pub fn error(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Error, message)
    }

    /// Creates a warning.
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
            tier: None,
        }
    }

    /// Sets the tier of the switches that break the rule, counted from the NICs.
    #[must_use]
    pub fn of_tier(mut self, tier: u8) -> Self {
        self.tier = Some(tier);
        self
    }

    /// Adds the primary label, at the place of the error.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: true });
        self
    }

    /// Adds a label for a place that conflicts with the primary one.
    #[must_use]
    pub fn and(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds a note: the calculation, or another fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds a suggestion to replace a span. Use it when only one replacement is plausible.
    #[must_use]
    pub fn replace(self, span: Span, text: impl Into<String>, help: impl Into<String>) -> Self {
        self.fix(vec![Change::Replace { span, text: text.into() }], Trust::Sure, help.into())
    }

    /// Adds a suggestion to replace a span. The replacement is only one of several possible ones, so the user
    /// chooses.
    #[must_use]
    pub fn propose(self, span: Span, text: impl Into<String>, help: impl Into<String>) -> Self {
        self.fix(vec![Change::Replace { span, text: text.into() }], Trust::Choice, help.into())
    }

    /// Adds a suggestion that sets fields: dotted paths, with values as YAML in one line.
    #[must_use]
    pub fn set<const N: usize>(self, fields: [(&str, String); N], help: impl Into<String>) -> Self {
        let changes = fields.map(|(path, value)| Change::Set { path: path.to_owned(), value });
        self.fix(changes.into(), Trust::Choice, help.into())
    }

    /// Like [`Diagnostic::set`], for any number of fields.
    #[must_use]
    pub fn set_all(self, fields: Vec<(String, String)>, help: impl Into<String>) -> Self {
        let changes = fields.into_iter().map(|(path, value)| Change::Set { path, value });
        self.fix(changes.collect(), Trust::Choice, help.into())
    }

    /// Adds a suggestion that sets a field to one of several values.
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

    /// Adds an alternative to the last suggestion.
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

    /// Returns the span of the primary label.
    pub fn span(&self) -> Option<Span> {
        self.labels.iter().find(|l| l.primary).or_else(|| self.labels.first()).map(|l| l.span)
    }
}

/// Maximum number of findings shown per rule. The last one states the number of further ones.
const SHOWN_MAX: usize = 20;

/// Maximum number of findings kept per rule. More are kept than shown, because findings are sorted before the
/// first ones are selected.
const KEPT_MAX: usize = 10 * SHOWN_MAX;

/// The findings of a run. Only the first ones of each rule are kept, and further ones are only counted, so
/// that a hostile input cannot exhaust memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    tally: Tally<&'static str>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Diagnostics { list: Vec::new(), tally: Tally::new(KEPT_MAX) }
    }
}

impl Diagnostics {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.tally.count(diagnostic.rule.code) {
            self.list.push(diagnostic);
        }
    }

    /// Adds a finding that is constructed only if it is kept.
    pub fn push_with(&mut self, rule: &'static Rule, diagnostic: impl FnOnce() -> Diagnostic) {
        if self.tally.count(rule.code) {
            self.list.push(diagnostic());
        }
    }

    /// Adds every finding of another list.
    pub fn extend(&mut self, other: Diagnostics) {
        let dropped = other.tally.dropped();
        for diagnostic in other.list {
            self.push(diagnostic);
        }
        for (code, count) in dropped {
            self.tally.add(code, count);
        }
    }

    /// Keeps only the findings for which `keep` returns true.
    #[must_use]
    pub fn filter(mut self, keep: impl FnMut(&Diagnostic) -> bool) -> Self {
        self.list.retain(keep);
        self
    }

    /// Maps every finding; those mapped to `None` are dropped.
    pub(crate) fn filter_map(mut self, change: impl FnMut(Diagnostic) -> Option<Diagnostic>) -> Self {
        self.list = self.list.into_iter().filter_map(change).collect();
        self
    }

    /// Keeps the first findings of each rule. The last one gets a note with the number of further ones. The
    /// findings must be sorted first.
    #[must_use]
    pub fn shorten(self) -> Self {
        let mut total = self.tally.dropped();
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
                    left.push(finding.note(format!("not shown: {more} more like this")));
                }
                std::cmp::Ordering::Less | std::cmp::Ordering::Equal => left.push(finding),
                std::cmp::Ordering::Greater => {}
            }
        }
        left
    }

    /// Returns whether the list contains an error.
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

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Sorts findings by place, then by code, and removes duplicates. Findings without a place are last.
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
