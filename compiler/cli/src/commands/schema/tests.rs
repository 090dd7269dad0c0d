//! The list of documents is complete, and the committed schemas match the types.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;

use super::{ALL, DocumentSchema};
use crate::args::Args;

/// Commands that do not write a document, with the reason.
const NONE: &[(&str, &str)] = &[
    ("lsp", "it speaks the protocol of editors"),
    ("switch", "it takes the arguments of `simple_switch_grpc` and runs until it is stopped"),
    ("completions", "it prints a script"),
    ("demo", "it shows a page; `lab job` has its report as a document"),
    ("lab serve", "it is the process of the switches of a lab"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

fn file(described: &DocumentSchema) -> String {
    format!("{}.json", described.name.replace('/', "-"))
}

/// The committed schemas match the types, and there are no other schemas.
#[test]
fn schemas_in_the_tree_are_current() {
    let (folder, bless) = (folder(), std::env::var_os("CLOSC_BLESS").is_some());
    let mut known = BTreeSet::from(["README.md".to_owned()]);
    for described in ALL {
        let (name, text) = (file(described), described.schema());
        let path = folder.join(&name);
        if bless {
            std::fs::write(&path, &text).expect("a schema can be written");
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == text,
            "docs/schemas/{name} is stale: CLOSC_BLESS=1 cargo test -p closc-cli --bins schemas_in_the_tree"
        );
        known.insert(name);
    }
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let there: BTreeSet<String> = entries
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, known, "docs/schemas has files without a document");
}

/// Every command writes a document that is listed, or is in `NONE` with a reason.
#[test]
fn every_command_has_its_documents() {
    let command = Args::command();
    let mut leaves = Vec::new();
    for one in command.get_subcommands() {
        let mut below = one.get_subcommands().filter(|sub| sub.get_name() != "help").peekable();
        if below.peek().is_none() || one.get_name() == "export" {
            leaves.push(one.get_name().to_owned());
        } else {
            leaves.extend(below.map(|sub| format!("{} {}", one.get_name(), sub.get_name())));
        }
    }
    let writes = |leaf: &str| ALL.iter().any(|described| described.commands.contains(&leaf));
    for leaf in &leaves {
        let excused = NONE.iter().any(|(name, _)| name == leaf);
        assert!(writes(leaf) != excused, "`{leaf}`: documents {}, excused {excused}", writes(leaf));
    }
    for described in ALL {
        let strangers = described.commands.iter().filter(|name| **name != "any");
        let stranger = strangers.clone().find(|name| !leaves.iter().any(|leaf| leaf == *name));
        assert_eq!(stranger, None, "{}", described.name);
    }
    assert!(leaves.len() > 30, "{leaves:?}");
}

/// Each document named in this crate is in the list, once.
#[test]
fn every_document_is_listed() {
    let mut listed: Vec<&str> = ALL.iter().map(|described| described.name).collect();
    listed.sort_unstable();
    let all = listed.len();
    listed.dedup();
    assert_eq!(listed.len(), all);
    let mut named = BTreeSet::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut named);
    assert!(named.len() > 30, "{named:?}");
    let missing: Vec<&String> = named.iter().filter(|name| !listed.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Finds the names that the source passes to [`crate::output::Document`].
fn sources(folder: &Path, named: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, named);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        for (_, rest) in
            text.match_indices("Document::new(").map(|(at, found)| text.split_at(at + found.len()))
        {
            let name = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
            named.extend(name.filter(|name| name.starts_with("closc-")).map(str::to_owned));
        }
    }
}

/// The schema of platform files has its own keyword, because commands do not print such a document.
#[test]
fn platform_files_have_a_schema() {
    let schema: serde_json::Value = serde_json::from_str(super::PLATFORM).expect("it is JSON");
    assert!(schema["properties"]["panel"].is_object(), "it describes a platform");
}
