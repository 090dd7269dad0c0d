//! E0113: an address or prefix cannot be read.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::shorten;

/// An address or prefix cannot be read.
pub(crate) static RULE: Rule = Rule {
    code: "E0113",
    title: "an address or prefix cannot be read",
    condition: "Prefixes consist of an address, a slash and a length. Addresses are IPv6 or dotted IPv4.",
    impact: "closc writes these addresses into configurations, or computes other addresses from them.",
    example: "addresses: { hosts: \"2001:db8:1000::\" }",
    fix: "Write a prefix such as `2001:db8:1000::/36` or an address such as `192.0.2.1`. Quote an address \
           that ends with a colon.",
};

/// Reports an invalid address or prefix, with an example.
pub(crate) fn bad_address(path: &str, kind: &str, text: &str, example: &str, span: Span) -> Diagnostic {
    let text = shorten(text);
    let diagnostic =
        Diagnostic::error(&RULE, format!("`{path}` is `{text}`, which is not {kind}")).at(span, "");
    if example.contains('/') && !text.contains('/') {
        return diagnostic.help(format!("add the length of the prefix, as in `{example}`"));
    }
    diagnostic.help(format!("write it as in `{example}`"))
}
