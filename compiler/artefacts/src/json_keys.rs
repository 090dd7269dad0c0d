//! Finds keys that occur twice in one object of a JSON text.
//!
//! In: the bytes of a JSON text. Out: each repeated key with its lines. Invariants: most JSON readers keep the last
//! value of a repeated key and report nothing, so a text with a repeated key has no single meaning. The search needs no
//! memory for values, and reads each byte once. The syntax is not checked: in an invalid text, objects without an end
//! are not searched.

use std::borrow::Cow;
use std::ops::Range;

/// A key that occurs twice in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedKey {
    /// The keys of the enclosing objects, outermost first, and the key itself.
    pub path: Vec<String>,
    /// Line of the previous occurrence, from 1.
    pub previous_line: usize,
    /// Line of this occurrence.
    pub line: usize,
}

/// An object whose end is not reached yet.
struct OpenObject {
    /// Position of its first key in the list of keys.
    first_key: usize,
    /// Whether each key so far sorts after its predecessor, by bytes.
    is_sorted: bool,
    /// The same for keys sorted by length and then by bytes, for example `Ethernet8` and `Ethernet16`.
    is_sorted_by_length: bool,
    /// Whether a key has an escape, so that its bytes differ from its text.
    has_escapes: bool,
}

/// Returns the first keys, at most `max`, that occur more than once in one object. Inner objects come first.
pub fn repeated_keys(json: &[u8], max: usize) -> Vec<RepeatedKey> {
    let mut scan = Scan { json, keys: Vec::new(), open: Vec::new(), repeated: Vec::new(), max };
    let mut at = 0;
    while let Some(byte) = json.get(at).filter(|_| scan.repeated.len() < max) {
        match byte {
            b'"' => {
                let end = string_end(json, at + 1);
                if is_key(json, end + 1) {
                    scan.add_key(at + 1..end);
                }
                at = end;
            }
            b'{' => scan.open.push(OpenObject {
                first_key: scan.keys.len(),
                is_sorted: true,
                is_sorted_by_length: true,
                has_escapes: false,
            }),
            b'}' => scan.close_object(),
            _ => {}
        }
        at += 1;
    }
    scan.repeated
}

