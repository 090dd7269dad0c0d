//! Port aliases from a pattern, such as `Port{cage}/{part}`.
//!
//! In: patterns from a catalogue file, and the position of a port. Out: SONiC's `alias`. Invariants: ports of one
//! breakout have different aliases. Every pattern identifies the port: by `{name}`, or by the cage and, for a split
//! cage, the port in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Patterns of port aliases, if they differ from those of `naming`. `{cage}` is the number of the cage on the panel
/// (SONiC's `index`), and `{position}` is the position of the cage, from 1. `{name}` is the N of `EthernetN`. `{part}`
/// and `{letter}` identify the port in a split cage, from 1 and from `a`. `{lane}` is the first lane of the port in the
/// cage, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aliases {
    /// Pattern for a port that uses a complete cage.
    pub(crate) whole: String,
    /// Pattern for a port of a split cage.
    pub(crate) split: String,
}

/// The numbers of a port.
pub(crate) struct AliasNumbers {
    pub(crate) cage: u16,
    pub(crate) position: u16,
    pub(crate) name: u16,
    pub(crate) ordinal: Option<u8>,
    pub(crate) lane: u16,
}

impl Aliases {
    /// The texts that are replaced in patterns.
    pub(crate) const PLACEHOLDERS: [&str; 6] =
        ["{cage}", "{position}", "{name}", "{part}", "{letter}", "{lane}"];

    /// Returns the alias of a port.
    pub(crate) fn alias(&self, of: &AliasNumbers) -> SmolStr {
        let pattern = if of.ordinal.is_some() { &self.split } else { &self.whole };
        let ordinal = of.ordinal.unwrap_or_default();
        let letter = char::from(b'a' + ordinal % 26);
        let text = pattern
            .replace("{cage}", &of.cage.to_string())
            .replace("{position}", &of.position.to_string())
            .replace("{name}", &of.name.to_string())
            .replace("{part}", &(ordinal + 1).to_string())
            .replace("{letter}", &letter.to_string())
            .replace("{lane}", &(of.lane + 1).to_string());
        text.into()
    }

    /// Returns a text in braces that is not a placeholder, or has no closing brace.
    pub(crate) fn unknown_placeholder(&self) -> Option<String> {
        [&self.whole, &self.split].into_iter().find_map(|pattern| {
            let rest = Self::PLACEHOLDERS.iter().fold(pattern.clone(), |text, known| text.replace(known, ""));
            let start = rest.find(['{', '}'])?;
            let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
            Some(rest[start..end].to_owned())
        })
    }

    /// Returns a pattern by which two ports would have the same alias, if there is one.
    pub(crate) fn ambiguous(&self) -> Option<&str> {
        let has = |pattern: &str, key: &str| pattern.contains(key);
        let cage = |pattern: &str| has(pattern, "{cage}") || has(pattern, "{position}");
        let whole = cage(&self.whole) || has(&self.whole, "{name}");
        let parts = ["{part}", "{letter}", "{lane}"].iter().any(|key| has(&self.split, key));
        let split = has(&self.split, "{name}") || cage(&self.split) && parts;
        if whole { (!split).then_some(self.split.as_str()) } else { Some(self.whole.as_str()) }
    }
}
