//! E0214: a platform has no uN behaviour.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::or_routing;
use crate::draft::Draft;
use crate::field;
use crate::suggest::listed;

/// A platform has no uN behaviour.
pub(crate) static RULE: Rule = Rule {
    code: "E0214",
    title: "the platform cannot forward uSIDs",
    what: "With `routing: srv6-static` every platform has the uN behaviour (End with NEXT-CSID, RFC 9800).",
    why: "A switch without it drops every packet at the first hop.",
    example: "tiers: { t0: { platform: th4-64x400g, up: { count: 128, breakout: 2x200G }, down: { breakout: \
           2x200G } } }",
    fix: "Use a platform with uN, or another `routing`.",
};

/// Checks every kind of switch of an SRv6 fabric.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return;
    }
    for hardware in draft.hardware.iter().filter(|hardware| !hardware.platform.features.un) {
        let id = &hardware.platform.id;
        let able =
            draft.catalogue.iter().filter(|platform| platform.features.un && platform.supports(hardware.os));
        let able: Vec<&str> = able.map(|platform| platform.id.as_str()).collect();
        let diagnostic = Diagnostic::error(&RULE, format!("`{id}` cannot forward uSIDs: it has no uN"))
            .at(hardware.platform_span, format!("for {}", hardware.who));
        let diagnostic = if draft.states(field!("routing")) {
            diagnostic.and(draft.at(field!("routing")), "asks for uSIDs")
        } else {
            diagnostic
        };
        out.push(
            diagnostic
                .note(format!("platforms with uN that run `{}`: {}", hardware.os.word(), listed(able)))
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
    }
}
