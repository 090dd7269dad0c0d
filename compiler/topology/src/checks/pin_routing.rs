//! E0711: a pin is asked for where it cannot be written.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::lower::Draft;
use crate::model::{Pin, Routing};

/// A pin is asked for where it cannot be written.
pub(crate) static RULE: Rule = Rule {
    code: "E0711",
    title: "a pin needs static routes",
    what: "`ecmp.pin` is given only with `routing: ecmp-static`.",
    why: "A pin is a static route over one cable. On unnumbered cables the other end has no address that is known \
           before it speaks, and with SRv6 the NIC chooses every uplink itself.",
    example: "routing: bgp-unnumbered\n\
           ecmp: { pin: downlink }",
    fix: "Use `routing: ecmp-static`, or leave `ecmp.pin` out.",
};

/// Checks that pins can be written.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.routing == Routing::EcmpStatic || draft.ecmp.pin == Pin::None {
        return;
    }
    let (pin, routing) = (draft.ecmp.pin.word(), draft.routing.word());
    out.push(
        Diagnostic::error(&RULE, format!("`pin: {pin}` cannot be had with `routing: {routing}`"))
            .at(draft.at("ecmp.pin"), "needs static routes")
            .and(draft.at("routing"), "")
            .help("use `routing: ecmp-static`, or leave `ecmp.pin` out"),
    );
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::{codes, message};

    #[test]
    fn pins_are_static_routes() {
        let fragment = "{ routing: bgp-unnumbered, ecmp: { pin: downlink } }";
        assert!(codes(fragment).contains(&"E0711"));
        assert_eq!(
            message(fragment, "E0711"),
            "`pin: downlink` cannot be had with `routing: bgp-unnumbered`"
        );
        assert!(!codes("{ routing: ecmp-static, ecmp: { pin: downlink } }").contains(&"E0711"));
    }
}
