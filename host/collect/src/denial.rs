//! Denials: from proposed to ended, what agents are asked for, what is remembered.
//!
//! In: verdicts, orders of people, the time, good probes. Out: the next list of denials, and what changed. Invariants: the
//! list is changed as a whole, so that it can be on a disk before anybody acts by it; only what is `applied` is ever sent to
//! agents; what has ended is remembered until agents have forgotten it by themselves.

use closc_nic::agent::Ban;
use closc_plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::element::Element;
use crate::verdict::{Kind, Verdict};

/// Denials at a time, whatever they are.
pub(crate) const DENIALS_MAX: usize = 256;
/// Time that an ended denial is remembered.
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
    /// Returns the word for it.
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

    /// Tells whether it is over.
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

/// All denials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Denials {
    /// The number of the next one.
    pub next: u64,
    /// Those that are, and those that are remembered.
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
    /// Finds what it denies.
    pub fn element(&self, plan: &Plan) -> Option<Element> {
        Element::parse(plan, &self.element)
    }

    /// Fills in what the denials of all agents share.
    pub(crate) fn ban(&self, scope: &Ban) -> Ban {
        let until = Some(self.until_ms as f64 / 1e3);
        Ban { id: None, reason: self.reason.clone(), until, ..scope.clone() }
    }

    /// Tells whether a denial of an agent is this one.
    pub(crate) fn is_at(&self, own: &Ban, scope: &Ban) -> bool {
        // Seconds go through decimal digits; two denials differ by a millisecond at least.
        let until = own.until.is_some_and(|until| (until * 1e3 - self.until_ms as f64).abs() < 0.5);
        until && *own == Ban { id: own.id, until: own.until, reason: self.reason.clone(), ..scope.clone() }
    }
}

impl Denials {
    /// Returns those that agents are asked for.
    pub fn applied(&self) -> impl Iterator<Item = &Denial> {
        self.list.iter().filter(|denial| denial.stage == Stage::Applied)
    }

    /// Finds what is not over by the name of its element.
    pub(crate) fn open(&self, element: &str) -> Option<&Denial> {
        self.list.iter().find(|denial| denial.element == element && !denial.stage.is_over())
    }

    /// Adds a proposal. The time of its end tells it apart from every other one.
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

    /// Forgets what agents have forgotten too.
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

    /// Brings it to another stage.
    pub(crate) fn become_(&mut self, stage: Stage, now_ms: u64) -> Change {
        (self.stage, self.since_ms, self.held) = (stage, now_ms, None);
        self.change()
    }
}

/// The word that agents take for what is broken in a way.
pub(crate) fn reason(verdict: &Verdict) -> &'static str {
    match verdict.kind {
        Kind::Gray => "gray-loss",
        Kind::Dead | Kind::ShortOnly | Kind::Swapped(_) => "fault",
    }
}
