//! E0112: a value is not one of the words of its key.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::{correct_value, format_list, shorten};

/// A value is not one of the words of its key.
pub(crate) static RULE: Rule = Rule {
    code: "E0112",
    title: "an unknown keyword",
    condition: "A key with a fixed list of values has one of them.",
    impact: "An unknown value would have to be ignored or guessed.",
    example: "routing: srv6-dynamic",
    fix: "Use one of the keywords that the message lists.",
};

/// Lists the known words, with the one that was probably meant.
pub(crate) fn unknown_word(path: &str, what: &str, word: &str, known: &[&str], span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(&RULE, format!("`{path}`: there is no {what} `{}`", shorten(word)))
        .at(span, "not known")
        .note(format!("known: {}", format_list(known.iter().copied())));
    correct_value(diagnostic, span, (what, word), known.iter().copied())
}
