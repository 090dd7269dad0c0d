//! E0703: a profile trims packets, which a platform does not support.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::{FeatureSupport, SkuFeature};

use crate::draft::Draft;
use crate::field;

/// A profile trims packets, which a platform does not support.
pub(crate) static RULE: Rule = Rule {
    code: "E0703",
    title: "the platform cannot trim packets",
    condition: "With a profile that trims, every hardware switch can trim packets. On some models, this depends \
           on the SONiC hwsku: `closc platforms NAME` lists the known hwskus with their sources.",
    impact: "Senders expect the trimmed header of a packet that did not fit into the queue. If the packet is \
           dropped instead, they wait for a timeout.",
    example: "routing: ecmp-static\n\
           tiers:\n\
           \x20 t0: { platform: th4-64x400g, down: { breakout: 2x200G }, up: { count: 64, breakout: 2x200G, first_cage: 32 } }\n\
           hosts: { per_group: 64 }",
    fix: "Use a profile without trimming such as `sonic-ai-lossy`, or another platform.",
};

/// Checks every kind of hardware; software has a warning of its own (W0703).
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(profile) = draft.qos.as_ref().ok().filter(|profile| profile.trimming().is_some()) else {
        return;
    };
    let stated = draft.states(field!("qos"));
    for hardware in draft.hardware.iter().filter(|hardware| !hardware.platform.is_software()) {
        let platform = &hardware.platform;
        let (what, reason) = match hardware.feature_support(SkuFeature::Trimming) {
            FeatureSupport::Has | FeatureSupport::Assumed(..) => continue,
            FeatureSupport::Missing => (format!("`{}`", platform.id), None),
            FeatureSupport::Lacking(hwsku, reason) if platform.features.trimming => {
                (format!("`{}` with hwsku `{hwsku}`", platform.id), Some(reason))
            }
            FeatureSupport::Lacking(_, reason) => (format!("`{}`", platform.id), Some(reason)),
        };
        let message = format!("{what} cannot trim packets, but QoS profile `{}` requires it", profile.name());
        let mut diagnostic =
            Diagnostic::error(&RULE, message).at(hardware.platform_span, format!("for {}", hardware.subject));
        diagnostic = if stated {
            diagnostic.and(draft.at(field!("qos")), "trims")
        } else {
            diagnostic.note(format!("`{}` is the default profile", profile.name()))
        };
        if let Some(reason) = reason {
            diagnostic = diagnostic.note(reason.to_owned());
        }
        let able = hardware.able(draft.catalogue, SkuFeature::Trimming);
        out.push(
            diagnostic
                .note(format!("platforms that trim with `{}`: {}", hardware.os.keyword(), able.join(", ")))
                .help("use a profile without trimming such as `sonic-ai-lossy`, or another platform"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    const TH4: &str = "routing: ecmp-static, hosts: { per_group: 64 }, tiers: { t0: { platform: th4-64x400g, down: { breakout: 2x200G }, up: { count: 64, breakout: 2x200G } } }";

    #[test]
    fn trimming_needs_hardware() {
        assert!(codes(&format!("{{ {TH4} }}")).contains(&"E0703"));
        assert!(!codes(&format!("{{ {TH4}, qos: sonic-ai-lossy }}")).contains(&"E0703"));
        assert_eq!(
            message(&format!("{{ {TH4} }}"), "E0703"),
            "`th4-64x400g` cannot trim packets, but QoS profile `lossy-trim` requires it"
        );
    }

    #[test]
    fn another_hwsku_trims() {
        let th6 = "routing: ecmp-static, hosts: { groups: 64, per_group: 128, nic: { speed: 800G } }, tiers: { t0: { platform: th6-256x400g, up: 128 }, t1: { platform: th6-256x400g } }";
        assert_eq!(
            message(&format!("{{ {th6} }}"), "E0703"),
            "`th6-256x400g` cannot trim packets, but QoS profile `lossy-trim` requires it"
        );
    }
}
