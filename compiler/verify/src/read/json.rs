//! Reads JSON as a stream: text is borrowed if possible, and functions are called for each row of a table, or each
//! table of a file.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::de::StrRead;
use serde_json::value::RawValue;

use super::error::ReadError;
use crate::model::place::{Step, line_of};

/// Text, borrowed from the file if it has no escapes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Text, or a list of texts, which are joined by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum TextOrList<'a> {
            #[serde(borrow)]
            One(Str<'a>),
            #[serde(borrow)]
            List(Vec<Str<'a>>),
        }
        Ok(Words(match TextOrList::deserialize(deserializer)? {
            TextOrList::One(text) => text.0,
            TextOrList::List(list) => {
                list.iter().map(|text| &*text.0).collect::<Vec<&str>>().join(",").into()
            }
        }))
    }
}

/// A visitor of a table that calls a function with each key and row.
pub(crate) struct Rows<'f, V, F> {
    visit: &'f mut F,
    row: PhantomData<V>,
}

impl<'f, V, F> Rows<'f, V, F> {
    /// Creates the visitor.
    pub(crate) fn new(each: &'f mut F) -> Self {
        Rows { visit: each, row: PhantomData }
    }
}

impl<'de, V, F> DeserializeSeed<'de> for Rows<'_, V, F>
where
    V: Deserialize<'de>,
    F: FnMut(Cow<'de, str>, V) -> Result<(), String>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, V, F> Visitor<'de> for Rows<'_, V, F>
where
    V: Deserialize<'de>,
    F: FnMut(Cow<'de, str>, V) -> Result<(), String>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Str(key)) = map.next_key()? {
            let row = map.next_value()?;
            (self.visit)(key, row).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// Calls a function for each table of a file, with its name and the rest of the text, which starts with the table. The
/// function returns the length of the table.
pub(crate) fn tables<'a>(
    text: &'a str,
    mut each: impl FnMut(&str, &'a str) -> Result<usize, serde_json::Error>,
) -> Result<(), ReadError> {
    let syntax = || syntax(text);
    let mut at = offset_after(text, 0, '{').ok_or_else(syntax)?;
    let mut open = offset_after(text, at, '}').is_none();
    let mut seen: Vec<Cow<'_, str>> = Vec::new();
    while open {
        at += text.get(at..).map_or(0, blanks);
        let mut name = None;
        at += value(&text[at..], |json| {
            name = Some(Str::deserialize(json)?);
            Ok(())
        })
        .map_err(|_| syntax())?;
        at = offset_after(text, at, ':').ok_or_else(syntax)?;
        at += blanks(&text[at..]);
        let name = name.map_or(Cow::Borrowed(""), |name| name.0);
        // If two tables have the same name, most programs read the last one, and no program reads both.
        if seen.contains(&name) {
            return Err(ReadError::at(line_of(text.as_bytes(), at), format!("`{name}` appears twice")));
        }
        at += each(&name, &text[at..]).map_err(|error| relocate_error(&error, text, at))?;
        seen.push(name);
        match offset_after(text, at, ',') {
            Some(next) => at = next,
            None => open = false,
        }
    }
    let end = offset_after(text, at, '}').ok_or_else(syntax)?;
    if blanks(&text[end..]) == text.len() - end { Ok(()) } else { Err(syntax()) }
}

/// Reads the value at the start of a text, and returns its length.
pub(crate) fn value<'a>(
    text: &'a str,
    read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'a>>) -> Result<(), serde_json::Error>,
) -> Result<usize, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    read(&mut json)?;
    Ok(json.into_iter::<IgnoredAny>().byte_offset())
}

/// The next value of a map.
pub(crate) struct Value<'j, 'a>(pub(crate) &'j mut serde_json::Deserializer<StrRead<'a>>);

impl<'a> MapAccess<'a> for Value<'_, 'a> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, _: K) -> Result<Option<K::Value>, Self::Error> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        seed.deserialize(&mut *self.0)
    }
}

/// Returns the offset of the value at a path. If the value is missing, returns the offset of the innermost enclosing
/// value that exists.
pub(crate) fn find(text: &str, path: &[Step]) -> Option<usize> {
    let mut value = text.trim_start();
    for step in path {
        let mut found = None;
        let mut each = |key: Cow<'_, str>, below: &'_ RawValue| {
            if found.is_none() && step.fits(&key) {
                found = Some(offset(text, below.get()));
            }
            Ok(())
        };
        // In an invalid document, only the part before the error is searched.
        let _ = Rows::new(&mut each).deserialize(&mut serde_json::Deserializer::from_str(value));
        match found {
            Some(at) => value = &text[at..],
            None => break,
        }
    }
    (!value.is_empty()).then(|| offset(text, value))
}

