//! E0104: the text is not YAML.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// The text is not YAML.
pub(crate) static RULE: Rule = Rule {
    code: "E0104",
    title: "the file is not valid YAML",
    condition: "The file is YAML 1.2.",
    impact: "A file that cannot be parsed cannot be checked. The message shows where parsing failed, \
           which is at the mistake or just after it.",
    example: "fabric: tiny\nplanes: [1",
    fix: "Look at the reported line and the line above it for a missing quote, bracket or colon, a tab, or \
           wrong indentation.",
};

/// Reports the place where the parser failed; the loader chooses `reason` and `help`.
pub(crate) fn syntax(reason: &str, help: Option<&str>, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(&RULE, format!("this is not valid YAML: {reason}")).at(span, "");
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}
