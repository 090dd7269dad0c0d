//! Presets with the buffer thresholds of a switch ASIC.
//!
//! In: a preset and the headroom model of an ASIC. Out: the preset to use instead. Invariants: the replacement of a
//! preset is never replaced itself.

use crate::headroom::Model;
use crate::profile::Preset;

/// Returns the preset that has the buffer thresholds of an ASIC; `None` if those of `preset` fit.
pub fn preset_for(preset: Preset, model: Model) -> Option<Preset> {
    match preset {
        Preset::SonicAiLossy => {
            let is_tomahawk_5 = matches!(model, Model::Chip(chip) if chip.is_tomahawk_5());
            is_tomahawk_5.then_some(Preset::SonicAiLossyTh5)
        }
        Preset::SonicAiLossyTh5 => model.is_nvidia().then_some(Preset::SonicAiLossy),
        Preset::LossyTrim
        | Preset::Lossless
        | Preset::SonicAzure
        | Preset::NvidiaRoce
        | Preset::JuniperDcqcn
        | Preset::MetaRoce
        | Preset::None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_fits() {
        for preset in Preset::ALL {
            for model in Model::all() {
                let other = preset_for(preset, model);
                assert!(
                    other.is_none_or(|other| preset_for(other, model).is_none()),
                    "{preset} {}",
                    model.name()
                );
            }
        }
    }
}
