//! E0107: a key is none of those that are known at its place.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::{correct_key, listed, shorten};

/// A key is none of those that are known at its place.
pub(crate) static RULE: Rule = Rule {
    code: "E0107",
    title: "a key is not known",
    what: "Every key is known at its place.",
    why: "A misspelled key would be ignored and its default used. The fabric would differ from the \
           intended one.",
    example: "hosts: { grops: 512 }",
    fix: "Correct the key; the message lists those that are known there. At the top, keys that start with \
           `x-` are free.",
};

/// Reports a key that is not known, with the one that was probably meant.
pub(crate) fn unknown_key(
    path: &str,
    key: &str,
    known: &[&str],
    meant: Option<&str>,
    span: Span,
) -> Diagnostic {
    let place = if path.is_empty() { "here".to_owned() } else { format!("in `{path}`") };
    let diagnostic = Diagnostic::error(&RULE, format!("there is no key `{}` {place}", shorten(key)))
        .at(span, "not known")
        .note(format!("known keys {place}: {}", listed(known.iter().copied())));
    match meant {
        Some(meant) => correct_key(diagnostic, span, (key, meant), known.iter().copied()),
        None => diagnostic,
    }
}
