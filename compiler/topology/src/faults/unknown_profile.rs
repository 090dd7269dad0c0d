//! E0119: no QoS profile has the name.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_qos::profile::Preset;

use crate::suggest::{correct_value, format_list, shorten};

/// No QoS profile has the name.
pub(crate) static RULE: Rule = Rule {
    code: "E0119",
    title: "an unknown QoS profile",
    condition: "`qos` is the name of a built-in profile, or a mapping that defines one.",
    impact: "The profile sets queues, marking and flow control of every switch and host.",
    example: "qos: losless",
    fix: "Use one of the profiles that the message lists, or write your own: `qos: {base: lossless, classes: \
           {...}}`.",
};

/// Lists the profiles, with the one that was probably meant.
pub(crate) fn unknown_profile(name: &str, span: Span) -> Diagnostic {
    let known = Preset::ALL.map(Preset::name);
    let diagnostic = Diagnostic::error(&RULE, format!("there is no QoS profile `{}`", shorten(name)))
        .at(span, "not known")
        .note(format!("known: {}", format_list(known)));
    let diagnostic = correct_value(diagnostic, span, ("QoS profile", name), known);
    if diagnostic.help.is_empty() {
        diagnostic.help("or write one of your own: `qos: {base: lossless, classes: {...}}`")
    } else {
        diagnostic
    }
}
