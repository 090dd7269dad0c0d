//! Damage to `nvue.yaml`: every kind of leaf, key and mapping of a switch.
//!
//! In: the file, parsed. Out: cases that rewrite it as JSON, which is also YAML. Invariants: the rewritten file without
//! damage is valid. The first and the last path of each kind are damaged, which includes NIC ports and uplinks. For
//! queues, one path per value is damaged.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Memory;
use serde_json::{Map, Value, json};

use crate::base::Base;
use crate::generated::case::{Case, ChangeKind, target_files};

const FILE: &str = "nvue.yaml";

/// Changes of a value.
const LEAF: [ChangeKind; 7] = [
    ChangeKind::Lost,
    ChangeKind::Empty,
    ChangeKind::Other,
    ChangeKind::Larger,
    ChangeKind::Foreign,
    ChangeKind::LostEverywhere,
    ChangeKind::OtherEverywhere,
];

/// Additional changes of a number.
const NUMBER: [ChangeKind; 3] =
    [ChangeKind::Moved, ChangeKind::LargerEverywhere, ChangeKind::MovedEverywhere];

/// Changes of a key that is always present, and of all its contents.
const KEY: [ChangeKind; 2] = [ChangeKind::Lost, ChangeKind::LostEverywhere];

/// Changes of a key that is a name.
const NAME: [ChangeKind; 5] = [
    ChangeKind::Twice,
    ChangeKind::Other,
    ChangeKind::Foreign,
    ChangeKind::Swapped,
    ChangeKind::OtherEverywhere,
];

/// Pairs of words with opposite meanings.
const OPPOSITES: [[&str; 2]; 8] = [
    ["enable", "disable"],
    ["enabled", "disabled"],
    ["up", "down"],
    ["permit", "deny"],
    ["strict", "dwrr"],
    ["rs", "off"],
    ["full", "helper-only"],
    ["none", "30"],
];

/// The keys of all mappings that lead to a value.
pub(crate) type Keys = Vec<String>;

/// The part of the file that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyPart {
    /// The value of the last key, a leaf.
    Leaf,
    /// The last key.
    Key,
    /// The mapping of the last key, to which a key is added.
    Mapping,
}

/// Kinds of paths found so far in any fabric, by tier.
pub(crate) type PathKinds = BTreeSet<(usize, Keys)>;

/// Damages the file of a switch; the donor is another switch of its tier. Paths of queues are damaged in every fabric,
/// because profiles differ. Other paths are damaged only in the first fabric that has them.
pub(crate) fn file(
    tree: &Memory,
    base: Base,
    (tier, [device, donor]): (usize, [&str; 2]),
    (seen, cases): (&mut PathKinds, &mut Vec<Case>),
) {
    let path = |device: &str| Utf8PathBuf::from(format!("{device}/{FILE}"));
    let (own, donor) = (read_settings(tree, &path(device)), read_settings(tree, &path(donor)));
    let mut kinds: BTreeMap<Keys, Vec<Keys>> = BTreeMap::new();
    collect(&own, &mut Vec::new(), &mut |keys| {
        let mut like: Keys = keys.iter().map(|key| kind(key)).collect();
        if is_unused(&own, keys) {
            like[1].push_str(UNUSED);
        }
        kinds.entry(like).or_default().push(keys.to_vec());
    });
    let taken = |like: &[String], all: Vec<Keys>| -> Vec<Keys> {
        let mut values = BTreeSet::new();
        let count = all.len();
        let is_taken = |(place, keys): &(usize, Keys)| match at(&own, keys) {
            Some(value) if like[0] == "qos" => values.insert(value.to_string()),
            _ => *place == 0 || place + 1 == count,
        };
        all.into_iter().enumerate().filter(is_taken).map(|(_, keys)| keys).collect()
    };
    for (like, all) in kinds {
        if !seen.insert((tier, like.clone())) && like[0] != "qos" {
            continue;
        }
        for keys in taken(&like, all) {
            let (key, value) = keys.last().zip(at(&own, &keys)).expect("a path of the file");
            for (part, how) in key_changes(key, value) {
                let foreign = if part == KeyPart::Key {
                    donor_key(&own, &donor, &keys).map(Value::String)
                } else {
                    at(&donor, &keys).filter(|other| at(&own, &keys) != Some(other)).cloned()
                };
                if how == ChangeKind::Foreign && foreign.is_none() {
                    continue;
                }
                let field = field(&like, part);
                let change = Change { like: like.clone(), keys: keys.clone(), part, kind: how, foreign };
                let file = path(device);
                cases.push(Case {
                    base,
                    section: section(&like),
                    field,
                    change_kind: how,
                    at: format!("{device} {}", keys.join(".")),
                    damage: Box::new(move |tree| change.apply(tree, &file)),
                });
            }
        }
    }
}

