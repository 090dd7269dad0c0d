//! Capabilities that a QoS profile requires of a switch.
//!
//! In: a profile. Out: capabilities. Invariants: the single class of profile `none` requires nothing, because it is the
//! default of every switch. Any other value for this class is a setting.

use closc_qos::ecn::Ecn;
use closc_qos::profile::{Class, Preset, Profile, Scheduler, WatchdogAction};

use super::Capability;

/// Returns the capabilities that a profile requires.
pub fn required_capabilities(profile: &Profile) -> Vec<Capability> {
    let several = profile.classes().count() > 1;
    let none = Preset::None.profile();
    let bare = none.default_class();
    let differs = |is_other: fn(&Class, &Class) -> bool| {
        several || profile.classes().any(|class| is_other(class, bare))
    };
    let weighted = |queue: &Vec<&Class>| match queue[0].scheduler {
        Scheduler::Dwrr(_) => true,
        Scheduler::Strict => false,
    };
    let weighted = profile.queues().values().filter(|queue| weighted(queue)).count();
    let asks = |capability: &Capability| match capability {
        Capability::Classes => differs(|class, bare| {
            (class.tc, class.queue, class.priority_group) != (bare.tc, bare.queue, bare.priority_group)
        }),
        Capability::Thresholds => differs(|class, bare| {
            (class.ingress_threshold, class.egress_threshold)
                != (bare.ingress_threshold, bare.egress_threshold)
        }),
        Capability::Weights => {
            weighted > 1 || !several && differs(|class, bare| class.scheduler != bare.scheduler)
        }
        Capability::Pauses => profile.is_lossless(),
        Capability::Watchdog => profile.watchdog().is_some(),
        Capability::WatchdogDetails => profile
            .watchdog()
            .is_some_and(|watchdog| watchdog.poll.is_some() || watchdog.action == WatchdogAction::Forward),
        Capability::WatchdogAlerts => {
            profile.watchdog().is_some_and(|watchdog| watchdog.action == WatchdogAction::Alert)
        }
        Capability::PauseNumbers => profile.lossless().any(|class| {
            let tc = class.tc.get();
            class.priority.get() != tc || class.priority_group.get() != tc || class.queue.get() != tc
        }),
        Capability::AnyQueues => needs_any_queues(profile),
        Capability::Marking => profile.classes().any(|class| class.ecn != Ecn::Off),
        Capability::Trimming => profile.trimming().is_some(),
        Capability::Ipv4
        | Capability::Segments
        | Capability::SeveralLocators
        | Capability::StaticWeights
        | Capability::Pins
        | Capability::QueuePairHash
        | Capability::Flowlets
        | Capability::Adaptive
        | Capability::Spraying
        | Capability::Bgp
        | Capability::Bfd
        | Capability::Bandwidths
        | Capability::Isolation
        | Capability::Counters
        | Capability::Management
        | Capability::Loopback
        | Capability::Services
        | Capability::SharedCages
        | Capability::SparePorts => false,
    };
    Capability::ALL.iter().copied().filter(asks).collect()
}

/// Returns whether a class or queue has a number above 7, or a strict queue is below a weighted one.
fn needs_any_queues(profile: &Profile) -> bool {
    let queues = profile.queues();
    let weighted = queues.iter().filter(|(_, classes)| classes[0].scheduler != Scheduler::Strict);
    let highest = weighted.map(|(queue, _)| *queue).max();
    let below = queues.iter().any(|(queue, classes)| {
        classes[0].scheduler == Scheduler::Strict && highest.is_some_and(|highest| *queue < highest)
    });
    below || profile.classes().any(|class| class.tc.get() > 7 || class.queue.get() > 7)
}
