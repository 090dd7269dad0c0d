//! The JSON Schema of the language (2020-12).
//!
//! In: the document types. Out: the schema as text, which is committed as `topologies/topology.schema.json` and
//! read by editors. Invariants: the same bytes from the same types; what the schema accepts has the shape that the
//! loader accepts.

use closc_platform::Catalogue;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::document::FabricDoc;
use crate::media::Medium;

/// What other schemas and editors call it.
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
        // Keys that start with `x-` are a place for anchors.
        root.insert("patternProperties".to_owned(), serde_json::json!({ "^x-": true }));
    }
    sorted(root)
}

/// Lists the words of texts that are names: media, which are all known, and the platforms of the program, beside which a
/// site may have platforms of its own.
fn complete(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                let media = Medium::all().iter().map(|medium| medium.word).collect::<Vec<_>>();
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

/// Takes out `null`: an optional key is left out, not written without a value.
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

/// Puts keys in order, whichever order the map type of a build keeps.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{
        AddressesDoc, CableDoc, CablesDoc, EntropyDoc, ExceptionsDoc, HardwareDoc, HostsDoc, MAPPINGS,
        MtuDoc, NamingDoc, NicDoc, PortsDoc, RolesDoc, ServicesDoc, SiteDoc, SnmpDoc, Srv6Doc, T0Doc, T1Doc,
        T2Doc, TiersDoc, WidthsDoc,
    };
    use crate::read::{Read, Reader};
    use crate::yaml::{Item, Place};

    /// Returns the keys that the loader misses in an empty mapping.
    fn missed<T: Read>() -> Vec<String> {
        let mut sources = closc_diagnostics::Sources::new();
        let mut reader = Reader::new(sources.add("empty", ""), "");
        let empty = Item { place: Place::default(), value: crate::yaml::Value::Mapping(Vec::new()) };
        let _ = T::read(&empty, &mut reader);
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
        for (name, keys) in MAPPINGS {
            let properties = definition(&root, name)["properties"].as_object().expect(name);
            let mut known: Vec<&str> = properties.keys().map(String::as_str).collect();
            let mut expected = keys.to_vec();
            known.sort_unstable();
            expected.sort_unstable();
            assert_eq!(known, expected, "{name}");
            assert_eq!(definition(&root, name)["additionalProperties"], false, "{name}");
        }
        let objects = root["$defs"].as_object().unwrap().iter();
        let objects = objects.filter(|(name, def)| def.get("properties").is_some() && !is_qos(&root, name));
        for (name, _) in objects {
            assert!(MAPPINGS.iter().any(|(mapping, _)| mapping == name), "{name} is not in MAPPINGS");
        }
    }

    /// Tells whether a definition belongs to the QoS profile, which another crate reads.
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
        let check = |name: &str, missed: Vec<String>| {
            let mut required = strings(&definition(&root, name)["required"]);
            required.sort();
            assert_eq!(required, missed, "{name}");
        };
        check("Fabric", missed::<FabricDoc>());
        check("Hosts", missed::<HostsDoc>());
        check("Nic", missed::<NicDoc>());
        check("Tiers", missed::<TiersDoc>());
        check("T0", missed::<T0Doc>());
        check("T1", missed::<T1Doc>());
        check("T2", missed::<T2Doc>());
        check("PortBlock", missed::<PortsDoc>());
        check("Hardware", missed::<HardwareDoc>());
        check("Site", missed::<SiteDoc>());
        check("Srv6", missed::<Srv6Doc>());
        check("Widths", missed::<WidthsDoc>());
        check("Roles", missed::<RolesDoc>());
        check("Addresses", missed::<AddressesDoc>());
        check("Cables", missed::<CablesDoc>());
        check("Cable", missed::<CableDoc>());
        check("Mtu", missed::<MtuDoc>());
        check("Entropy", missed::<EntropyDoc>());
        check("Naming", missed::<NamingDoc>());
        check("Services", missed::<ServicesDoc>());
        check("Snmp", missed::<SnmpDoc>());
        check("Exceptions", missed::<ExceptionsDoc>());
    }

    #[test]
    fn nothing_may_be_null() {
        assert!(!schema().contains("\"null\""));
    }
}
