//! Quality of service of a switch: maps, queues, ECN thresholds, PFC, trimming and shares of the buffer.
//!
//! In: the intent and the values computed by the plan. Out: [`QosView`]. Invariants: a switch priority has the number
//! of the profile's traffic class. Packets trimmed by the switch have a priority that no code point has. A traffic
//! class of NVUE has the number of the profile's queue. Every switch priority is in one pool. ECN is configured for
//! every traffic class in use and for 0, which NVUE marks by default.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::{DeviceIntent, PortKind, SwitchQos};
use closc_qos::Place;
use closc_qos::codes::{DynamicThreshold, Queue};
use closc_qos::ecn::EcnThresholds;
use closc_qos::profile::{Class, Profile, Scheduler, WatchdogTimes};
use serde::Serialize;

use super::super::percents::percents;
use crate::RenderError;

/// Percentage of the buffer for lossless classes, and for all others, if there are lossless classes: NVIDIA's own
/// default (Quality of Service, Flow Control Buffers).
const HALF: u8 = 50;

/// Quality of service of a switch.
#[derive(Debug, Serialize)]
pub(super) struct QosView {
    codes: Vec<CodeView>,
    priorities: Vec<PriorityView>,
    queues: Vec<QueueView>,
    kinds: Vec<KindView>,
    pauses: Vec<PausesView>,
    watchdog: Option<WatchdogView>,
    pools: Vec<PoolView>,
    shares: SharesView,
    trimming: Option<TrimmingView>,
    /// Traffic classes that may be trimmed.
    trims: Vec<u8>,
    /// Names of the kind and the PFC profile of each port, by index in [`DeviceIntent::ports`].
    #[serde(skip)]
    names: Vec<Option<(String, Option<String>)>>,
}

/// The switch priority of a code point.
#[derive(Debug, Serialize)]
struct CodeView {
    dscp: u8,
    priority: u8,
}

/// The queue of a switch priority.
#[derive(Debug, Serialize)]
struct PriorityView {
    number: u8,
    queue: u8,
}

/// Scheduling of a queue.
#[derive(Debug, Serialize)]
struct QueueView {
    number: u8,
    /// Percentage of the port bandwidth; absent for a strict queue.
    share: Option<u32>,
}

/// Settings of ports of one place and speed.
#[derive(Debug, Serialize)]
struct KindView {
    name: String,
    marks: Vec<MarksView>,
    /// DSCP of trimmed packets on egress.
    trimmed: Option<u8>,
}

/// ECN marking in a queue.
#[derive(Debug, Serialize)]
struct MarksView {
    queue: u8,
    /// If absent, packets are never marked.
    thresholds: Option<ThresholdsView>,
}

#[derive(Debug, Serialize)]
struct ThresholdsView {
    least: u64,
    most: u64,
    percent: u8,
}

/// PFC settings for cables of one length.
#[derive(Debug, Serialize)]
struct PausesView {
    name: String,
    metres: u64,
    priorities: Vec<u8>,
}

/// The watchdog of paused queues.
#[derive(Debug, Serialize)]
struct WatchdogView {
    poll_millis: u64,
    looks: u64,
}

/// A part of the buffer.
#[derive(Debug, Serialize)]
struct PoolView {
    name: &'static str,
    percent: u8,
    priorities: Vec<u8>,
}

/// Shares of the free buffer.
#[derive(Debug, Serialize)]
struct SharesView {
    /// Shares of lossless classes: on ingress and on egress.
    lossless: Option<[String; 2]>,
    /// Share of all other classes, on ingress.
    lossy: Option<String>,
    /// Shares of the queues of all other classes.
    queues: Vec<ShareView>,
}

#[derive(Debug, Serialize)]
struct ShareView {
    queue: u8,
    alpha: String,
}

/// Trimming of packets that do not fit into the buffer.
#[derive(Debug, Serialize)]
struct TrimmingView {
    size: u64,
    priority: u8,
}

