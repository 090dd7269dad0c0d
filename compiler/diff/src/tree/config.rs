//! JSON files such as `config_db.json`: tables, keys and fields.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::report::Sign;
use crate::words::plural;

/// Maximum number of values shown per table. If there are more, they are only counted.
const SHOWN: usize = 3;

/// Lists added, removed and changed values by table. Returns `None` if a text is not a JSON object.
pub(super) fn look(old: &str, new: &str) -> Option<Vec<(Sign, String)>> {
    let old: Value = serde_json::from_str(old).ok()?;
    let new: Value = serde_json::from_str(new).ok()?;
    let (old, new) = (old.as_object()?, new.as_object()?);
    let mut tables: Vec<&String> = old.keys().chain(new.keys()).collect();
    tables.sort();
    tables.dedup();
    let mut found = Vec::new();
    for table in tables {
        let mut inside = Vec::new();
        walk(old.get(table), new.get(table), table, 0, &mut inside);
        table_lines(table, inside, &mut found);
    }
    Some(found)
}

fn table_lines(table: &str, mut inside: Vec<(Sign, String)>, found: &mut Vec<(Sign, String)>) {
    if inside.len() <= SHOWN {
        found.append(&mut inside);
        return;
    }
    let mut counts: BTreeMap<Sign, u64> = BTreeMap::new();
    for (sign, _) in &inside {
        *counts.entry(*sign).or_default() += 1;
    }
    for (sign, count) in counts {
        let first = inside.iter().find(|(own, _)| *own == sign).map_or("", |(_, text)| text.as_str());
        let text = match count {
            1 => first.to_owned(),
            more => format!("{table}: {}, such as {first}", plural(more, "value", "values")),
        };
        found.push((sign, text));
    }
}

/// Compares two values; a path is `TABLE|key.field`.
fn walk(old: Option<&Value>, new: Option<&Value>, path: &str, depth: u8, found: &mut Vec<(Sign, String)>) {
    match (old, new) {
        (Some(old), Some(new)) if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
            keys.sort();
            keys.dedup();
            let join = if depth == 0 { '|' } else { '.' };
            for key in keys {
                walk(old.get(key), new.get(key), &format!("{path}{join}{key}"), depth + 1, found);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new)))
            if let (Some(before), Some(after)) = (items_by_name(old), items_by_name(new)) =>
        {
            let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
            let join = if depth == 0 { '|' } else { '.' };
            for name in names {
                let (old, new) = (before.get(name).copied(), after.get(name).copied());
                walk(old, new, &format!("{path}{join}{name}"), depth + 1, found);
            }
        }
        (Some(old), Some(new)) => {
            found.push((Sign::Change, format!("{path}: {} -> {}", plain(old), plain(new))));
        }
        (Some(_), None) => found.push((Sign::Remove, path.to_owned())),
        (None, Some(_)) => found.push((Sign::Add, path.to_owned())),
        (None, None) => {}
    }
}

/// Returns a list as a map by name, if every item has a unique name.
fn items_by_name(items: &[Value]) -> Option<BTreeMap<&str, &Value>> {
    let named: Option<BTreeMap<&str, &Value>> =
        items.iter().map(|item| Some((item.get("name")?.as_str()?, item))).collect();
    named.filter(|named| named.len() == items.len())
}

/// Returns a value as short text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items)
            if items.len() <= SHOWN && !items.iter().any(|item| item.is_object() || item.is_array()) =>
        {
            let items: Vec<String> = items.iter().map(plain).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Array(items) => plural(items.len() as u64, "item", "items"),
        Value::Object(map) => plural(map.len() as u64, "field", "fields"),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_named_things_are_compared_by_name() {
        let with = |dscp: u8| {
            format!(r#"{{"qos":{{"classes":[{{"name":"data","dscp":[{dscp}]}},{{"name":"acks"}}]}}}}"#)
        };
        let found = look(&with(4), &with(22)).unwrap();
        assert_eq!(found, [(Sign::Change, "qos|classes.data.dscp: [4] -> [22]".to_owned())]);
    }
}
