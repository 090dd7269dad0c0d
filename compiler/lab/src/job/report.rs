//! The report on a job.
//!
//! In: the record of a job, and the timeline. Out: a [`Report`]. Invariants: the report is computed only from the
//! record, so the same record gives the same report.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::orders::Orders;
use super::pattern::Pattern;
use super::record::{Mark, Record};
use super::scenario::QUIET;
use super::spread::RemainingCapacity;
use super::statistics::{back, lowest, max_use_after_signal, percentile, rate, series};
use super::timeline::Timeline;

/// Time after a step during which goodput may still change.
const SETTLED_NS: u64 = 500_000_000;
/// Minimum duration of a phase whose goodput is compared.
const STRETCH_NS: u64 = 400_000_000;
/// Ignored time at the start of a job.
const WARM_NS: u64 = QUIET.as_nanos() as u64 / 2;
/// Interval of the curve, and of the check whether goodput has recovered.
const POINT_NS: u64 = 200_000_000;
/// Share of the expected goodput from which it counts as recovered.
const BACK: f64 = 0.95;
/// Full capacity.
const WHOLE: RemainingCapacity = RemainingCapacity { goodput: 1.0, paths: 1.0 };
/// Maximum number of listed paths.
const PATHS_MAX: usize = 10;

/// Parameters of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// Selection of paths.
    pub transport: String,
    /// Senders and receivers.
    pub pattern: Pattern,
    /// NICs.
    pub nics: usize,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Maximum number of messages of a NIC in flight.
    pub outstanding: usize,
    /// Rate of a NIC port in Mb/s.
    pub port_mbps: u32,
    /// Seed of the permutation, and of randomness in virtual time.
    pub seed: u64,
    /// Milliseconds between bursts, if messages were sent in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<f64>,
    /// Maximum pause in milliseconds during which hosts are not scheduled, if there are such pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall_ms: Option<f64>,
    /// Whether time was virtual.
    pub virtual_time: bool,
}

impl Setting {
    /// Converts the orders to parameters.
    pub(super) fn of(orders: &Orders, nics: usize, virtual_time: bool) -> Setting {
        Setting {
            transport: orders.transport.name().to_owned(),
            pattern: orders.pattern,
            nics,
            message_bytes: orders.message_bytes,
            outstanding: orders.max_in_flight,
            port_mbps: orders.port_mbps,
            seed: orders.seed,
            every_ms: orders.burst_interval.map(|every| every.as_secs_f64() * 1e3),
            stall_ms: orders.stall.map(|stall| stall.as_secs_f64() * 1e3),
            virtual_time,
        }
    }
}

/// Counters of simulated switches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SwitchCounters {
    /// Packets with ECN marking.
    pub ecn_marked: u64,
    /// Packets that were trimmed.
    pub trimmed: u64,
    /// Packets that were dropped because of a full queue.
    pub dropped: u64,
    /// The ports with the most drops, with the number of drops.
    pub full: Vec<(String, u64)>,
}

/// Report on a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Parameters of the job.
    #[serde(flatten)]
    pub setting: Setting,
    /// Seconds from the first message to the last arrival, or to the end of the job.
    pub job_s: f64,
    /// Messages.
    pub messages: Messages,
    /// Goodput before the first fault, in Mb/s. Percentages are relative to it.
    pub before_mbps: Option<f64>,
    /// Expected goodput before the first fault, in Mb/s, for this pattern. Present only in virtual time, and only if
    /// NICs fill their ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_mbps: Option<f64>,
    /// Jain's fairness index of the delivered messages per sender: 1 if all are equal.
    pub fairness: Option<f64>,
    /// Mean goodput from the first to the last message.
    pub mean_mbps: Option<f64>,
    /// Lowest goodput of an interval of 200 ms between the first step and the end, in percent.
    pub lowest_percent: Option<f64>,
    /// Round-trip time before the first fault.
    pub rtt_us: f64,
    /// Phases between steps.
    pub phases: Vec<Phase>,
    /// Steps.
    pub steps: Vec<StepReport>,
    /// Changes of path states.
    pub states: States,
    /// Packets sent over each plane.
    pub planes: Vec<u64>,
    /// Counters of switches, in virtual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<SwitchCounters>,
    /// Bytes with wrong contents.
    pub wrong_bytes: u64,
    /// Losses and changes that agents discarded before they were read.
    pub forgotten: u64,
    /// Goodput over time: seconds, and Mb/s in the 200 ms around them.
    pub curve: Vec<(f64, f64)>,
    /// Unmet expectations.
    pub unmet: Vec<FailedExpectation>,
}

