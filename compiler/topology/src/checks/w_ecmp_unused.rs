//! W0902: the file describes ECMP, but NICs choose the path.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::or_routing;
use crate::draft::Draft;
use crate::field;

/// The file describes ECMP, but NICs choose the path.
pub(crate) static RULE: Rule = Rule {
    code: "W0902",
    title: "`ecmp` has no effect",
    condition: "`ecmp` is set only with `routing: ecmp-static` or `bgp-unnumbered`.",
    impact: "With `srv6-static` the NIC writes the path of every packet, so these settings have no effect.",
    example: "ecmp: { qps_per_connection: 4 }",
    fix: "Remove `ecmp`, or set another `routing`.",
};

/// Checks that switches choose paths if the file has `ecmp` settings.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let readers = field!("ecmp").readers();
    if readers.contains(&draft.routing) || draft.doc.ecmp.is_none() {
        return;
    }
    out.push(
        Diagnostic::warning(&RULE, "`ecmp` has no effect: with this routing NICs choose the path")
            .at(draft.at(field!("ecmp")), "")
            .help(or_routing("remove `ecmp`", "set ", draft, readers)),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn spreading_needs_its_routing() {
        let fragment = "ecmp: { qps_per_connection: 4 }";
        assert_eq!(codes(fragment), ["W0902"]);
        assert!(!codes(&format!("{{ routing: ecmp-static, {fragment} }}")).contains(&"W0902"));
        assert_eq!(
            message(fragment, "W0902"),
            "`ecmp` has no effect: with this routing NICs choose the path"
        );
    }
}
