//! Quality of service of a switch: QoS profiles of ports, maps and shares of the buffer.
//!
//! In: the intent and the values computed by the plan. Out: [`Qos`]. Invariants: ports with the same [`Place`] and
//! speed share a profile. Bandwidths of weighted queues add up to 100 percent. Settings without a command on Jericho
//! and Qumran are omitted, and a warning lists them.

use std::collections::BTreeMap;

use closc_plan::{DeviceIntent, PortKind, SwitchBuffers, SwitchQos};
use closc_qos::Place;
use closc_qos::codes::{DynamicThreshold, Queue};
use closc_qos::ecn::EcnThresholds;
use closc_qos::profile::{Class, Profile, Scheduler, WatchdogAction, WatchdogTimes};
use serde::Serialize;

use super::super::percents::percents;
use crate::RenderError;

/// Quality of service of a switch.
pub(super) struct Qos {
    pub(super) memory: Option<MemoryView>,
    pub(super) profiles: Vec<ProfileView>,
    pub(super) classes: Vec<ClassView>,
    /// The profile of each port, by index in [`DeviceIntent::ports`].
    pub(super) names: Vec<Option<String>>,
}

/// Code points and the queue of a traffic class.
#[derive(Debug, Serialize)]
pub(super) struct ClassView {
    number: u8,
    /// Code points, separated by spaces.
    dscp: String,
    queue: u8,
}

/// Shares of the buffer.
#[derive(Debug, Serialize)]
pub(super) struct MemoryView {
    /// Absent if there are only lossy classes.
    headroom_bytes: Option<u64>,
    pool_bytes: Option<u64>,
    ingress: Vec<ShareView>,
    egress: Vec<ShareView>,
}

/// Share of the free buffer that a queue or priority group may take.
#[derive(Debug, Serialize)]
struct ShareView {
    number: u8,
    threshold: String,
}

/// Settings of ports of one kind.
#[derive(Debug, Serialize)]
pub(super) struct ProfileView {
    name: String,
    pauses: Vec<u8>,
    watchdog: Option<WatchdogView>,
    /// The keyword for a queue.
    queue_word: &'static str,
    queues: Vec<QueueView>,
}

/// The watchdog of paused queues; times in seconds.
#[derive(Debug, Clone, Serialize)]
struct WatchdogView {
    timeout: String,
    recovery: String,
    action: &'static str,
}

/// A queue.
#[derive(Debug, Serialize)]
struct QueueView {
    number: u8,
    priority: &'static str,
    /// Absent for a strict queue.
    bandwidth: Option<String>,
    marks: Option<MarksView>,
}

/// ECN thresholds of a queue.
#[derive(Debug, Serialize)]
struct MarksView {
    least: u64,
    most: u64,
    percent: u8,
}

impl Qos {
    pub(super) fn of(intent: &DeviceIntent<'_>) -> Result<Self, RenderError> {
        let fault = |source| RenderError::Qos { device: intent.name.to_string(), source };
        let switch = SwitchQos::of(intent).map_err(fault)?;
        let virtual_queues = intent.platform.has_virtual_queues();
        let mut profiles: BTreeMap<String, ProfileView> = BTreeMap::new();
        for (kind, marks) in switch.kinds.iter().zip(&switch.marks) {
            profiles.entry(name(kind)).or_insert_with(|| ProfileView {
                name: name(kind),
                pauses: intent.qos.lossless().map(|class| class.priority.get()).collect(),
                watchdog: watchdog(intent.qos, switch.watchdog),
                queue_word: if virtual_queues { "tx-queue" } else { "uc-tx-queue" },
                queues: queues(intent.qos, marks),
            });
        }
        let buffers = switch.buffers.as_ref().filter(|_| !virtual_queues);
        Ok(Qos {
            memory: buffers.map(|buffers| memory(intent.qos, buffers)),
            profiles: profiles.into_values().collect(),
            classes: classes(intent.qos),
            names: switch.ports.iter().map(|kind| Some(name(&switch.kinds[(*kind)?]))).collect(),
        })
    }
}

