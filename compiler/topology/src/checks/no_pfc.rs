//! E0702: a profile is lossless, and a platform does not support PFC or has no buffer data.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::{FeatureSupport, SkuFeature};
use closc_qos::profile::{Preset, Profile};

use crate::draft::{Draft, Hardware};
use crate::field;
use crate::suggest::format_list;

/// A profile is lossless, and a platform does not support PFC or has no buffer data.
pub(crate) static RULE: Rule = Rule {
    code: "E0702",
    title: "a lossless profile needs a platform with PFC and buffer data",
    condition: "With a lossless profile, every hardware switch supports priority flow control (PFC), and its \
           platform file has a `buffer` section.",
    impact: "A switch that cannot pause its senders drops packets, and a class that is lossless elsewhere \
           recovers badly from loss, or not at all. PFC needs headroom for the packets in flight. closc \
           computes the headroom from the buffer size of the switch. For many platforms, no public source \
           for the buffer size was found. Such a platform may still support PFC.",
    example: "# box-without-pfc is a platform of a site's own, without PFC\n\
           qos: lossless\n\
           cables: { nic-t0: { length: 3m }, t0-t1: { length: 3m } }\n\
           tiers: { t0: { platform: box-without-pfc, os: frr } }",
    fix: "Use another platform, or the lossy profile that the message names. If you know the buffer size of \
           the switch, write a platform file with a `buffer` section and the feature `pfc`. `closc platforms \
           NAME --yaml` prints an entry to start from.",
};

/// Checks every kind of hardware; software has a warning of its own.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(profile) = draft.qos.as_ref().ok().filter(|profile| profile.is_lossless()) else { return };
    for hardware in draft.hardware.iter().filter(|hardware| !hardware.platform.features.pfc) {
        if hardware.platform.is_software() {
            continue;
        }
        let classes: Vec<&str> = profile.lossless().map(|class| class.name.as_str()).collect();
        let (id, name) = (&hardware.platform.id, profile.name());
        let other = lossy(draft);
        let (message, help) = if hardware.platform.buffer.is_some() || !hardware.os.has_hwskus() {
            (
                format!(
                    "`{id}` does not support priority flow control, but QoS profile `{name}` is lossless"
                ),
                format!("use `qos: {other}`, or another platform"),
            )
        } else {
            (
                format!(
                    "closc has no buffer data for `{id}`, so it cannot compute PFC headroom for QoS profile `{name}`"
                ),
                format!(
                    "use `qos: {other}`, or add a platform file with a `buffer` section and the feature `pfc`: \
                     `closc platforms {id} --yaml` prints an entry to start from"
                ),
            )
        };
        out.push(
            Diagnostic::error(&RULE, message)
                .at(hardware.platform_span, format!("for {}", hardware.subject))
                .and(draft.at(field!("qos")), format!("lossless: {}", format_list(classes)))
                .help(help),
        );
    }
}

/// Returns the first lossy preset that all hardware of the fabric supports.
fn lossy(draft: &Draft<'_>) -> Preset {
    let supports = |hardware: &Hardware, profile: &Profile| {
        let trims = matches!(
            hardware.feature_support(SkuFeature::Trimming),
            FeatureSupport::Has | FeatureSupport::Assumed(..)
        );
        hardware.os.lost_hardware_capabilities(profile).1.is_empty()
            && (trims || profile.trimming().is_none())
    };
    let hardware = draft.hardware.iter().filter(|hardware| !hardware.platform.is_software());
    let is_supported = |preset: &Preset| {
        let profile = preset.profile();
        !profile.is_lossless() && hardware.clone().all(|hardware| supports(hardware, &profile))
    };
    Preset::ALL.into_iter().find(is_supported).unwrap_or(Preset::None)
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    const CABLES: &str = "cables: { nic-t0: { length: 3m }, t0-t1: { length: 3m } }";
    const PLAIN: &str = "tiers: { t0: { platform: box-without-pfc, os: frr } }";

    #[test]
    fn lossless_needs_pause() {
        assert!(codes(&format!("{{ qos: lossless, {CABLES}, {PLAIN} }}")).contains(&"E0702"));
        assert!(!codes(&format!("{{ qos: lossy-trim, {PLAIN} }}")).contains(&"E0702"));
        assert_eq!(
            message(&format!("{{ qos: lossless, {CABLES}, {PLAIN} }}"), "E0702"),
            "`box-without-pfc` does not support priority flow control, but QoS profile `lossless` is lossless"
        );
    }

    /// SONiC supports PFC on these switches, but their buffers are not in the catalogue. The NH-4020 does not trim.
    #[test]
    fn platforms_without_buffer_data_are_not_said_to_lack_pause() {
        for id in ["nexthop-4020", "nvidia-sn5400", "dell-z9864f"] {
            let tier = format!("{{ platform: {id}, os: sonic }}");
            let text = |qos: &str| {
                format!(
                    "{{ qos: {qos}, {CABLES}, routing: ecmp-static, tiers: {{ t0: {tier}, t1: {tier} }} }}"
                )
            };
            let (found, advice) = (message(&text("lossless"), "E0702"), help(&text("lossless"), "E0702"));
            assert!(found.starts_with(&format!("closc has no buffer data for `{id}`")), "{found}");
            assert!(advice.starts_with("use `qos: sonic-ai-lossy`, or add a platform file"), "{advice}");
            let other = codes(&text("sonic-ai-lossy"));
            assert!(!other.iter().any(|code| code.starts_with("E07")), "{id}: {other:?}");
        }
    }
}
