//! E1012: a site names a platform once.

use closc_diagnostics::{Diagnostic, Rule, Span};

pub(crate) static RULE: Rule = Rule {
    code: "E1012",
    title: "platform is defined twice",
    what: "Among the files a site adds, each platform name stands once. A site may replace a platform of the \
           program.",
    why: "Which of the two files counts would depend on the order they are given in.",
    example: "# in a.yaml\nid: my-switch\n# in b.yaml\nid: my-switch",
    fix: "Rename or remove one of the two.",
};

pub(crate) fn twice(id: &str, again: Span, first: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("platform `{id}` is defined twice"))
        .at(again, "again")
        .and(first, "first")
}
