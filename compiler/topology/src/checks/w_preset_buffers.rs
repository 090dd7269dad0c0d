//! W0713: a preset has the buffer thresholds of another ASIC.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_qos::asic::preset_for;
use closc_qos::headroom::Model;
use closc_qos::profile::Preset;

use crate::draft::{Draft, Hardware};
use crate::field;

/// A preset has the buffer thresholds of another ASIC.
pub(crate) static RULE: Rule = Rule {
    code: "W0713",
    title: "the preset has buffer thresholds for another ASIC",
    condition: "A preset that is based on SONiC hwskus is used on their ASIC: `sonic-ai-lossy` on NVIDIA's, \
           `sonic-ai-lossy-th5` on Tomahawk 5.",
    impact: "Thresholds are shares of a pool, and vendors choose them for their own pools. With -7 instead of \
           3, a data queue gets 1,024 times less of the free buffer.",
    example: "qos: sonic-ai-lossy\n\
           hosts: { groups: 64, per_group: 64, nic: { speed: 800G } }\n\
           tiers: { t0: { platform: th5-128x400g, up: 64 }, t1: { platform: th5-128x400g } }",
    fix: "Use the preset that the message names, or set `egress_threshold` for each class.",
};

/// Checks every kind of switch that runs SONiC.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    let Ok(preset) = profile.name().as_str().parse::<Preset>() else { return };
    // A profile that is built upon the preset keeps its name, and may have thresholds of its own.
    if *profile != preset.profile() {
        return;
    }
    for hardware in draft.hardware.iter().filter(|hardware| hardware.os.has_hwskus()) {
        let Some(other) = model(hardware).and_then(|model| preset_for(preset, model)) else { continue };
        let message = format!(
            "QoS profile `{preset}` has buffer thresholds for an ASIC other than that of `{}`",
            hardware.platform.id
        );
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(hardware.platform_span, format!("for {}", hardware.subject))
                .and(draft.at(field!("qos")), "for another ASIC")
                .help(format!("use `qos: {other}`")),
        );
    }
}

fn model(hardware: &Hardware) -> Option<Model> {
    hardware.platform.buffer.as_ref()?.headroom_model.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn a_preset_is_for_its_asic() {
        assert!(codes(RULE.example).contains(&"W0713"));
        assert_eq!(
            message(RULE.example, "W0713"),
            "QoS profile `sonic-ai-lossy` has buffer thresholds for an ASIC other than that of `th5-128x400g`"
        );
        assert!(!codes(&RULE.example.replace("ai-lossy", "ai-lossy-th5")).contains(&"W0713"));
        let nvidia = RULE.example.replace("64", "256").replace("800G", "200G");
        let nvidia = nvidia.replace("th5-128x400g", "spectrum5-sn5640");
        assert!(!codes(&nvidia).contains(&"W0713"));
        assert!(codes(&nvidia.replace("ai-lossy", "ai-lossy-th5")).contains(&"W0713"));
    }
}
