//! Output: a summary whose size does not depend on the size of the fabric, and details of one element.
//!
//! In: the collector, the time. Out: values for JSON, and metrics in the format of Prometheus. Invariants: the size of
//! a summary depends on the numbers of planes, verdicts and denials. Truncated lists are marked.

pub(crate) mod detail;
mod metrics;

use closc_plan::Plan;
use closc_topology::{Switch, TierId};
use schemars::JsonSchema;
use serde::Serialize;

pub use metrics::metrics;
pub(crate) use metrics::switch_metrics;

use crate::collector::{Collector, Source};
use crate::denial::{Denial, Stage};
use crate::element::nic_name;
use crate::verdict::{Kind, Verdict};

/// Maximum number of entries of a list.
const LIST_MAX: usize = 1000;
/// Maximum number of switch errors in a summary.
const FAULTS_MAX: usize = 8;

/// State of the fabric.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Its name.
    pub fabric: String,
    /// Time of the summary, in milliseconds since 1970.
    pub now_ms: u64,
    /// Whether denials are applied.
    pub apply: bool,
    /// Problems that need an operator, at most a thousand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<String>,
    /// Agents.
    pub agents: Agents,
    /// Switches whose counters are read.
    pub switches: SwitchesView,
    /// Planes, in order.
    pub planes: Vec<PlaneView>,
    /// Faults, at most a thousand.
    pub verdicts: Vec<VerdictView>,
    /// Number of faults.
    pub n_verdicts: usize,
    /// Denials: proposed, applied, and ended recently.
    pub denials: Vec<DenialView>,
}

/// Numbers of agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Agents {
    /// NICs of the fabric.
    pub nics: usize,
    /// Agents that answer.
    pub speaking: usize,
    /// Sources that do not answer, or whose answers are unusable.
    pub failing: usize,
    /// Agents that do not answer, but did before or are bound to a NIC. Each is an alarm.
    pub dead: usize,
    /// Number of failed requests to all sources.
    pub failures: u64,
    /// Number of faults that agents found themselves.
    pub findings: usize,
    /// Agents whose path table differs from the plan's table for their group, because it is of another plan.
    pub other_tables: usize,
    /// NICs that several sources claim. These sources are ignored.
    pub contested: usize,
}

/// Switches whose counters are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SwitchesView {
    /// Switches that answer.
    pub read: usize,
    /// Switches that do not answer.
    pub failing: usize,
    /// Number of failed reads of all switches.
    pub failures: u64,
    /// Errors of some of the failing switches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// State of a plane.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PlaneView {
    /// Its number.
    pub plane: u8,
    /// Its tiers from below.
    pub tiers: Vec<TierView>,
}

/// The switches of a tier and the cables below them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TierView {
    /// `t0`, `t1` or `t2`.
    pub tier: &'static str,
    /// Switches.
    pub switches: usize,
    /// Cables that end at them from below.
    pub cables: usize,
    /// Number of dead cables among them.
    pub dead: usize,
    /// Number of cables among them that lose packets.
    pub gray: usize,
    /// Number of cables among them over which a probe has returned recently.
    pub probed: usize,
    /// Probes that turned at them.
    pub probes: u64,
    /// Number of lost probes among them.
    pub lost: u64,
}

/// A verdict.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictView {
    /// Name of the element.
    pub element: String,
    /// The name that `closc drain` accepts for it.
    pub key: String,
    /// Kind of the element: `plane`, `switch`, `NIC`, `NIC port` or `cable`.
    pub what: &'static str,
    /// Kind of the fault: `dead`, `gray`, `corrupt`, `short-only` or `swapped`.
    pub kind: &'static str,
    /// The plane, unless it is in several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// Probes lost, or packets if only switch counters show the fault.
    pub lost: u64,
    /// Probes sent, or packets if only switch counters show the fault.
    pub sent: u64,
    /// The share of lost probes or packets.
    pub share: f64,
    /// Number of agents with supporting probes, or of switches if only their counters show the fault.
    pub witnesses: usize,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Start of the fault, in milliseconds since 1970.
    pub since_ms: u64,
    /// The switch whose packets are lost, if counters of both ends of a cable show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Length of the longest IP packet that passed, in bytes, if only short packets pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_bytes: Option<u16>,
    /// Length of the shortest IP packet that did not pass, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loses_bytes: Option<u16>,
    /// A line of text that contains all of this.
    pub line: String,
}

