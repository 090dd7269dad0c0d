//! The result of a verification: proved facts by rule, and violations by place.
//!
//! In: findings and counts. Out: [`Report`], as text and for serialisation. Invariants: rules are sorted by code,
//! violations by code and place. The same tree always gives the same report.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_artefacts::Routing;
use closc_diagnostics::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::{Tally, Violation};
use crate::proof::chosen::counts::DeliveryCounts;
use crate::proof::count::PathCounts;
use crate::proof::load::LoadCounts;
use crate::walk::choices::ChoiceWalk;
use crate::walk::exhaustive::WalkCounts;

/// Maximum length of the text of a rule on its line.
const SUBJECT_MAX: usize = 76;

/// The outcome of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// Name of the fabric.
    pub fabric: String,
    /// Routing mode.
    pub routing: String,
    /// Facts that are not proved with this routing mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_proved: Vec<&'static str>,
    /// Contents that are not judged, because sites may choose them freely, and the number of each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_judged: BTreeMap<String, u64>,
    /// Counts of files, devices and cables read.
    pub read: ReadCounts,
    /// Proof of paths; absent if hosts do not choose the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<PathCounts>,
    /// Load of cables when every NIC sends to every other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadCounts>,
    /// Result of walking every path; absent if there are too many paths, or if only a part of the fabric is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<WalkCounts>,
    /// Proof of deliveries where switches choose the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryCounts>,
    /// Result of walking every path, where switches choose the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<ChoiceWalk>,
    /// Counts of each rule.
    pub rules: Vec<RuleCounts>,
    /// The first violations of each rule, in order.
    pub violations: Vec<Violation>,
    /// Total number of violations, shown or not.
    pub broken: u64,
}

/// Counts of files, devices and cables read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReadCounts {
    /// Number of files.
    pub files: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Number of switches.
    pub switches: u64,
    /// Number of nodes that the tree describes.
    pub nodes: u64,
    /// Number of cables.
    pub cables: u64,
    /// Number of path tables.
    pub tables: u64,
    /// Number of NICs in path tables or, without tables, in cable lists.
    pub nics: u64,
}

/// Returns the facts that are not proved with a routing mode.
pub(crate) fn not_proved(routing: Routing) -> Vec<&'static str> {
    const NODES: &str = "the effect of node files other than `ip.batch`, `netplan.yaml`, `networkd/`, \
         `nic-qos.sh`, `delay.json` and `nccl.conf`";
    const ADDRESS: &str = "the address of a NIC whose node has no files: the value of most of its T0s counts";
    const SPREAD: &str =
        "that packets of one flow take one path, and how evenly flows spread over the next hops of a route";
    const SESSIONS: &str = "the behaviour while sessions come up or go down: only the final state is proved";
    const NARROWEST: &str = "that shares fit the narrowest cable of a path: announced bandwidths are summed";
    const NAMES: &str = "names of classes and reasons of denials in path tables, which are for people; \
         delays except for their bounds";
    match routing {
        Routing::Srv6Static => vec![NAMES],
        Routing::EcmpStatic => vec![NODES, ADDRESS, SPREAD],
        Routing::BgpUnnumbered => vec![SESSIONS, NODES, ADDRESS, SPREAD, NARROWEST],
    }
}

/// Counts of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleCounts {
    /// Code of the rule.
    pub code: &'static str,
    /// Title of the rule, which describes the fault.
    pub title: &'static str,
    /// Description of the check.
    pub what: &'static str,
    /// Number of applications and violations.
    #[serde(flatten)]
    pub tally: Tally,
}

impl RuleCounts {
    pub(crate) fn new(rule: &'static Rule, tally: Tally) -> Self {
        RuleCounts { code: rule.code, title: rule.title, what: rule.condition, tally }
    }
}

impl Report {
    /// Returns whether all facts hold.
    pub fn holds(&self) -> bool {
        self.broken == 0
    }

