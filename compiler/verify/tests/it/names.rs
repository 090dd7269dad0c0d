//! Renames each occurrence of an object name, one at a time, in the files of every language. Objects are devices,
//! ports, VRFs, profiles, maps, lists and groups. References to missing objects must be found.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Memory;
use closc_verify::verify;

use crate::base::{self, Base, Trees};
use crate::common;

/// Names that are not tested: file, beginning of the line without its digits, text before the name, and reason.
const UNKNOWN: &[(&str, &str, &str, &str)] = &[
    ("", "#", "", "a comment, for people"),
    ("", "!", "", "a comment, for people"),
    ("frr.conf", "ipv prefix-list OWN ", "prefix-list ", "announces a loopback, to which no NIC sends"),
    ("backup-ports.json", "", "", "named in the report as not judged"),
    ("config_db.json", "\"lossless\": {", "", "buffermgrd takes the ports of every row of `CABLE_LENGTH`"),
    ("config_db.json", "\"eth\": {", "\"alias\": \"", "what people call the management port"),
];

/// Devices that systems always have.
const OWN: &[&str] =
    &["lo", "sr0", "Loopback0", "Loopback0|", "mgmt0", "eth0", "default", "main", "local", "mgmt", "all"];

/// Words that precede a name.
const BEHIND: &[&str] = &[
    "dev",
    "peer-group",
    "route-map",
    "prefix-list",
    "access-list",
    "community-list",
    "bfd profile",
    "profile",
    "vrf",
    "interface",
    "service-policy",
    "policy-map",
    "class-map",
    "traffic-policy",
    "qos map",
    "router bgp",
];

/// A word of a file.
#[derive(Debug, Clone)]
struct Word {
    base: Base,
    path: Utf8PathBuf,
    range: Range<usize>,
    /// Line of the word, without digits.
    line: String,
}

/// Returns the names of devices and ports in cable lists.
fn cabled_names(tree: &Memory) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = OWN.iter().map(|name| (*name).to_owned()).collect();
    for (_, bytes) in tree.files.iter().filter(|(path, _)| path.starts_with("cables")) {
        for line in String::from_utf8_lossy(bytes).lines().skip(1) {
            names.extend(line.split(',').skip(2).take(4).map(str::to_owned));
        }
    }
    names
}

/// Returns the words of a line, as byte ranges.
fn words(line: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + line[at..].find(is_part)?;
        let len = line[from..].find(|c| !is_part(c)).unwrap_or(line.len() - from);
        at = from + len;
        Some(from..at)
    })
}

/// Returns the names that a file defines: keys of JSON tables, and words after keywords that precede a name.
fn defined_names(path: &Utf8Path, text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if path.extension() == Some("json")
        && let Ok(serde_json::Value::Object(tables)) = serde_json::from_str(text)
    {
        for table in tables.values().filter_map(|table| table.as_object()) {
            names.extend(table.keys().flat_map(|key| key.split('|')).map(str::to_owned));
        }
    }
    for line in text.lines() {
        for word in BEHIND {
            if let Some((_, rest)) = line.split_once(&format!("{word} ")) {
                names.extend(rest.split_whitespace().next().map(str::to_owned));
            }
        }
    }
    names.retain(|name| name.chars().any(|c| c.is_ascii_alphabetic()) && !name.contains([':', '/']));
    names
}

/// Returns the names in a tree. Of equivalent lines, only the first is used.
fn collect_words(trees: &Trees, base: Base) -> Vec<Word> {
    let tree = trees.tree(base);
    let cabled = cabled_names(tree);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (path, bytes) in &tree.files {
        let is_device = path.starts_with("switches") || path.starts_with("hosts");
        let Some(text) = std::str::from_utf8(bytes).ok().filter(|_| is_device) else { continue };
        let own = defined_names(path, text);
        let kind =
            format!("{}/{}", path.iter().next().unwrap_or_default(), path.file_name().unwrap_or_default());
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let shape: String = line.trim().replace(|c: char| c.is_ascii_digit(), "");
            let shape: String = shape.chars().take(160).collect();
            // Text after the comment sign has no effect.
            let said = line.split(" # ").next().unwrap_or_default();
            for (number, range) in words(said).enumerate() {
                let word = &line[range.clone()];
                let is_name = cabled.contains(word) || own.contains(word);
                if is_name && seen.insert((kind.clone(), shape.clone(), number)) {
                    let range = start + range.start..start + range.end;
                    found.push(Word { base, path: path.clone(), range, line: shape.clone() });
                }
            }
            start += line.len();
        }
    }
    found
}

fn is_unknown(trees: &Trees, word: &Word) -> bool {
    let bytes = &trees.tree(word.base).files[&word.path];
    let before = String::from_utf8_lossy(&bytes[..word.range.start]);
    UNKNOWN.iter().any(|(file, line, behind, _)| {
        let of_file = file.is_empty() || word.path.file_name() == Some(*file);
        of_file && word.line.starts_with(line) && before.ends_with(behind)
    })
}

/// Renames a word, and returns whether verification finds it.
fn is_found(trees: &Trees, word: &Word) -> bool {
    let mut tree = trees.tree(word.base).clone();
    let bytes = tree.files.get_mut(&word.path).expect("it is there");
    let text = std::str::from_utf8(bytes).expect("it was read as text");
    let text = [&text[..word.range.end], "x", &text[word.range.end..]].concat();
    *bytes = text.into_bytes();
    common::sign(&mut tree, trees.plan(word.base).name(), word.base.routing());
    verify(&tree, base::options()).map_or(true, |report| !report.holds())
}

#[test]
fn an_object_that_is_not_there_is_found() {
    let trees = Trees::new();
    let all: Vec<Word> = Base::ALL.into_iter().flat_map(|base| collect_words(&trees, base)).collect();
    // Words that several fabrics have in common are renamed only in the first.
    let mut seen = BTreeSet::new();
    let cases: Vec<&Word> = all
        .iter()
        .filter(|word| {
            seen.insert((word.path.file_name().map(str::to_owned), word.line.clone(), column(&trees, word)))
        })
        .filter(|word| !is_unknown(&trees, word))
        .collect();
    assert!(cases.len() > 200, "{}", cases.len());
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(word) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !is_found(&trees, word) {
                        let bytes = &trees.tree(word.base).files[&word.path];
                        let name = String::from_utf8_lossy(&bytes[word.range.clone()]).into_owned();
                        let what = format!("{:?} {}: `{name}` in `{}`", word.base, word.path, word.line);
                        let mut missed = missed.lock().expect("no thread panics with it");
                        missed.insert(what);
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().expect("no thread panics with it");
    let shown: Vec<&String> = missed.iter().collect();
    println!("{} names changed, {} not found", cases.len(), shown.len());
    assert!(
        shown.is_empty(),
        "{} of {} are not found:\n{}",
        shown.len(),
        cases.len(),
        shown.iter().map(|one| one.as_str()).collect::<Vec<_>>().join("\n")
    );
}

/// Returns the number of words before a word on its line.
fn column(trees: &Trees, word: &Word) -> usize {
    let bytes = &trees.tree(word.base).files[&word.path];
    let text = std::str::from_utf8(bytes).expect("it was read as text");
    let start = text[..word.range.start].rfind('\n').map_or(0, |at| at + 1);
    words(&text[start..word.range.start]).count()
}
