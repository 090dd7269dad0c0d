//! E0120: a value of a QoS profile is not in its range or form.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// A value of a QoS profile is not in its range or form.
pub(crate) static RULE: Rule = Rule {
    code: "E0120",
    title: "a value of the QoS profile cannot be read",
    condition: "Values of a QoS profile have the right form and are in their range.",
    impact: "Switches and hosts are configured from one profile. If one side cannot use a value, the two sides \
           differ.",
    example: "qos: { base: lossless, classes: { data: { dscp: [99] } } }",
    fix: "Write one of the values that the message names.",
};

/// Reports an invalid value, with the message of the type that reads it.
pub(crate) fn bad_value(path: &str, message: &str, written: &str, span: Span) -> Diagnostic {
    let subject = if written.is_empty() { String::new() } else { format!(" (`{written}`)") };
    Diagnostic::error(&RULE, format!("`{path}`{subject}: {message}")).at(span, "")
}
