//! E1002: the file has the shape of a platform.

use closc_diagnostics::{Diagnostic, Rule, Span};

use super::format_list;
use crate::nearest::nearest;

pub(crate) static RULE: Rule = Rule {
    code: "E1002",
    title: "the platform file has an unknown key or a wrong value",
    condition: "Every key of a platform file is known, and every required key is present. Every value has its \
           type and unit: speeds as `100G`, buffers as `165335712` or `64KiB`, breakouts as `8x100G`.",
    impact: "A misspelled key would be ignored, and the switch planned with a default.",
    example: "limits: {my_sid: 256}",
    fix: "Correct the key or value. A note lists the keys that are known at this place, and \
           `closc platforms NAME --yaml` prints a complete file.",
};

pub(crate) fn unknown(word: &str, kind: &str, known: &[&'static str], span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(&RULE, format!("`{word}` is not a {kind} known here"));
    let diagnostic = match nearest(word, known.iter().copied()) {
        Some(near) => diagnostic.at(span, format!("did you mean `{near}`?")),
        None => diagnostic.at(span, ""),
    };
    diagnostic.note(format!("known here: {}", format_list(known)))
}

pub(crate) fn missing_key(key: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("key `{key}` is missing")).at(span, format!("`{key}` belongs here"))
}

pub(crate) fn wrong(found: &str, expected: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("expected {expected}, found {found}"))
        .at(span, format!("not {expected}"))
}

pub(crate) fn bad(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, message.to_owned()).at(span, "")
}
