//! E0214: a platform does not support the uN behaviour.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::{FeatureSupport, SkuFeature};

use crate::checks::or_routing;
use crate::draft::Draft;
use crate::field;

/// A platform does not support the uN behaviour.
pub(crate) static RULE: Rule = Rule {
    code: "E0214",
    title: "the platform cannot forward uSIDs",
    condition: "With `routing: srv6-static`, every platform supports the uN behaviour (End with NEXT-CSID, RFC \
           9800).",
    impact: "A switch without it drops every packet at the first hop.",
    example: "tiers: { t0: { platform: th4-64x400g, up: { count: 128, breakout: 2x200G }, down: { breakout: \
           2x200G } } }",
    fix: "Use a platform with uN, or another `routing`.",
};

/// Checks every kind of switch of an SRv6 fabric.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return;
    }
    for hardware in &draft.hardware {
        let platform = &hardware.platform;
        let (what, reason) = match hardware.feature_support(SkuFeature::Segments) {
            FeatureSupport::Has | FeatureSupport::Assumed(..) => continue,
            FeatureSupport::Missing => (format!("`{}`", platform.id), None),
            FeatureSupport::Lacking(hwsku, reason) if platform.features.un => {
                (format!("`{}` with hwsku `{hwsku}`", platform.id), Some(reason))
            }
            FeatureSupport::Lacking(_, reason) => (format!("`{}`", platform.id), Some(reason)),
        };
        let able = hardware.able(draft.catalogue, SkuFeature::Segments);
        let message = format!("{what} cannot forward uSIDs: it has no uN");
        let diagnostic =
            Diagnostic::error(&RULE, message).at(hardware.platform_span, format!("for {}", hardware.subject));
        let diagnostic = if draft.states(field!("routing")) {
            diagnostic.and(draft.at(field!("routing")), "requires uSIDs")
        } else {
            diagnostic
        };
        let diagnostic = match reason {
            Some(reason) => diagnostic.note(reason.to_owned()),
            None => diagnostic,
        };
        out.push(
            diagnostic
                .note(format!("platforms with uN that run `{}`: {}", hardware.os.keyword(), able.join(", ")))
                .help(or_routing(
                    "use one of these",
                    "",
                    draft,
                    &[Routing::EcmpStatic, Routing::BgpUnnumbered],
                )),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn knows_who_forwards_usids() {
        let fragment = "tiers: { t0: { platform: th4-64x400g, up: { count: 64, breakout: 2x200G }, down: { breakout: 2x200G } } }";
        assert!(codes(fragment).contains(&"E0214"));
        assert_eq!(message(fragment, "E0214"), "`th4-64x400g` cannot forward uSIDs: it has no uN");
        assert!(!codes(&format!("{{ routing: ecmp-static, {fragment} }}")).contains(&"E0214"));
        let fragment =
            "{ qos: none, tiers: { t0: { platform: th5-256x200g }, t1: { platform: th5-256x200g } } }";
        assert_eq!(message(fragment, "E0214"), "`th5-256x200g` cannot forward uSIDs: it has no uN");
    }
}
