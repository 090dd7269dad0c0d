//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_deploy::{Cell, Counters};

use super::LIST_MAX;
use crate::collector::Collector;
use crate::denial::Stage;

/// Text in the format of Prometheus.
#[derive(Default)]
struct Text(String);

/// Labels and a value.
type Row = (String, f64);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str, rows: impl IntoIterator<Item = Row>) {
        let _ = writeln!(self.0, "# HELP closc_collect_{name} {help}\n# TYPE closc_collect_{name} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(self.0, "closc_collect_{name}{labels} {value}");
        }
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.family(name, kind, help, [(String::new(), value)]);
    }
}

/// Formats labels, escaped for Prometheus.
fn labels(all: &[(&str, &str)]) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let all: Vec<String> = all.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", all.join(","))
}

/// Returns the state of the fabric in the text format of Prometheus.
pub fn metrics(collector: &Collector, now_ms: u64) -> String {
    let mut text = Text::default();
    let agents = collector.agents(now_ms);
    text.one("nics", "gauge", "NICs of the fabric.", agents.nics as f64);
    text.one("agents_speaking", "gauge", "Agents that answer.", agents.speaking as f64);
    text.one(
        "sources_failing",
        "gauge",
        "Sources that do not answer, or whose answers are unusable.",
        agents.failing as f64,
    );
    text.one(
        "agents_dead",
        "gauge",
        "Agents that answered before, or are bound to a NIC, and do not answer.",
        agents.dead as f64,
    );
    text.one("source_failures_total", "counter", "Failures of all sources.", agents.failures as f64);
    text.one("agent_findings", "gauge", "Findings that agents report.", agents.findings as f64);
    text.one(
        "agents_with_other_tables",
        "gauge",
        "Agents whose path table differs from this plan.",
        agents.other_tables as f64,
    );
    text.one(
        "nics_contested",
        "gauge",
        "NICs that several agents report for, so none of them counts.",
        agents.contested as f64,
    );
    text.one(
        "unseen_losses_total",
        "counter",
        "Losses that were not attributed, because the limit was reached.",
        collector.evidence().untracked_losses as f64,
    );
    switches(&mut text, collector);
    planes(&mut text, collector, now_ms);
    verdicts(&mut text, collector, now_ms);
    denials(&mut text, collector);
    text.0
}

/// Adds sums per switch. Counters of ports and segments are only available for one switch at a time.
fn switches(text: &mut Text, collector: &Collector) {
    let (switches, naming) = (collector.switches(), &collector.plan().topology().naming);
    text.one("switches_read", "gauge", "Switches whose counters are read.", switches.latest().len() as f64);
    text.one("switches_failing", "gauge", "Switches that do not answer.", switches.faults.len() as f64);
    text.one(
        "switch_failures_total",
        "counter",
        "Number of polls that a switch did not answer.",
        switches.failures as f64,
    );
    if switches.latest().len() == 0 {
        return;
    }
    let listed: Vec<(String, &Counters)> = switches
        .latest()
        .take(LIST_MAX)
        .map(|(switch, counters)| (naming.switch(switch).to_string(), counters))
        .collect();
    let mut rows: [Vec<Row>; 5] = Default::default();
    for (name, counters) in &listed {
        let sums = counters.sums();
        rows[0].push((labels(&[("switch", name)]), sums.received as f64));
        for (at, classes) in [sums.sent, sums.marked, sums.trimmed].into_iter().enumerate() {
            let row = |(class, n): (u8, u64)| {
                (labels(&[("switch", name), ("class", &class.to_string())]), n as f64)
            };
            rows[1 + at].extend(classes.into_iter().map(row));
        }
        let drop = |(reason, cell): (&String, &Cell)| {
            (labels(&[("switch", name), ("reason", reason)]), cell.packets as f64)
        };
        rows[4].extend(counters.drops.iter().map(drop));
    }
    let families = [
        ("switch_received_total", "Received packets."),
        ("switch_sent_total", "Sent packets, by class."),
        ("switch_ecn_marked_total", "Sent packets with an ECN mark, by class."),
        ("switch_trimmed_total", "Sent packets that were trimmed, by class."),
        ("switch_dropped_total", "Dropped packets, by reason."),
    ];
    for ((name, help), rows) in families.into_iter().zip(rows) {
        text.family(name, "counter", help, rows);
    }
}

