//! Differences between two QoS profiles, value by value.
//!
//! In: two profiles. Out: a line for each value that differs. Invariants: profiles are compared in serialised
//! form, so every value is covered.

use std::collections::BTreeMap;

use closc_qos::profile::Profile;
use serde_json::Value;

use crate::change::Edit;
use crate::report::{Line, Sign};

/// Writes a line for each value that differs.
pub(super) fn lines(edit: &Edit<Profile>) -> Vec<Line> {
    let (old, new) = (leaves(&edit.old), leaves(&edit.new));
    let paths: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    paths
        .into_iter()
        .filter(|path| old.get(*path) != new.get(*path))
        .map(|path| {
            let (sign, text) = match (old.get(path), new.get(path)) {
                (Some(old), Some(new)) => (Sign::Change, format!("{old} -> {new}")),
                (Some(old), None) => (Sign::Remove, old.clone()),
                (None, Some(new)) => (Sign::Add, new.clone()),
                (None, None) => (Sign::Change, String::new()),
            };
            super::simple(sign, &format!("qos.{path}"), text)
        })
        .collect()
}

/// Returns every value of a profile by its path. A list of plain values counts as one value.
fn leaves(profile: &Profile) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Ok(value) = serde_json::to_value(profile) {
        walk(&value, String::new(), &mut found);
    }
    found
}

fn walk(value: &Value, path: String, found: &mut BTreeMap<String, String>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| walk(value, join(key), found)),
        Value::Null => {}
        Value::String(text) => drop(found.insert(path, text.clone())),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            found.insert(path, items.join(", "));
        }
        Value::Bool(_) | Value::Number(_) => drop(found.insert(path, value.to_string())),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
