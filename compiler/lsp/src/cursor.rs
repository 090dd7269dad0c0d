//! The path of keys at a place in a text, even if the text has errors.
//!
//! In: a text and an offset. Out: the path of keys at the offset, and whether a key or a value is being
//! written there. Invariants: the result depends only on the text before the offset and on the word at it.
//! There is a result even if the text cannot be parsed.

use std::ops::Range;

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Cursor {
    /// Keys from the outermost mapping inwards. In a value, the last one is the key of that value.
    pub(crate) path: Vec<String>,
    /// Whether a key is being written here. Otherwise it is a value.
    pub(crate) is_key: bool,
    /// Preceding keys with values, from the outermost mapping inwards.
    pub(crate) preceding_keys: Vec<Vec<(String, String)>>,
    /// The word at the place; empty if there is none.
    pub(crate) word: Range<usize>,
}

impl Cursor {
    /// Returns the path including the key that is being written here.
    pub(crate) fn full_path(&self, text: &str) -> Vec<String> {
        let word = self.is_key.then(|| text[self.word.clone()].to_owned());
        self.path.iter().cloned().chain(word).collect()
    }

    /// Returns the value of a key before the cursor, in the same mapping or an enclosing one.
    pub(crate) fn value_before(&self, key: &str) -> Option<&str> {
        let mut values = self.preceding_keys.iter().rev().flat_map(|frame| frame.iter().rev());
        values.find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// An open mapping or list.
#[derive(Debug, Default)]
struct Frame {
    /// Column of its keys, if they are on separate lines.
    column: Option<usize>,
    is_list: bool,
    /// The key whose value is being written.
    key: Option<String>,
    preceding_keys: Vec<(String, String)>,
}

/// Finds the path of keys at an offset.
pub(crate) fn find(text: &str, offset: usize) -> Cursor {
    let word = word(text, offset);
    // Within a word, use the start of the word. Elsewhere, use the offset itself.
    let end = if word.is_empty() { offset } else { word.start };
    let mut frames: Vec<Frame> = Vec::new();
    let mut from = 0;
    for line in text[..end].split_inclusive('\n') {
        let is_last = from + line.len() == end && !line.ends_with('\n');
        if !is_last {
            read(line.trim_end_matches(['\n', '\r']), &mut frames);
        }
        from += line.len();
    }
    let last = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let is_key = last_line(&text[last..end], &mut frames);
    let path = frames.iter().filter_map(|frame| frame.key.clone()).collect();
    Cursor {
        path,
        is_key,
        preceding_keys: frames.into_iter().map(|frame| frame.preceding_keys).collect(),
        word,
    }
}

/// Returns the word around an offset.
fn word(text: &str, offset: usize) -> Range<usize> {
    let takes = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let start = text[..offset].char_indices().rev().take_while(|(_, c)| takes(*c)).last();
    let start = start.map_or(offset, |(at, _)| at);
    let end = text[offset..].find(|c| !takes(c)).map_or(text.len(), |at| offset + at);
    start..end
}

/// Reads a complete line.
fn read(line: &str, frames: &mut Vec<Frame>) {
    let rest = if is_in_flow(frames) {
        line
    } else {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return;
        }
        let (column, item) = dashes(line);
        match key(item) {
            Some((name, rest)) => {
                open(column, frames);
                enter(frames, name);
                rest
            }
            None => item,
        }
    };
    flow(rest, frames);
    if !is_in_flow(frames)
        && let Some(frame) = frames.last_mut()
        && let Some(key) = &frame.key
        && !plain(rest).is_empty()
    {
        let value = (key.clone(), plain(rest).to_owned());
        frame.preceding_keys.push(value);
    }
}

/// Reads the line up to the place; returns whether a key is expected there.
fn last_line(line: &str, frames: &mut Vec<Frame>) -> bool {
    if !is_in_flow(frames) {
        let (column, item) = dashes(line);
        let Some((name, rest)) = key(item) else {
            // Without a colon, this is the beginning of a key, or of a value in a list.
            let is_item = line.trim_start().starts_with('-');
            close(column, frames, is_item);
            return flow(item, frames).unwrap_or(!is_item);
        };
        open(column, frames);
        enter(frames, name);
        return flow(rest, frames).unwrap_or(false);
    }
    flow(line, frames).unwrap_or(false)
}

/// Skips the dashes of list items, and returns the column of the text after them.
fn dashes(line: &str) -> (usize, &str) {
    let mut rest = line.trim_start();
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start();
    }
    (line.len() - rest.len(), rest)
}

/// Splits a line at the colon of its key.
fn key(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(['{', '[']) {
        return None;
    }
    let at = line.match_indices(':').map(|(at, _)| at).find(|at| {
        let behind = line[at + 1..].chars().next();
        behind.is_none_or(char::is_whitespace)
    })?;
    let name = line[..at].trim().trim_matches(['"', '\'']);
    (!name.is_empty() && !name.contains('#')).then(|| (name, &line[at + 1..]))
}

fn is_in_flow(frames: &[Frame]) -> bool {
    frames.last().is_some_and(|frame| frame.column.is_none())
}

