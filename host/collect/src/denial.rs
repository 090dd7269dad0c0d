//! Denials: their stages from proposed to ended, the orders that follow, and what is remembered.
//!
//! In: verdicts, orders of operators, the time, good probes. Out: the next list of denials, and its changes.
//! Invariants: the list changes as a whole, so that it can be saved before it takes effect; only denials in stage
//! `applied` are sent to agents; an ended denial is remembered until agents have dropped it by themselves.

use closc_nic::agent::Ban;
use closc_plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::element::Element;
use crate::verdict::{Kind, Verdict};

/// Maximum number of denials, in any stage except ended.
pub(crate) const DENIALS_MAX: usize = 256;
/// Time that a denial is remembered after its end.
const REMEMBERED_MS: u64 = 60_000;

/// Progress of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It ought to be.
    Proposed,
    /// Agents are asked for it.
    Applied,
    /// Its time was over.
    Expired,
    /// Enough good probes came back.
    Returned,
    /// Somebody ended it.
    Lifted,
    /// It was never applied, and there is no reason for it any more.
    Withdrawn,
}

impl Stage {
    /// Returns its keyword.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Proposed => "proposed",
            Stage::Applied => "applied",
            Stage::Expired => "expired",
            Stage::Returned => "returned",
            Stage::Lifted => "lifted",
            Stage::Withdrawn => "withdrawn",
        }
    }

    /// Returns whether the denial has ended.
    pub fn is_over(self) -> bool {
        match self {
            Stage::Proposed | Stage::Applied => false,
            Stage::Expired | Stage::Returned | Stage::Lifted | Stage::Withdrawn => true,
        }
    }
}

/// One denial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Denial {
    /// Its number; never used twice.
    pub id: u64,
    /// Denials, by name.
    pub element: String,
    /// Why, in the word that agents take.
    pub reason: String,
    /// Why, in words.
    pub why: String,
    /// Distance.
    pub stage: Stage,
    /// When that began, in milliseconds since 1970.
    pub since_ms: u64,
    /// When it ends by itself.
    pub until_ms: u64,
    /// Good probes in a row that end it.
    pub good_wanted: u64,
    /// Why it is not applied, where it could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
}

/// The list of denials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Denials {
    /// Number of the next denial.
    pub next: u64,
    /// Current and remembered denials.
    pub list: Vec<Denial>,
}

/// Result of a denial.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Change {
    /// Its number.
    pub id: u64,
    /// Denied paths.
    pub element: String,
    /// Result.
    pub stage: Stage,
    /// Why.
    pub why: String,
}

impl Denial {
    /// Returns the denied element.
    pub fn element(&self, plan: &Plan) -> Option<Element> {
        Element::parse(plan, &self.element)
    }

    /// Adds the fields that are the same for all agents to a scope.
    pub(crate) fn ban(&self, scope: &Ban) -> Ban {
        let until = Some(self.until_ms as f64 / 1e3);
        Ban { id: None, reason: self.reason.clone(), until, ..scope.clone() }
    }

    /// Returns whether a denial at an agent belongs to this one.
    pub(crate) fn is_at(&self, own: &Ban, scope: &Ban) -> bool {
        // Times lose precision in the conversion to seconds; those of two denials differ by at least a millisecond.
        let until = own.until.is_some_and(|until| (until * 1e3 - self.until_ms as f64).abs() < 0.5);
        until && *own == Ban { id: own.id, until: own.until, reason: self.reason.clone(), ..scope.clone() }
    }
}

impl Denials {
    /// Returns the denials that agents must have.
    pub fn applied(&self) -> impl Iterator<Item = &Denial> {
        self.list.iter().filter(|denial| denial.stage == Stage::Applied)
    }

    /// Returns the denial of an element that has not ended.
    pub(crate) fn open(&self, element: &str) -> Option<&Denial> {
        self.list.iter().find(|denial| denial.element == element && !denial.stage.is_over())
    }

    /// Adds a proposal. Its end time is made unique, so that it identifies the denial at agents.
    pub(crate) fn propose(&mut self, mut denial: Denial) -> Change {
        denial.id = self.next.max(1);
        self.next = denial.id + 1;
        while self.list.iter().any(|other| other.until_ms == denial.until_ms) {
            denial.until_ms += 1;
        }
        let change = denial.change();
        self.list.push(denial);
        change
    }

    /// Drops ended denials that agents have dropped too.
    pub(crate) fn forget(&mut self, now_ms: u64) {
        self.list.retain(|denial| {
            let was_sent = denial.stage != Stage::Withdrawn;
            !denial.stage.is_over() || was_sent && denial.until_ms + REMEMBERED_MS > now_ms
        });
    }
}

impl Denial {
    fn change(&self) -> Change {
        Change { id: self.id, element: self.element.clone(), stage: self.stage, why: self.why.clone() }
    }

    /// Moves the denial to another stage.
    pub(crate) fn become_(&mut self, stage: Stage, now_ms: u64) -> Change {
        (self.stage, self.since_ms, self.held) = (stage, now_ms, None);
        self.change()
    }
}

/// Returns the reason, as agents accept it, for a kind of fault.
pub(crate) fn reason(verdict: &Verdict) -> &'static str {
    match verdict.kind {
        Kind::Gray => "gray-loss",
        Kind::Dead | Kind::ShortOnly | Kind::Swapped(_) => "fault",
    }
}