/// Returns the offset of a part of a text.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Returns the length of the leading white space.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\n', '\t', '\r']).len()
}

/// Returns the offset after `mark`, if only white space precedes it at `at`.
fn offset_after(text: &str, at: usize, mark: char) -> Option<usize> {
    let rest = &text[at..];
    let blanks = blanks(rest);
    rest[blanks..].starts_with(mark).then_some(at + blanks + mark.len_utf8())
}

/// Returns the error for a text that is not a file of tables.
fn syntax(text: &str) -> ReadError {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Rows::new(&mut |_, _: IgnoredAny| Ok(())).deserialize(&mut json).and_then(|()| json.end());
    read.err().map_or_else(|| ReadError::new("this file does not contain tables"), ReadError::from)
}

/// Converts the position of an error in a part of the text to line and column in the complete text.
fn relocate_error(error: &serde_json::Error, text: &str, at: usize) -> ReadError {
    let start = text[at..].split_inclusive('\n').take(error.line().max(1) - 1).map(str::len).sum::<usize>();
    let mut end = &text[..(at + start + error.column()).min(text.len())];
    // serde_json reports an error of the last row after the closing brace of the table.
    if error.is_data() {
        end = end.strip_suffix('}').unwrap_or(end).trim_end();
    }
    let line = line_of(text.as_bytes(), end.len());
    let column = end.len() - end.rfind('\n').map_or(0, |at| at + 1);
    let message = error.to_string();
    let own = format!(" at line {} column {}", error.line(), error.column());
    let what = message.strip_suffix(&own).unwrap_or(&message);
    ReadError::at(line, format!("{what} at line {line} column {column}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, ReadError> {
        let mut found = Vec::new();
        tables(text, |name, rest| {
            found.push(name.to_owned());
            value(rest, |json| Vec::<u8>::deserialize(json).map(drop))
        })?;
        Ok(found)
    }

    #[test]
    fn tables_come_one_by_one() {
        assert_eq!(read("{}"), Ok(Vec::new()));
        assert_eq!(read(" {\"a\": [1, 2] , \"b\\u0063\":[]\n}\n"), Ok(vec!["a".to_owned(), "bc".to_owned()]));
    }

    #[test]
    fn a_table_that_comes_twice_is_an_error_at_its_line() {
        let twice = |line| Err(ReadError::at(line, "`a` appears twice"));
        assert_eq!(read("{\n \"a\": [1],\n \"b\": [],\n \"a\": [1]\n}"), twice(4));
        assert_eq!(read("{\n \"a\": [], \"\\u0061\": []}"), twice(2), "an escape is the same name");
    }

    #[test]
    fn values_are_found_by_their_path() {
        let text = "{\n \"A\": {\n  \"x|1\": 1\n },\n \"B\": {\n  \"x|2\": {\"A\": 2}\n }\n}\n";
        let line = |path: &[Step]| find(text, path).map(|at| line_of(text.as_bytes(), at));
        let [a, b]: [Step; 2] = ["A".into(), "B".into()];
        assert_eq!(line(&[b.clone(), Step::Last("2".to_owned()), a.clone()]), Some(6));
        assert_eq!(line(&[b.clone(), Step::Start("x|".to_owned())]), Some(6));
        assert_eq!(line(&[b, "y".into()]), Some(5), "a missing row is missing from its table");
        assert_eq!(line(&["C".into()]), Some(1), "a missing table is missing from the file");
        assert_eq!(find("", std::slice::from_ref(&a)), None);
        assert_eq!(find("{\"A\": 1, }", &[a]), Some(6), "what is behind does not matter");
    }

    #[test]
    fn errors_have_the_line_and_words_that_they_have_in_the_whole() {
        type ByteLists = std::collections::BTreeMap<String, Vec<u8>>;
        for text in [
            "{\n \"a\": [1],\n \"b\": [1,\n x]}",
            "{\"a\": [1], \"b\": [999]}",
            "{\"a\":\n []",
            "{\"a\": []} x",
            "{\"a\" []}",
        ] {
            let whole = ReadError::from(serde_json::from_str::<ByteLists>(text).unwrap_err());
            assert_eq!(read(text), Err(whole), "{text}");
        }
        for text in [
            "",
            "[]",
            "{,}",
            "{\"a\": [],}",
            "{\"a\": [] \"b\": []}",
            "{1: []}",
            "{\"a",
            "{\"a\": [], \"a\": []}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
