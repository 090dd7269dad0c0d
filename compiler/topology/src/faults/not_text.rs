//! E0103: the file is binary or in another encoding.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// The file is binary or in another encoding.
pub(crate) static RULE: Rule = Rule {
    code: "E0103",
    title: "the file is not text",
    what: "The file is text in UTF-8, with or without a byte order mark, and without control characters.",
    why: "A binary file read as text gives errors about keys and brackets that lead nowhere.",
    example: "# any file with bytes that are not UTF-8, or with control characters",
    fix: "Check that the path names the fabric file; save it as UTF-8.",
};

/// Says which byte makes a file no text.
pub(crate) fn not_text(name: &str, byte: u8, offset: usize, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{name}` is not text in UTF-8"))
        .at(span, format!("byte 0x{byte:02x} at offset {offset}"))
        .help("check that this is the fabric file, and save it as UTF-8")
}