/// A denial, and its state at agents.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DenialView {
    /// The denial.
    #[serde(flatten)]
    pub denial: Denial,
    /// Number of consecutive good probes so far.
    pub good: u64,
    /// Number of agents at which it is in force.
    pub in_force: usize,
    /// NICs of agents that rejected it, up to a limit.
    pub refused: Vec<String>,
    /// The reason that one of them gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceView {
    /// Name.
    pub name: String,
    /// Its NIC, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<String>,
    /// Time of its last answer, in milliseconds since 1970.
    pub seen_ms: u64,
    /// Number of failures.
    pub failures: u64,
    /// Last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The checksum of its path table, if it differs from the plan's table for its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_table: Option<String>,
}

impl Kind {
    /// Returns its keyword.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Kind::Dead => "dead",
            Kind::Gray => "gray",
            Kind::Corrupt => "corrupt",
            Kind::ShortOnly => "short-only",
            Kind::Swapped(_) => "swapped",
        }
    }
}

impl Verdict {
    /// Returns its view for output.
    pub(crate) fn view(&self, plan: &Plan, now_ms: u64) -> VerdictView {
        VerdictView {
            element: self.element.name(plan),
            key: self.element.key(plan),
            what: self.element.kind(),
            kind: self.kind.as_str(),
            plane: self.element.plane().map(|plane| plane.0),
            lost: self.lost,
            sent: self.sent,
            share: self.share(),
            witnesses: self.witnesses,
            confidence: self.confidence,
            since_ms: self.since_ms,
            from: self.counters.map(|counted| plan.topology().naming.switch(counted.from).to_string()),
            passes_bytes: self.lengths.map(|lengths| lengths.passes),
            loses_bytes: self.lengths.map(|lengths| lengths.loses),
            line: self.line(plan, now_ms),
        }
    }
}

impl Collector {
    /// Returns the state of the fabric.
    pub fn summary(&self, now_ms: u64) -> Summary {
        let plan = self.plan();
        Summary {
            fabric: plan.topology().name.to_string(),
            now_ms,
            apply: self.options().apply,
            alarms: self.alarms(now_ms),
            agents: self.agents(now_ms),
            switches: self.switches_view(),
            planes: (0..plan.topology().planes).map(|plane| self.plane(plane, now_ms)).collect(),
            verdicts: self.verdicts().take(LIST_MAX).map(|own| own.view(plan, now_ms)).collect(),
            n_verdicts: self.verdicts().count(),
            denials: self.denials().list.iter().map(|denial| self.denial(denial)).collect(),
        }
    }

    /// Returns the problems that make verdicts incomplete: no agent or switch answers, an agent is dead, or several
    /// sources claim a NIC.
    fn alarms(&self, now_ms: u64) -> Vec<String> {
        let agents = self.agents(now_ms);
        let blind = (agents.speaking == 0 && self.switches().latest().len() == 0)
            .then(|| "no agent answers, so nothing is checked".to_owned());
        let contested = self.contested_nics(now_ms).into_iter().map(|(nic, sources)| {
            let nic = nic_name(self.plan().topology(), nic);
            format!(
                "several agents report for `{nic}`, so none of them counts: {}; bind the NIC with `--nic {nic}=SOCKET`",
                sources.join(", ")
            )
        });
        let dead = self.dead_agents(now_ms).into_iter().map(|agent| agent.line(self.plan(), now_ms));
        let unexplained = self.unexplained_losses(now_ms);
        blind.into_iter().chain(contested).chain(dead).chain(unexplained).take(LIST_MAX).collect()
    }

