//! E0118: a ratio is not two whole numbers with a colon.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::shorten;

/// A ratio is not two whole numbers with a colon.
pub(crate) static RULE: Rule = Rule {
    code: "E0118",
    title: "a ratio cannot be read",
    condition: "A ratio is text: two whole numbers above 0 with a colon between them.",
    impact: "Oversubscription is checked as an exact fraction. A decimal such as `1.33` is not exact.",
    example: "tiers: { t0: { oversubscription: \"1.5\" } }",
    fix: "Write, for example, `\"3:2\"` for three parts towards the NICs and two parts away from them.",
};

/// Reports a ratio that cannot be read, with the correct form.
pub(crate) fn bad_fraction(path: &str, text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{path}` is `{}`, which is not a ratio", shorten(text)))
        .at(span, "")
        .help("write two whole numbers above 0, as in `\"1:1\"` or `\"7:1\"`")
}
