//! E0106: a mapping holds a key twice.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// A mapping holds a key twice.
pub(crate) static RULE: Rule = Rule {
    code: "E0106",
    title: "a key appears twice",
    condition: "No mapping contains the same key twice.",
    impact: "Most YAML readers silently use the last one, so one of the two values would be lost.",
    example: "planes: 8\nplanes: 4",
    fix: "Remove one of the two. To override a value of a merge key (`<<`), write it beside the merge key.",
};

/// Points at both places of a key.
pub(crate) fn duplicate_key(key: Option<&str>, second: Span, first: Option<Span>) -> Diagnostic {
    let named = key.map_or_else(|| "a key".to_owned(), |key| format!("`{key}`"));
    let diagnostic = Diagnostic::error(&RULE, format!("{named} appears twice in one mapping"))
        .at(second, "again here")
        .help("keep one of the two");
    match first {
        Some(first) => diagnostic.and(first, "first here"),
        None => diagnostic,
    }
}