/// An unmet expectation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedExpectation {
    /// The key of the expectation; `steps` for a step that failed.
    pub expected: &'static str,
    /// The actual value, compared with the expected one.
    pub found: String,
}

/// Messages of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Messages {
    /// Number of messages sent.
    pub sent: u64,
    /// Number of messages that arrived.
    pub delivered: u64,
    /// Number of messages that did not arrive.
    pub lost: u64,
    /// Completion time of a message, from submission to the last acknowledgement, in milliseconds: median.
    pub p50_ms: Option<f64>,
    /// 99th percentile of the completion time.
    pub p99_ms: Option<f64>,
    /// 99.9th percentile of the completion time.
    pub p999_ms: Option<f64>,
    /// Maximum completion time.
    pub slowest_ms: Option<f64>,
    /// Packets sent for messages that arrived.
    pub packets: u64,
    /// Number of these packets that are retransmissions.
    pub resent: u64,
    /// Lost packets, including those before the first step.
    pub lost_packets: u64,
    /// Number of these packets that are probes. Probes have no data, are sent at the end of a burst, and are not
    /// retransmitted.
    pub lost_probes: u64,
    /// Duplicate packets: unnecessary retransmissions.
    pub repeated: u64,
    /// Packets of delivered messages for which the sender had no answer at the end of the job. Each was lost or is
    /// one of the duplicates. Packets that the sender no longer tracked are included.
    pub unanswered: u64,
}

/// A phase between steps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Phase {
    /// The step at its start; absent for the first phase.
    pub after: Option<String>,
    /// Start and end in seconds after the first message.
    pub span_s: (f64, f64),
    /// Expected goodput, in percent.
    pub plan_percent: f64,
    /// Remaining paths in percent, like the value for pairs in `closc whatif` if all NICs send.
    pub paths_percent: f64,
    /// Actual goodput; absent if the phase is too short.
    pub percent: Option<f64>,
}

impl Phase {
    pub(super) fn name(&self) -> String {
        self.after.as_ref().map_or_else(|| "before the first step".to_owned(), |step| format!("after {step}"))
    }
}

/// A step of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepReport {
    /// The step.
    pub what: String,
    /// Time after the first message, in seconds.
    pub at_s: f64,
    /// Duration.
    pub took_ms: f64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Packets that the fault of the step dropped until its repair, including packets in flight. Packets lost
    /// before the next step without a fault on their path also count.
    pub lost_packets: u64,
    /// Time from the step to the last of these losses.
    pub last_lost_ms: Option<f64>,
    /// Maximum time for which a path was still used after the first sign of a loss.
    pub after_signal_us: Option<f64>,
    /// Time from the step until goodput was as expected.
    pub recovered_ms: Option<f64>,
    /// Whether all capacity is lost after it, so that goodput can only recover after a later step.
    pub is_outage: bool,
    /// Whether the phase after it is long enough to decide whether goodput recovered.
    pub is_judged: bool,
    /// Whether the next step started too early to decide whether goodput recovered.
    pub is_overtaken: bool,
}

/// Changes of path states.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct States {
    /// Changes.
    pub changes: u64,
    /// Paths that changed.
    pub paths: usize,
    /// Changes by kind.
    pub by: BTreeMap<String, u64>,
    /// The paths with the most changes.
    pub most: Vec<PathChanges>,
}

/// A path that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathChanges {
    /// Sending NIC.
    pub from: String,
    /// Destination.
    pub to: String,
    /// Its entropy value.
    pub entropy: u32,
    /// Number of changes.
    pub changes: u64,
}

