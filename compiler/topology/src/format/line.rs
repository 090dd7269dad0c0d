//! A line of block style: dashes, a key, a value, a comment.

use super::{LineContext, flow};

/// The parts of a line.
pub(super) struct Head<'a> {
    /// Spaces before it.
    pub(super) indent: usize,
    /// For each dash, the column of the text after it.
    pub(super) dashes: Vec<usize>,
    /// The key, as it is written.
    pub(super) key: Option<&'a str>,
    /// The text after the key.
    pub(super) value: &'a str,
}

/// A formatted value.
pub(super) struct FormattedValue<'a> {
    pub(super) text: String,
    /// From its `#`.
    pub(super) comment: Option<&'a str>,
    pub(super) inside: LineContext,
}

/// Splits a line into its parts.
pub(super) fn head(line: &str) -> Head<'_> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let (mut at, mut dashes) = (indent, Vec::new());
    while let Some(behind) = line[at..].strip_prefix("- ") {
        at = line.len() - behind.trim_start_matches(' ').len();
        dashes.push(at);
    }
    let rest = &line[at..];
    let (key, value) = match key_end(rest) {
        Some(end) => (Some(&rest[..end]), rest[end + 1..].trim_start_matches(' ')),
        None => (None, rest),
    };
    Head { indent, dashes, key, value }
}

/// Returns the position of the colon after a key.
fn key_end(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|sign| ['"', '\''].contains(sign));
    let from = match quote {
        Some(quote) => 1 + text[1..].find(quote)? + 1,
        None if text.starts_with(['{', '[', '#', '|', '>']) => return None,
        None => 0,
    };
    let mut signs = text[from..].char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        match sign {
            ':' if signs.peek().is_none_or(|(_, next)| *next == ' ') => return Some(from + at),
            ' ' if signs.peek().is_some_and(|(_, next)| *next == '#') => return None,
            _ => {}
        }
    }
    None
}

/// Writes a value of block style; `key` is the indentation of its key.
pub(super) fn value(text: &str, key: usize) -> FormattedValue<'_> {
    let mut shown = String::new();
    let mut rest = text;
    // Anchors, aliases and tags come before the value that they apply to.
    while rest.starts_with(['&', '!', '*']) {
        let (word, behind) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        shown.push_str(word);
        rest = behind.trim_start_matches(' ');
        if !rest.is_empty() && !rest.starts_with('#') {
            shown.push(' ');
        }
    }
    if rest.starts_with(['{', '[', '"', '\'']) {
        let (own, comment) = flow::split(rest);
        let (own, state) = flow::line(own.trim_end(), flow::State::default());
        let inside = if state.is_open() { LineContext::Flow(state) } else { LineContext::Nothing };
        return FormattedValue { text: shown + &own, comment, inside };
    }
    let (own, comment) = match rest.find(" #") {
        _ if rest.starts_with('#') => ("", Some(rest)),
        Some(at) => (rest[..at].trim_end(), Some(&rest[at + 1..])),
        None => (rest.trim_end(), None),
    };
    let inside = if own.starts_with(['|', '>']) { LineContext::Text(key) } else { LineContext::Nothing };
    FormattedValue { text: shown + own, comment, inside }
}
