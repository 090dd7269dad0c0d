//! W0202: the fabric needs a feature of the ASIC that no source publishes for SONiC's hwsku.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::{FeatureSupport, SkuFeature};

use crate::checks::or_routing;
use crate::draft::{Draft, Hardware};
use crate::field;

/// The fabric needs a feature of the ASIC that no source publishes for SONiC's hwsku.
pub(crate) static RULE: Rule = Rule {
    code: "W0202",
    title: "the feature is not published for this SONiC hwsku",
    condition: "If the fabric needs packet trimming or uN, a source documents it for the hwsku of every SONiC \
           switch, not only for its ASIC. `closc platforms NAME` lists the known facts of each hwsku with \
           their source.",
    impact: "Files in the folder of the hwsku determine whether SONiC uses a feature of the ASIC. With other \
           files, the setting is rejected or has no effect.",
    example: "hosts: { groups: 128 }\n\
           tiers:\n\
           \x20 t0: { platform: spectrum4-sn5600, down: { breakout: 4x200G }, up: { count: 128, breakout: 4x200G } }\n\
           \x20 t1: { platform: spectrum4-sn5600, down: { breakout: 4x200G } }",
    fix: "Use a platform with a documented feature, or a profile or routing mode that does not need it. If \
           your image supports the feature, add a platform file with `facts`, or accept the warning with \
           `warnings: { W0202: allow }`.",
};

/// Checks every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let trims = draft.qos.as_ref().is_ok_and(|profile| profile.trimming().is_some());
    for hardware in &draft.hardware {
        if draft.routing.is_source_routed()
            && let FeatureSupport::Assumed(hwsku, reason) = hardware.feature_support(SkuFeature::Segments)
        {
            let others = &[Routing::EcmpStatic, Routing::BgpUnnumbered];
            let help = or_routing("use one of these", "", draft, others);
            let found = finding(draft, hardware, (SkuFeature::Segments, "forwards uSIDs"), (hwsku, reason));
            out.push(found.help(help));
        }
        if trims
            && hardware.platform.buffer.is_some()
            && let FeatureSupport::Assumed(hwsku, reason) = hardware.feature_support(SkuFeature::Trimming)
        {
            let found = finding(draft, hardware, (SkuFeature::Trimming, "trims packets"), (hwsku, reason));
            let found =
                if draft.states(field!("qos")) { found.and(draft.at(field!("qos")), "trims") } else { found };
            out.push(found.help("use one of these, or a profile without trimming such as `sonic-ai-lossy`"));
        }
    }
}

fn finding(
    draft: &Draft<'_>,
    hardware: &Hardware,
    (feature, does): (SkuFeature, &str),
    (hwsku, reason): (&str, &str),
) -> Diagnostic {
    let able = hardware.able(draft.catalogue, feature);
    Diagnostic::warning(&RULE, format!("no source publishes that SONiC {does} on hwsku `{hwsku}`"))
        .at(hardware.platform_span, format!("for {}", hardware.subject))
        .note(reason.to_owned())
        .note(format!("published for: {}", able.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn what_is_published_for_the_asic_alone_warns() {
        assert!(codes(RULE.example).contains(&"W0202"));
        assert_eq!(
            message(RULE.example, "W0202"),
            "no source publishes that SONiC trims packets on hwsku `Mellanox-SN5600-V256`"
        );
        // Of the hwskus of this Tomahawk 5 box, sonic-mgmt lists C512S2 as trimming. It does not list O128 and P64,
        // which trim into queue 9.
        let th5 = |platform: &str, up: u32, nic: &str| {
            format!(
                "{{ hosts: {{ groups: {up}, per_group: {up}, nic: {{ speed: {nic} }} }}, qos: lossy-trim, \
                 tiers: {{ t0: {{ platform: {platform}, up: {up} }}, t1: {{ platform: {platform} }} }} }}"
            )
        };
        assert_eq!(codes(&th5("th5-512x100g", 256, "200G")), Vec::<&str>::new());
        for (platform, up, nic, hwsku) in
            [("th5-128x400g", 64, "800G", "O128"), ("th5-64x800g", 32, "1600G", "P64")]
        {
            assert_eq!(
                message(&th5(platform, up, nic), "W0202"),
                format!(
                    "no source publishes that SONiC trims packets on hwsku `Arista-7060X6-64PE-B-{hwsku}`"
                )
            );
        }
        let nvue = RULE.example.replace("sn5600,", "sn5600, os: nvue,");
        assert!(!codes(&nvue).contains(&"W0202"), "NVIDIA documents it for Cumulus Linux");
    }
}
