//! Differences between two QoS profiles, value by value.
//!
//! In: two profiles. Out: a line for each value that differs. Invariants: profiles are compared in serialised
//! form, so every value is covered.

use std::collections::BTreeMap;

use closc_qos::profile::Profile;
use serde_json::Value;

use crate::change::Edit;
use crate::report::{Line, Sign};
use crate::words::plural;

/// The path of the name of a profile.
const NAME: &str = "name";

/// Writes a line for each value that differs. If the name differs, the first line counts the values.
pub(super) fn lines(edit: &Edit<Profile>) -> Vec<Line> {
    let mut lines = value_lines(edit);
    let (old, new) = (edit.old.name(), edit.new.name());
    if old != new {
        lines.retain(|line| line.subject != format!("qos.{NAME}"));
        let values = plural(lines.len() as u64, "value differs", "values differ");
        lines.insert(0, super::simple(Sign::Change, "qos", format!("profile {old} -> {new}: {values}")));
    }
    lines
}

fn value_lines(edit: &Edit<Profile>) -> Vec<Line> {
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
        Value::String(text) => drop(found.insert(path, text_or_none(text.clone()))),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            found.insert(path, text_or_none(items.join(", ")));
        }
        Value::Bool(_) | Value::Number(_) => drop(found.insert(path, value.to_string())),
    }
}

/// Returns a text, or `none` if it is empty.
fn text_or_none(text: String) -> String {
    if text.is_empty() { "none".to_owned() } else { text }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