/// Returns the name of a profile: the properties that it depends on.
fn name(kind: &PortKind) -> String {
    let place = match kind.place {
        Place::LastHop => "LAST-HOP",
        Place::Edge => "EDGE",
        Place::Fabric => "FABRIC",
    };
    format!("{place}-{}", kind.speed)
}

fn classes(profile: &Profile) -> Vec<ClassView> {
    let mut dscp: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for (code, tc) in profile.dscp_to_tc() {
        dscp.entry(tc.get()).or_default().push(code.to_string());
    }
    let mut classes: Vec<&Class> = profile.classes().collect();
    classes.sort_by_key(|class| class.tc);
    let view = |class: &Class| {
        let codes = dscp.get(&class.tc.get())?.join(" ");
        Some(ClassView { number: class.tc.get(), dscp: codes, queue: class.queue.get() })
    };
    classes.into_iter().filter_map(view).collect()
}

fn watchdog(profile: &Profile, times: Option<WatchdogTimes>) -> Option<WatchdogView> {
    let times = times.filter(|_| profile.is_lossless())?;
    let seconds = |millis: u64| format!("{}.{:03}", millis / 1_000, millis % 1_000);
    let short = |text: String| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    Some(WatchdogView {
        timeout: short(seconds(times.detection.millis_ceil())),
        recovery: short(seconds(times.restoration.millis_ceil())),
        action: match profile.watchdog()?.action {
            // Checks reject forwarding, because EOS does not have that action.
            WatchdogAction::Drop | WatchdogAction::Forward => "drop",
            WatchdogAction::Alert => "notify-only",
        },
    })
}

fn queues(profile: &Profile, marks: &BTreeMap<Queue, EcnThresholds>) -> Vec<QueueView> {
    let all = profile.queues();
    let weights: Vec<u32> = all.values().filter_map(|classes| weight(classes[0])).collect();
    let mut shares = percents(&weights).into_iter();
    let view = |(queue, classes): (&Queue, &Vec<&Class>)| {
        let class = classes[0];
        // A watchdog covers only queues with guaranteed bandwidth.
        let word = if class.pfc && profile.watchdog().is_some() { "guaranteed percent" } else { "percent" };
        let share = weight(class).and_then(|_| shares.next());
        QueueView {
            number: queue.get(),
            priority: if share.is_some() { "no priority" } else { "priority strict" },
            bandwidth: share.map(|share| format!("{word} {share}")),
            marks: marks.get(queue).map(|marks| MarksView {
                least: marks.min().0,
                most: marks.max().0,
                percent: marks.probability().get(),
            }),
        }
    };
    all.iter().map(view).collect()
}

fn weight(class: &Class) -> Option<u32> {
    match class.scheduler {
        Scheduler::Strict => None,
        Scheduler::Dwrr(weight) => Some(weight.get().into()),
    }
}

fn memory(profile: &Profile, buffers: &SwitchBuffers) -> MemoryView {
    let xoff = (0..buffers.groups.len()).filter_map(|kind| Some(buffers.headroom(kind)?.xoff.0)).max();
    let share = |number: u8, threshold: DynamicThreshold| ShareView { number, threshold: ratio(threshold) };
    let groups = profile.priority_groups();
    let queues = profile.queues();
    MemoryView {
        headroom_bytes: xoff,
        pool_bytes: xoff.map(|_| buffers.pools.headroom.round_up(buffers.memory.cell).0),
        ingress: groups
            .iter()
            .map(|(group, classes)| share(group.get(), classes[0].ingress_threshold))
            .collect(),
        egress: queues
            .iter()
            .map(|(queue, classes)| share(queue.get(), classes[0].egress_threshold))
            .collect(),
    }
}

/// Returns a power of two between 1/128 and 8, the range of EOS. Values outside become the nearest one.
fn ratio(threshold: DynamicThreshold) -> String {
    let exponent = threshold.get().clamp(-7, 3);
    let power = 1_u32 << exponent.unsigned_abs();
    if exponent < 0 { format!("1/{power}") } else { power.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_ratios() {
        let of = |exponent| ratio(DynamicThreshold::new(exponent).expect("in range"));
        assert_eq!([-8, -7, -1, 0, 3, 7].map(of), ["1/128", "1/128", "1/2", "1", "8", "8"]);
    }
}