/// Closes the mappings that end before a key at this column, and opens the mapping of that key.
fn open(column: usize, frames: &mut Vec<Frame>) {
    close(column, frames, false);
    if frames.last().is_none_or(|frame| frame.column != Some(column)) {
        frames.push(Frame { column: Some(column), ..Frame::default() });
    }
}

/// Closes the mappings that end before a column. A list item may be in the same column as the key of the
/// list.
fn close(column: usize, frames: &mut Vec<Frame>, is_item: bool) {
    while let Some(frame) = frames.last() {
        let at = frame.column.unwrap_or(usize::MAX);
        if at < column || (is_item && at <= column) {
            return;
        }
        if at == column {
            // The mapping continues with another key.
            if let Some(frame) = frames.last_mut() {
                frame.key = None;
            }
            return;
        }
        frames.pop();
    }
}

fn enter(frames: &mut [Frame], name: &str) {
    if let Some(frame) = frames.last_mut() {
        frame.key = Some(name.to_owned());
    }
}

/// Returns a value without its comment.
fn plain(text: &str) -> &str {
    let text = text.find(" #").map_or(text, |at| &text[..at]);
    text.trim().trim_matches(['"', '\''])
}

/// Reads the braces and brackets on a line. If one is open at the end of the line, returns whether a key is
/// expected there.
fn flow(line: &str, frames: &mut Vec<Frame>) -> Option<bool> {
    let (mut token, mut quote, mut last) = (0, None, ' ');
    for (at, c) in line.char_indices() {
        let is_quoted = quote.is_some();
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') if last.is_whitespace() => break,
            (None, '{' | '[') => {
                frames.push(Frame { is_list: c == '[', ..Frame::default() });
                token = at + 1;
            }
            (None, '}' | ']' | ',') if is_in_flow(frames) => {
                end_of_value(&line[token..at], frames);
                if c != ',' {
                    frames.pop();
                }
                token = at + 1;
            }
            (None, ':') if is_in_flow(frames) => {
                let name = line[token..at].trim().trim_matches(['"', '\'']);
                let frame = frames.last_mut().filter(|frame| !frame.is_list && frame.key.is_none());
                if let Some(frame) = frame {
                    frame.key = Some(name.to_owned());
                    token = at + 1;
                }
            }
            (Some(_) | None, _) => {}
        }
        last = if is_quoted { 'x' } else { c };
    }
    let frame = frames.last().filter(|frame| frame.column.is_none())?;
    Some(!frame.is_list && frame.key.is_none())
}

/// Records the value of a key.
fn end_of_value(token: &str, frames: &mut [Frame]) {
    let Some(frame) = frames.last_mut() else { return };
    if let Some(key) = frame.key.take() {
        frame.preceding_keys.push((key, plain(token).to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result for the position of `|` in the text.
    fn at(text: &str) -> (String, bool, String) {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let cursor = find(&text, offset);
        (cursor.path.join("."), cursor.is_key, text[cursor.word.clone()].to_owned())
    }

    #[test]
    fn keys_and_values_have_paths() {
        for (text, path, is_key, word) in [
            ("fab|", "", true, "fab"),
            ("fabric: a\n|", "", true, ""),
            ("hosts:\n  gro|ups: 4\n", "hosts", true, "groups"),
            ("hosts:\n  groups: 4|\n", "hosts.groups", false, "4"),
            ("hosts:\n  nic: { speed: 8|", "hosts.nic.speed", false, "8"),
            ("hosts:\n  nic: { speed: 800G, la|", "hosts.nic", true, "la"),
            ("tiers:\n  t0:\n    platform: th5-512x100g\n    o|", "tiers.t0", true, "o"),
            ("tiers:\n  t0:\n    platform: a\n  t|", "tiers", true, "t"),
            ("tiers:\n  t0: { up: { count: 1 }, os: son|ic }\n", "tiers.t0.os", false, "sonic"),
            ("exceptions:\n  absent:\n  - p0-|\n", "exceptions.absent", false, "p0-"),
            ("exceptions:\n  absent: [p0-t0-001, p0-t1|", "exceptions.absent", false, "p0-t1"),
            ("exceptions: { absent: [\n  a,\n  b|", "exceptions.absent", false, "b"),
            ("qos: \"a: {b\" # { x\nrout|", "", true, "rout"),
            ("routing: |", "routing", false, ""),
        ] {
            assert_eq!(at(text), (path.to_owned(), is_key, word.to_owned()), "{text}");
        }
    }

    #[test]
    fn values_before_are_known() {
        let text = "tiers:\n  t0:\n    platform: th5 # fast\n    down: { breakout: ";
        let cursor = find(text, text.len());
        assert_eq!(cursor.path.join("."), "tiers.t0.down.breakout");
        assert_eq!(cursor.value_before("platform"), Some("th5"));
        let text = "t0: { platform: abc, down: { breakout: ";
        assert_eq!(find(text, text.len()).value_before("platform"), Some("abc"));
    }

    #[test]
    fn any_place_of_any_text_has_an_answer() {
        for text in [
            "",
            "}}]]",
            "a: [[{",
            "- - - x: y\n-",
            ": :\n  :",
            "ä: ö\n\u{feff}\t-",
            "{a: 'b",
            "a:\r\n  b: c\r\n",
        ] {
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let cursor = find(text, offset);
                assert!(cursor.word.end <= text.len());
            }
        }
    }
}
