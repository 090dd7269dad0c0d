//! From bytes to a document of the right shape.
//!
//! In: the bytes of a file and the name to show for it. Out: a [`Document`], or every fault of text and shape.
//! Invariants: limits on size, depth, values and alias expansion are checked before or while parsing, so that no
//! input takes more than moderate time and memory. No input makes it panic.

mod decode;
mod explain;

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostics, SourceId, Sources, Span};
use closc_platform::{Os, Release};
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Options};

use crate::document::FabricDoc;
use crate::faults;
use crate::field;
use crate::read::{Read, Reader};
use crate::schema;
use crate::spans::Spans;
use crate::yaml::{Item, Place, Value};

pub(crate) use decode::decode;

/// A fabric file that has the right shape.
#[derive(Debug, Clone)]
pub struct Document {
    /// The contents of the file.
    pub file: FabricDoc,
    /// Places in the text, by dotted path.
    pub spans: Spans,
    /// Files that this one names, or why they cannot be read. The caller adds them, because this crate does
    /// no I/O.
    pub companions: BTreeMap<Companion, Result<SourceId, String>>,
    /// Faults of single values, which are absent in `file`.
    pub faults: Diagnostics,
}

impl Document {
    /// Returns the path of a file that this one names, as it is written: below the folder of the fabric file.
    pub fn companion(&self, which: Companion) -> Option<&str> {
        let file = match which {
            Companion::Pins => self.file.ecmp.as_ref()?.pins.as_ref(),
            Companion::Management => self.file.addresses.as_ref()?.management_list.as_ref(),
        };
        file.map(|file| file.value.as_str())
    }

    /// Returns the releases of operating systems that the file states.
    pub(crate) fn releases(&self) -> Vec<(Os, Release)> {
        let stated = self.file.releases.iter().flat_map(|named| &named.0);
        stated.map(|(os, release)| (os.value, release.value)).collect()
    }
}

/// Parts of a fabric that are in separate files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Companion {
    /// `ecmp.pins`.
    Pins,
    /// `addresses.management_list`.
    Management,
}

impl Companion {
    /// All of them.
    pub const ALL: [Companion; 2] = [Companion::Pins, Companion::Management];
}

/// Maximum nesting of mappings and lists.
pub const DEPTH_MAX: usize = 32;
/// Maximum number of values in a file.
pub const VALUES_MAX: usize = 200_000;
/// Maximum number of values that aliases stand for.
pub const ALIASED_MAX: usize = 100_000;

/// Reads a fabric file; `name` is shown in messages.
///
/// The text is added to `sources` even if it is rejected, so that messages can show it. A document may contain
/// faults. [`lower`](crate::lower) then reports them together with its own, and returns no topology.
pub fn load(sources: &mut Sources, name: &str, bytes: &[u8]) -> Result<Document, Diagnostics> {
    let source = decode(sources, name, bytes)?;
    let mut diagnostics = Diagnostics::new();
    let text = &sources.get(source).text;
    let Some(root) = parse(source, text, &mut diagnostics) else {
        return Err(diagnostics);
    };
    if let Some(finding) = foreign(source, &root) {
        diagnostics.push(finding);
        return Err(diagnostics);
    }
    let Some(document) = read(source, text, &root, &mut diagnostics) else {
        diagnostics.sort();
        return Err(faults::limit_findings(diagnostics));
    };
    Ok(Document { faults: diagnostics, ..document })
}

/// Other files that users may pass instead of a fabric file: a key of such a file, its kind, and how to use it.
const FOREIGN: [(&str, &str, &str); 6] = [
    ("p4runtime", "an inventory of `closc push`", "`closc push TREE --inventory FILE` reads it"),
    ("sonic", "an inventory of `closc push`", "`closc push TREE --inventory FILE` reads it"),
    ("ssh", "an inventory of `closc push`", "`closc push TREE --inventory FILE` reads it"),
    ("steps", "a scenario of `closc lab job`", "`closc lab job SOURCE --scenario FILE` reads it"),
    ("format", "the manifest of a compiled tree", "name the folder: `closc verify TREE`"),
    ("topology", "a topology of containerlab", "`closc import FILE` reads it"),
];