/// Returns the position of the quote that ends a string, or the end of the text.
fn string_end(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

/// Returns whether the string that ends before a position is a key.
fn is_key(json: &[u8], at: usize) -> bool {
    let rest = json.get(at..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

struct Scan<'a> {
    json: &'a [u8],
    /// The keys of all open objects.
    keys: Vec<Range<usize>>,
    open: Vec<OpenObject>,
    repeated: Vec<RepeatedKey>,
    max: usize,
}

impl Scan<'_> {
    fn add_key(&mut self, key: Range<usize>) {
        let Some(object) = self.open.last_mut() else { return };
        let text = &self.json[key.clone()];
        object.has_escapes |= text.contains(&b'\\');
        if let Some(last) = self.keys[object.first_key..].last() {
            let last = &self.json[last.clone()];
            object.is_sorted &= last < text;
            object.is_sorted_by_length &= (last.len(), last) < (text.len(), text);
        }
        self.keys.push(key);
    }

    fn close_object(&mut self) {
        let Some(object) = self.open.pop() else { return };
        if object.has_escapes || !(object.is_sorted || object.is_sorted_by_length) {
            self.compare_keys(object.first_key);
        }
        self.keys.truncate(object.first_key);
    }

    /// Sorts the keys from a position to the end, which are those of one object. Equal keys are then neighbours.
    fn compare_keys(&mut self, first_key: usize) {
        let json = self.json;
        let text = |key: &Range<usize>| (unescape(&json[key.clone()]), key.start);
        let mut keys: Vec<(Cow<'_, [u8]>, usize)> = self.keys[first_key..].iter().map(text).collect();
        keys.sort_unstable();
        let pairs = keys.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        for pair in pairs.take(self.max - self.repeated.len()) {
            let mut path = self.enclosing_keys(first_key);
            path.push(String::from_utf8_lossy(&pair[1].0).into_owned());
            let [previous_line, line] = [&pair[0], &pair[1]].map(|(_, at)| line_of(json, *at));
            self.repeated.push(RepeatedKey { path, previous_line, line });
        }
    }

    /// Returns the last key of each open object. `end` is the position after the keys of the innermost one.
    fn enclosing_keys(&self, end: usize) -> Vec<String> {
        let starts = self.open.iter().map(|object| object.first_key);
        let ends = starts.clone().skip(1).chain([end]);
        let last = starts.zip(ends).filter_map(|(start, end)| self.keys[start..end].last());
        last.map(|key| String::from_utf8_lossy(&unescape(&self.json[key.clone()])).into_owned()).collect()
    }
}

/// Returns the text of a key without its escapes. The bytes of an invalid key do not change.
fn unescape(key: &[u8]) -> Cow<'_, [u8]> {
    if !key.contains(&b'\\') {
        return Cow::Borrowed(key);
    }
    let quoted = [b"\"", key, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).map_or(Cow::Borrowed(key), |text| Cow::Owned(text.into_bytes()))
}

/// Returns the line of a position, from 1.
fn line_of(json: &[u8], at: usize) -> usize {
    json[..at].split(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each repeated key as `path: previous line, line`.
    fn format_keys(json: &str) -> Vec<String> {
        let line = |key: RepeatedKey| format!("{}: {}, {}", key.path.join("/"), key.previous_line, key.line);
        repeated_keys(json.as_bytes(), 16).into_iter().map(line).collect()
    }

    #[test]
    fn a_repeated_key_has_its_path_and_both_lines() {
        assert_eq!(format_keys("{\n\"a\": {\n\"b\": 1,\n\"c\": 2,\n\"b\": 3}}"), ["a/b: 3, 5"]);
        assert_eq!(format_keys("{\"a\": 1,\n\"a\": 1,\n\"a\": 2}"), ["a: 1, 2", "a: 2, 3"]);
        assert_eq!(format_keys("{\"x\": [0, {\"a\": {}, \"a\" : {}}]}"), ["x/a: 1, 1"]);
        assert_eq!(format_keys("{\"b\": {}, \"a\": {\"c\": {\"d\": 1, \"d\": 2}}}"), ["a/c/d: 1, 1"]);
    }

    #[test]
    fn the_search_ends_with_enough_keys() {
        let text = format!("{{{}\"a\": 0}}", "\"a\": 0,\n".repeat(100_000));
        let lines: Vec<usize> = repeated_keys(text.as_bytes(), 3).into_iter().map(|key| key.line).collect();
        assert_eq!(lines, [2, 3, 4]);
    }

    #[test]
    fn an_escape_does_not_hide_a_key() {
        assert_eq!(format_keys(r#"{"a": 1, "\u0061": 2}"#), ["a: 1, 1"]);
        assert_eq!(format_keys(r#"{"a\"": 1, "b": 2, "a\u0022": 3}"#), ["a\": 1, 1"]);
        assert_eq!(format_keys(r#"{"\ud800": 1, "a": 2}"#), [""; 0], "an invalid escape does not panic");
    }

    #[test]
    fn other_texts_are_not_keys_of_the_same_object() {
        for json in [
            r#"{"a": {"a": {"a": 1}}, "b": {"a": 2}}"#,
            r#"{"a": "a", "b": ["a", "a", {"a": 1}, {"a": 2}]}"#,
            r#"{"a": "{\"a\": 1}", "b": "\"a\": 1, \"a\": 1"}"#,
            r#"{"Ethernet0": 1, "Ethernet8": 1, "Ethernet16": 1}"#,
            r#"{"Ethernet0": 1, "Ethernet16": 1, "Ethernet8": 1}"#,
            r#"{"c": 1, "bb": 1, "a": 1}"#,
        ] {
            assert_eq!(format_keys(json), [""; 0], "{json}");
        }
    }

    #[test]
    fn invalid_texts_do_not_panic() {
        for json in [
            "",
            "}",
            "{",
            "\"",
            "\"\\",
            "{\"a",
            "{\"a\\",
            "\"a\": 1, \"a\": 2",
            "{\"a\":1,\"a\":2",
            "{]}}\"a\":",
        ] {
            assert_eq!(format_keys(json), [""; 0], "{json}");
        }
        let deep = "{\"a\":".repeat(100_000);
        assert_eq!(format_keys(&deep), [""; 0]);
    }
}
