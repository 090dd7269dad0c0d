//! E0116: an alias has no anchor, or a merge key has no mapping.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::shorten;

/// An alias has no anchor, or a merge key has no mapping.
pub(crate) static RULE: Rule = Rule {
    code: "E0116",
    title: "an alias or merge key has no anchor",
    condition: "Every alias `*name` has an anchor `&name` above it and is not inside the value of that anchor. \
           Every merge key `<<` has a mapping or a list of mappings.",
    impact: "An alias without an anchor has no value, and a value cannot contain itself.",
    example: "hosts: *hosts",
    fix: "Define the anchor above its first use, or correct the name.",
};

/// Reports that an alias has no anchor above it.
pub(crate) fn unknown_anchor(written: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("the alias `{}` has no anchor above it", shorten(written)))
        .at(span, "")
        .help("write anchors (`&name`) before the aliases (`*name`) that refer to them")
}

/// Reports that a merge key has no mapping.
pub(crate) fn bad_merge(span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, "the merge key `<<` takes a mapping or a list of mappings")
        .at(span, "this is neither")
        .help("write `<<: *name`, with `&name` at a mapping")
}

/// Reports that an anchor is used inside itself.
pub(crate) fn recursive(span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, "an alias is inside the value of its own anchor")
        .at(span, "")
        .help("a value cannot hold itself; move the anchor")
}
