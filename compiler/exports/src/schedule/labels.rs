//! Labels of Kubernetes nodes: the position of each, level by level.
//!
//! In: the positions of nodes, and the keys of labels. Out: a `Node` object for each, which contains only
//! labels. Invariants: keys are qualified names of Kubernetes and differ; values have at most 63 characters.

use std::io;
use std::str::FromStr;

use closc_plan::UnitNodes;

use super::Levels;
use crate::{File, Refusal};

const FORMAT: &str = "Kubernetes";

/// Maximum number of characters before the `/` of a key, and after it (Kubernetes, "Labels and Selectors").
const PREFIX_MAX: usize = 253;
const NAME_MAX: usize = 63;

/// The keys of labels, for the level nearest to the node first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// `fabric.topograph.run/tier-N`: topograph from 1.0.
    Topograph,
    /// `network.topology.nvidia.com/leaf`, `spine` and `core`: topograph before 1.0.
    Nvidia,
    /// Keys of the user.
    Own(Vec<String>),
}

/// The reason why keys cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// A key is not a qualified name.
    #[error(
        "`{0}` is not a label key; expected NAME or PREFIX/NAME: a name of up to {NAME_MAX} letters, digits, \
         `-`, `_` and `.`, and a DNS name of up to {PREFIX_MAX} characters as prefix"
    )]
    Form(String),
    /// A key is given twice.
    #[error("the key `{0}` appears twice")]
    Twice(String),
}

impl FromStr for Keys {
    type Err = KeysError;

    fn from_str(text: &str) -> Result<Self, KeysError> {
        match text {
            "topograph" => return Ok(Keys::Topograph),
            "nvidia" => return Ok(Keys::Nvidia),
            _ => {}
        }
        let keys: Vec<String> = text.split(',').map(str::to_owned).collect();
        for (at, key) in keys.iter().enumerate() {
            if !is_key(key) {
                return Err(KeysError::Form(key.clone()));
            }
            if keys[..at].contains(key) {
                return Err(KeysError::Twice(key.clone()));
            }
        }
        Ok(Keys::Own(keys))
    }
}

impl Keys {
    /// Returns a key for each level, the nearest first.
    pub(super) fn of(&self, levels: &Levels) -> Result<Vec<String>, Refusal> {
        let depth = levels.depth();
        let keys: Vec<String> = match self {
            Keys::Topograph => (0..depth).map(|tier| format!("fabric.topograph.run/tier-{tier}")).collect(),
            Keys::Nvidia => {
                let words = ["leaf", "spine", "core"];
                words.iter().take(depth).map(|word| format!("network.topology.nvidia.com/{word}")).collect()
            }
            Keys::Own(keys) => keys.clone(),
        };
        if keys.len() == depth {
            return Ok(keys);
        }
        let zone = if levels.has_zones() { ", zone" } else { "" };
        Err(Refusal::Number {
            format: FORMAT,
            rule: "a key for each level",
            arithmetic: format!("there are {} keys for {depth} levels: unit{zone}, fabric", keys.len()),
            help: "write one key per level, the nearest first",
        })
    }
}

/// Returns whether a text is a qualified name.
fn is_key(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    prefix.is_none_or(is_subdomain) && is_label(name)
}

fn is_label(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= NAME_MAX
        && ends(text.chars().next())
        && ends(text.chars().last())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Returns whether a text is a lower-case DNS name (RFC 1123), as Kubernetes requires for names of objects.
fn is_subdomain(text: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_part = |part: &str| {
        is_edge(part.chars().next())
            && is_edge(part.chars().last())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    text.len() <= PREFIX_MAX && text.split('.').all(is_part)
}

/// Returns the labels of all nodes.
///
/// # Errors
///
/// Rejects the keys if there is not exactly one per level, and names that are invalid for a `Node`.
pub fn nodes<'a>(levels: &'a Levels, keys: &Keys) -> Result<File<'a>, Refusal> {
    let keys = keys.of(levels)?;
    let names = levels.units.iter().flat_map(|unit| &unit.nodes);
    if let Some(name) = names.into_iter().find(|name| !is_subdomain(name)) {
        return Err(Refusal::Name {
            format: FORMAT,
            rule: "lower-case letters, digits, `-` and `.`",
            name: name.to_string(),
        });
    }
    Ok(File::new("node-labels.yaml", move |out| {
        levels.units.iter().try_for_each(|unit| write_labels(levels, unit, &keys, out))
    }))
}

fn write_labels(
    levels: &Levels,
    unit: &UnitNodes,
    keys: &[String],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let places = levels.places(unit);
    for node in &unit.nodes {
        writeln!(out, "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: \"{node}\"\n  labels:")?;
        for (key, place) in keys.iter().zip(&places) {
            writeln!(out, "    {key}: \"{place}\"")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_qualified_names_that_differ() {
        assert_eq!("topograph".parse(), Ok(Keys::Topograph));
        assert_eq!("a,x.y/b".parse(), Ok(Keys::Own(vec!["a".to_owned(), "x.y/b".to_owned()])));
        for wrong in ["", "a,", "-a", "X.y/b", "x/y/z", "a b", &"k".repeat(64)] {
            assert!(matches!(wrong.parse::<Keys>(), Err(KeysError::Form(_))), "{wrong}");
        }
        assert_eq!("a,b,a".parse::<Keys>(), Err(KeysError::Twice("a".to_owned())));
    }
}
