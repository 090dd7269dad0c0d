//! E0108: a key that has no default is not given.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// A key that has no default is not given.
pub(crate) static RULE: Rule = Rule {
    code: "E0108",
    title: "a key is missing",
    condition: "Every key without a default is present, and every key has a value.",
    impact: "closc cannot compute the fabric without these values, and no default makes sense for them.",
    example: "fabric: tiny\nhosts:",
    fix: "Add the key, or give it a value.",
};

/// Reports a missing key and its mapping.
pub(crate) fn missing_key(path: &str, key: &str, span: Span) -> Diagnostic {
    let message = if path.is_empty() {
        format!("the fabric has no `{key}`")
    } else {
        format!("`{path}` has no `{key}`")
    };
    Diagnostic::error(&RULE, message).at(span, "in this mapping").help(format!("add `{key}: ...`"))
}

/// Reports a key without a value, and whether the key may be absent.
pub(crate) fn no_value(path: &str, is_optional: bool, span: Span) -> Diagnostic {
    let help =
        if is_optional { "give it a value, or remove the key to get the default" } else { "give it a value" };
    Diagnostic::error(&RULE, format!("`{path}` has no value")).at(span, "nothing follows").help(help)
}
