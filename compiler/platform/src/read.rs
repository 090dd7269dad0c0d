//! Parses the text of a catalogue file.
//!
//! In: YAML text of a site. Out: a [`File`], or diagnostics with places: the first error of the parser, and every
//! missing key. Invariants: the text has at most [`syntax::BYTES_MAX`] bytes, one document, and no duplicate keys.

use closc_diagnostics::{Diagnostic, SourceId, Span};
use serde_saphyr::{DuplicateKeyPolicy, Error, Options};

use crate::checks::{shape, syntax};
use crate::file::{File, schema};
use crate::required_keys;

/// Reads a file.
pub(crate) fn read(source: SourceId, text: &str) -> Result<File, Vec<Diagnostic>> {
    if text.len() > syntax::BYTES_MAX {
        return Err(vec![syntax::too_large(text.len(), Span::new(source, 0..0))]);
    }
    let options: Options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error: Error| {
        let first = diagnostic(source, text, &error);
        match error.without_snippet() {
            Error::SerdeMissingField { field, .. } => missing_keys(source, text, field, first),
            _ => vec![first],
        }
    })
}

/// Returns all missing keys. The first one is at the place that the parser reports, the others at the key under which
/// the incomplete mapping is.
fn missing_keys(source: SourceId, text: &str, field: &str, first: Diagnostic) -> Vec<Diagnostic> {
    let options: Options = serde_saphyr::options! { with_snippet: false };
    let tree = serde_saphyr::from_str_with_options::<serde_json::Value>(text, options);
    let mut lacking =
        tree.map_or_else(|_| Vec::new(), |tree| required_keys::missing_keys(schema().as_value(), &tree));
    let known = lacking.iter().position(|missing| missing.key == field);
    let mut found = vec![first];
    if let Some(known) = known {
        lacking.remove(known);
    }
    for missing in lacking {
        let line = missing.path.last().and_then(|key| {
            let start = text.lines().scan(0, |at, line| {
                let start = *at;
                *at += line.len() + 1;
                Some((start + line.len() - line.trim_start().len(), line.trim_start()))
            });
            start
                .into_iter()
                .find(|(_, line)| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
                .map(|(start, _)| start..start + key.len())
        });
        found.push(shape::missing_key(&missing.key, Span::new(source, line.unwrap_or(0..0))));
    }
    found
}

fn diagnostic(source: SourceId, text: &str, error: &Error) -> Diagnostic {
    let place = error.location().map_or(0..0, |location| {
        let start = location.span().byte_offset().unwrap_or(0) as usize;
        let len = location.span().byte_len().unwrap_or(0) as usize;
        start.min(text.len())..(start + len).min(text.len())
    });
    // The parser does not report the place of a tab.
    let tab = text.match_indices('\t').map(|(at, _)| at).find(|at| {
        let line = text[..*at].rfind('\n').map_or(0, |end| end + 1);
        text[line..*at].trim().is_empty()
    });
    let place = match tab.filter(|_| error.to_string().contains("tabs disallowed")) {
        Some(at) => at..at + 1,
        None => place,
    };
    let span = Span::new(source, place);
    match error.without_snippet() {
        Error::SerdeUnknownField { field, expected, .. } => shape::unknown(field, "key", expected, span),
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            shape::unknown(variant, "word", expected, span)
        }
        Error::SerdeMissingField { field, .. } => shape::missing_key(field, span),
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => shape::wrong(unexpected, expected, span),
        Error::InvalidScalar { ty: expected, .. } | Error::Unexpected { expected, .. } => {
            let written = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            shape::wrong(&describe_text(written), describe_type(expected), span)
        }
        Error::Message { msg, .. } => shape::bad(msg, span),
        Error::DuplicateMappingKey { key, .. } => syntax::duplicate_key(key.as_deref(), span),
        other => syntax::unreadable(&plain(other), span),
    }
}

/// Describes a text for messages.
fn describe_text(written: &str) -> String {
    match written.trim() {
        "" => "nothing".to_owned(),
        "[" => "a list".to_owned(),
        "{" => "a mapping".to_owned(),
        other => format!("`{other}`"),
    }
}

/// Returns the name of a type, for messages.
fn describe_type(of: &'static str) -> &'static str {
    match of {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "string scalar" | "scalar" | "str" | "string" => "a word or number",
        "sequence start" => "a list",
        "mapping start" => "a mapping",
        other => other,
    }
}

/// Returns the parser's message on one line, without its position.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let line = match line.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((_, message)) => message,
        None => line,
    };
    line.split(" at line ").next().unwrap_or(line).to_owned()
}
