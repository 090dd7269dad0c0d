//! E0122: a text contains characters that are not allowed in a line.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::suggest::shorten;

/// A text contains characters that are not allowed in a line.
pub(crate) static RULE: Rule = Rule {
    code: "E0122",
    title: "a text is not one printable line",
    condition: "Every text except `description`, such as a name or contact, is one line of printable text. It has \
           at most 4,096 bytes. It contains no line break, tab, escape or other control character, and none \
           that changes the writing direction. A description may have several lines.",
    impact: "These texts are in configurations of switches, in reports and on terminals. A line break would add \
           a line to a configuration, and an escape sequence would move the cursor of a terminal.",
    example: "services: { snmp: { contact: \"noc\\nrouter bgp 1\" } }",
    fix: "Remove the character that the message names.",
};

/// Reports a character that a text cannot have.
pub(crate) fn bad_text(path: &str, text: &str, found: char, span: Span) -> Diagnostic {
    let code = u32::from(found);
    let message = format!("`{path}`: `{}` contains the character U+{code:04X}", shorten(text));
    Diagnostic::error(&RULE, message).at(span, "").help("write one line of printable text")
}

/// Reports that a text is too long.
pub(crate) fn long_text(path: &str, length: usize, max: usize, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{path}` has {length} bytes; expected at most {max}"))
        .at(span, "")
        .help("shorten it")
}