impl QosView {
    pub(super) fn of(intent: &DeviceIntent<'_>) -> Result<Self, RenderError> {
        let fault = |source| RenderError::Qos { device: intent.name.to_string(), source };
        let switch = SwitchQos::of(intent).map_err(fault)?;
        let profile = intent.qos;
        let names = |kind: &PortKind| (name(kind), profile.is_lossless().then(|| pauses_name(kind)));
        let trims = profile.classes().filter(|class| class.trim).map(|class| class.queue.get());
        Ok(QosView {
            codes: profile
                .dscp_to_tc()
                .into_iter()
                .map(|(dscp, tc)| CodeView { dscp: dscp.get(), priority: tc.get() })
                .collect(),
            priorities: priorities(intent),
            queues: queues(profile),
            kinds: kinds(profile, &switch),
            pauses: pauses(profile, &switch),
            watchdog: switch.watchdog.filter(|_| profile.is_lossless()).map(watchdog),
            pools: pools(profile),
            shares: shares(profile),
            trimming: profile.trimming().and_then(|trimming| {
                let size = intent.platform.trim_size(intent.os, trimming.size).0;
                Some(TrimmingView { size, priority: trim_priority(intent)? })
            }),
            trims: trims.collect::<BTreeSet<_>>().into_iter().collect(),
            names: switch.ports.iter().map(|kind| Some(names(&switch.kinds[(*kind)?]))).collect(),
        })
    }

    /// Returns the settings of a port: the names of its kind and of its PFC profile.
    pub(super) fn of_port(&self, at: usize) -> Option<(String, Option<String>)> {
        self.names.get(at).cloned().flatten()
    }
}

/// Returns the name of a kind of port: the properties that it depends on.
fn name(kind: &PortKind) -> String {
    let place = match kind.place {
        Place::LastHop => "last-hop",
        Place::Edge => "edge",
        Place::Fabric => "fabric",
    };
    format!("{place}-{}", kind.speed).to_lowercase()
}

fn pauses_name(kind: &PortKind) -> String {
    format!("cable-{}m", metres(kind))
}

/// Returns the cable length in whole metres, at least 1, for NVUE.
fn metres(kind: &PortKind) -> u64 {
    kind.cable.meters_ceil().max(1)
}

/// Returns the switch priority of packets trimmed by the switch. Other packets of their class have another one, so that
/// packets trimmed earlier keep their code point on egress.
fn trim_priority(intent: &DeviceIntent<'_>) -> Option<u8> {
    intent.qos.trim_priority(intent.os.trim_priority_max().unwrap_or(u8::MAX))
}

fn priorities(intent: &DeviceIntent<'_>) -> Vec<PriorityView> {
    let of = |class: &Class| (class.tc.get(), class.queue.get());
    let mut queues: BTreeMap<u8, u8> = intent.qos.classes().map(of).collect();
    let class = intent.qos.trimming().and_then(|trimming| intent.qos.class(&trimming.class));
    queues.extend(trim_priority(intent).zip(class.map(|class| class.queue.get())));
    queues.into_iter().map(|(number, queue)| PriorityView { number, queue }).collect()
}

fn queues(profile: &Profile) -> Vec<QueueView> {
    let all = profile.queues();
    let weight = |class: &Class| match class.scheduler {
        Scheduler::Strict => None,
        Scheduler::Dwrr(weight) => Some(u32::from(weight.get())),
    };
    let weights: Vec<u32> = all.values().filter_map(|classes| weight(classes[0])).collect();
    let mut shares = percents(&weights).into_iter();
    let view = |(queue, classes): (&Queue, &Vec<&Class>)| QueueView {
        number: queue.get(),
        share: weight(classes[0]).and_then(|_| shares.next()),
    };
    all.iter().map(view).collect()
}

