//! E0110: a number is negative, a fraction, or too large.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// A number is negative, a fraction, or too large.
pub(crate) static RULE: Rule = Rule {
    code: "E0110",
    title: "a number is out of range",
    condition: "Numbers are whole and inside the range of their key.",
    impact: "A count below zero has no meaning. A number beyond the range does not fit its field in names, \
           addresses or segments.",
    example: "hosts: { groups: -3 }",
    fix: "Write a whole number inside the range that the message names.",
};

/// Reports a number out of range, with the range.
pub(crate) fn out_of_range(path: &str, written: &str, min: i128, max: i128, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        &RULE,
        format!("`{path}` is `{written}`; expected a whole number from {min} to {max}"),
    );
    match plain(written).filter(|number| (min..=max).contains(number)) {
        Some(number) => {
            let label =
                if written.starts_with('0') { "leading zeros" } else { "not written as a whole number" };
            diagnostic.at(span, label).propose(span, number.to_string(), format!("write `{number}`"))
        }
        None => diagnostic.at(span, if is_fraction(written) { "not a whole number" } else { "out of range" }),
    }
}

/// Returns the whole number of a text with leading zeros or an exponent: 10 of `010`, 1000 of `1e3`.
fn plain(written: &str) -> Option<i128> {
    let is_plain = written.bytes().all(|byte| byte.is_ascii_digit()) && written.starts_with('0');
    let has_exponent = written.contains(['e', 'E']) && !written.contains('.');
    if is_plain {
        return written.parse().ok();
    }
    let number: f64 = written.parse().ok().filter(|_| has_exponent)?;
    (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i128)
}

/// Returns whether a number has a decimal point.
fn is_fraction(written: &str) -> bool {
    written.trim_start_matches(['-', '+']).bytes().all(|byte| byte == b'.' || byte.is_ascii_digit())
        && written.contains('.')
}