    /// Formats the report as text: violations, then the summary.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for violation in &self.violations {
            show(&mut text, violation);
        }
        let shown = self.violations.len() as u64;
        if self.broken > shown {
            let _ = writeln!(text, "... and {} more\n", thousands((self.broken - shown).into()));
        }
        text + &self.summary()
    }

    /// Formats the summary as text: contents of the tree, and facts per rule.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        let read = &self.read;
        let _ = writeln!(
            text,
            "{}: {} files, {} bytes; {} switches, {} cables, {} NICs",
            self.fabric,
            thousands(read.files.into()),
            thousands(read.bytes.into()),
            thousands(read.switches.into()),
            thousands(read.cables.into()),
            thousands(read.nics.into()),
        );
        self.paths_text(&mut text);
        for (what, count) in &self.not_judged {
            let _ = writeln!(text, "not judged: {what}, {count} times");
        }
        for open in &self.not_proved {
            let _ = writeln!(text, "not proved with routing {}: {open}", self.routing);
        }
        let facts: u128 = self.rules.iter().map(|rule| u128::from(rule.tally.facts)).sum();
        let verdict = if self.holds() { "all of them hold" } else { "not all of them hold" };
        let _ = writeln!(
            text,
            "{} facts by {} rules: {verdict}{}",
            thousands(facts),
            self.rules.len(),
            if self.holds() {
                String::new()
            } else {
                format!(", {} are broken", thousands(self.broken.into()))
            },
        );
        for rule in &self.rules {
            let broken = match rule.tally.broken {
                0 => String::new(),
                broken => format!("  BROKEN {}", thousands(broken.into())),
            };
            let _ = writeln!(
                text,
                "  {}  {:>14}  {}{broken}",
                rule.code,
                thousands(rule.tally.facts.into()),
                shorten(subject(rule))
            );
        }
        text
    }

    fn paths_text(&self, text: &mut String) {
        if let Some(paths) = &self.paths {
            let _ = writeln!(
                text,
                "paths: {} of {} arrive ({} over one switch, {} over three, {} over five); {} are in use",
                thousands(paths.arrive),
                thousands(paths.named),
                thousands(paths.local),
                thousands(paths.zone),
                thousands(paths.far),
                thousands(paths.in_use),
            );
        }
        if let Some(load) = &self.load {
            load_text(load, text);
        }
        if let Some(delivery) = &self.delivery {
            let _ = writeln!(
                text,
                "deliveries: {} of {} that cables lead to arrive whatever switches choose, over {} paths; {} have no path",
                thousands(delivery.arrive),
                thousands(delivery.possible),
                thousands(delivery.ways),
                thousands(delivery.deliveries - delivery.possible),
            );
        }
        if let Some(walk) = &self.choices {
            let _ = writeln!(
                text,
                "tested individually: {} of {} deliveries arrive, over {} of {} paths",
                thousands(walk.arrive),
                thousands(walk.deliveries),
                thousands(walk.ways),
                thousands(walk.tried),
            );
        }
        if let Some(walk) = &self.walk {
            let _ = writeln!(
                text,
                "tested individually: {} of {} arrive, {} are lost without being denied",
                thousands(walk.arrive),
                thousands(walk.walked),
                thousands(walk.lost),
            );
        }
    }
}

/// Appends the load of the busiest cable per tier and direction.
fn load_text(load: &LoadCounts, text: &mut String) {
    if let Some(why) = &load.not_measured {
        let _ = writeln!(text, "load of cables is not measured: {why}");
    }
    let figure = |thousandths: u64| format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    let each = load.cables.iter().map(|of| {
        let (cables, busiest) = (of.cables.to_uppercase(), figure(of.busiest_to_mean));
        format!("{cables} {} {busiest} (idlest {})", of.direction, figure(of.idlest_to_mean))
    });
    let each: Vec<String> = each.collect();
    if !each.is_empty() {
        let _ = writeln!(text, "load of all to all, busiest cable to mean: {}", each.join(", "));
    }
}

/// Returns the text for a rule: its title if it is violated, or else the first sentence of its description.
fn subject(rule: &RuleCounts) -> &'static str {
    if rule.tally.broken > 0 {
        return rule.title;
    }
    let ends = [". ", "; ", ": "].iter().filter_map(|end| rule.what.find(end));
    let end = ends.min().unwrap_or(rule.what.len());
    rule.what[..end].trim_end_matches('.')
}

/// Truncates a line between words to the width of a terminal; `closc explain` shows the complete text.
fn shorten(text: &str) -> String {
    if text.len() <= SUBJECT_MAX {
        return text.to_owned();
    }
    let end = text[..SUBJECT_MAX].rfind(' ').unwrap_or(SUBJECT_MAX);
    format!("{} ...", text[..end].trim_end_matches(','))
}

fn show(text: &mut String, violation: &Violation) {
    let _ = writeln!(text, "error[{}]: {}", violation.rule.code, violation.message);
    let _ = writeln!(text, "  --> {}", violation.place);
    for other in &violation.others {
        let _ = writeln!(text, "  and {other}");
    }
    let first = if violation.about.is_some() || violation.towards.is_some() { "packet:" } else { "  ring:" };
    for (at, step) in violation.trace.iter().enumerate() {
        let place = step.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let _ = writeln!(text, "   {} {}{place}", if at > 0 { "     ->" } else { first }, step.text);
    }
    text.push('\n');
}

/// Formats a number with commas between thousands.
fn thousands(number: u128) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_readable() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(35_115_652_612_096), "35,115,652,612,096");
    }
}
