//! The language reference, generated from the schema.
//!
//! In: the schema. Out: Markdown, one section per mapping with its keys, types and meaning. Invariants: keys are in the
//! order of the document types, which is the best order to read them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::document::FabricDoc;
use crate::media::Medium;
use crate::read::Read as _;
use crate::schema;

/// Returns the reference.
pub fn reference() -> String {
    let root = schema::value();
    let mut out = String::new();
    for (name, keys) in mappings(&root) {
        section(&mut out, &root, &name, &keys);
    }
    media(&mut out);
    out
}

/// Returns every mapping and its keys: those of this crate in their own order, then those of the QoS profile.
fn mappings(root: &Value) -> Vec<(String, Vec<String>)> {
    let mappings = FabricDoc::KIND.mappings();
    let own = mappings
        .iter()
        .map(|own| (own.name.to_owned(), own.keys.iter().map(|key| key.name.to_owned()).collect()));
    let others = root["$defs"].as_object().into_iter().flatten();
    let others = others.filter(|(name, _)| mappings.iter().all(|own| own.name != name.as_str()));
    let others = others.filter_map(|(name, definition)| {
        let keys = definition["properties"].as_object()?.keys().cloned().collect();
        Some((name.clone(), keys))
    });
    own.chain(others).collect()
}

fn section(out: &mut String, root: &Value, name: &str, keys: &[String]) {
    let mapping = if name == "Fabric" { root } else { &root["$defs"][name] };
    let _ = writeln!(out, "### {name}\n\n{}\n", paragraph(mapping));
    out.push_str("| key | type | meaning |\n|---|---|---|\n");
    for key in keys {
        let property = &mapping["properties"][key];
        let required = mapping["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key));
        let mark = if required { " (required)" } else { "" };
        let meaning = paragraph(property).replace('|', "\\|");
        let _ = writeln!(out, "| `{key}`{mark} | {} | {meaning} |", type_of(root, property));
    }
    out.push('\n');
}

/// Returns a description in one line.
fn paragraph(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Describes the type of a value.
fn type_of(root: &Value, schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return describe_type(root, name);
    }
    match schema["type"].as_str() {
        Some("integer") => integer(schema),
        Some("string") => text(schema),
        Some("array") => format!("list of {}", type_of(root, &schema["items"])),
        Some("object") => object(root, schema),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some(_) | None => choice(root, schema),
    }
}

/// Describes a named type: by a link to its section, or by its own short form.
fn describe_type(root: &Value, name: &str) -> String {
    if root["$defs"][name]["properties"].is_object() {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    let definition = &root["$defs"][name];
    match definition["type"].as_str() {
        Some("string") if keywords(definition).is_empty() => name.to_lowercase(),
        Some("string" | "integer") => type_of(root, definition),
        // A count of bytes, with or without a unit.
        None if definition["type"].is_array() => name.to_lowercase(),
        Some(_) | None => choice(root, definition),
    }
}

/// Describes a mapping with known keys, or with user-defined keys.
fn object(root: &Value, schema: &Value) -> String {
    if let Some(properties) = schema["properties"].as_object() {
        let keys: Vec<String> = properties.keys().map(|key| format!("{key}: ...")).collect();
        return format!("`{{{}}}`", keys.join(", "));
    }
    let by_pattern = schema["patternProperties"].as_object().and_then(|patterns| patterns.values().next());
    format!("mapping to {}", type_of(root, by_pattern.unwrap_or(&schema["additionalProperties"])))
}

fn integer(schema: &Value) -> String {
    let number = |key: &str| schema[key].as_u64();
    match (number("minimum"), number("maximum")) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("number from {min}"),
        (None, _) => "number".to_owned(),
    }
}

fn text(schema: &Value) -> String {
    let words = keywords(schema);
    if !words.is_empty() {
        return words.join(", ");
    }
    match (schema["format"].as_str(), schema["pattern"].as_str()) {
        (Some("ip"), _) => "address".to_owned(),
        (_, Some(pattern)) if pattern.contains('/') => "prefix".to_owned(),
        (_, _) => "text".to_owned(),
    }
}

/// Returns the valid keywords of a text.
fn keywords(schema: &Value) -> Vec<String> {
    let listed = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let choices = choices.filter_map(|choice| choice["const"].as_str());
    listed.chain(choices).map(|word| format!("`{word}`")).collect()
}

/// Describes a value of several possible types.
fn choice(root: &Value, schema: &Value) -> String {
    let choices = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    let described = choices.into_iter().flatten().map(|choice| match choice["const"].as_str() {
        Some(word) => format!("`{word}`"),
        None => type_of(root, choice),
    });
    let described: Vec<String> = described.filter(|text| !text.is_empty()).collect();
    let only_words = described.iter().all(|text| text.starts_with('`'));
    if described.is_empty() {
        "mapping".to_owned()
    } else {
        described.join(if only_words { ", " } else { " or " })
    }
}

fn media(out: &mut String) {
    out.push_str("### Media\n\nReach of each medium, with the source. Each row of a medium is for lanes of one speed, if the speed matters.\n\n");
    out.push_str("| medium | description | reach |\n|---|---|---|\n");
    for medium in Medium::all() {
        let reaches = medium.reaches().iter().map(|reach| reach.source);
        let any = medium.reaches().is_empty().then_some("any length");
        for reach in reaches.chain(any) {
            let _ = writeln!(out, "| `{}` | {} | {reach} |", medium.keyword, medium.title);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_key_has_a_meaning() {
        let reference = super::reference();
        for line in reference.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
            assert!(
                cells.len() >= 3 && cells[1..].iter().all(|cell| !cell.trim_matches('|').trim().is_empty()),
                "{line}"
            );
        }
        assert!(reference.contains("| `planes` (required) | 1 to 16 |"), "{reference}");
    }
}
