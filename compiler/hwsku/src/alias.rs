//! Alias patterns, derived from examples.
//!
//! In: ports with their aliases. Out: [`Patterns`]. Invariants: a pattern produces every alias that it was derived
//! from.

/// A port with its alias.
pub(crate) struct AliasedPort {
    pub(crate) alias: String,
    /// Whether the cage has other ports.
    pub(crate) split: bool,
    pub(crate) cage: u16,
    /// Position of the cage on the panel, from 0.
    pub(crate) position: u16,
    pub(crate) name: u16,
    /// Number of the port in its cage, from 0.
    pub(crate) part: u16,
    pub(crate) lane: u16,
}

/// Patterns of both kinds of ports; `None` for a kind without ports.
pub(crate) struct Patterns {
    pub(crate) whole: Option<String>,
    pub(crate) split: Option<String>,
}

impl Patterns {
    /// Returns whether the alias of a port follows the pattern of its kind.
    pub(crate) fn fits(&self, port: &AliasedPort) -> bool {
        let pattern = if port.split { &self.split } else { &self.whole };
        let filled = PLACEHOLDERS
            .iter()
            .fold(pattern.clone(), |text, (word, value)| text.map(|text| text.replace(word, &value(port))));
        filled.is_some_and(|text| text == port.alias)
    }
}

/// A placeholder of an alias, and the text that replaces it.
type AliasPlaceholder = (&'static str, fn(&AliasedPort) -> String);

/// Placeholders of patterns, with their text for a port. The first one that fits takes precedence.
const PLACEHOLDERS: [AliasPlaceholder; 6] = [
    ("{cage}", |port| port.cage.to_string()),
    ("{position}", |port| (port.position + 1).to_string()),
    ("{lane}", |port| (port.lane + 1).to_string()),
    ("{part}", |port| (port.part + 1).to_string()),
    ("{name}", |port| port.name.to_string()),
    ("{letter}", |port| char::from(b'a' + (port.part % 26) as u8).to_string()),
];

/// Finds the patterns; `None` if the aliases do not follow a pattern.
pub(crate) fn patterns(named: &[AliasedPort]) -> Option<Patterns> {
    let of = |split: bool| {
        let own: Vec<&AliasedPort> = named.iter().filter(|port| port.split == split).collect();
        if own.is_empty() { Some(None) } else { pattern(&own).map(Some) }
    };
    Some(Patterns { whole: of(false)?, split: of(true)? })
}

/// Splits an alias into alternating words and numbers.
fn parts(alias: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = alias;
    while let Some(first) = rest.chars().next() {
        let digit = first.is_ascii_digit();
        let end = rest.find(|sign: char| sign.is_ascii_digit() != digit).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = &rest[end..];
    }
    parts
}

fn pattern(own: &[&AliasedPort]) -> Option<String> {
    let split: Vec<Vec<&str>> = own.iter().map(|port| parts(&port.alias)).collect();
    let first = split.first()?;
    if split.iter().any(|parts| parts.len() != first.len()) {
        return None;
    }
    (0..first.len()).map(|at| placeholder(own, &split, at)).collect()
}

/// Returns one part of the pattern: the text that all aliases have in this position, or a placeholder that fits all of
/// them.
fn placeholder(own: &[&AliasedPort], split: &[Vec<&str>], at: usize) -> Option<String> {
    let text = split[0][at];
    if own.len() > 1 && split.iter().all(|parts| parts[at] == text) {
        return Some(text.to_owned());
    }
    let fits = |value: &fn(&AliasedPort) -> String| {
        own.iter().zip(split).all(|(port, parts)| value(port) == parts[at])
    };
    PLACEHOLDERS.iter().find(|(_, value)| fits(value)).map(|(word, _)| (*word).to_owned())
}
