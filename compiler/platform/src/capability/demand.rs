//! What a QoS profile asks of a switch, and what of it a target drops.
//!
//! In: a profile and a target. Out: capabilities. Invariants: a profile of one class that neither pauses, marks nor
//! trims asks for nothing: that is what a switch does without any setting.

use closc_qos::ecn::Ecn;
use closc_qos::profile::{Class, Profile, Scheduler};

use super::{Capability, Column};

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

/// Returns what a profile asks for and a target does not render.
pub fn lost(profile: &Profile, column: Column) -> Vec<Capability> {
    asked(profile).into_iter().filter(|capability| !column.renders(*capability)).collect()
}

#[cfg(test)]
mod tests {
    use closc_qos::profile::Preset;

    use super::*;

    #[test]
    fn sonic_renders_every_preset_whole() {
        for preset in Preset::ALL {
            assert_eq!(lost(&preset.profile(), Column::Sonic), [], "{preset}");
        }
    }

    #[test]
    fn no_qos_asks_for_nothing() {
        assert_eq!(asked(&Preset::None.profile()), []);
        for preset in Preset::ALL.into_iter().filter(|preset| *preset != Preset::None) {
            let lost = lost(&preset.profile(), Column::Frr);
            assert!(lost.contains(&Capability::Classes), "{preset}: {lost:?}");
        }
    }

    #[test]
    fn a_pipeline_neither_pauses_nor_weighs() {
        let lossless = lost(&Preset::Lossless.profile(), Column::P4Fabric);
        assert!(lossless.contains(&Capability::Pauses) && lossless.contains(&Capability::Weights));
        let trim = lost(&Preset::LossyTrim.profile(), Column::P4Fabric);
        assert_eq!(trim, [Capability::Weights, Capability::Thresholds]);
    }
}
