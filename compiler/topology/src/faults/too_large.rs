//! E0102: the file is too large.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// The file is too large.
pub(crate) static RULE: Rule = Rule {
    code: "E0102",
    title: "the file is too large",
    condition: "The file has at most 16 MiB.",
    impact: "A fabric file contains counts and exceptions. It has some kilobytes, whatever the size of the \
           fabric. A file of many megabytes is something else, and reading it would fill the memory of the \
           machine.",
    example: "# any file of more than 16 MiB",
    fix: "Describe the fabric by counts (`hosts.groups`, `tiers.t0.up`) instead of listing devices. Use \
           ranges in exceptions, as in `p3-t0-[017-024]`.",
};

/// Maximum size of a file in bytes.
pub(crate) const BYTES_MAX: usize = 16 << 20;

/// Reports that a file is too large.
pub(crate) fn too_large(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{name}` has more than {} MiB, the maximum", BYTES_MAX >> 20))
        .at(span, "")
        .note("a fabric of 131,072 NICs takes about 2,000 bytes")
        .help("describe the fabric by counts and exceptions instead of listing devices")
}
