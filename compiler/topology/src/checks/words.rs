//! Wording of messages: counts, lists, advice.

use closc_diagnostics::{Diagnostic, Span};

use crate::coordinate::Side;
use crate::field::Field;

/// Writes a number with its noun: `1 port`, `520 ports`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Advises fewer spare ports if the panel has room for the ports in use, but not for the spare ones.
///
/// `path` is the setting, `has` the ports of the panel, and `in_use` the ports that must fit before any spare port.
pub(crate) fn fewer_spare(path: Field, spare: u64, has: u64, in_use: u64) -> Option<String> {
    (spare > 0 && in_use <= has).then(|| format!("lower `{path}` to {}", has - in_use))
}

/// Returns the key of a side: `down` or `up`.
pub(crate) fn side_word(side: Side) -> &'static str {
    match side {
        Side::Down => "down",
        Side::Up => "up",
    }
}

/// Lists values to choose from: `1`, `1 or 2`, `1, 2 or 4`.
pub(crate) fn choice(values: impl IntoIterator<Item = impl ToString>) -> String {
    let words: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some(_) | None => words.concat(),
    }
}

/// Joins words in a sentence: `a`, `a and b`, `a, b and c`.
pub(crate) fn and<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some(_) | None => words.concat(),
    }
}

/// Writes fields with the values that they should get: `` `a` to `1` and `b` to `2` ``.
pub(crate) fn fields_and_values(fields: &[(String, String)]) -> String {
    let words: Vec<String> = fields.iter().map(|(path, value)| format!("`{path}` to `{value}`")).collect();
    and(words.iter().map(String::as_str))
}

/// Adds a label at another place, if the file states the value there; does nothing if a default applies.
pub(crate) fn and_if(diagnostic: Diagnostic, span: Option<Span>, text: impl Into<String>) -> Diagnostic {
    match span {
        Some(span) => diagnostic.and(span, text),
        None => diagnostic,
    }
}
/// Advises to name another file, or to correct this one if the reason explains what is wrong with its text.
pub(super) fn or_omit(why: &str, key: Field) -> String {
    let key = key.path();
    if why.contains("UTF-") || why.contains("has more than") {
        return format!("correct the file, or omit `{key}`");
    }
    format!("name a file below the folder of this one, or omit `{key}`")
}