impl Report {
    /// Computes the report without expectations. `names` contains the names of the NICs.
    pub fn of(setting: Setting, names: &[String], timeline: &Timeline, record: &Record) -> Report {
        let samples = &record.samples;
        let first = record.marks.first().map(|mark| mark.span_ns.0);
        // Sending ends with the job. The last interval may end slightly before the last sample.
        let end_ns = samples.last().map_or(0, |sample| sample.at_ns).min(sending_end(record));
        let before = rate(samples, WARM_NS, first.unwrap_or(end_ns));
        let percent = |rate: f64| before.filter(|before| *before > 0.0).map(|before| 100.0 * rate / before);
        let mbps = |bytes: f64| bytes * 8.0 / 1e6;
        let width = POINT_NS;
        let low = first.and_then(|first| lowest(samples, first, end_ns, width));
        let steps = steps(timeline, record, before, end_ns);
        Report {
            setting,
            job_s: seconds(record.end_ns),
            messages: messages(record),
            before_mbps: before.map(mbps),
            plan_mbps: None,
            fairness: fairness(record),
            mean_mbps: rate(samples, samples.first().map_or(0, |s| s.at_ns), end_ns).map(mbps),
            lowest_percent: low.and_then(|(_, rate)| percent(rate)),
            rtt_us: record.rtt_ns as f64 / 1e3,
            phases: phases(timeline, record, before, end_ns),
            steps,
            states: states(names, record),
            planes: record.planes.clone(),
            switches: None,
            wrong_bytes: record.wrong_bytes,
            forgotten: record.forgotten,
            curve: series(samples, POINT_NS, record.end_ns)
                .into_iter()
                .map(|(at, rate)| (seconds(at), mbps(rate)))
                .collect(),
            unmet: Vec::new(),
        }
    }

