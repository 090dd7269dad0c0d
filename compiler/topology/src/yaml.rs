//! YAML as a tree with places: the contents of a file before they are checked against the language.
//!
//! In: events of the YAML parser, with anchors, aliases and merge keys already resolved. Out: [`Item`]s with their
//! byte ranges; values from an alias have the place of its anchor. Invariants: keys of a mapping are text and unique.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};
use smol_str::SmolStr;

/// A byte range in the one text that is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl From<Location> for Place {
    fn from(location: Location) -> Self {
        let start = location.span().byte_offset().unwrap_or_default() as usize;
        Place { start, end: start + location.span().byte_len().unwrap_or_default() as usize }
    }
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// Values of YAML.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// Nothing, `~` or `null`.
    Null,
    Bool(bool),
    /// An integer; a number that does not fit 64 bits is a float.
    Integer(i128),
    Float(f64),
    Text(SmolStr),
    List(Vec<Item>),
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: SmolStr,
    pub(crate) key_place: Place,
    pub(crate) item: Item,
}

impl Item {
    /// Returns the entries of a mapping. Other values have none.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Mapping(entries) => entries,
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_) => &[],
        }
    }
}

impl Value {
    /// Returns the noun for it in messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Integer(_) => "a number",
            Value::Float(_) => "a fraction",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Item { place: spanned.defined.into(), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = access.next_key::<Spanned<SmolStr>>()? {
            let item = access.next_value()?;
            entries.push(Entry { key: key.value, key_place: key.defined.into(), item });
        }
        Ok(Value::Mapping(entries))
    }
}
