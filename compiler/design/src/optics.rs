//! Power of the modules in cages.
//!
//! In: the medium of a cable, and the lanes of a cage. Out: watts. Invariants: each figure has a source.
//! Modules without a source have no figure.

use closc_qos::units::Speed;
use closc_topology::media::Medium;

/// Copper media. The one without electronics is first.
pub(crate) const COPPER: [&str; 3] = ["dac", "acc", "aec"];

/// Power of a module in watts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) typical: u32,
    pub(crate) maximum: u32,
}

/// Modules of one kind, and the media that they terminate.
struct ModuleClass {
    media: &'static [&'static str],
    /// Number and speed of the cage's lanes, all of them in use; `None` for any lanes.
    lanes: Option<(u8, Speed)>,
    figures: Figures,
}

const LANE: Speed = Speed::gbps(100);

static MODULES: &[ModuleClass] = &[
    // Passive copper has only an EEPROM: NVIDIA LinkX, passive DAC. Virtual cables have no modules.
    ModuleClass { media: &["dac", "virtual"], lanes: None, figures: Figures { typical: 0, maximum: 0 } },
    // docs.nvidia.com, MMS4X00-NS (800G, 2xDR4), Specifications: 16 W, at most 17 W, in all configurations.
    ModuleClass {
        media: &["dr4", "dr8"],
        lanes: Some((8, LANE)),
        figures: Figures { typical: 16, maximum: 17 },
    },
    // docs.nvidia.com, MMS4X00-NS400 (400G DR4).
    ModuleClass { media: &["dr4"], lanes: Some((4, LANE)), figures: Figures { typical: 9, maximum: 9 } },
    // docs.nvidia.com, MMA4Z00-NS400 and MMA1Z00-NS400 (400G SR4), with the reach of VR4.
    ModuleClass {
        media: &["sr4", "vr"],
        lanes: Some((4, LANE)),
        figures: Figures { typical: 8, maximum: 9 },
    },
];

/// Returns whether no modules are bought for a medium: its plugs are parts of the cable, or it is software.
pub fn is_assembly(medium: &str) -> bool {
    medium == "virtual" || Medium::find(medium).is_some_and(Medium::is_assembly)
}

/// Returns the power of the module that terminates a medium in a cage with `lanes` lanes of the speed `lane`.
pub(crate) fn module(medium: &str, lanes: u8, lane: Speed) -> Option<Figures> {
    let fits = |known: &&ModuleClass| {
        known.media.contains(&medium) && known.lanes.is_none_or(|wanted| wanted == (lanes, lane))
    };
    MODULES.iter().find(fits).map(|known| known.figures)
}

/// Returns the typical and the maximum power of a medium's module in watts, if published.
pub fn module_watts(medium: &str, lanes: u8, lane: Speed) -> Option<(u32, u32)> {
    module(medium, lanes, lane).map(|figures| (figures.typical, figures.maximum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_without_a_source_have_no_figure() {
        assert_eq!(module("dac", 8, LANE), Some(Figures { typical: 0, maximum: 0 }));
        assert_eq!(module("dr4", 8, LANE), Some(Figures { typical: 16, maximum: 17 }));
        let assemblies = ["dac", "acc", "aec", "aoc", "virtual"];
        assert!(assemblies.into_iter().all(is_assembly) && !["dr4", "sr4"].into_iter().any(is_assembly));
        for (medium, lanes, lane) in [("dr4", 8, 50), ("dr4", 8, 200), ("aoc", 8, 100), ("zr", 4, 100)] {
            assert_eq!(module(medium, lanes, Speed::gbps(lane)), None, "{medium}");
        }
    }
}
