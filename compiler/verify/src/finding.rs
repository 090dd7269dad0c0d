//! Findings of the checks: verified facts, and violations with the line of the artefact at fault.
//!
//! In: facts, one at a time. Out: [`Findings`], merged from many tasks. Invariants: the first violations of every rule
//! are kept in full, and the others are only counted. Even the findings of a completely wrong tree therefore fit in
//! memory.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};

use closc_artefacts::Address;
use closc_diagnostics::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::cabling::SwitchId;
use crate::model::place::Place;
use crate::model::segment::Usid;

/// Maximum number of violations of one rule that one task keeps in full.
const KEPT: u64 = 16;

/// Maximum number of kinds of objects with a recorded common value. No fabric has more.
const MEANT: usize = 1 << 14;

/// Returns a digest of a value. Digests are comparable only within one version of the program.
pub(crate) fn digest(value: &impl Debug) -> String {
    blake3::hash(format!("{value:?}").as_bytes()).to_hex()[..32].to_owned()
}

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// The rule.
    #[serde(serialize_with = "code")]
    #[schemars(with = "String")]
    pub rule: &'static Rule,
    /// One line, with names as in the fabric file.
    pub message: String,
    /// The artefact at fault.
    pub place: Place,
    /// Other lines that conflict with the artefact; any of them may be the wrong one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Place>,
    /// The trace of an affected packet, hop by hop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// The switch at fault, and the uSID of affected packets.
    #[serde(skip)]
    pub(crate) about: Option<(SwitchId, Usid)>,
    /// The switch at fault, and the destination of affected packets, where switches choose the path.
    #[serde(skip)]
    pub(crate) towards: Option<(SwitchId, Address)>,
}

fn code<S: serde::Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.code)
}

impl Violation {
    /// Creates a violation at a place.
    pub(crate) fn new(rule: &'static Rule, place: Place, message: impl Into<String>) -> Self {
        Violation {
            rule,
            message: message.into(),
            place,
            others: Vec::new(),
            trace: Vec::new(),
            about: None,
            towards: None,
        }
    }

    /// Adds another line that conflicts with the artefact.
    #[must_use]
    pub(crate) fn and(mut self, other: Place) -> Self {
        self.others.push(other);
        self
    }

    /// Records the uSID of affected packets, so that one of them can be traced.
    #[must_use]
    pub(crate) fn with_usid(mut self, switch: SwitchId, usid: Usid) -> Self {
        self.about = Some((switch, usid));
        self
    }

    /// Records the destination of affected packets, where switches choose the path.
    #[must_use]
    pub(crate) fn towards(mut self, switch: SwitchId, address: Address) -> Self {
        self.towards = Some((switch, address));
        self
    }

    fn key(&self) -> (&'static str, &Place, &str) {
        (self.rule.code, &self.place, &self.message)
    }
}

/// One line of the trace of a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceStep {
    /// Text of the step.
    pub text: String,
    /// The artefact that determines this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// Number of applications and violations of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Facts checked.
    pub facts: u64,
    /// Facts that do not hold.
    pub broken: u64,
}

/// Result of a task.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// Contents of the tree that are not verified, and how often each occurs.
    not_judged: BTreeMap<String, u64>,
    /// Tallies, in the order in which rules were first applied.
    tallies: Vec<(&'static Rule, Tally)>,
    /// Index of the rule that was applied last; consecutive facts usually belong to the same rule.
    last: usize,
    violations: Vec<Violation>,
    /// For each rule and kind of object, a digest of the value that most objects have.
    common_values: BTreeMap<String, String>,
}

impl Findings {
    /// Counts facts that were checked, whether or not they hold.
    pub(crate) fn count_facts(&mut self, rule: &'static Rule, facts: u64) {
        self.tally(rule).facts += facts;
    }

    /// Records contents that are present but not verified.
    pub(crate) fn not_judged(&mut self, what: &str) {
        if let Some(count) = self.not_judged.get_mut(what) {
            *count += 1;
        } else {
            self.not_judged.insert(what.to_owned(), 1);
        }
    }

    /// Takes the contents that are not verified, with their counts.
    pub(crate) fn take_not_judged(&mut self) -> BTreeMap<String, u64> {
        std::mem::take(&mut self.not_judged)
    }

    /// Records the value that most objects of a kind have. Other parts of the fabric must have the same value. Only the
    /// digest of the value is compared between parts; objects that differ inside a part are reported with that part.
    pub(crate) fn record_common_value(&mut self, rule: &'static Rule, of: impl Display, value: &impl Debug) {
        if self.common_values.len() < MEANT {
            self.common_values.insert(format!("{} {of}", rule.code), digest(value));
        }
    }

    /// Takes the common values.
    pub(crate) fn take_meant(&mut self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.common_values)
    }

    /// Counts a violation, and keeps it in full if it is among the first [`KEPT`] of its rule.
    pub(crate) fn report(&mut self, violation: Violation) {
        let tally = self.tally(violation.rule);
        tally.broken += 1;
        if tally.broken <= KEPT {
            self.violations.push(violation);
        }
    }

    /// Counts a fact, and adds a violation if it does not hold.
    pub(crate) fn expect(&mut self, holds: bool, rule: &'static Rule, otherwise: impl FnOnce() -> Violation) {
        self.count_facts(rule, 1);
        if !holds {
            self.report(otherwise());
        }
    }

    fn tally(&mut self, rule: &'static Rule) -> &mut Tally {
        let is_it =
            |(known, _): &(&'static Rule, Tally)| std::ptr::eq(*known, rule) || known.code == rule.code;
        if !self.tallies.get(self.last).is_some_and(|(known, _)| std::ptr::eq(*known, rule)) {
            self.last = self.tallies.iter().position(is_it).unwrap_or_else(|| {
                self.tallies.push((rule, Tally::default()));
                self.tallies.len() - 1
            });
        }
        &mut self.tallies[self.last].1
    }

    /// Adds the findings of another task.
    pub(crate) fn merge(mut self, other: Findings) -> Findings {
        for (rule, tally) in other.tallies {
            let own = self.tally(rule);
            own.facts += tally.facts;
            own.broken += tally.broken;
        }
        for (what, count) in other.not_judged {
            *self.not_judged.entry(what).or_default() += count;
        }
        self.violations.extend(other.violations);
        self.common_values.extend(other.common_values);
        self
    }

    /// Returns whether all facts hold.
    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// Returns the tallies by code, and the violations in the order of codes and places, without duplicates.
    pub(crate) fn finish(mut self) -> (BTreeMap<&'static str, (&'static Rule, Tally)>, Vec<Violation>) {
        self.violations.sort_by(|a, b| a.key().cmp(&b.key()));
        self.violations.dedup();
        let by_code = self.tallies.into_iter().map(|(rule, tally)| (rule.code, (rule, tally)));
        (by_code.collect(), self.violations)
    }
}
