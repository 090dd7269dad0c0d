//! Keys and keywords that are allowed at a path, and their meaning, from the schema of fabric files.
//!
//! In: paths of keys in a text. Out: keys, keywords, descriptions. Invariants: all of these are taken from
//! the schema.

use serde_json::Value;

/// The schema of fabric files.
pub(crate) struct Language {
    root: Value,
}

/// An allowed key or keyword.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Description; may be empty.
    pub(crate) meaning: String,
}

impl Language {
    /// Reads the schema.
    pub(crate) fn new() -> Self {
        Language { root: serde_json::from_str(&closc_topology::schema()).unwrap_or_default() }
    }

    /// Returns the meaning of the key at a path.
    pub(crate) fn meaning(&self, path: &[String]) -> Option<String> {
        let (last, above) = path.split_last()?;
        let nodes = self.nodes(above);
        let mut meanings = nodes.iter().filter_map(|node| node["properties"][last]["description"].as_str());
        meanings.next().map(one_line)
    }

    /// Returns the keys of the mapping at a path.
    pub(crate) fn keys(&self, path: &[String]) -> Vec<Word> {
        let nodes = self.nodes(path);
        let properties = nodes.iter().filter_map(|node| node["properties"].as_object()).flatten();
        let mut keys: Vec<Word> = properties
            .map(|(key, node)| Word {
                text: key.clone(),
                meaning: one_line(node["description"].as_str().unwrap_or_default()),
            })
            .collect();
        keys.dedup_by(|a, b| a.text == b.text);
        keys
    }

    /// Returns the keywords that are allowed as the value at a path.
    pub(crate) fn words(&self, path: &[String]) -> Vec<Word> {
        let mut words = Vec::new();
        for node in self.nodes(path) {
            let meaning = one_line(node["description"].as_str().unwrap_or_default());
            let listed = ["enum", "examples"].iter().filter_map(|list| node[list].as_array()).flatten();
            let alone = node.get("const").into_iter();
            for word in listed.chain(alone).filter_map(Value::as_str) {
                let meaning = if node.get("const").is_some() { meaning.clone() } else { String::new() };
                words.push(Word { text: word.to_owned(), meaning });
            }
            if node["type"] == "boolean" {
                let word = |text: &str| Word { text: text.to_owned(), meaning: String::new() };
                words.extend([word("true"), word("false")]);
            }
        }
        words
    }

    /// Returns the default value of a key.
    pub(crate) fn default(&self, path: &[String]) -> Option<String> {
        let (last, above) = path.split_last()?;
        let nodes = self.nodes(above);
        let default = nodes.iter().find_map(|node| node["properties"][last].get("default"))?;
        Some(default.as_str().map_or_else(|| default.to_string(), str::to_owned))
    }

    /// Returns every schema node that describes the value at a path. For a list, these include the nodes of its items.
    fn nodes(&self, path: &[String]) -> Vec<&Value> {
        let mut nodes = self.forms(&self.root);
        for key in path {
            let below = nodes.iter().flat_map(|node| Self::child_nodes(node, key)).collect::<Vec<_>>();
            nodes = below.into_iter().flat_map(|node| self.forms(node)).collect();
        }
        nodes
    }

    fn child_nodes<'a>(node: &'a Value, key: &str) -> Vec<&'a Value> {
        if let Some(property) = node["properties"].get(key) {
            return vec![property];
        }
        let patterns = node["patternProperties"].as_object().into_iter().flatten();
        let patterns = patterns.filter(|(pattern, _)| *pattern != "^x-").map(|(_, node)| node);
        patterns.chain(node.get("additionalProperties").filter(|node| node.is_object())).collect()
    }

    /// Follows references, choices and items of lists.
    fn forms<'a>(&'a self, node: &'a Value) -> Vec<&'a Value> {
        let mut found = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if found.len() > FORMS_MAX {
                break;
            }
            found.push(node);
            let name = node["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"));
            open.extend(name.and_then(|name| self.root["$defs"].get(name)));
            let choices = ["anyOf", "oneOf"].iter().filter_map(|of| node[of].as_array()).flatten();
            open.extend(choices.chain(node.get("items")));
        }
        found
    }
}

/// Maximum number of forms of a value that are examined.
const FORMS_MAX: usize = 200;

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect()
    }

    fn texts(words: &[Word]) -> Vec<&str> {
        words.iter().map(|word| word.text.as_str()).collect()
    }

    #[test]
    fn keys_words_and_meanings_are_those_of_the_schema() {
        let language = Language::new();
        assert!(texts(&language.keys(&path(""))).contains(&"planes"));
        assert!(texts(&language.keys(&path("tiers.t0"))).contains(&"platform"));
        assert!(texts(&language.keys(&path("tiers.t0.by_zone.1"))).contains(&"platform"));
        assert!(texts(&language.keys(&path("exceptions.devices.p0-t0-001"))).contains(&"platform"));
        assert!(texts(&language.words(&path("routing"))).contains(&"srv6-static"));
        assert!(texts(&language.words(&path("tiers.t1.platform"))).contains(&"th5-512x100g"));
        assert!(texts(&language.words(&path("tiers.t1.os"))).contains(&"sonic"));
        assert!(texts(&language.words(&path("cables.t0-t1.medium"))).contains(&"dac"));
        assert!(language.meaning(&path("planes")).is_some_and(|text| !text.is_empty()));
        assert!(language.keys(&path("no.such")).is_empty());
    }
}
