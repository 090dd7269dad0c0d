//! E1012: a site defines each platform only once.

use closc_diagnostics::{Diagnostic, Rule, Span};

pub(crate) static RULE: Rule = Rule {
    code: "E1012",
    title: "a platform is defined twice",
    condition: "Platform names are unique among the files of a site. A site may replace a built-in platform.",
    impact: "The order of the files would decide which one is used.",
    example: "# in a.yaml\nid: my-switch\n# in b.yaml\nid: my-switch",
    fix: "Rename or remove one of the two.",
};

pub(crate) fn duplicate_error(id: &str, again: Span, first: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("platform `{id}` is defined twice"))
        .at(again, "again")
        .and(first, "first")
}
