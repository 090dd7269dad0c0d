//! E1001: the file is YAML.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// Maximum size of a catalogue file in bytes. The largest built-in file has about 9,000.
pub(crate) const BYTES_MAX: usize = 128 * 1024;

pub(crate) static RULE: Rule = Rule {
    code: "E1001",
    title: "the platform file cannot be read",
    condition: "A platform file is one YAML document in UTF-8, of at most 128 KiB and without duplicate keys.",
    impact: "YAML readers differ in which duplicate they use, so a fabric could be built for other hardware \
           than intended.",
    example: "id: my-switch\npanel: {cages: 32, cages: 64}",
    fix: "Correct the YAML at the reported place.",
};

pub(crate) fn unreadable(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("platform file cannot be read: {message}")).at(span, "")
}

pub(crate) fn duplicate_key(key: Option<&str>, span: Span) -> Diagnostic {
    let key = key.map_or_else(|| "a key".to_owned(), |key| format!("key `{key}`"));
    Diagnostic::error(&RULE, format!("{key} is set twice in this mapping"))
        .at(span, "second time")
        .help("keep one of the two")
}

pub(crate) fn too_large(bytes: usize, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("platform file has {bytes} bytes, expected at most {BYTES_MAX}"))
        .at(span, "")
        .help("write one SKU per file")
}
