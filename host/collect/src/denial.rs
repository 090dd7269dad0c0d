//! Denials: their stages from proposed to ended, the orders for agents, and the storage of ended denials.
//!
//! In: verdicts, orders of operators, the time, good probes. Out: the next list of denials, and its changes.
//! Invariants: the list changes as a whole, so it can be saved before it takes effect. Only denials in stage `applied`
//! are sent to agents. An ended denial is kept until agents have dropped it by themselves.

use closc_nic::agent::Ban;
use closc_plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::element::Element;
use crate::verdict::{Kind, Verdict};

/// Maximum number of denials, in any stage except ended.
pub(crate) const DENIALS_MAX: usize = 256;
/// Time for which an ended denial is kept after its end time.
const REMEMBERED_MS: u64 = 60_000;

/// Stage of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It is requested, but not sent to agents.
    Proposed,
    /// Agents are ordered to apply it.
    Applied,
    /// Its end time has passed.
    Expired,
    /// Enough good probes have returned.
    Returned,
    /// An operator ended it.
    Lifted,
    /// It ended before it was applied.
    Withdrawn,
}

impl Stage {
    /// Returns its keyword.
    pub fn as_str(self) -> &'static str {
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
    /// Its number, which is never reused.
    pub id: u64,
    /// The denied element, by name.
    pub element: String,
    /// The reason, as a keyword of agents.
    pub reason: String,
    /// The reason, as text.
    pub why: String,
    /// The current stage.
    pub stage: Stage,
    /// When that stage began, in milliseconds since 1970.
    pub since_ms: u64,
    /// When it ends by itself, in milliseconds since 1970.
    pub until_ms: u64,
    /// Number of consecutive good probes that end it.
    pub good_wanted: u64,
    /// Why it is still only proposed, although denials are applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
}

/// The list of denials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Denials {
    /// Number of the next denial.
    pub next: u64,
    /// Current denials, and those that ended recently.
    pub list: Vec<Denial>,
}

/// A change of a denial's stage.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Change {
    /// Its number.
    pub id: u64,
    /// The denied element, by name.
    pub element: String,
    /// The new stage.
    pub stage: Stage,
    /// The reason, as text.
    pub why: String,
}

impl Denial {
    /// Returns the denied element.
    pub fn element(&self, plan: &Plan) -> Option<Element> {
        Element::parse(plan, &self.element)
    }

    /// Completes the denial of one agent with the fields that are the same for all agents.
    pub(crate) fn ban(&self, scope: &Ban) -> Ban {
        let until = Some(self.until_ms as f64 / 1e3);
        Ban { id: None, reason: self.reason.clone(), until, ..scope.clone() }
    }

    /// Returns whether a denial that an agent has belongs to this one.
    pub(crate) fn is_at(&self, own: &Ban, scope: &Ban) -> bool {
        // Times lose precision in the conversion to seconds, but end times of two denials differ by at least a
        // millisecond.
        let until = own.until.is_some_and(|until| (until * 1e3 - self.until_ms as f64).abs() < 0.5);
        until && *own == Ban { id: own.id, until: own.until, reason: self.reason.clone(), ..scope.clone() }
    }
}

impl Denials {
    /// Returns the denials that agents should have.
    pub fn applied_denials(&self) -> impl Iterator<Item = &Denial> {
        self.list.iter().filter(|denial| denial.stage == Stage::Applied)
    }

    /// Returns the denial of an element, if it has one that has not ended.
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

    /// Removes ended denials that agents have dropped too.
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

/// Returns the keyword of agents for a kind of fault.
pub(crate) fn reason(verdict: &Verdict) -> &'static str {
    match verdict.kind {
        Kind::Gray => "gray-loss",
        Kind::Dead | Kind::Corrupt | Kind::ShortOnly | Kind::Swapped(_) => "fault",
    }
}
