//! Course of a job.
//!
//! In: what was seen, the timeline. Out: a [`Report`]. Invariants: computed from the record alone, so
//! that the same record gives the same report.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::orders::Orders;
use super::pattern::Pattern;
use super::record::{Mark, Record};
use super::scenario::QUIET;
use super::spread::Left;
use super::statistics::{after_signal, back, lowest, percentile, rate, series};
use super::timeline::Timeline;

/// Goodput is settled so long after a step.
const SETTLED_NS: u64 = 500_000_000;
/// The shortest stretch whose goodput is compared.
const STRETCH_NS: u64 = 400_000_000;
/// The first messages are not like the rest.
const WARM_NS: u64 = QUIET.as_nanos() as u64 / 2;
/// A stretch of the curve, and of the question whether goodput is back.
const POINT_NS: u64 = 200_000_000;
/// Goodput is back with so much of what it should be.
const BACK: f64 = 0.95;
/// All that there is.
const WHOLE: Left = Left { goodput: 1.0, paths: 1.0 };
/// Paths that are listed.
const PATHS_MAX: usize = 10;

/// Command.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// Path selection.
    pub transport: String,
    /// Senders and receivers.
    pub pattern: Pattern,
    /// NICs.
    pub nics: usize,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Messages of a NIC under way.
    pub outstanding: usize,
    /// Rate of a NIC port in Mb/s.
    pub port_mbps: u32,
    /// Seed of the permutation, and of chance in virtual time.
    pub seed: u64,
    /// Milliseconds from burst to burst, if messages were sent in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<f64>,
    /// Milliseconds that hosts get no processor for now and then, at most, if they do not always run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall_ms: Option<f64>,
    /// Whether time was virtual.
    pub virtual_time: bool,
}

impl Setting {
    /// Says what orders say.
    pub(super) fn of(orders: &Orders, nics: usize, virtual_time: bool) -> Setting {
        Setting {
            transport: orders.transport.name().to_owned(),
            pattern: orders.pattern,
            nics,
            message_bytes: orders.message_bytes,
            outstanding: orders.outstanding,
            port_mbps: orders.port_mbps,
            seed: orders.seed,
            every_ms: orders.every.map(|every| every.as_secs_f64() * 1e3),
            stall_ms: orders.stall.map(|stall| stall.as_secs_f64() * 1e3),
            virtual_time,
        }
    }
}

/// Counters of switches, where they are part of the job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Switched {
    /// Packets that got a congestion mark.
    pub ecn_marked: u64,
    /// Packets that were cut to their headers.
    pub trimmed: u64,
    /// Packets that found a queue full.
    pub dropped: u64,
    /// The ports that dropped most of them, and how many.
    pub full: Vec<(String, u64)>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Command.
    #[serde(flatten)]
    pub setting: Setting,
    /// From the first message to the last arrival, or until it was given up.
    pub job_s: f64,
    /// Messages.
    pub messages: Messages,
    /// Goodput before anything broke, in Mb/s: what percentages are of.
    pub before_mbps: Option<f64>,
    /// Goodput that ports carry of the pattern before anything breaks, in Mb/s: in virtual time, where NICs fill their ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_mbps: Option<f64>,
    /// Jain's fairness of senders by the messages of each that arrived: 1 where all sent the same.
    pub fairness: Option<f64>,
    /// Goodput from the first to the last message.
    pub mean_mbps: Option<f64>,
    /// The lowest goodput of a fifth of a second between the first step and the end, in percent.
    pub lowest_percent: Option<f64>,
    /// Round trip before anything broke.
    pub rtt_us: f64,
    /// Stretches between steps.
    pub phases: Vec<Phase>,
    /// Action.
    pub steps: Vec<StepReport>,
    /// States of paths.
    pub states: States,
    /// Packets sent over each plane.
    pub planes: Vec<u64>,
    /// Counters of switches, in virtual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<Switched>,
    /// Bytes that arrived and were not sent.
    pub wrong_bytes: u64,
    /// Losses and changes that were forgotten before they were asked for.
    pub forgotten: u64,
    /// Goodput over time: seconds, and Mb/s of the fifth of a second around them.
    pub curve: Vec<(f64, f64)>,
    /// Unmet expectations.
    pub unmet: Vec<Unmet>,
}