/// Returns the changes of a value, or of a key that has a mapping. Keys of leaves are only replaced with keys that are
/// not in the schema. Added keys are not in the schema either.
fn key_changes(key: &str, value: &Value) -> Vec<(KeyPart, ChangeKind)> {
    if !value.is_object() {
        let numbers = NUMBER.into_iter().filter(|_| value.is_number());
        return LEAF.into_iter().chain(numbers).map(|how| (KeyPart::Leaf, how)).collect();
    }
    let names =
        NAME.into_iter().filter(|_| opposite(key).is_some() || key.contains(|c: char| !is_of_schema(c)));
    let keys = KEY.into_iter().chain(names).map(|how| (KeyPart::Key, how));
    keys.chain([(KeyPart::Mapping, ChangeKind::Added)]).collect()
}

/// Returns whether a letter occurs in schema keys, which consist of lower-case letters and hyphens.
fn is_of_schema(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter == '-'
}

/// Rewrites the files of all switches without damage.
pub(crate) fn rewrite(tree: &mut Memory) -> usize {
    let paths: Vec<Utf8PathBuf> =
        tree.files.keys().filter(|path| path.file_name() == Some(FILE)).cloned().collect();
    for path in &paths {
        let own = read_settings(tree, path);
        write(tree, path, &own);
    }
    paths.len()
}

/// Returns the settings of a file.
fn read_settings(tree: &Memory, path: &Utf8Path) -> Map<String, Value> {
    set(&tree.files[path])
}

fn set(bytes: &[u8]) -> Map<String, Value> {
    let text = std::str::from_utf8(bytes).expect("the file is text");
    let options = serde_saphyr::options! { strict_booleans: true };
    let whole: Value = serde_saphyr::from_str_with_options(text, options).expect("a compiled file is YAML");
    whole.pointer("/0/set").and_then(Value::as_object).expect("the file sets something").clone()
}

fn write(tree: &mut Memory, path: &Utf8Path, set: &Map<String, Value>) {
    tree.files.insert(path.to_owned(), text(set));
}

/// Returns a file as it is rewritten without damage.
pub(crate) fn canonical(bytes: &[u8]) -> Vec<u8> {
    text(&set(bytes))
}

/// Writes settings in the layout of compiled files, one line for each key.
fn text(set: &Map<String, Value>) -> Vec<u8> {
    let mut text = "- set:\n".to_owned();
    block(&mut text, set, 4);
    text.into_bytes()
}

fn block(text: &mut String, map: &Map<String, Value>, depth: usize) {
    for (key, value) in map {
        text.extend([&" ".repeat(depth), &scalar(&json!(key)), ":"]);
        match value {
            Value::Object(below) if !below.is_empty() => {
                text.push('\n');
                block(text, below, depth + 2);
            }
            _ => text.extend([" ", &scalar(value), "\n"]),
        }
    }
}

/// Formats a scalar: a word unchanged, any other text in quotes, lists and empty mappings as JSON.
fn scalar(value: &Value) -> String {
    const TRUTHS: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "~"];
    let is_word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.'))
            && !TRUTHS.contains(&text.to_ascii_lowercase().as_str())
    };
    match value.as_str() {
        Some(text) if is_word(text) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', "''")),
        None => value.to_string(),
    }
}

/// Returns a key without its numbers. All addresses are of one kind.
fn kind(key: &str) -> String {
    if key.contains(':') {
        return "#".to_owned();
    }
    let mut kind = String::new();
    for letter in key.chars().map(|letter| if letter.is_ascii_digit() { '#' } else { letter }) {
        if letter != '#' || !kind.ends_with('#') {
            kind.push(letter);
        }
    }
    kind
}

/// Marks kinds of ports without cables. Changes on all devices omit such ports.
const UNUSED: &str = " without a cable";

/// Returns whether a path is in a port that has no cable and is down.
fn is_unused(own: &Map<String, Value>, keys: &[String]) -> bool {
    let [first, port, ..] = keys else { return false };
    let down = [first, port, "link", "state", "down"].map(str::to_owned);
    first == "interface" && at(own, &down).is_some()
}

fn collect(map: &Map<String, Value>, keys: &mut Keys, found: &mut impl FnMut(&[String])) {
    for (key, value) in map {
        keys.push(key.clone());
        found(keys);
        if let Value::Object(below) = value {
            collect(below, keys, found);
        }
        keys.pop();
    }
}

fn at<'v>(map: &'v Map<String, Value>, keys: &[String]) -> Option<&'v Value> {
    let (last, above) = keys.split_last()?;
    let map = above.iter().try_fold(map, |map, key| map.get(key)?.as_object())?;
    map.get(last)
}

