//! E1001: the file is YAML.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// Bytes a catalogue file may have; the largest one shipped has a tenth of it.
pub(crate) const BYTES_MAX: usize = 128 * 1024;

pub(crate) static RULE: Rule = Rule {
    code: "E1001",
    title: "the platform file cannot be read",
    what: "A platform file is one YAML document in UTF-8, of at most 128 KiB and without duplicate keys.",
    why: "YAML readers differ in which duplicate they use, so a fabric could be built for other hardware \
           than intended.",
    example: "id: my-switch\npanel: {cages: 32, cages: 64}",
    fix: "Correct the YAML at the reported place.",
};

pub(crate) fn unreadable(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("platform file cannot be read: {message}")).at(span, "")
}

pub(crate) fn twice(key: Option<&str>, span: Span) -> Diagnostic {
    let key = key.map_or_else(|| "a key".to_owned(), |key| format!("key `{key}`"));
    Diagnostic::error(&RULE, format!("{key} is set twice in this mapping"))
        .at(span, "second time")
        .help("keep one of the two")
}

pub(crate) fn too_large(bytes: usize, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("platform file has {bytes} bytes, at most {BYTES_MAX} are read"))
        .at(span, "")
        .help("write one SKU to a file")
}
