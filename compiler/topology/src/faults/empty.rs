//! E0101: the file is empty.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// The file is empty.
pub(crate) static RULE: Rule = Rule {
    code: "E0101",
    title: "the file is empty",
    condition: "The file has at least one key besides comments and white space.",
    impact: "An empty file is usually a failed copy or a wrong path. Without an error, that would go \
           unnoticed.",
    example: "# nothing but a comment",
    fix: "Check the path, and copy the file again if it is incomplete. A new file needs at least `fabric`, \
           `planes`, `hosts` and `tiers`.",
};

/// Reports an empty file.
pub(crate) fn empty_file(span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, "the file contains no fabric")
        .at(span, "nothing but white space and comments")
        .help("start with `fabric: NAME`, `planes: N`, `hosts: {...}` and `tiers: {...}`")
}
