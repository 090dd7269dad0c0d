//! The language as data: its mappings and keys, and the artefacts that a change of a value affects.
//!
//! In: declarations of documents (`document!`). Out: the tree of keys, which is searched at compile time. Invariants:
//! a path is found if and only if a document has it. The artefacts that a value affects are declared at its key or at
//! a key above.

use super::Reader;
use crate::yaml::Item;

/// Possible values of a key.
pub(crate) enum Kind {
    /// A single value.
    Value,
    /// Known keys.
    Mapping(&'static Mapping),
    /// Known keys that another crate reads.
    Foreign(&'static [Key]),
    /// Keys that the user chooses: `*` in a path.
    Named(&'static Kind),
    /// A list, each item of one kind: `[]` in a path.
    List(&'static Kind),
}

/// A mapping with known keys.
pub(crate) struct Mapping {
    /// Its name in the schema and the reference.
    pub(crate) name: &'static str,
    /// Its keys in the order of the reference.
    pub(crate) keys: &'static [Key],
    /// Reads the mapping; used by tests for missing keys.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read every mapping"))]
    pub(crate) read: fn(&Item, &mut Reader<'_>) -> bool,
}

/// A key of a mapping.
pub(crate) struct Key {
    /// The key.
    pub(crate) name: &'static str,
    /// Artefacts that a change of its value affects; absent if the key above declares them.
    pub(crate) touches: Option<AffectedArtefacts>,
    /// Values that it can have.
    pub(crate) kind: &'static Kind,
}

/// Artefacts that a change of a value may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AffectedArtefacts(u16);

impl AffectedArtefacts {
    /// The files of T0s.
    pub const T0: AffectedArtefacts = AffectedArtefacts(1);
    /// The files of T1s.
    pub const T1: AffectedArtefacts = AffectedArtefacts(1 << 1);
    /// The files of T2s.
    pub const T2: AffectedArtefacts = AffectedArtefacts(1 << 2);
    /// The files of all switches.
    pub const SWITCHES: AffectedArtefacts = AffectedArtefacts(0b111);
    /// The files of nodes.
    pub const NODES: AffectedArtefacts = AffectedArtefacts(1 << 3);
    /// The path tables of T0 groups.
    pub const TABLES: AffectedArtefacts = AffectedArtefacts(1 << 4);
    /// Inputs of senders: the files of nodes, and path tables.
    pub const HOSTS: AffectedArtefacts = AffectedArtefacts(0b11 << 3);
    /// The lists of cables.
    pub const LISTS: AffectedArtefacts = AffectedArtefacts(1 << 5);
    /// Everything.
    pub const ALL: AffectedArtefacts = AffectedArtefacts(0b11_1111);
    /// The files of the tier that the value is in.
    pub const TIER: AffectedArtefacts = AffectedArtefacts(1 << 6);
    /// The files of the tier that the value is in, and of all devices that are cabled to it.
    pub const AROUND: AffectedArtefacts = AffectedArtefacts(1 << 7);
    /// The files of the named elements and of their neighbours, computed from the difference.
    pub const NAMED: AffectedArtefacts = AffectedArtefacts(1 << 8);

    /// Combines several sets.
    pub(crate) const fn of(all: &[AffectedArtefacts]) -> AffectedArtefacts {
        let (mut bits, mut at) = (0, 0);
        while at < all.len() {
            bits |= all[at].0;
            at += 1;
        }
        AffectedArtefacts(bits)
    }

    /// Returns whether it contains another set.
    pub const fn has(self, other: AffectedArtefacts) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether it is empty: no artefact of a device or host is affected.
    pub const fn is_nothing(self) -> bool {
        self.0 == 0
    }

    /// Replaces [`AffectedArtefacts::TIER`] and [`AffectedArtefacts::AROUND`] with the files that they stand
    /// for in the tier that contains the value. Without a tier, removes them.
    pub(crate) fn in_tier(self, tier: Option<AffectedArtefacts>) -> AffectedArtefacts {
        let mut found =
            AffectedArtefacts(self.0 & !(AffectedArtefacts::TIER.0 | AffectedArtefacts::AROUND.0));
        let Some(tier) = tier else { return found };
        if self.has(AffectedArtefacts::TIER) {
            found.0 |= tier.0;
        }
        if self.has(AffectedArtefacts::AROUND) {
            found.0 |= match tier {
                AffectedArtefacts::T0 => {
                    AffectedArtefacts::of(&[
                        AffectedArtefacts::T0,
                        AffectedArtefacts::T1,
                        AffectedArtefacts::NODES,
                    ])
                    .0
                }
                AffectedArtefacts::T1 => AffectedArtefacts::SWITCHES.0,
                _ => AffectedArtefacts::of(&[AffectedArtefacts::T1, AffectedArtefacts::T2]).0,
            };
        }
        found
    }
}

/// Value at a path.
pub(crate) struct PathValue {
    /// Possible values there.
    pub(crate) kind: &'static Kind,
    /// Artefacts that a change affects, from the nearest key that declares them.
    pub(crate) touches: Option<AffectedArtefacts>,
}

impl Kind {
    /// Finds the key at a dotted path.
    pub(crate) const fn find(&'static self, path: &str) -> Option<PathValue> {
        let path = path.as_bytes();
        let mut found = PathValue { kind: self, touches: None };
        let mut at = 0;
        loop {
            let mut end = at;
            while end < path.len() && path[end] != b'.' {
                end += 1;
            }
            let keys = match found.kind {
                Kind::Mapping(mapping) => mapping.keys,
                Kind::Foreign(keys) => keys,
                Kind::Named(below) => {
                    if !is_part(path, at, end, "*") {
                        return None;
                    }
                    found.kind = below;
                    &[]
                }
                Kind::List(below) => {
                    if !is_part(path, at, end, "[]") {
                        return None;
                    }
                    found.kind = below;
                    &[]
                }
                Kind::Value => return None,
            };
            let mut key = 0;
            while key < keys.len() {
                if is_part(path, at, end, keys[key].name) {
                    found.kind = keys[key].kind;
                    if keys[key].touches.is_some() {
                        found.touches = keys[key].touches;
                    }
                    break;
                }
                key += 1;
            }
            if !keys.is_empty() && key == keys.len() {
                return None;
            }
            if end == path.len() {
                return Some(found);
            }
            at = end + 1;
        }
    }

    /// Returns whether the affected artefacts of every value below are declared, at its key or at a key above.
    pub(crate) const fn says_what_it_touches(&'static self, above: bool) -> bool {
        let keys = match self {
            Kind::Mapping(mapping) => mapping.keys,
            Kind::Foreign(keys) => keys,
            Kind::Named(below) | Kind::List(below) => return below.says_what_it_touches(above),
            Kind::Value => return above,
        };
        let mut key = 0;
        while key < keys.len() {
            if !keys[key].kind.says_what_it_touches(above || keys[key].touches.is_some()) {
                return false;
            }
            key += 1;
        }
        true
    }

    /// Lists this mapping and all mappings below it, each once, in the order of the keys.
    pub(crate) fn mappings(&'static self) -> Vec<&'static Mapping> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect(&'static self, found: &mut Vec<&'static Mapping>) {
        match self {
            Kind::Mapping(mapping) => {
                if found.iter().any(|known| known.name == mapping.name) {
                    return;
                }
                found.push(mapping);
                mapping.keys.iter().for_each(|key| key.kind.collect(found));
            }
            Kind::Named(below) | Kind::List(below) => below.collect(found),
            Kind::Foreign(_) | Kind::Value => {}
        }
    }
}

/// Returns whether a part of a path is a word.
const fn is_part(path: &[u8], start: usize, end: usize, word: &str) -> bool {
    let word = word.as_bytes();
    if word.len() != end - start {
        return false;
    }
    let mut at = 0;
    while at < word.len() {
        if word[at] != path[start + at] {
            return false;
        }
        at += 1;
    }
    true
}
