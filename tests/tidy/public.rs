//! Exports of a crate: no more than others use.
//!
//! In: the sources of the workspace. Out: for each crate, its public items, and the number of them that are
//! not named outside of it. A name counts as used wherever it is written outside of the crate's `src`. So
//! this finds most needlessly public items, and never reports an item that another crate names. Types that
//! other crates use only through signatures are reported too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{code, crates, files, root};

/// Number of public items that are not named outside of their crate. A number may fall but never rise; a
/// crate that is not listed has none. `diff`: ten are parts of the document of `closc grow`, for changed
/// addresses and replaced equipment.
const UNNAMED: &[(&str, usize)] = &[
    ("cabling", 2),
    ("cli", 39),
    ("collect", 8),
    ("compile", 2),
    ("deploy", 11),
    ("design", 2),
    ("diagnostics", 1),
    ("diff", 16),
    ("fabric", 3),
    ("hwsku", 1),
    ("lab", 28),
    ("nic", 65),
    ("paths-engine", 4),
    ("plan", 13),
    ("platform", 6),
    ("provision", 2),
    ("qos", 35),
    ("render", 1),
    ("report", 1),
    ("runtime", 12),
    ("sonic", 1),
    ("switch", 12),
    ("te", 5),
    ("topology", 45),
    ("verify", 7),
    ("whatif", 9),
];

/// Maximum number of public items of crates that export an interface and hide everything else. A number may
/// fall but never rise. Among them are:
///
/// - `entries`: one for the pipelines of a fabric, and one for that of SONiC hardware;
/// - `switch`: two with which a lab records the packets that enter ports;
/// - `switch`: four for ports that change bytes of frames;
/// - `switch`: six for jobs in virtual time, which advance the clock, lose packets at random, count full
///   queues and return the lost packets, and one that sets the MTU of a link;
/// - `switch`: one that compiles pipelines with enforced restrictions, and one for the ports that a packet
///   test checks;
/// - `deploy`: one that reads facts from a switch, and two errors of binding entries to another P4Info;
/// - `deploy`: four documents of a push that is shown or saved, whose schemas the command line prints;
/// - `deploy`: three that return whether an inventory, or a switch, has rules for SONiC;
/// - `deploy`: three for the switches of a tree that a command skips;
/// - `deploy`: three sums and metrics of counters, which the collector also serves;
/// - `deploy`: sixteen for inventory patterns, addresses and chip files of a site, and CONFIG_DB in saved plans;
/// - `deploy`: four for files that no transport carries;
/// - `deploy`: ten for files over SSH: transports, options, and the preview of a push;
/// - `deploy`: five for settings that a push or an export removes from a factory configuration;
/// - `deploy`: one for the sequence number that a switch compares, and one for the fleet of a lab, which has
///   P4Runtime only;
/// - `deploy`: one for the planes of a fleet, which are the waves of a saved difference, and one for the path of an
///   inventory, which its errors name;
/// - `deploy`: one for the short form of a plan, which lists numbers of entries by table;
/// - `deploy`: two for switches of a fabric file that are configured by files.
const FACES: &[(&str, usize)] = &[("deploy", 192), ("entries", 21), ("switch", 128)];

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
    // In a macro, the name is a variable, so there is no item here.
    name.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).next().filter(|name| !name.is_empty())
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).filter(|word| !word.is_empty())
}

/// For each crate, the number of public items, and those that are not named elsewhere.
fn public_items() -> BTreeMap<String, (usize, Vec<String>)> {
    let folders = crates();
    let texts: Vec<_> = [".rs", ".md", ".h", ".c"]
        .into_iter()
        .flat_map(files)
        .map(|file| (fs::read_to_string(&file).expect("a tracked file can be read"), file))
        .collect();
    // For each word, the crates whose `src` contains it; `None` for files outside of all `src`.
    let owner = |file: &std::path::Path| {
        folders.iter().find(|(_, folder)| file.starts_with(folder.join("src"))).map(|(name, _)| name.as_str())
    };
    let mut named: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    for (text, file) in &texts {
        let by = owner(file);
        for word in identifiers(text) {
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

fn allowed_count(list: &[(&str, usize)], name: &str) -> Option<usize> {
    list.iter().find(|(listed, _)| *listed == name).map(|(_, count)| *count)
}

#[test]
fn no_crate_exports_more_that_nobody_uses() {
    let mut wrong = Vec::new();
    for (name, (count, unnamed)) in public_items() {
        println!("{name}: {count} public items, {} named nowhere else", unnamed.len());
        if unnamed.len() > allowed_count(UNNAMED, &name).unwrap_or(0) {
            wrong.push(format!("closc-{name}: not named in any other crate:\n  {}", unnamed.join("\n  ")));
        }
        if allowed_count(FACES, &name).is_some_and(|most| count > most) {
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