/// Returns all counters of a switch, by port and by segment; `None` if it is not read.
pub(crate) fn switch_metrics(collector: &Collector, name: &str) -> Option<String> {
    let switch = collector.plan().topology().naming.parse_switch(name)?;
    let counters = collector.switches().of(switch)?;
    Some(counters.metrics("closc_collect", ("switch", name)))
}

fn planes(text: &mut Text, collector: &Collector, now_ms: u64) {
    let planes = collector.summary(now_ms).planes;
    let rows = |of: &dyn Fn(&super::TierView) -> f64| -> Vec<Row> {
        let tiers = planes.iter().flat_map(|plane| plane.tiers.iter().map(move |tier| (plane.plane, tier)));
        tiers
            .map(|(plane, tier)| (labels(&[("plane", &plane.to_string()), ("tier", tier.tier)]), of(tier)))
            .collect()
    };
    text.family(
        "cables",
        "gauge",
        "Cables from the tier below to the switches of a tier.",
        rows(&|t| t.cables as f64),
    );
    text.family(
        "cables_dead",
        "gauge",
        "Cables from the tier below to the switches of a tier and carry nothing.",
        rows(&|t| t.dead as f64),
    );
    text.family(
        "cables_gray",
        "gauge",
        "Cables from the tier below to the switches of a tier and lose packets.",
        rows(&|t| t.gray as f64),
    );
    text.family("probes_total", "counter", "Probes that turned at a tier.", rows(&|t| t.probes as f64));
    text.family(
        "probes_lost_total",
        "counter",
        "Lost probes that turned at a tier.",
        rows(&|t| t.lost as f64),
    );
}

fn verdicts(text: &mut Text, collector: &Collector, now_ms: u64) {
    let views: Vec<_> =
        collector.verdicts().take(LIST_MAX).map(|own| own.view(collector.plan(), now_ms)).collect();
    let mut counts: BTreeMap<&str, usize> =
        [("dead", 0), ("gray", 0), ("corrupt", 0), ("short-only", 0), ("swapped", 0)].into();
    for own in collector.verdicts() {
        *counts.entry(own.kind.as_str()).or_default() += 1;
    }
    let counts = counts.into_iter().map(|(kind, n)| (labels(&[("kind", kind)]), n as f64));
    text.family("verdicts", "gauge", "Findings.", counts);
    let rows = |of: &dyn Fn(&super::VerdictView) -> f64| -> Vec<Row> {
        let row = |view: &super::VerdictView| {
            let plane = view.plane.map(|plane| plane.to_string()).unwrap_or_default();
            let all =
                [("element", &*view.element), ("what", view.what), ("kind", view.kind), ("plane", &plane)];
            (labels(&all), of(view))
        };
        views.iter().map(row).collect()
    };
    text.family(
        "verdict_loss_ratio",
        "gauge",
        "Share of probes lost through the broken element.",
        rows(&|v| v.share),
    );
    text.family("verdict_confidence", "gauge", "Confidence of the finding, 0 to 1.", rows(&|v| v.confidence));
    text.family(
        "verdict_since_seconds",
        "gauge",
        "Start of the finding, in seconds since 1970.",
        rows(&|v| v.since_ms as f64 / 1e3),
    );
}

fn denials(text: &mut Text, collector: &Collector) {
    let list = &collector.denials().list;
    let stages =
        [Stage::Proposed, Stage::Applied, Stage::Expired, Stage::Returned, Stage::Lifted, Stage::Withdrawn];
    let count = |stage: Stage| list.iter().filter(|denial| denial.stage == stage).count() as f64;
    let rows = stages.map(|stage| (labels(&[("stage", stage.as_str())]), count(stage)));
    text.family("denials", "gauge", "Denials, by state.", rows);
    let held = list.iter().filter(|denial| denial.held.is_some()).count() as f64;
    text.one("denials_held", "gauge", "Denials that the last-path guard holds.", held);
    let row = |of: &dyn Fn(u64) -> usize| -> Vec<Row> {
        let row = |denial: &crate::denial::Denial| {
            (labels(&[("element", &denial.element), ("reason", &denial.reason)]), of(denial.id) as f64)
        };
        collector.denials().applied_denials().map(row).collect()
    };
    let in_force = row(&|id| collector.denial_state(id).in_force);
    text.family("denial_in_force", "gauge", "Agents that have a denial in force.", in_force);
    let refused = row(&|id| collector.denial_state(id).refusing_nics.len());
    text.family("denial_refused", "gauge", "Agents that refuse a denial.", refused);
}
