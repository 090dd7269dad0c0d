//! W0401: segments are described in a fabric that has none.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// Segments are described in a fabric that has none.
pub(crate) static RULE: Rule = Rule {
    code: "W0401",
    title: "`srv6` has no effect",
    what: "`srv6` is given only with `routing: srv6-static`.",
    why: "Other ways of routing use no segments; what is written there does nothing.",
    example: "routing: ecmp-static\n\
           srv6: { block: \"fcbb:bbbb::/32\" }",
    fix: "Remove `srv6`, or set `routing: srv6-static`.",
};

/// Checks that segments are used where they are described.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if draft.routing.is_source_routed() || draft.doc.srv6.is_none() {
        return;
    }
    out.push(
        Diagnostic::warning(&RULE, "`srv6` has no effect: this routing uses no segments")
            .at(draft.at(field!("srv6")), "")
            .and(draft.at(field!("routing")), "uses no segments")
            .help("remove `srv6`, or set `routing: srv6-static`"),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn segments_need_their_routing() {
        assert!(codes("{ routing: ecmp-static, srv6: { block: \"fcbb:bbbb::/32\" } }").contains(&"W0401"));
        assert_eq!(
            message("{ routing: ecmp-static, srv6: {} }", "W0401"),
            "`srv6` has no effect: this routing uses no segments"
        );
    }
}
