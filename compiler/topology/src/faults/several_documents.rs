//! E0115: a second document follows.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// A second document follows.
pub(crate) static RULE: Rule = Rule {
    code: "E0115",
    title: "the file contains several documents",
    condition: "The file contains one YAML document, so `---` occurs at most at its start.",
    impact: "With two fabrics in one file, it is unknown which one is intended.",
    example: "fabric: one\n---\nfabric: two",
    fix: "Split the file.",
};

/// Points at the second document.
pub(crate) fn several_documents(span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, "the file contains more than one YAML document")
        .at(span, "the second one starts here")
        .help("put each fabric into its own file")
}