fn kinds(profile: &Profile, switch: &SwitchQos) -> Vec<KindView> {
    let mut found: BTreeMap<String, KindView> = BTreeMap::new();
    let used: BTreeSet<u8> = profile.classes().map(|class| class.queue.get()).chain([0]).collect();
    for (kind, marks) in switch.kinds.iter().zip(&switch.marks) {
        let dscp = profile.trimming().map(|trimming| match kind.place {
            Place::LastHop => trimming.last_hop_dscp.get(),
            Place::Edge | Place::Fabric => trimming.fabric_dscp.get(),
        });
        found.entry(name(kind)).or_insert_with(|| KindView {
            name: name(kind),
            marks: used.iter().map(|queue| marks_view(*queue, marks)).collect(),
            trimmed: dscp,
        });
    }
    found.into_values().collect()
}

fn marks_view(queue: u8, marks: &BTreeMap<Queue, EcnThresholds>) -> MarksView {
    let own = marks.iter().find(|(own, _)| own.get() == queue).map(|(_, marks)| marks);
    let thresholds = |marks: &EcnThresholds| ThresholdsView {
        least: marks.min().0,
        most: marks.max().0,
        percent: marks.probability().get(),
    };
    MarksView { queue, thresholds: own.map(thresholds) }
}

fn pauses(profile: &Profile, switch: &SwitchQos) -> Vec<PausesView> {
    let priorities: Vec<u8> = profile.lossless().map(|class| class.priority.get()).collect();
    if priorities.is_empty() {
        return Vec::new();
    }
    let of = |kind: &PortKind| {
        let view =
            PausesView { name: pauses_name(kind), metres: metres(kind), priorities: priorities.clone() };
        (metres(kind), view)
    };
    let found: BTreeMap<u64, PausesView> = switch.kinds.iter().map(of).collect();
    found.into_values().collect()
}

/// Returns the poll interval, and the number of polls after which the watchdog acts. A queue recovers if no pause frame
/// arrives between two polls.
fn watchdog(times: WatchdogTimes) -> WatchdogView {
    let poll_millis = times.restoration.millis_ceil().clamp(100, 5_000);
    WatchdogView { poll_millis, looks: times.detection.millis_ceil().div_ceil(poll_millis).max(1) }
}

fn pools(profile: &Profile) -> Vec<PoolView> {
    let paused: Vec<u8> = profile.lossless().map(|class| class.tc.get()).collect();
    if paused.is_empty() {
        return Vec::new();
    }
    let others = (0..8).filter(|priority| !paused.contains(priority)).collect();
    vec![
        PoolView { name: "default-lossless", percent: HALF, priorities: paused },
        PoolView { name: "default-lossy", percent: 100 - HALF, priorities: others },
    ]
}

fn shares(profile: &Profile) -> SharesView {
    let most = |of: &dyn Fn(&Class) -> DynamicThreshold, paused: bool| {
        let all = profile.classes().filter(|class| class.pfc == paused).map(|class| of(class).get());
        all.max().map(alpha)
    };
    let ingress = |class: &Class| class.ingress_threshold;
    let egress = |class: &Class| class.egress_threshold;
    let queues = profile.queues();
    let lossy = queues.iter().filter(|(_, classes)| !classes[0].pfc);
    SharesView {
        lossless: most(&ingress, true).zip(most(&egress, true)).map(|(ingress, egress)| [ingress, egress]),
        lossy: most(&ingress, false),
        queues: lossy
            .map(|(queue, classes)| ShareView {
                queue: queue.get(),
                alpha: alpha(classes[0].egress_threshold.get()),
            })
            .collect(),
    }
}

/// Returns NVUE's keyword for a power of two. Values outside its range become the nearest one.
fn alpha(exponent: i8) -> String {
    match exponent {
        ..=-7 => "alpha_1_128".to_owned(),
        -6..=-1 => format!("alpha_1_{}", 1_u32 << exponent.unsigned_abs()),
        0..=6 => format!("alpha_{}", 1_u32 << exponent.unsigned_abs()),
        7.. => "alpha_infinity".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::alpha;

    #[test]
    fn exponents_become_alphas() {
        let words = [-8, -7, -2, 0, 1, 6, 7].map(alpha);
        let meant =
            ["alpha_1_128", "alpha_1_128", "alpha_1_4", "alpha_1", "alpha_2", "alpha_64", "alpha_infinity"];
        assert_eq!(words, meant);
    }
}
