//! Exports of a crate: as few as others use.
//!
//! In: the sources of the workspace. Out: for each crate, its public items and how many of them nobody outside of it names.
//! A name counts as used wherever it is written outside of the crate's `src`, so this finds most of what is needlessly
//! public and accuses nothing that is needed by name. Types that only signatures name are among the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{code, crates, files, root};

/// Public items that nobody outside names. A number may fall and never rises; a crate that is not listed has none.
const UNNAMED: &[(&str, usize)] = &[
    ("artefacts", 1),
    ("cabling", 3),
    ("cli", 36),
    ("collect", 10),
    ("compile", 3),
    ("deploy", 10),
    ("design", 2),
    ("diagnostics", 3),
    ("diff", 7),
    ("fabric", 4),
    ("lab", 29),
    ("nic", 51),
    ("paths-engine", 5),
    ("plan", 20),
    ("platform", 3),
    ("provision", 2),
    ("qos", 34),
    ("render", 1),
    ("runtime", 14),
    ("switch", 13),
    ("te", 5),
    ("topology", 44),
    ("verify", 10),
    ("whatif", 4),
];

/// Public items of crates that export a face and hide the rest. A number may fall and never rises. Of `entries` two are the
/// pipelines of a fabric and that of SONiC hardware. Of `switch` two show a lab what enters ports, six let a job
/// in virtual time keep the clock, lose packets by chance, count full queues and take what was lost, and one compiles
/// pipelines that enforce
/// restrictions; of `deploy` one asks a switch for its facts,
/// two are errors of binding entries to another P4Info, four the documents of a push that is shown
/// or saved, whose schemas the command line prints, and two say whether an inventory has rules for SONiC, and one for a switch;
/// three say which switches of a tree are left alone, and three are sums and metrics of counters that a collector serves, too.
/// sixteen are rules of inventories by patterns, addresses of a site, files of a site for a chip, and what saved plans have of CONFIG_DB;
/// four name files that no transport carries; ten are carriers of files over SSH, their options and what a push of them would do;
/// one is the sequence number that a switch compares with, and one makes a fleet that of a lab, whose switches have P4Runtime alone.
/// Of `switch` one says which ports a packet test judges, and one gives a link of a job in virtual time an MTU.
const FACES: &[(&str, usize)] = &[("deploy", 182), ("entries", 21), ("switch", 124)];

/// The name of a public item that a line declares.
fn item(line: &str) -> Option<&str> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split_whitespace();
    let kind = words.find(|word| !["async", "const", "unsafe", "extern", "\"C\""].contains(word));
    let is_constant =
        line.trim_start().starts_with("pub const ") && kind.is_some_and(|kind| kind.ends_with(':'));
    let name = match kind? {
        "fn" | "struct" | "enum" | "trait" | "type" | "static" | "mod" | "union" => words.next()?,
        name if is_constant => name,
        _ => return None,
    };
    // A macro names what it makes elsewhere.
    name.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).next().filter(|name| !name.is_empty())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).filter(|word| !word.is_empty())
}

/// Of each crate its public items, and those that nobody names.
fn exported() -> BTreeMap<String, (usize, Vec<String>)> {
    let folders = crates();
    let texts: Vec<_> = [".rs", ".md", ".h", ".c"]
        .into_iter()
        .flat_map(files)
        .map(|file| (fs::read_to_string(&file).expect("a tracked file can be read"), file))
        .collect();
    // Of each word the crates in whose `src` it is, and nothing for places that are in none.
    let owner = |file: &std::path::Path| {
        folders.iter().find(|(_, folder)| file.starts_with(folder.join("src"))).map(|(name, _)| name.as_str())
    };
    let mut named: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    for (text, file) in &texts {
        let by = owner(file);
        for word in words(text) {
            named.entry(word).or_default().insert(by);
        }
    }
    let mut out = BTreeMap::new();
    for (text, file) in texts.iter().filter(|(_, file)| file.extension().is_some_and(|ending| ending == "rs"))
    {
        let Some(own) = owner(file).filter(|_| !file.ends_with("tests.rs")) else { continue };
        let (count, unnamed): &mut (usize, Vec<String>) = out.entry(own.to_owned()).or_default();
        for name in code(text).lines().filter_map(item) {
            *count += 1;
            if !named.get(name).is_some_and(|by| by.iter().any(|by| *by != Some(own))) {
                let path = file.strip_prefix(root()).expect("it is below the root");
                unnamed.push(format!("{}: {name}", path.display()));
            }
        }
    }
    out
}

fn allowed(list: &[(&str, usize)], name: &str) -> Option<usize> {
    list.iter().find(|(listed, _)| *listed == name).map(|(_, count)| *count)
}

#[test]
fn no_crate_exports_more_that_nobody_uses() {
    let mut wrong = Vec::new();
    for (name, (count, unnamed)) in exported() {
        println!("{name}: {count} public items, {} named nowhere else", unnamed.len());
        if unnamed.len() > allowed(UNNAMED, &name).unwrap_or(0) {
            wrong.push(format!("closc-{name}: nobody outside names\n  {}", unnamed.join("\n  ")));
        }
        if allowed(FACES, &name).is_some_and(|most| count > most) {
            wrong.push(format!(
                "closc-{name} has {count} public items: use `pub(crate)`, or say why it needs more"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn public_items_are_found() {
    let lines = [
        "pub fn a(",
        "    pub const fn b<T>()",
        "pub const C: u8 = 1;",
        "pub struct D(u8);",
        "pub use e::F;",
    ];
    let found: Vec<&str> = lines.into_iter().filter_map(item).collect();
    assert_eq!(found, ["a", "b", "C", "D"]);
    assert_eq!(item("pub(crate) fn a() {"), None);
    assert_eq!(item("    pub field: u8,"), None);
}
