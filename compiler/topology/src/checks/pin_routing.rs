//! E0711: a pin is stated, and the routing mode has no static routes.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::or_routing;
use crate::choice::Pin;
use crate::draft::Draft;
use crate::field;

/// A pin is stated, and the routing mode has no static routes.
pub(crate) static RULE: Rule = Rule {
    code: "E0711",
    title: "a pin needs static routes",
    condition: "`ecmp.pin` and `ecmp.pins` are set only with `routing: ecmp-static`.",
    impact: "A pin is a static route over one cable. With BGP unnumbered, the address of the other end is known \
           only from its router advertisements. With SRv6, the NIC selects every uplink.",
    example: "routing: bgp-unnumbered\n\
           ecmp: { pin: downlink }",
    fix: "Use `routing: ecmp-static`, or remove `ecmp.pin` and `ecmp.pins`.",
};

/// Checks that pins can be written.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.routing.has_static_groups() {
        return;
    }
    let routing = draft.routing.keyword();
    let pin = (draft.ecmp.pin != Pin::None)
        .then(|| (field!("ecmp.pin"), format!("pin: {}", draft.ecmp.pin.keyword())));
    let file = draft.doc.ecmp.as_ref().and_then(|ecmp| ecmp.pins.as_ref());
    let pins = file.map(|file| (field!("ecmp.pins"), format!("pins: {}", file.value)));
    for (path, stated) in pin.into_iter().chain(pins) {
        out.push(
            Diagnostic::error(&RULE, format!("`{stated}` is not supported with `routing: {routing}`"))
                .at(draft.at(path), "needs static routes")
                .and(draft.at(field!("routing")), "")
                .help(or_routing(&format!("remove `{path}`"), "use ", draft, &[Routing::EcmpStatic])),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn pins_are_static_routes() {
        let fragment = "{ routing: bgp-unnumbered, ecmp: { pin: downlink } }";
        assert!(codes(fragment).contains(&"E0711"));
        assert_eq!(
            message(fragment, "E0711"),
            "`pin: downlink` is not supported with `routing: bgp-unnumbered`"
        );
        assert_eq!(
            message("{ routing: bgp-unnumbered, ecmp: { pins: good.csv } }", "E0711"),
            "`pins: good.csv` is not supported with `routing: bgp-unnumbered`"
        );
        for ecmp in ["pin: downlink", "pins: good.csv"] {
            assert!(!codes(&format!("{{ routing: ecmp-static, ecmp: {{ {ecmp} }} }}")).contains(&"E0711"));
        }
    }
}