    /// Returns whether all expectations are met.
    pub fn is_met(&self) -> bool {
        self.unmet.is_empty()
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Returns the time at which senders stopped. Afterwards goodput falls for reasons other than paths. If messages did
/// not arrive, senders could not submit further ones; this time counts as sending.
fn sending_end(record: &Record) -> u64 {
    let last = record.messages.iter().map(|message| message.at_ns).max().unwrap_or(0);
    if record.messages.iter().all(|message| message.took_ns.is_some()) {
        return last;
    }
    last.max(record.stop_ns.unwrap_or(record.end_ns))
}

fn messages(record: &Record) -> Messages {
    let mut times: Vec<u64> = record.messages.iter().filter_map(|message| message.took_ns).collect();
    times.sort_unstable();
    let at = |share| percentile(&times, share).map(|ns| ns as f64 / 1e6);
    let (sent, delivered) = (record.messages.len() as u64, times.len() as u64);
    Messages {
        sent,
        delivered,
        lost: sent - delivered,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        p999_ms: at(0.999),
        slowest_ms: at(1.0),
        packets: record.messages.iter().map(|message| message.packets.0).sum(),
        resent: record.messages.iter().map(|message| message.packets.1).sum(),
        lost_packets: record.losses.len() as u64,
        lost_probes: record.losses.iter().filter(|loss| loss.is_probe).count() as u64,
        repeated: record.repeated,
        unanswered: record.unanswered,
    }
}

/// Returns Jain's index: the square of the sum, divided by the sum of squares and by the number of senders.
fn fairness(record: &Record) -> Option<f64> {
    let mut by: BTreeMap<usize, f64> = BTreeMap::new();
    for message in &record.messages {
        *by.entry(message.from).or_default() += f64::from(u8::from(message.took_ns.is_some()));
    }
    let (sum, squares) = by.values().fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    (squares > 0.0).then(|| sum * sum / (squares * by.len() as f64))
}

/// Joins the completed steps of a record with the timeline.
fn completed_steps<'a>(
    timeline: &'a Timeline,
    record: &'a Record,
) -> impl Iterator<Item = (usize, &'a Mark, String)> {
    let marks = record.marks.iter().zip(&timeline.steps).enumerate();
    marks.map(|(at, (mark, bound))| (at, mark, bound.action.to_string()))
}

fn next_ns(record: &Record, at: usize, end_ns: u64) -> u64 {
    record.marks.get(at + 1).map_or(end_ns, |mark| mark.span_ns.0)
}

fn phases(timeline: &Timeline, record: &Record, before: Option<f64>, end_ns: u64) -> Vec<Phase> {
    let phase = |after: Option<String>, from: u64, settled: u64, to: u64, plan: RemainingCapacity| {
        let long = to >= settled + STRETCH_NS;
        let found = before.filter(|before| long && *before > 0.0);
        let percent = found.and_then(|before| Some(100.0 * rate(&record.samples, settled, to)? / before));
        let (plan_percent, paths_percent) = (100.0 * plan.goodput, 100.0 * plan.paths);
        Phase { after, span_s: (seconds(from), seconds(to)), plan_percent, paths_percent, percent }
    };
    let first = record.marks.first().map_or(end_ns, |mark| mark.span_ns.0);
    let plan = |at: usize| timeline.plan.get(at).copied().unwrap_or(WHOLE);
    let mut phases = vec![phase(None, 0, WARM_NS, first, plan(0))];
    for (at, mark, what) in completed_steps(timeline, record) {
        let (from, settled) = (mark.span_ns.0, mark.span_ns.1 + SETTLED_NS);
        phases.push(phase(Some(what), from, settled, next_ns(record, at, end_ns), plan(at + 1)));
    }
    phases
}

fn steps(timeline: &Timeline, record: &Record, before: Option<f64>, end_ns: u64) -> Vec<StepReport> {
    let mut out = Vec::new();
    for (at, mark, what) in completed_steps(timeline, record) {
        let from = mark.span_ns.0;
        let losses: Vec<_> = record.losses.iter().filter(|loss| loss.step == Some(at)).copied().collect();
        let last = losses.iter().map(|loss| loss.lost_ns).max();
        let to = next_ns(record, at, end_ns);
        let left = timeline.plan.get(at + 1).unwrap_or(&WHOLE).goodput;
        // Recovery is impossible without a remaining path.
        let wanted = before.map(|before| BACK * before * left).filter(|wanted| *wanted > 0.0);
        let recovered = wanted.and_then(|wanted| back(&record.samples, from, to, POINT_NS, wanted));
        out.push(StepReport {
            what,
            at_s: seconds(from),
            took_ms: (mark.span_ns.1 - from) as f64 / 1e6,
            failed: mark.failed.clone(),
            lost_packets: losses.len() as u64,
            last_lost_ms: last.map(|last| last.saturating_sub(from) as f64 / 1e6),
            after_signal_us: max_use_after_signal(&losses, &record.changes).map(|ns| ns as f64 / 1e3),
            recovered_ms: recovered.map(|ns| ns as f64 / 1e6),
            is_outage: left <= 0.0,
            is_judged: to >= mark.span_ns.1 + SETTLED_NS,
            is_overtaken: record.marks.len() > at + 1 && to < mark.span_ns.1 + SETTLED_NS,
        });
    }
    out
}

fn states(names: &[String], record: &Record) -> States {
    let mut by: BTreeMap<String, u64> = BTreeMap::new();
    let mut paths: BTreeMap<(usize, usize, u32), u64> = BTreeMap::new();
    for change in &record.changes {
        *by.entry(format!("{} -> {}", change.states.0, change.states.1)).or_default() += 1;
        *paths.entry((change.from, change.to, change.entropy)).or_default() += 1;
    }
    let name = |nic: usize| names.get(nic).cloned().unwrap_or_default();
    let mut most: Vec<_> = paths.iter().collect();
    most.sort_by_key(|(path, count)| (std::cmp::Reverse(**count), **path));
    let most = most.into_iter().take(PATHS_MAX).map(|((from, to, entropy), changes)| PathChanges {
        from: name(*from),
        to: name(*to),
        entropy: *entropy,
        changes: *changes,
    });
    let most = most.collect();
    States { changes: record.changes.len() as u64, paths: paths.len(), by, most }
}

#[cfg(test)]
mod tests;
