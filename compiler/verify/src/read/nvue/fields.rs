//! A mapping in which every key is either read or reported.
//!
//! In: a YAML value. Out: its fields, one by one. Invariants: a key that the reader does not take is either in the list
//! of site settings or a fault. Numbers and text are distinguished, as in NVUE's own schema.

use std::fmt;
use std::str::FromStr;

use super::value::{Map, Value};
use super::{place, site};
use crate::model::device::Device;
use crate::model::place::Fact;
use crate::read::error::ReadError;
use crate::read::value::parse;

/// The keys that lead to a value.
#[derive(Debug, Clone)]
pub(super) struct Path<'v>(Vec<&'v str>);

impl<'v> Path<'v> {
    /// Starts a path with one key.
    pub(super) fn new(first: &'v str) -> Self {
        Path(vec![first])
    }

    /// Returns the keys, outermost first.
    pub(super) fn keys(&self) -> &[&'v str] {
        &self.0
    }

    /// Returns the value as a fact.
    pub(super) fn fact(&self) -> Fact {
        place::fact(&self.0)
    }

    /// Returns an error about the value.
    pub(super) fn fault(&self, message: impl Into<String>) -> ReadError {
        ReadError::of(place::path(&self.0), message)
    }

    /// Parses the text of the value.
    pub(super) fn parse<T: FromStr>(&self, text: &str) -> Result<T, ReadError> {
        parse(text).map_err(|message| self.fault(message))
    }

    /// Returns the path of an entry of the value.
    pub(super) fn to(&self, key: &'v str) -> Self {
        let mut keys = Vec::with_capacity(self.0.len() + 1);
        keys.extend_from_slice(&self.0);
        keys.push(key);
        Path(keys)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// Parses a key in canonical form only: `'020'` is not a second form of `'20'`.
pub(super) fn canonical<T: FromStr + fmt::Display>(key: &str) -> Option<T> {
    key.parse().ok().filter(|parsed: &T| parsed.to_string() == key)
}

/// Fields of a mapping, with the keys that lead to it.
pub(super) struct Fields<'v> {
    path: Path<'v>,
    map: Option<&'v Map<'v>>,
    /// Indices of entries that were taken: a bit for each of the first 64, and a list of all others.
    taken_mask: u64,
    taken_rest: Vec<usize>,
}

impl<'v> Fields<'v> {
    /// Wraps a mapping; a missing or null value counts as an empty one.
    pub(super) fn of(path: Path<'v>, value: Option<&'v Value<'v>>) -> Result<Self, ReadError> {
        let map = match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) => Some(map),
            Some(_) => return Err(path.fault(format!("`{path}` is not a mapping"))),
        };
        Ok(Fields { path, map, taken_mask: 0, taken_rest: Vec::new() })
    }

    /// Returns the value of a key, and marks the key as read.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'v Value<'v>> {
        let map = self.map?;
        let place = map.place(key)?;
        if place < 64 {
            self.taken_mask |= 1 << place;
        } else {
            self.taken_rest.push(place);
        }
        Some(map.at(place))
    }

    fn was_taken(&self, place: usize) -> bool {
        if place < 64 { self.taken_mask >> place & 1 == 1 } else { self.taken_rest.contains(&place) }
    }

    /// Returns the mapping below a key.
    pub(super) fn mapping(&mut self, key: &'static str) -> Result<Fields<'v>, ReadError> {
        let value = self.take(key);
        Fields::of(self.path.to(key), value)
    }

    /// Returns whether a key exists.
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.is_some_and(|map| map.place(key).is_some())
    }

    /// Returns the text of a key.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<&'v str>, ReadError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let text = value
            .as_str()
            .ok_or_else(|| self.path(key).fault(format!("`{}.{key}` is not text", self.path)))?;
        Ok(Some(text))
    }

    /// Parses the text of a key.
    pub(super) fn parse<T: FromStr>(&mut self, key: &'static str) -> Result<Option<T>, ReadError> {
        self.text(key)?.map(|text| self.path(key).parse(text)).transpose()
    }

    /// Returns the whole number of a key.
    pub(super) fn number<T: TryFrom<u64>>(&mut self, key: &'static str) -> Result<Option<T>, ReadError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| T::try_from(number).ok());
        number
            .map(Some)
            .ok_or_else(|| self.path(key).fault(format!("`{}.{key}` is out of range: {value}", self.path)))
    }

    /// Returns all entries, for mappings whose keys are names.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'v str, &'v Value<'v>)> + use<'v> {
        self.map.into_iter().flat_map(Map::iter)
    }

    /// Returns the parsed keys of a set, which NVUE writes as `'3': {}`.
    pub(super) fn set<T: FromStr + fmt::Display>(&self) -> Result<Vec<T>, ReadError> {
        let parse = |(key, value): (&'v str, &'v Value<'v>)| {
            if *value != Value::Null && value.as_object().is_none_or(|below| below.len() > 0) {
                return Err(self.path.to(key).fault(format!("`{}.{key}` is not empty", self.path)));
            }
            canonical(key).ok_or_else(|| self.path.to(key).fault(format!("`{}` has no `{key}`", self.path)))
        };
        self.entries().map(parse).collect()
    }

    /// Returns the keys that lead to the mapping, outermost first.
    pub(super) fn keys(&self) -> &[&'v str] {
        self.path.keys()
    }

    /// Returns the path of an entry, for messages.
    pub(super) fn path(&self, key: &'v str) -> Path<'v> {
        self.path.to(key)
    }

    /// Records the site settings among the keys that were not taken, and reports all others.
    pub(super) fn finish(self, device: &mut Device<'_>) {
        let others = self.entries().enumerate().filter(|(place, _)| !self.was_taken(*place));
        for (_, (key, value)) in others {
            site::judge(self.path.keys(), key, value, device);
        }
    }
}
