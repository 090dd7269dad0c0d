//! E0114: a YAML tag is not supported.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::shorten;

/// A YAML tag is not supported.
pub(crate) static RULE: Rule = Rule {
    code: "E0114",
    title: "a YAML tag is not supported",
    condition: "The file uses no YAML tags such as `!include` or `!!python/object`, except those of plain types.",
    impact: "Such tags tell a YAML reader to include or execute something. closc only reads values, so the tag \
           would silently have no effect.",
    example: "description: !include notes.txt",
    fix: "Remove the tag. To use a part twice, give it an anchor (`&name`) and refer to it (`*name`, `<<: \
           *name`).",
};

/// Reports a tag that is not supported.
pub(crate) fn unsupported_tag(tag: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("the tag `{}` is not supported", shorten(tag)))
        .at(span, "")
        .help("remove it; parts that are used twice take an anchor `&name` and an alias `*name`")
}