    /// Counts agents.
    pub fn agents(&self, now_ms: u64) -> Agents {
        let is_fresh = |seen_ms: u64| now_ms.saturating_sub(seen_ms) <= self.options().fresh_ms;
        let speaking = || self.evidence().agents.values().filter(|agent| is_fresh(agent.last_seen_ms));
        Agents {
            nics: self.n_nics(),
            speaking: speaking().count(),
            failing: self.sources().iter().filter(|source| source.fault.is_some()).count(),
            dead: self.dead_agents(now_ms).len(),
            failures: self.sources().iter().map(|source| source.failures).sum(),
            findings: speaking().map(|agent| agent.findings).sum(),
            other_tables: self
                .sources()
                .iter()
                .filter(|s| is_fresh(s.last_seen_ms) && s.other_table.is_some())
                .count(),
            contested: self.contested_nics(now_ms).len(),
        }
    }

    fn switches_view(&self) -> SwitchesView {
        let (switches, naming) = (self.switches(), &self.plan().topology().naming);
        let fault = |(switch, why): (&Switch, &String)| format!("{}: {why}", naming.switch(*switch));
        SwitchesView {
            read: switches.latest().len(),
            failing: switches.faults.len(),
            failures: switches.failures,
            faults: switches.faults.iter().take(FAULTS_MAX).map(fault).collect(),
        }
    }

    fn plane(&self, plane: u8, now_ms: u64) -> PlaneView {
        let since_ms = now_ms.saturating_sub(self.options().fresh_ms);
        let tier = |tier: TierId| {
            let (switches, cables) = self.tier_size(plane, tier)?;
            let (probes, lost) = self.evidence().probes(plane, tier);
            let probed = self.evidence().good_since(plane, tier, since_ms);
            let (mut dead, mut gray) = (0, 0);
            for own in self.verdicts() {
                let n = self.cables_of(own.element, plane, tier);
                match own.kind {
                    Kind::Gray | Kind::Corrupt | Kind::ShortOnly => gray += n,
                    Kind::Dead | Kind::Swapped(_) => dead += n,
                }
            }
            Some(TierView { tier: tier.keyword(), switches, cables, dead, gray, probed, probes, lost })
        };
        PlaneView { plane, tiers: TierId::ALL.into_iter().filter_map(tier).collect() }
    }

    fn denial(&self, denial: &Denial) -> DenialView {
        let standing = self.denial_state(denial.id);
        let topology = self.plan().topology();
        let is_applied = denial.stage == Stage::Applied;
        let element = denial.element(self.plan()).filter(|_| is_applied);
        DenialView {
            denial: denial.clone(),
            good: element.map_or(0, |element| self.good(element)),
            in_force: standing.in_force,
            refused: standing.refusing_nics.iter().map(|nic| nic_name(topology, *nic)).collect(),
            refusal: standing.refusal,
        }
    }

    /// Returns failing sources first, then those with another path table, then the others; at most a thousand.
    pub fn source_views(&self) -> Vec<SourceView> {
        let rank = |source: &&Source| (source.fault.is_none(), source.other_table.is_none());
        let mut sources: Vec<&Source> = self.sources().iter().collect();
        sources.sort_by_key(rank);
        sources.into_iter().take(LIST_MAX).map(|source| self.source_view(source)).collect()
    }

    fn source_view(&self, source: &Source) -> SourceView {
        SourceView {
            name: source.name.clone(),
            nic: source.nic.map(|nic| nic_name(self.plan().topology(), nic)),
            seen_ms: source.last_seen_ms,
            failures: source.failures,
            fault: source.fault.clone(),
            other_table: source.other_table.clone(),
        }
    }
}
