//! Paths of the language in sources: code uses a [`Field`](closc_topology::Field), and text names only existing fields.

use std::fs;
use std::path::Path;

use closc_topology::Field;

use super::{files, root};

/// Crates that mention fields: those that use the language, and those below it whose texts name fields.
const CRATES: &[&str] =
    &["cli", "compile", "diff", "fabric", "lab", "plan", "platform", "qos", "te", "topology", "whatif"];

/// Paths that are bare strings, each with the reason.
const BARE: &[(&str, &str, &str)] = &[
    (
        "compiler/platform/src/capability.rs",
        "",
        "the matrix is below the language; the next test holds its paths",
    ),
    ("compiler/diff/src/change.rs", "", "the tables of settings, whose macros make a field of each path"),
];

/// Dotted names in texts that are not fields, each with the reason.
const NO_FIELDS: &[(&str, &str)] = &[("qos.trimmed", "a key of path tables, in the document about hosts")];

/// The part of a source that is compiled into a program, without comments.
fn program(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.fold(String::new(), |all, line| all + line + "\n")
}

/// The sources of a crate, below its `src`.
fn sources() -> Vec<(String, String)> {
    let folders: Vec<_> = CRATES.iter().map(|name| root().join("compiler").join(name).join("src")).collect();
    let is_source = |file: &Path| folders.iter().any(|folder| file.starts_with(folder));
    files(".rs")
        .into_iter()
        .filter(|file| is_source(file))
        .map(|file| {
            let path = file.strip_prefix(root()).expect("it is a file of the tree").display().to_string();
            (path, fs::read_to_string(&file).expect("a tracked file can be read"))
        })
        .collect()
}

/// Returns whether a text has the form of a path: keys with dots between them.
fn is_path(text: &str) -> bool {
    let is_key = |key: &str| {
        !key.is_empty()
            && key
                .chars()
                .all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || "_-*{}[]".contains(sign))
    };
    text.contains('.') && text.split('.').all(is_key)
}

/// Returns whether the language has a field of a path, in which a text may use placeholders for keys:
/// `tiers.{}.up`.
fn is_field(path: &str) -> bool {
    let path = path.replace("[]", ".[]");
    if Field::is_declared(&path) {
        return true;
    }
    let path = path.replacen('*', "{}", 1);
    let Some((before, rest)) = path.split_once('{') else { return false };
    let Some((_, after)) = rest.split_once('}') else { return false };
    ["t0", "t1", "t2", "node", "nic", "down", "up", "*", "active"]
        .iter()
        .any(|key| is_field(&format!("{before}{key}{after}")))
}

#[test]
fn no_path_of_a_field_is_a_bare_string() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let is_kept = |literal: &str| {
            BARE.iter().any(|(kept, what, _)| *kept == path && (what.is_empty() || *what == literal))
        };
        let text = program(&text);
        let parts: Vec<&str> = text.split('"').collect();
        for (at, literal) in parts.iter().enumerate().skip(1).filter(|(at, _)| at % 2 == 1) {
            let before = parts[at - 1].trim_end();
            let is_made = ["field!(", "tier_field!(", "concat!(", "ports!("]
                .iter()
                .any(|start| before.ends_with(start));
            if is_path(literal) && Field::is_declared(literal) && !is_made && !is_kept(literal) {
                found.push(format!("{path}: \"{literal}\""));
            }
        }
    }
    assert!(found.is_empty(), "write `field!(..)`, which refuses a path that is none:\n{}", found.join("\n"));
}

/// The fields that a row of the capability matrix names: `a.b, c` is two fields of one mapping, and keywords
/// of a value follow its key.
fn named_fields(settings: &str) -> Vec<String> {
    let (mut found, mut is_value): (Vec<String>, bool) = (Vec::new(), false);
    for part in settings.split(", ") {
        let part = part.trim_start_matches("with ");
        if let Some((key, _)) = part.split_once(": ") {
            is_value = true;
            found.push(key.to_owned());
        } else if !is_value {
            let beside = found.last().and_then(|last| last.rsplit_once('.'));
            let is_beside = !part.contains('.') && !Field::is_declared(part);
            found.push(match beside {
                Some((mapping, _)) if is_beside => format!("{mapping}.{part}"),
                Some(_) | None => part.to_owned(),
            });
        }
    }
    found
}

#[test]
fn what_a_target_can_do_is_said_of_fields() {
    for capability in closc_platform::capability::Capability::ALL {
        for setting in named_fields(capability.settings()) {
            assert!(is_field(&setting), "`{setting}` of {capability:?} is not a field of the language");
        }
    }
    assert_eq!(named_fields("a.b, c"), ["a.b", "a.c"]);
    assert_eq!(named_fields("exceptions, with routing: x, y"), ["exceptions", "routing"]);
}

/// Messages, rules and documents name only fields that exist in the language.
#[test]
fn texts_name_fields_that_there_are() {
    let top = [
        "addresses",
        "cables",
        "ecmp",
        "entropy",
        "exceptions",
        "hosts",
        "mtu",
        "naming",
        "qos",
        "srv6",
        "tiers",
    ];
    let mut found = Vec::new();
    let documents = files(".md").into_iter().filter_map(|file| {
        let path = file.strip_prefix(root()).expect("it is a file of the tree").display().to_string();
        let is_ours = path.starts_with("docs/") || path == "README.md";
        is_ours.then(|| (path, fs::read_to_string(&file).expect("a tracked file can be read")))
    });
    let sources = sources().into_iter().map(|(path, text)| (path, program(&text)));
    for (path, text) in sources.chain(documents) {
        for line in text.lines() {
            for word in line.split('`').skip(1).step_by(2).filter(|word| is_path(word)) {
                let starts = top.iter().any(|key| word.split('.').next() == Some(key));
                let is_kept = NO_FIELDS.iter().any(|(kept, _)| *kept == word);
                if starts && !is_field(word) && !is_kept {
                    found.push(format!("{path}: `{word}`"));
                }
            }
        }
    }
    assert!(found.is_empty(), "the language has no such field:\n{}", found.join("\n"));
}