/// Something that is expected and is not so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unmet {
    /// The key of the scenario; `steps` for a step that could not be done.
    pub expected: &'static str,
    /// Actual value, beside the expected one.
    pub found: String,
}

/// Messages of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Messages {
    /// Ordered.
    pub sent: u64,
    /// Arrived.
    pub delivered: u64,
    /// Not arrived.
    pub lost: u64,
    /// Times until senders knew that they arrived.
    pub p50_ms: Option<f64>,
    /// The same.
    pub p99_ms: Option<f64>,
    /// The same.
    pub p999_ms: Option<f64>,
    /// The same.
    pub slowest_ms: Option<f64>,
    /// Packets sent for those that arrived.
    pub packets: u64,
    /// Packets of them that were sent again.
    pub resent: u64,
    /// Packets that were lost, those before the first step among them.
    pub lost_packets: u64,
    /// Those of them that were probes after the end of a burst: they carried nothing, so they did not go again.
    pub lost_probes: u64,
    /// Packets that came again, so that they were sent again without need.
    pub repeated: u64,
    /// Packets of which no word had come to who sent them when the job ended, of messages that arrived: each was lost, or came twice and
    /// may be among those. With them are those that their sender had no room to remember any more.
    pub unanswered: u64,
}

/// A stretch between steps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Phase {
    /// The step that it begins with; the first has none.
    pub after: Option<String>,
    /// When it begins and ends, after the first message.
    pub span_s: (f64, f64),
    /// Goodput that should be left, in percent.
    pub plan_percent: f64,
    /// Paths that are left, in percent: what `closc whatif` states of pairs while all send.
    pub paths_percent: f64,
    /// Goodput that was; absent where the stretch is too short.
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
    /// Event.
    pub what: String,
    /// When, after the first message.
    pub at_s: f64,
    /// Duration.
    pub took_ms: f64,
    /// Why it could not be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Packets lost by what it broke, until that is repaired, those among them that it cut off on their way; besides packets that were
    /// lost until the next step where nothing was broken on their way.
    pub lost_packets: u64,
    /// From the step to when the last of them was lost.
    pub last_lost_ms: Option<f64>,
    /// The longest that a path was used after the first word of a loss.
    pub after_signal_us: Option<f64>,
    /// From the step until goodput is what it should be.
    pub recovered_ms: Option<f64>,
    /// Whether nothing is left after it: goodput can be back only after a later step.
    pub is_outage: bool,
    /// Whether the stretch after it is long enough to say whether goodput is back.
    pub is_judged: bool,
    /// Whether the next step came before that could be said.
    pub is_overtaken: bool,
}

/// States of paths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct States {
    /// Changes.
    pub changes: u64,
    /// Paths that changed.
    pub paths: usize,
    /// Changes by what they were.
    pub by: BTreeMap<String, u64>,
    /// The paths that changed most often.
    pub most: Vec<PathChanges>,
}

/// A path that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathChanges {
    /// Owner.
    pub from: String,
    /// Where it goes.
    pub to: String,
    /// Its entropy value.
    pub entropy: u32,
    /// Number of changes.
    pub changes: u64,
}

