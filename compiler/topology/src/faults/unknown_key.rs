//! E0107: a key is not known at its place.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::{correct_key, format_list, shorten};

/// A key is not known at its place.
pub(crate) static RULE: Rule = Rule {
    code: "E0107",
    title: "an unknown key",
    condition: "Every key is valid at its place.",
    impact: "A misspelled key would be ignored and its default used. The fabric would differ from the \
           intended one.",
    example: "hosts: { grops: 512 }",
    fix: "Correct the key. The message lists the valid ones. At the top level, any key that starts with `x-` \
           is permitted.",
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
        .note(format!("known keys {place}: {}", format_list(known.iter().copied())));
    match meant {
        Some(meant) => correct_key(diagnostic, span, (key, meant), known.iter().copied()),
        None => diagnostic,
    }
}

/// Reports a file of another kind.
pub(crate) fn other_file(kind: &str, help: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("this is {kind}, not a fabric file")).at(span, "").help(help)
}
