//! Validates JSON output of closc against the schemas in the repository, with an independent validator.
//!
//! In: a document. Out: a panic with the mismatch, if any. Invariants: a document without a schema fails. So does a
//! field that the schema lacks, although readers must accept fields of later versions.

use serde_json::{Value, json};

use super::root;

/// Validates a document against its schema.
#[track_caller]
pub(crate) fn compare(document: &Value) {
    let name = ["schema", "format"].iter().find_map(|key| document[key].as_str());
    let name = name.unwrap_or_else(|| panic!("a document says which it is: {document}"));
    let path = root().join("docs/schemas").join(format!("{}.json", name.replace('/', "-")));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    assert_eq!(schema["title"], *name, "{}", path.display());
    strict(&mut schema, false);
    let (mut compiler, mut schemas) = (boon::Compiler::new(), boon::Schemas::new());
    compiler.add_resource("urn:test", schema).expect("a schema has a place");
    let compiled = compiler.compile("urn:test", &mut schemas);
    let compiled = compiled.unwrap_or_else(|error| panic!("{} is not a schema: {error:#}", path.display()));
    if let Err(error) = schemas.validate(document, compiled) {
        panic!("{name} does not fit its schema: {error:#}\n{document:#}");
    }
}

/// Validates the output, if JSON was requested and a document printed.
#[track_caller]
pub(crate) fn compare_printed(arguments: &[&str], printed: &str) {
    if !arguments.windows(2).any(|pair| pair == ["--format", "json"]) {
        return;
    }
    let Ok(document) = serde_json::from_str::<Value>(printed) else { return };
    if document["schema"].as_str().is_some_and(|name| name.starts_with("closc-")) {
        compare(&document);
    }
}

/// Validates each line of the messages, if JSON was requested.
#[track_caller]
pub(crate) fn compare_said(arguments: &[&str], said: &str) {
    if arguments.windows(2).any(|pair| pair == ["--format", "json"]) {
        said.lines().filter(|line| line.starts_with("{\"schema\"")).for_each(compare_line);
    }
}

/// Validates a document on one line.
#[track_caller]
pub(crate) fn compare_line(line: &str) {
    compare(&serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
}

/// Forbids unknown fields. For a part of another schema (`anyOf`, a definition), the enclosing schema forbids them.
fn strict(schema: &mut Value, is_part: bool) {
    let Some(map) = schema.as_object_mut() else { return };
    let says_fields =
        ["properties", "$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| map.contains_key(*key));
    if says_fields && !is_part && !map.contains_key("additionalProperties") {
        map.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    for (key, value) in map.iter_mut() {
        let below = |part: bool| move |value: &mut Value| strict(value, part);
        match key.as_str() {
            "properties" | "$defs" => {
                let values = value.as_object_mut().into_iter().flat_map(|map| map.values_mut());
                values.for_each(below(key == "$defs"));
            }
            "items" | "additionalProperties" => strict(value, false),
            "prefixItems" | "anyOf" | "oneOf" | "allOf" => {
                value.as_array_mut().into_iter().flatten().for_each(below(key != "prefixItems"));
            }
            _ => {}
        }
    }
}
