//! E0124: a text is not a list of cages.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_platform::CageError;

/// A text is not a list of cages.
pub(crate) static RULE: Rule = Rule {
    code: "E0124",
    title: "a list of cages cannot be read",
    what: "`cages` lists cages from 0, or runs of them as in `8-23`, each cage once.",
    why: "The number of a port follows from its place in the list, so that a cage that is listed twice has two ports.",
    example: "tiers: { t0: { up: { count: 128, cages: [40-55, 50-63] } } }",
    fix: "Write `[8-23, 40-55]`.",
};

/// Reports why a list of cages cannot be read.
pub(crate) fn bad_cages(path: &str, error: &CageError, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{path}`: {error}"))
        .at(span, "")
        .help("write cages and runs of them, as in `[8-23, 40-55]`")
}
