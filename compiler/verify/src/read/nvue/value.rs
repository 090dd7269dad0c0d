//! A YAML value that borrows its text.
//!
//! In: scalars and entries. Out: a tree of them. Invariants: entries of a mapping are in ascending order of keys, and
//! each key occurs once. Files that differ only in the order of their lines are therefore equal.

use std::borrow::Cow;
use std::fmt;

use serde_json::Number;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'t> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'t, str>),
    Array(Vec<Value<'t>>),
    Object(Map<'t>),
}

impl<'t> Value<'t> {
    /// Returns the value if it is a text.
    pub(super) fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// Returns the value if it is a non-negative integer.
    pub(super) fn as_u64(&self) -> Option<u64> {
        if let Value::Number(number) = self { number.as_u64() } else { None }
    }

    /// Returns the value if it is a mapping.
    pub(super) fn as_object(&self) -> Option<&Map<'t>> {
        if let Value::Object(map) = self { Some(map) } else { None }
    }

    /// Returns the value if it is a list.
    pub(super) fn as_array(&self) -> Option<&[Value<'t>]> {
        if let Value::Array(list) = self { Some(list) } else { None }
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Value<'t>> {
        self.as_object()?.get(key)
    }
}

impl From<serde_json::Value> for Value<'_> {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(is) => Value::Bool(is),
            serde_json::Value::Number(number) => Value::Number(number),
            serde_json::Value::String(text) => Value::String(Cow::Owned(text)),
            serde_json::Value::Array(list) => Value::Array(list.into_iter().map(Value::from).collect()),
            serde_json::Value::Object(map) => {
                let entries = map.into_iter().map(|(key, value)| (Cow::Owned(key), value.into()));
                Value::Object(Map::of(entries.collect()).expect("keys of a JSON map differ"))
            }
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_json().fmt(f)
    }
}

impl Value<'_> {
    fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(is) => (*is).into(),
            Value::Number(number) => number.clone().into(),
            Value::String(text) => text.as_ref().into(),
            Value::Array(list) => list.iter().map(Value::to_json).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (key, value.to_json())).collect(),
        }
    }
}

/// A mapping, sorted by key.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Map<'t>(Vec<(Cow<'t, str>, Value<'t>)>);

impl<'t> Map<'t> {
    /// Sorts entries; returns `None` if a key occurs twice.
    pub(super) fn of(mut entries: Vec<(Cow<'t, str>, Value<'t>)>) -> Option<Self> {
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let is_twice = entries.windows(2).any(|pair| pair[0].0 == pair[1].0);
        (!is_twice).then_some(Map(entries))
    }

    /// Returns the index of a key among the entries.
    pub(super) fn place(&self, key: &str) -> Option<usize> {
        self.0.binary_search_by(|(own, _)| (**own).cmp(key)).ok()
    }

    /// Returns the value at an index.
    pub(super) fn at(&self, place: usize) -> &Value<'t> {
        &self.0[place].1
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Value<'t>> {
        self.place(key).map(|place| self.at(place))
    }

    /// Returns the entries in ascending order of keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Value<'t>)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_those_of_json() {
        let json = json!({ "b": [1, -2, "x"], "a": { "c": null, "d": true }, "": {} });
        let value = Value::from(json.clone());
        assert_eq!(value.to_json(), json);
        assert_eq!(value.to_string(), json.to_string());
        let keys: Vec<&str> = value.as_object().unwrap().iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["", "a", "b"]);
        assert_eq!(value.get("a").and_then(|a| a.get("d")), Some(&Value::Bool(true)));
        assert_eq!((value.get("c"), value.get("b").and_then(Value::as_u64)), (None, None));
    }

    #[test]
    fn a_key_is_there_once() {
        let entry = |key: &'static str| (Cow::Borrowed(key), Value::Null);
        assert!(Map::of(vec![entry("b"), entry("a"), entry("b")]).is_none());
        assert_eq!(Map::of(vec![entry("b"), entry("a")]).unwrap().len(), 2);
    }
}
