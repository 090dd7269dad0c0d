//! The JSON Schema of the language (2020-12).
//!
//! In: the document types. Out: the schema as text, which is committed as `topologies/topology.schema.json` and read
//! by editors. Invariants: the same types give the same bytes. The schema accepts the same shapes as the loader.

use std::sync::OnceLock;

use closc_platform::Catalogue;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::document::FabricDoc;
use crate::media::Medium;

/// Its name in other schemas and editors.
const ID: &str = "urn:closc:fabric";

/// Returns the schema, ending in a line break.
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(&value()).expect("a JSON value can be written");
    text.push('\n');
    text
}

/// Returns the schema as a value.
pub(crate) fn value() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut root = generator.into_root_schema_for::<FabricDoc>().to_value();
    strict(&mut root);
    complete(&mut root);
    if let Some(root) = root.as_object_mut() {
        root.insert("$id".to_owned(), ID.into());
        root.insert("title".to_owned(), "closc fabric".into());
        // Keys that start with `x-` are for anchors.
        root.insert("patternProperties".to_owned(), serde_json::json!({ "^x-": true }));
    }
    sort_keys(root)
}

/// Returns the minimum and maximum that the schema allows at a path, if any.
pub(crate) fn range(path: &str) -> (Option<u32>, Option<u32>) {
    static ROOT: OnceLock<Value> = OnceLock::new();
    let root = ROOT.get_or_init(value);
    let mut found = vec![root];
    for key in path.split('.') {
        found = found
            .into_iter()
            .flat_map(|schema| choices(root, schema))
            .filter_map(|schema| child_schema(schema, key))
            .collect();
    }
    let number = |schema: &Value, key: &str| u32::try_from(schema[key].as_u64()?).ok();
    let numbers: Vec<&Value> = found.into_iter().flat_map(|schema| choices(root, schema)).collect();
    let stated = |key: &str| numbers.iter().find_map(|schema| number(schema, key));
    (stated("minimum"), stated("maximum"))
}

/// Returns a schema, and all schemas that it refers to or offers as alternatives.
fn choices<'v>(root: &'v Value, schema: &'v Value) -> Vec<&'v Value> {
    let named = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"));
    let referred = named.map(|name| &root["$defs"][name]);
    let offered = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let more = referred.into_iter().chain(offered).flat_map(|schema| choices(root, schema));
    std::iter::once(schema).chain(more).collect()
}

/// Returns the schema of a key of a mapping, or of the items of a list.
fn child_schema<'v>(schema: &'v Value, key: &str) -> Option<&'v Value> {
    let by_pattern = || schema["patternProperties"].as_object()?.values().next();
    let any = || Some(&schema["additionalProperties"]).filter(|any| any.is_object());
    let items = || Some(&schema["items"]).filter(|items| items.is_object());
    schema["properties"].get(key).or_else(by_pattern).or_else(any).or_else(items)
}

/// Adds the known names of media and platforms: all media as `enum`, and the built-in platforms as `examples`, because
/// a site may have platforms of its own.
fn complete(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                let media = Medium::all().iter().map(|medium| medium.keyword).collect::<Vec<_>>();
                let platforms = Catalogue::builtin();
                let platforms = platforms.ids().collect::<Vec<_>>();
                for (key, keyword, words) in [("medium", "enum", media), ("platform", "examples", platforms)]
                {
                    if let Some(Value::Object(text)) = properties.get_mut(key) {
                        text.insert(keyword.to_owned(), words.into());
                    }
                }
            }
            map.values_mut().for_each(complete);
        }
        Value::Array(items) => items.iter_mut().for_each(complete),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes `null`, because an optional key is omitted rather than written without a value.
