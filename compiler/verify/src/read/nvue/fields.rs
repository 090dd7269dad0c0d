//! A mapping of which every key is taken or named.
//!
//! In: a value of YAML. Out: its fields one by one. Invariants: a key that no reader takes is the site's by its list or a fault; a
//! number is a number and text is text, as in NVUE's own schema.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::site;
use crate::model::device::Device;
use crate::read::error::ReadError;

/// Fields of a mapping, with the keys that lead to it.
pub(super) struct Fields<'v> {
    path: String,
    map: Option<&'v Map<String, Value>>,
    taken: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    /// Takes a value that is a mapping; nothing counts as an empty one.
    pub(super) fn of(path: String, value: Option<&'v Value>) -> Result<Self, ReadError> {
        let map = match value {
            None | Some(Value::Null) => None,
            Some(Value::Object(map)) => Some(map),
            Some(_) => return Err(ReadError::whole(format!("`{path}` is not a mapping"))),
        };
        Ok(Fields { path, map, taken: Vec::new() })
    }

    /// Returns a value.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'v Value> {
        self.taken.push(key);
        self.map?.get(key)
    }

    /// Returns the mapping below a key.
    pub(super) fn below(&mut self, key: &'static str) -> Result<Fields<'v>, ReadError> {
        Fields::of(format!("{}.{key}", self.path), self.take(key))
    }

    /// Tells whether a key is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.is_some_and(|map| map.contains_key(key))
    }

    /// Returns a text.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<&'v str>, ReadError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let text =
            value.as_str().ok_or_else(|| ReadError::whole(format!("`{}.{key}` is not text", self.path)))?;
        Ok(Some(text))
    }

    /// Returns a whole number.
    pub(super) fn number<T: TryFrom<u64>>(&mut self, key: &'static str) -> Result<Option<T>, ReadError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| T::try_from(number).ok());
        number.map(Some).ok_or_else(|| {
            ReadError::whole(format!("`{}.{key}` is not a number of its range: {value}", self.path))
        })
    }

    /// Returns all entries: names that the site or the fabric chose.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'v str, &'v Value)> + use<'v> {
        self.map.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the keys of a set, parsed: NVUE writes `'3': {}`.
    pub(super) fn set<T: FromStr>(&self) -> Result<Vec<T>, ReadError> {
        let parse = |(key, value): (&str, &Value)| {
            if !value.is_null() && value.as_object().is_none_or(|below| !below.is_empty()) {
                return Err(ReadError::whole(format!("`{}.{key}` is not empty", self.path)));
            }
            key.parse().map_err(|_| ReadError::whole(format!("`{}` has no `{key}`", self.path)))
        };
        self.entries().map(parse).collect()
    }

    /// Names an entry for messages.
    pub(super) fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// Names what is the site's, and reports any other key that no reader took.
    pub(super) fn finish(self, device: &mut Device<'_>) {
        for (key, value) in self.entries().filter(|(key, _)| !self.taken.contains(key)) {
            site::judge(&self.path, key, value, device);
        }
    }
}