/// Returns the key at the same position in the file of another switch, if it differs.
fn donor_key(own: &Map<String, Value>, donor: &Map<String, Value>, keys: &[String]) -> Option<String> {
    let (last, above) = keys.split_last()?;
    let below = |map| if above.is_empty() { Some(map) } else { at(map, above).and_then(Value::as_object) };
    let place = below(own)?.keys().position(|key| key == last)?;
    let other = below(donor)?.keys().nth(place)?;
    (other != last && kind(other) == kind(last)).then(|| other.clone())
}

/// Returns the section under which a path is counted: its first key.
fn section(like: &[String]) -> String {
    format!("{FILE} {}", like[0])
}

/// Returns the path without its first key. A final colon marks a key, and a final dot a mapping, as opposed
/// to a value.
fn field(like: &[String], part: KeyPart) -> String {
    let path = if like.len() > 1 { like[1..].join(".") } else { like.join(".") };
    match part {
        KeyPart::Leaf => path,
        KeyPart::Key => path + ":",
        KeyPart::Mapping => path + ".",
    }
}

/// A change of one switch, or of all equivalent places on all switches.
struct Change {
    /// Kind of the path.
    like: Keys,
    keys: Keys,
    part: KeyPart,
    kind: ChangeKind,
    foreign: Option<Value>,
}

impl Change {
    fn apply(&self, tree: &mut Memory, file: &Utf8Path) {
        for path in target_files(tree, file, self.kind.everywhere()) {
            let own = read_settings(tree, &path);
            let mut set = own.clone();
            self.change(&mut set, 0);
            // A file that differs only in formatting is not damaged.
            if set != own {
                write(tree, &path, &set);
            }
        }
    }

    /// Finds the mappings on the path, and changes them.
    fn change(&self, map: &mut Map<String, Value>, depth: usize) {
        let fits = |key: &String| {
            if self.kind.everywhere() { kind(key) == self.like[depth] } else { *key == self.keys[depth] }
        };
        let own: Vec<String> = map.keys().filter(|key| fits(key)).cloned().collect();
        for key in own {
            if depth + 1 < self.keys.len() {
                if let Some(below) = map.get_mut(&key).and_then(Value::as_object_mut) {
                    self.change(below, depth + 1);
                }
                continue;
            }
            match self.part {
                KeyPart::Leaf => self.value(map, &key),
                KeyPart::Key => self.key(map, &key),
                KeyPart::Mapping => {
                    if let Some(below) = map.get_mut(&key).and_then(Value::as_object_mut) {
                        below.insert("undocumented".to_owned(), json!("enabled"));
                    }
                }
            }
        }
    }

    fn value(&self, map: &mut Map<String, Value>, key: &str) {
        let old = &map[key];
        let new = match self.kind.to_single() {
            ChangeKind::Other => {
                Some(old.as_str().and_then(opposite).map_or_else(
                    || ChangeKind::Other.of(old, None).expect("another value"),
                    |word| json!(word),
                ))
            }
            ChangeKind::Moved => Some(old.as_u64().map_or_else(|| old.clone(), |number| json!(number + 1))),
            how => how.of(old, self.foreign.as_ref()),
        };
        match new {
            Some(new) => map.insert(key.to_owned(), new),
            None => map.remove(key),
        };
    }

    fn key(&self, map: &mut Map<String, Value>, key: &str) {
        match self.kind.to_single() {
            ChangeKind::Twice => {
                let value = map[key].clone();
                map.insert(new_key(map, key), value);
            }
            ChangeKind::Swapped => {
                let next = map
                    .keys()
                    .skip_while(|other| *other != key)
                    .find(|other| *other != key && kind(other) == kind(key) && map[*other] != map[key]);
                if let Some(next) = next.cloned() {
                    let value = map[key].clone();
                    let other = map.insert(next, value).expect("the next key has a value");
                    map.insert(key.to_owned(), other);
                }
            }
            how => {
                let Some(value) = map.remove(key) else { return };
                match (how, self.foreign.as_ref().and_then(Value::as_str)) {
                    (ChangeKind::Other, _) => map.insert(new_key(map, key), value),
                    (ChangeKind::Foreign, Some(other)) => map.insert(other.to_owned(), value),
                    _ => None,
                };
            }
        }
    }
}

fn opposite(word: &str) -> Option<&'static str> {
    OPPOSITES.iter().find_map(|[one, other]| match word {
        _ if word == *one => Some(*other),
        _ if word == *other => Some(*one),
        _ => None,
    })
}

/// Returns a key that the mapping does not have: the opposite word, or the next free number.
fn new_key(map: &Map<String, Value>, key: &str) -> String {
    if let Some(word) = opposite(key) {
        return word.to_owned();
    }
    let end = key.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    let start = key[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    let Ok(number) = key[start..end].parse::<u64>() else { return format!("{key}x") };
    let named = |number: u64| format!("{}{number}{}", &key[..start], &key[end..]);
    (number + 1..u64::MAX)
        .map(named)
        .find(|name| !map.contains_key(name))
        .expect("there are more numbers than keys")
}