fn strict(value: &mut Value) {
    match value {
        Value::Object(map) => {
            no_null_type(map);
            no_null_choice(map);
            map.retain(|key, value| key != "default" || !value.is_null());
            map.values_mut().for_each(strict);
        }
        Value::Array(items) => items.iter_mut().for_each(strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Turns `"type": ["integer", "null"]` into `"type": "integer"`.
fn no_null_type(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
}

/// Turns `"anyOf": [X, {"type": "null"}]` into X.
fn no_null_choice(map: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = map.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    if let [Value::Object(only)] = &choices[..] {
        let only = only.clone();
        map.remove("anyOf");
        map.extend(only);
    }
}

/// Sorts keys, because the order in a map depends on build features.
fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sort_keys(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sort_keys).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::read::{Key, Kind, Mapping, Read as _, Reader};
    use crate::yaml::{Item, Place};

    /// Returns the keys that the loader reports as missing in an empty mapping.
    fn missing_keys(mapping: &Mapping) -> Vec<String> {
        let mut sources = closc_diagnostics::Sources::new();
        let mut reader = Reader::new(sources.add("empty", ""), "");
        let empty = Item { place: Place::default(), value: crate::yaml::Value::Mapping(Vec::new()) };
        assert_eq!((mapping.read)(&empty, &mut reader), reader.diagnostics.is_empty(), "{}", mapping.name);
        let quoted = |message: &str| message.rsplit('`').nth(1).unwrap_or_default().to_owned();
        let mut keys: Vec<_> = reader.diagnostics.iter().map(|found| quoted(&found.message)).collect();
        keys.sort();
        keys
    }

    fn definition<'a>(root: &'a Value, name: &str) -> &'a Value {
        if name == "Fabric" { root } else { &root["$defs"][name] }
    }

    fn strings(value: &Value) -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn editors_complete_media_and_platforms() {
        let root = value();
        assert_eq!(root["$id"], ID);
        let media = strings(&root["$defs"]["Cable"]["properties"]["medium"]["enum"]);
        assert!(media.iter().any(|word| word == "dac"), "{media:?}");
        for tier in ["T0", "T1", "T2", "Hardware"] {
            let platforms = strings(&root["$defs"][tier]["properties"]["platform"]["examples"]);
            assert!(platforms.iter().any(|id| id == "th5-512x100g"), "{tier}: {platforms:?}");
        }
    }

    #[test]
    fn schema_and_loader_know_the_same_keys() {
        let root = value();
        for mapping in FabricDoc::KIND.mappings() {
            let name = mapping.name;
            let properties = definition(&root, name)["properties"].as_object().expect(name);
            let mut known: Vec<&str> = properties.keys().map(String::as_str).collect();
            let mut expected: Vec<&str> = mapping.keys.iter().map(|key| key.name).collect();
            known.sort_unstable();
            expected.sort_unstable();
            assert_eq!(known, expected, "{name}");
            assert_eq!(definition(&root, name)["additionalProperties"], false, "{name}");
        }
        let objects = root["$defs"].as_object().unwrap().iter();
        let objects = objects.filter(|(name, def)| def.get("properties").is_some() && !is_qos(&root, name));
        for (name, _) in objects {
            let is_declared = FabricDoc::KIND.mappings().iter().any(|mapping| mapping.name == name);
            assert!(is_declared, "{name} is declared by no document");
        }
    }

    /// Returns whether a definition belongs to the QoS profile, which another crate reads.
    fn is_qos(root: &Value, name: &str) -> bool {
        let reference = format!("#/$defs/{name}");
        let mut reached = vec!["QosProfile".to_owned()];
        let mut at = 0;
        while at < reached.len() {
            let text = root["$defs"][&reached[at]].to_string();
            for other in root["$defs"].as_object().unwrap().keys() {
                if text.contains(&format!("\"#/$defs/{other}\"")) && !reached.contains(other) {
                    reached.push(other.clone());
                }
            }
            at += 1;
        }
        reached.iter().any(|found| format!("#/$defs/{found}") == reference)
    }

    #[test]
    fn schema_and_loader_require_the_same_keys() {
        let root = value();
        for mapping in FabricDoc::KIND.mappings() {
            let mut required = strings(&definition(&root, mapping.name)["required"]);
            required.sort();
            assert_eq!(required, missing_keys(mapping), "{}", mapping.name);
        }
    }

    /// Lists every path below a kind of value.
    fn paths(kind: &Kind, path: &str, found: &mut BTreeSet<String>) {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let mut enter = |keys: &[Key]| {
            for key in keys {
                found.insert(below(key.name));
                paths(key.kind, &below(key.name), found);
            }
        };
        match kind {
            Kind::Mapping(mapping) => enter(mapping.keys),
            Kind::Foreign(keys) => enter(keys),
            Kind::Named(kind) => paths(kind, &below("*"), found),
            Kind::List(kind) => paths(kind, &below("[]"), found),
            Kind::Value => {}
        }
    }

    /// Lists every path below a schema.
    fn paths_of_schema(root: &Value, node: &Value, path: &str, found: &mut BTreeSet<String>) {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        if let Some(name) = node["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
            paths_of_schema(root, &root["$defs"][name], path, found);
        }
        for choice in ["anyOf", "oneOf"].iter().filter_map(|of| node[of].as_array()).flatten() {
            paths_of_schema(root, choice, path, found);
        }
        for (key, value) in node["properties"].as_object().into_iter().flatten() {
            found.insert(below(key));
            paths_of_schema(root, value, &below(key), found);
        }
        let patterns = node["patternProperties"].as_object().into_iter().flatten();
        let patterns = patterns.filter(|(pattern, _)| *pattern != "^x-").map(|(_, value)| value);
        for value in
            patterns.chain(node["additionalProperties"].is_object().then(|| &node["additionalProperties"]))
        {
            paths_of_schema(root, value, &below("*"), found);
        }
        if node["items"].is_object() {
            paths_of_schema(root, &node["items"], &below("[]"), found);
        }
    }

    #[test]
    fn schema_and_paths_of_fields_are_the_same() {
        let (root, mut declared, mut known) = (value(), BTreeSet::new(), BTreeSet::new());
        paths(FabricDoc::KIND, "", &mut declared);
        paths_of_schema(&root, &root, "", &mut known);
        assert!(known.len() > 150, "{known:?}");
        assert_eq!(declared, known);
        let unknown: Vec<&String> =
            known.iter().filter(|path| FabricDoc::KIND.find(path).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn nothing_may_be_null() {
        assert!(!schema().contains("\"null\""));
    }
}
