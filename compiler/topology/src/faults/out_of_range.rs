//! E0110: a number is negative, a fraction, or too large.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// A number is negative, a fraction, or too large.
pub(crate) static RULE: Rule = Rule {
    code: "E0110",
    title: "a number is out of range",
    what: "Numbers are whole and inside the range of their key.",
    why: "A count below zero has no meaning. A number beyond the range does not fit its field in names, \
           addresses or segments.",
    example: "hosts: { groups: -3 }",
    fix: "Write a whole number inside the range that the message names.",
};

/// Reports a number out of range, with the range.
pub(crate) fn out_of_range(path: &str, written: &str, min: i128, max: i128, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{path}` is `{written}`; expected a whole number from {min} to {max}"))
        .at(span, if is_fraction(written) { "not a whole number" } else { "out of range" })
}

/// Tells whether a number has a decimal point.
fn is_fraction(written: &str) -> bool {
    written.trim_start_matches(['-', '+']).bytes().all(|byte| byte == b'.' || byte.is_ascii_digit())
        && written.contains('.')
}
