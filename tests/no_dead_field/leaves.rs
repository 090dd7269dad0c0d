//! Every leaf of the language, from its JSON Schema.
//!
//! In: the schema, which comes from the document types. Out: the path of each leaf (`*` for a key that the
//! writer of a file chooses, `[]` for an item of a list) with the values that the schema lists or suggests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Returns every leaf with values to try.
pub(crate) fn leaves() -> BTreeMap<String, Vec<Value>> {
    let schema: Value = serde_json::from_str(&closc_topology::schema()).expect("the schema is JSON");
    let mut found = BTreeMap::new();
    walk(&schema, &schema, &mut Vec::new(), &mut found);
    found
}

fn walk(schema: &Value, node: &Value, path: &mut Vec<String>, found: &mut BTreeMap<String, Vec<Value>>) {
    if let Some(name) = node["$ref"].as_str() {
        let name = name.rsplit('/').next().expect("a reference ends in a name");
        return walk(schema, &schema["$defs"][name], path, found);
    }
    for key in ["oneOf", "anyOf"] {
        for branch in node[key].as_array().into_iter().flatten() {
            if branch["type"] != "null" {
                walk(schema, branch, path, found);
            }
        }
        if node[key].is_array() && !node["properties"].is_object() {
            return;
        }
    }
    let mut enter = |key: &str, child: &Value| {
        path.push(key.to_owned());
        walk(schema, child, path, found);
        path.pop();
    };
    let is_object = node["properties"].is_object() || node["type"] == "object";
    for (key, child) in node["properties"].as_object().into_iter().flatten() {
        enter(key, child);
    }
    if node["additionalProperties"].is_object() {
        enter("*", &node["additionalProperties"]);
    }
    for child in node["patternProperties"].as_object().into_iter().flatten().map(|(_, child)| child) {
        enter("*", child);
    }
    if node["items"].is_object() {
        return enter("[]", &node["items"]);
    }
    if is_object {
        return;
    }
    let values = found.entry(path.join(".")).or_default();
    values.extend(node["const"].is_string().then(|| node["const"].clone()));
    values.extend(node["enum"].as_array().into_iter().flatten().cloned());
    let types = [&node["type"], &node["type"][0]];
    if types.iter().any(|kind| **kind == "integer") {
        let (least, most) =
            (node["minimum"].as_i64().unwrap_or(0), node["maximum"].as_i64().unwrap_or(i64::MAX));
        values.extend(
            [2, 3, 1, 4, 5, 8, 0].into_iter().filter(|n| (least..=most).contains(n)).map(|n| json!(n)),
        );
    }
    if types.iter().any(|kind| **kind == "boolean") {
        values.extend([json!(false), json!(true)]);
    }
}