/// Reports a file of another kind, because otherwise each of its keys would be reported as unknown. Only a fabric
/// file has `hosts`, `tiers` or `planes`.
fn foreign(source: SourceId, root: &Item) -> Option<closc_diagnostics::Diagnostic> {
    let has = |key: &str| root.entries().iter().any(|entry| entry.key == key);
    if has("hosts") || has("tiers") || has("planes") {
        return None;
    }
    let (key, kind, help) = FOREIGN.into_iter().find(|(key, ..)| has(key))?;
    let entry = root.entries().iter().find(|entry| entry.key == key)?;
    Some(faults::other_file(kind, help, span(source, entry.key_place)))
}

/// Reads a tree as a fabric; `None` if a part of it cannot be read.
pub(crate) fn read(
    source: SourceId,
    text: &str,
    root: &Item,
    diagnostics: &mut Diagnostics,
) -> Option<Document> {
    let mut reader = Reader::new(source, text);
    reader.range = schema::range;
    let file = FabricDoc::read(root, &mut reader);
    let has_gap = reader.has_gap;
    diagnostics.extend(reader.diagnostics);
    let file = file.filter(|_| !has_gap)?;
    Some(Document {
        file,
        spans: spans(source, root),
        companions: BTreeMap::new(),
        faults: Diagnostics::new(),
    })
}

/// Parses a text into a tree. A duplicate key is reported and the rest is still read, so that one run shows more than
/// one fault.
pub(crate) fn parse(source: SourceId, text: &str, diagnostics: &mut Diagnostics) -> Option<Item> {
    if let Some(finding) = explain::no_break_space(source, text) {
        diagnostics.push(finding);
        return None;
    }
    let first = tree(text, DuplicateKeyPolicy::Error);
    let root = match first {
        Ok(root) => root,
        Err(error) => {
            let duplicate = explain::duplicate(&error);
            let lenient = duplicate.and_then(|_| tree(text, DuplicateKeyPolicy::FirstWins).ok());
            diagnostics.push(explain::explain(&error, lenient.as_ref(), source, text));
            lenient?
        }
    };
    if matches!(root.value, Value::Null) {
        let span = Span::new(source, 0..0);
        diagnostics.push(faults::empty_file(span));
        return None;
    }
    Some(root)
}

fn tree(text: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Item, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(text, options(duplicate_keys))
}

/// Options of the YAML parser: the only place that decides which YAML is accepted.
fn options(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH_MAX,
            flow_nesting_limit: 2 * DEPTH_MAX,
            max_nodes: VALUES_MAX,
            max_events: 4 * VALUES_MAX,
            max_recorded_anchor_events: VALUES_MAX,
            max_total_scalar_bytes: faults::BYTES_MAX,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: ALIASED_MAX,
        },
        duplicate_keys: duplicate_keys,
        strict_booleans: true,
        reject_unsupported_tags: true,
        // `.nan` and similar words are then text, for which closc has its own message.
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

/// Collects the places of all values by dotted path. The place of a mapping or list is that of its key.
fn spans(source: SourceId, root: &Item) -> Spans {
    let mut found = BTreeMap::new();
    let start = root.entries().iter().find(|entry| entry.key == "fabric").or(root.entries().first());
    if let Some(entry) = start {
        found.insert(String::new(), span(source, entry.key_place));
    }
    collect(source, root, "", &mut found);
    Spans::new(found)
}

/// Length of the longest key whose place is kept.
const KEY_MAX: usize = 64;

fn collect(source: SourceId, item: &Item, path: &str, found: &mut BTreeMap<String, Span>) {
    // Exceptions store their own places, and there can be many of them.
    if [field!("exceptions.cables"), field!("exceptions.devices")].iter().any(|many| many.path() == path) {
        return;
    }
    for entry in item.entries() {
        // Checks never look up paths with `x-` keys or long keys. Storing such a path for each value below the key
        // would take many times the memory of the file.
        if entry.key.len() > KEY_MAX || (path.is_empty() && entry.key.starts_with("x-")) {
            continue;
        }
        let path = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
        let place = match entry.item.value {
            Value::Mapping(_) | Value::List(_) | Value::Null => entry.key_place,
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => entry.item.place,
        };
        found.insert(path.clone(), span(source, place));
        collect(source, &entry.item, &path, found);
    }
}

fn span(source: SourceId, place: Place) -> Span {
    Span::new(source, place.start..place.end)
}
