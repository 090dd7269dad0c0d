//! E0124: a text is not a list of cages.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_platform::CageError;

/// A text is not a list of cages.
pub(crate) static RULE: Rule = Rule {
    code: "E0124",
    title: "a list of cages cannot be read",
    condition: "`cages` lists cages or runs of cages, as in `8-23`, and each cage once. The first cage is 0.",
    impact: "Ports are numbered over the listed cages in ascending order. A cage that is listed twice would \
           have two positions in this order.",
    example: "tiers: { t0: { up: { count: 128, cages: [40-55, 50-63] } } }",
    fix: "List each cage once, as in `[8-23, 40-55]`.",
};

/// Reports why a list of cages cannot be read.
pub(crate) fn bad_cages(path: &str, error: &CageError, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{path}`: {error}"))
        .at(span, "")
        .help("write cages and runs of them, as in `[8-23, 40-55]`")
}
