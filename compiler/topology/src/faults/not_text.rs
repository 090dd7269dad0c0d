//! E0103: the file is binary or in another encoding.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// The file is binary or in another encoding.
pub(crate) static RULE: Rule = Rule {
    code: "E0103",
    title: "the file is not text",
    condition: "The file is text in UTF-8, with or without a byte order mark, and without control characters \
           except tabs and line ends.",
    impact: "A binary file read as text causes misleading errors about keys and brackets.",
    example: "# any file with bytes that are not UTF-8, or with control characters",
    fix: "Check that the path names the fabric file. Remove control characters, and save the file as UTF-8.",
};

/// Reports the byte that is not text.
pub(crate) fn not_text(name: &str, byte: u8, offset: usize, span: Span) -> Diagnostic {
    let is_control = byte.is_ascii_control();
    let message = if is_control { "contains a control character" } else { "is not text in UTF-8" };
    let help = if is_control {
        "check that this is the fabric file, and remove the control character; only tabs and line ends are allowed"
    } else {
        "check that this is the fabric file, and save it as UTF-8"
    };
    Diagnostic::error(&RULE, format!("`{name}` {message}"))
        .at(span, format!("byte 0x{byte:02x} at offset {offset}"))
        .help(help)
}
