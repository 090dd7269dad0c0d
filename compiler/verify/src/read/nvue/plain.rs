//! A fast reader for YAML as NVUE and closc write it: block mappings, one entry per line, plain or quoted scalars.
//!
//! In: a text. Out: its value, or `None` if the text has any other form. The YAML library then reads it. Invariants:
//! the library gives the same value for every text that is read here. With the library alone, reading would take most
//! of the time of a proof, because large trees have half a gigabyte of YAML.

use std::borrow::Cow;

use super::value::{Map, Value};

/// Maximum number of entries in a text. The library has its own limits.
const ENTRIES_MAX: usize = 100_000;

/// Maximum depth of nested mappings.
const DEPTH_MAX: usize = 24;

/// Maximum length of a key.
const KEY_MAX: usize = 128;

/// Plain scalars that YAML reads as booleans, null or numbers, in upper or lower case.
const RESERVED: [&str; 11] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "infinity"];

/// Reads a text: a list of mappings. Returns `None` if the text needs the complete YAML parser.
pub(super) fn read(text: &str) -> Option<Value<'_>> {
    if !text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
        return None;
    }
    let mut reader = Reader { lines: text.lines(), next: None, entries: 0 };
    reader.advance()?;
    let mut list = Vec::new();
    while let Some(line) = &mut reader.next {
        if !std::mem::take(&mut line.begins_item) {
            return None;
        }
        list.push(reader.mapping(2, DEPTH_MAX)?);
    }
    (!list.is_empty()).then_some(Value::Array(list))
}

/// An entry of a mapping.
struct Line<'t> {
    indent: usize,
    /// Whether the entry is the first one of a list item.
    begins_item: bool,
    key: &'t str,
    /// Value of the entry, if it is on the same line.
    value: Option<Value<'t>>,
}

struct Reader<'t> {
    lines: std::str::Lines<'t>,
    /// The first line that has not been processed yet.
    next: Option<Line<'t>>,
    entries: usize,
}

impl<'t> Reader<'t> {
    /// Reads the next line that is neither empty nor a comment; returns `None` if the line has another form.
    fn advance(&mut self) -> Option<()> {
        let is_entry = |line: &&str| !line.is_empty() && !line.trim_start_matches(' ').starts_with('#');
        self.next = match self.lines.by_ref().find(is_entry) {
            Some(line) => Some(entry(line)?),
            None => None,
        };
        self.entries += 1;
        (self.entries <= ENTRIES_MAX).then_some(())
    }

    /// Reads the entries at one indentation, and the entries nested in each.
    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Value<'t>> {
        let mut entries = Vec::new();
        while let Some(line) = self.next.take_if(|line| line.indent >= indent && !line.begins_item) {
            if line.indent > indent {
                return None;
            }
            self.advance()?;
            let below = self.next.as_ref().filter(|next| next.indent > indent && !next.begins_item);
            let value = match (line.value, below.map(|next| next.indent)) {
                (Some(value), None) => value,
                (None, None) => Value::Null,
                (None, Some(below)) => self.mapping(below, depth.checked_sub(1)?)?,
                // The scalar continues on the next line, or the text is not valid.
                (Some(_), Some(_)) => return None,
            };
            entries.push((Cow::Borrowed(line.key), value));
        }
        Map::of(entries).map(Value::Object)
    }
}

/// Reads a line.
fn entry(line: &str) -> Option<Line<'_>> {
    let (indent, begins_item, entry) = if let Some(entry) = line.strip_prefix("- ") {
        (2, true, entry)
    } else {
        let entry = line.trim_start_matches(' ');
        (line.len() - entry.len(), false, entry)
    };
    let (key, value) = match entry.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\'').and_then(|(key, rest)| Some((key, rest.strip_prefix(':')?))),
        None => entry.split_once(':').filter(|(key, _)| is_word(key)),
    }?;
    if key.is_empty() || key.len() > KEY_MAX {
        return None;
    }
    let value = match value.strip_prefix(' ') {
        Some(value) => Some(scalar(value)?),
        None if value.is_empty() => None,
        None => return None,
    };
    Some(Line { indent, begins_item, key, value })
}

/// Reads a value that is on the line of its key.
fn scalar(text: &str) -> Option<Value<'_>> {
    let text_value = |text| Value::String(Cow::Borrowed(text));
    let quoted = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    if text == "{}" {
        Some(Value::Object(Map::default()))
    } else if let Some(inner) = quoted('\'') {
        (!inner.contains('\'')).then(|| text_value(inner))
    } else if let Some(inner) = quoted('"') {
        (!inner.contains(['"', '\\'])).then(|| text_value(inner))
    } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let is_decimal = text == "0" || text.len() <= 18 && !text.starts_with('0');
        if is_decimal { text.parse::<u64>().ok().map(|number| Value::Number(number.into())) } else { None }
    } else {
        is_plain(text).then(|| text_value(text))
    }
}

