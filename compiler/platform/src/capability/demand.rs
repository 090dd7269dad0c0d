//! What a QoS profile asks of a switch.
//!
//! In: a profile. Out: capabilities. Invariants: a profile of one class that neither pauses, marks nor
//! trims asks for nothing: that is what a switch does without any setting.

use closc_qos::ecn::Ecn;
use closc_qos::profile::{Class, Profile, Scheduler};

use super::Capability;

/// Returns what a profile asks of a switch.
pub fn asked(profile: &Profile) -> Vec<Capability> {
    let classes = profile.classes().count();
    let weighted = |queue: &Vec<&Class>| match queue[0].scheduler {
        Scheduler::Dwrr(_) => true,
        Scheduler::Strict => false,
    };
    let weighted = profile.queues().values().filter(|queue| weighted(queue)).count();
    let asks = |capability: &Capability| match capability {
        Capability::Classes | Capability::Thresholds => classes > 1,
        Capability::Weights => weighted > 1,
        Capability::Pauses => profile.is_lossless(),
        Capability::Watchdog => profile.watchdog().is_some(),
        Capability::Marking => profile.classes().any(|class| class.ecn != Ecn::Off),
        Capability::Trimming => profile.trimming().is_some(),
        Capability::Segments
        | Capability::SeveralLocators
        | Capability::StaticWeights
        | Capability::Pins
        | Capability::QueuePairHash
        | Capability::Bgp
        | Capability::Bfd
        | Capability::Counters
        | Capability::Management
        | Capability::Loopback
        | Capability::Services => false,
    };
    Capability::ALL.iter().copied().filter(asks).collect()
}
