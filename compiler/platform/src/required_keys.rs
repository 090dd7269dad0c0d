//! Finds all keys that a document lacks, because serde stops at the first one.
//!
//! In: a JSON Schema generated from types, and a document of that type. Out: a [`MissingKey`] for each, in the order of
//! the document. Invariants: only mappings that exist are searched for missing keys. If a value can have several
//! shapes, the first shape that shares a key with the value applies.

use serde_json::{Map, Value};

/// A required key that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingKey {
    /// The keys from the root to the mapping that lacks it.
    pub path: Vec<String>,
    /// The key.
    pub key: String,
}

/// Returns every required key that a document lacks.
pub fn missing_keys(schema: &Value, document: &Value) -> Vec<MissingKey> {
    let mut found = Vec::new();
    walk(schema, schema, document, &mut Vec::new(), &mut found);
    found
}

fn walk(root: &Value, node: &Value, value: &Value, path: &mut Vec<String>, found: &mut Vec<MissingKey>) {
    let node = resolve(root, node);
    let enter =
        |key: &str, node: &Value, value: &Value, path: &mut Vec<String>, found: &mut Vec<MissingKey>| {
            path.push(key.to_owned());
            walk(root, node, value, path, found);
            path.pop();
        };
    match value {
        Value::Object(entries) => {
            let Some(node) = branch(root, node, entries) else { return };
            let required = node["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for key in required.filter(|key| !entries.contains_key(*key)) {
                found.push(MissingKey { path: path.clone(), key: key.to_owned() });
            }
            for (key, value) in entries {
                let of_key = node["properties"].get(key).unwrap_or(&node["additionalProperties"]);
                enter(key, of_key, value, path, found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                enter(&at.to_string(), &node["items"], item, path, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn resolve<'a>(root: &'a Value, node: &'a Value) -> &'a Value {
    let name = node["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
    name.map_or(node, |name| &root["$defs"][name])
}

/// Returns the shape of a mapping. If several are possible, the first one that shares a key with the mapping applies.
fn branch<'a>(root: &'a Value, node: &'a Value, entries: &Map<String, Value>) -> Option<&'a Value> {
    let choices = ["oneOf", "anyOf"].into_iter().find_map(|key| node[key].as_array());
    let Some(choices) = choices else { return Some(node) };
    let knows = |node: &&Value| entries.keys().any(|key| node["properties"].get(key).is_some());
    choices.iter().filter_map(|choice| branch(root, resolve(root, choice), entries)).find(knows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_missing_key_is_found() {
        let schema = json!({
            "required": ["a", "b"],
            "properties": {
                "a": { "type": "string" },
                "c": { "anyOf": [{ "oneOf": [{ "const": "off" }, { "$ref": "#/$defs/C" }] }, { "type": "null" }] },
                "d": { "items": { "$ref": "#/$defs/C" } },
                "e": { "additionalProperties": { "$ref": "#/$defs/C" } },
            },
            "$defs": { "C": { "required": ["x", "y"], "properties": { "x": {}, "y": {} } } },
        });
        let document =
            json!({ "c": { "x": 1 }, "d": [{ "y": 1 }], "e": { "one": { "x": 1, "y": 1 }, "two": {} } });
        let found: Vec<String> = missing_keys(&schema, &document)
            .iter()
            .map(|m| format!("{}:{}", m.path.join("."), m.key))
            .collect();
        assert_eq!(found, [":a", ":b", "c:y", "d.0:x", "e.two:x", "e.two:y"]);
    }
}