/// Returns whether a plain scalar can only be text, and ends on its line.
fn is_plain(text: &str) -> bool {
    let is_text = |byte: u8| byte.is_ascii_alphanumeric() || b" _-.,()/+".contains(&byte);
    is_word(text) || begins_word(text) && !text.ends_with(' ') && text.bytes().all(is_text)
}

/// Returns whether a plain scalar is a word, or a number with a unit such as `2x` or `400G`.
fn is_word(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let digits = text.trim_end_matches(['x', 'G']);
    let is_amount = digits.len() + 1 == text.len()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0')
        && !digits.is_empty();
    is_amount || begins_word(text) && text.bytes().all(is_part)
}

/// Returns whether a scalar begins with a letter and is not a YAML keyword.
fn begins_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word))
        && !text.eq_ignore_ascii_case("inf")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::device::by_library;
    use super::*;

    const TEXT: &str = "\
# A comment.
- header:
    model: mqm-9700
- set:
    interface:
      swp1:
        link:
          breakout:
            2x:
              lanes-per-port: '4'

      swp1s0:
        description: \"z0-p0-t1-001:swp1s0\"
        # Another.
        link:
          mtu: 9216
          speed: 400G
          fec: 'rs'
          state:
            up: {}
        nothing:
    system:
      hostname: 'on'
      text: last resort, as a switch (RFC 8326) is drained
      zero: 0
    vrf:
      default:
        'fd00::/48':
          via:
            blackhole:
              type: blackhole
";

    #[test]
    fn closc_writes_what_is_read_here() {
        let read = read(TEXT).unwrap();
        assert_eq!(read, by_library(TEXT).unwrap());
        let port = ["set", "interface", "swp1s0", "link"]
            .iter()
            .try_fold(&read.as_array().unwrap()[1], |at, key| at.get(key));
        assert_eq!(port.and_then(|port| port.get("mtu")?.as_u64()), Some(9216));
    }

    #[test]
    fn other_forms_are_left_to_the_library() {
        for (old, new) in [
            ("9216", "0x2400"),
            ("9216", "09"),
            ("9216", "9e3"),
            ("9216", "9_216"),
            ("9216", "-1"),
            ("9216", "yes"),
            ("9216", "~"),
            ("9216", "Null"),
            ("9216", ".inf"),
            ("9216", "nine # a comment"),
            ("9216", "nine\n           thousand"),
            ("9216", "|\n            nine"),
            ("9216", "!!str 9"),
            ("9216", "[9]"),
            ("9216", "{a: 1}"),
            ("'rs'", "'r''s'"),
            ("'rs'", "\"r\\ts\""),
            ("'rs'", "'r\n            s'"),
            ("'4'", "&a '4'"),
            ("2x:", "4:"),
            ("2x:", "? 2x\n            :"),
            ("2x:", "<<:"),
            ("up: {}", "on: {}"),
            ("mtu", "speed"),
            ("    system", "\tsystem"),
            ("    system", "   system"),
            ("- set", "---\n- set"),
            ("- set", "-  set"),
            ("zero", "z\u{e9}ro"),
        ] {
            assert!(TEXT.contains(old), "{old}");
            assert_eq!(read(&TEXT.replacen(old, new, 1)), None, "{new}");
        }
        assert_eq!(read(""), None);
        assert_eq!(read("set:\n  a: 1\n"), None);
        let lines: Vec<String> = (0..40).map(|depth| format!("{}a:\n", " ".repeat(depth + 3))).collect();
        assert_eq!(read(&format!("- set:\n{}", lines.concat())), None);
        assert!(read(&format!("- set:\n{}", lines[..DEPTH_MAX].concat())).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        /// The library gives the same value for every edited text that this reader accepts.
        #[test]
        fn the_library_reads_the_same(
            edits in proptest::collection::vec((any::<Index>(), 0..3_usize, "[ :#'\"{}\\[\\]\\-&*!|>%@`,?~.\\\\a-fnoxyEGN0-9\n]{0,4}"), 1..4)
        ) {
            let mut text = TEXT.to_owned();
            for (at, removed, new) in &edits {
                let at = at.index(text.len());
                let end = (at + removed).min(text.len());
                text.replace_range(at..end, new);
            }
            if let Some(read) = read(&text) {
                prop_assert_eq!(Some(read), by_library(&text).ok(), "{}", text);
            }
        }
    }
}
