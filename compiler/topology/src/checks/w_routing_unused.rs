//! W0403: a setting is for another routing mode.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::or_routing;
use crate::draft::Draft;
use crate::field;
use crate::field::Field;

/// A setting is for another routing mode.
pub(crate) static RULE: Rule = Rule {
    code: "W0403",
    title: "a setting has no effect with this routing mode",
    condition: "`entropy` and `mtu.payload` are set only with `routing: srv6-static`, `addresses.asn_base` only \
           with `bgp-unnumbered`.",
    impact: "Entropy values and the payload size are in path tables, which exist only with `srv6-static`. AS \
           numbers exist only with BGP.",
    example: "routing: ecmp-static\n\
              entropy: { udp_port: 4800 }",
    fix: "Remove the setting, or set the `routing` that uses it.",
};

/// Settings with their purpose in the routing modes that read them.
const SETTINGS: [(Field, &str); 3] = [
    (field!("addresses.asn_base"), "only switches that speak BGP have autonomous systems"),
    (field!("entropy"), "only source-routed fabrics have path tables"),
    (field!("mtu.payload"), "only path tables contain it"),
];

/// Checks that settings are used by the routing.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for (path, why) in SETTINGS {
        let readers = path.readers();
        if readers.contains(&draft.routing) || !draft.states(path) {
            continue;
        }
        let word = draft.routing.keyword();
        out.push(
            Diagnostic::warning(&RULE, format!("`{path}` has no effect with `routing: {word}`"))
                .at(draft.at(path), "")
                .and(draft.at(field!("routing")), "")
                .note(why)
                .help(or_routing("remove it", "set ", draft, readers)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn settings_need_their_routing() {
        assert_eq!(message(RULE.example, "W0403"), "`entropy` has no effect with `routing: ecmp-static`");
        for (routing, fragment, is_used) in [
            ("srv6-static", "entropy: { udp_port: 4800 }", true),
            ("srv6-static", "addresses: { asn_base: 4200000000 }", false),
            ("bgp-unnumbered", "addresses: { asn_base: 4200000000 }", true),
            ("bgp-unnumbered", "mtu: { payload: 4000 }", false),
            ("srv6-static", "mtu: { payload: 4000 }", true),
            ("ecmp-static", "mtu: { link: 9000 }", true),
        ] {
            let found = codes(&format!("{{ routing: {routing}, {fragment} }}"));
            assert_eq!(!found.contains(&"W0403"), is_used, "{routing}: {fragment}: {found:?}");
        }
    }
}