impl Report {
    /// Computes it; what is expected is compared afterwards. `names` are those of the NICs.
    pub fn of(setting: Setting, names: &[String], timeline: &Timeline, record: &Record) -> Report {
        let samples = &record.samples;
        let first = record.marks.first().map(|mark| mark.span_ns.0);
        // Sending ends with the job; the end of an interval may be a little earlier than the last sample.
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

    /// Tells whether everything is as expected.
    pub fn is_met(&self) -> bool {
        self.unmet.is_empty()
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// When the last message was ordered: after that less and less is sent, which says nothing of paths. Where messages never
/// arrived none was ordered in their place, though there was more to send.
fn sending_end(record: &Record) -> u64 {
    let last = record.messages.iter().map(|message| message.at_ns).max().unwrap_or(0);
    if record.messages.iter().all(|message| message.took_ns.is_some()) {
        return last;
    }
    last.max(record.wanted_ns.unwrap_or(record.end_ns))
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

/// Jain's index: the square of the sum over the sum of squares, by the number of senders.
fn fairness(record: &Record) -> Option<f64> {
    let mut by: BTreeMap<usize, f64> = BTreeMap::new();
    for message in &record.messages {
        *by.entry(message.from).or_default() += f64::from(u8::from(message.took_ns.is_some()));
    }
    let (sum, squares) = by.values().fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    (squares > 0.0).then(|| sum * sum / (squares * by.len() as f64))
}

/// The marks of a record with what the timeline has of them.
fn marked<'a>(timeline: &'a Timeline, record: &'a Record) -> impl Iterator<Item = (usize, &'a Mark, String)> {
    let marks = record.marks.iter().zip(&timeline.steps).enumerate();
    marks.map(|(at, (mark, bound))| (at, mark, bound.action.to_string()))
}

fn next_ns(record: &Record, at: usize, end_ns: u64) -> u64 {
    record.marks.get(at + 1).map_or(end_ns, |mark| mark.span_ns.0)
}

fn phases(timeline: &Timeline, record: &Record, before: Option<f64>, end_ns: u64) -> Vec<Phase> {
    let phase = |after: Option<String>, from: u64, settled: u64, to: u64, plan: Left| {
        let long = to >= settled + STRETCH_NS;
        let found = before.filter(|before| long && *before > 0.0);
        let percent = found.and_then(|before| Some(100.0 * rate(&record.samples, settled, to)? / before));
        let (plan_percent, paths_percent) = (100.0 * plan.goodput, 100.0 * plan.paths);
        Phase { after, span_s: (seconds(from), seconds(to)), plan_percent, paths_percent, percent }
    };
    let first = record.marks.first().map_or(end_ns, |mark| mark.span_ns.0);
    let plan = |at: usize| timeline.plan.get(at).copied().unwrap_or(WHOLE);
    let mut phases = vec![phase(None, 0, WARM_NS, first, plan(0))];
    for (at, mark, what) in marked(timeline, record) {
        let (from, settled) = (mark.span_ns.0, mark.span_ns.1 + SETTLED_NS);
        phases.push(phase(Some(what), from, settled, next_ns(record, at, end_ns), plan(at + 1)));
    }
    phases
}

fn steps(timeline: &Timeline, record: &Record, before: Option<f64>, end_ns: u64) -> Vec<StepReport> {
    let mut out = Vec::new();
    for (at, mark, what) in marked(timeline, record) {
        let from = mark.span_ns.0;
        let losses: Vec<_> = record.losses.iter().filter(|loss| loss.step == Some(at)).copied().collect();
        let last = losses.iter().map(|loss| loss.lost_ns).max();
        let to = next_ns(record, at, end_ns);
        let left = timeline.plan.get(at + 1).unwrap_or(&WHOLE).goodput;
        // A path with nothing left cannot be restored.
        let wanted = before.map(|before| BACK * before * left).filter(|wanted| *wanted > 0.0);
        let recovered = wanted.and_then(|wanted| back(&record.samples, from, to, POINT_NS, wanted));
        out.push(StepReport {
            what,
            at_s: seconds(from),
            took_ms: (mark.span_ns.1 - from) as f64 / 1e6,
            failed: mark.failed.clone(),
            lost_packets: losses.len() as u64,
            last_lost_ms: last.map(|last| last.saturating_sub(from) as f64 / 1e6),
            after_signal_us: after_signal(&losses, &record.changes).map(|ns| ns as f64 / 1e3),
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
