//! Modules of a crate must not depend on each other in cycles.
//!
//! In: the sources of a crate. Out: its modules that are in a cycle. A module is a file with the folder of
//! its name; dependencies on its parent and its children do not count. The use of a re-exported name counts
//! as a use of the module that defines it. Tests are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{code, crates};

/// The path of a module in its crate; empty for the crate itself.
type Module = Vec<String>;

/// The modules of a crate and their text.
fn modules(folder: &Path, at: &Module, found: &mut BTreeMap<Module, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry of a folder of sources").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let mut module = at.clone();
        if path.is_dir() {
            module.push(name);
            modules(&path, &module, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            if name == "tests" {
                continue;
            }
            if !["lib", "main", "mod"].contains(&name.as_str()) {
                module.push(name);
            }
            let text = fs::read_to_string(&path).expect("a source can be read");
            found.entry(module).or_default().push_str(&code(&text));
        }
    }
}

/// Every path of a tree of imports, for example `a::{b, c::{d, e}}`.
fn expand(prefix: &[String], tree: &str, out: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (head, rest) = tree.split_once('{').map_or((tree, None), |(head, rest)| (head, Some(rest)));
    let head = head.split(" as ").next().unwrap_or_default();
    let mut path = prefix.to_vec();
    path.extend(head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned));
    let Some(rest) = rest else {
        out.push(path);
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, sign) in rest.char_indices() {
        match sign {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                if !rest[start..at].trim().is_empty() {
                    expand(&path, &rest[start..at], out);
                }
                start = at + 1;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
}

/// The imports of a module: whether they are re-exported, and their path.
fn imports(text: &str) -> Vec<(bool, Vec<String>)> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let line = text[..at].rsplit('\n').next().unwrap_or_default().trim();
        if !(line.is_empty() || line == "pub" || line.starts_with("pub(") && line.ends_with(')')) {
            continue;
        }
        let mut paths = Vec::new();
        expand(&[], text[at + 4..].split(';').next().unwrap_or_default(), &mut paths);
        out.extend(paths.into_iter().map(|path| (!line.is_empty(), path)));
    }
    out
}

/// Paths that are written in full where they are used.
fn inline_paths(text: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(start) {
            if text[..at].ends_with(|sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':') {
                continue;
            }
            let end = |sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == ':');
            let path = text[at..].split(end).next().unwrap_or_default();
            out.push(path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect());
        }
    }
    out
}

/// Makes a path absolute within the crate; `None` for a path of another crate.
fn absolute(module: &Module, path: &[String], known: &BTreeMap<Module, String>) -> Option<Vec<String>> {
    let mut base = module.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        child => {
            base.push(child.to_owned());
            return known.contains_key(&base).then(|| [module, path].concat());
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// The module that defines an item, even if others re-export it.
fn origin(
    path: &[String],
    known: &BTreeMap<Module, String>,
    exported: &BTreeMap<(Module, String), Vec<String>>,
    depth: usize,
) -> Module {
    let held = (0..=path.len()).rev().find(|length| known.contains_key(&path[..*length])).unwrap_or(0);
    let (module, rest) = path.split_at(held);
    let again = rest.first().and_then(|name| exported.get(&(module.to_vec(), name.clone())));
    match again {
        Some(further) if depth > 0 && further != path => origin(further, known, exported, depth - 1),
        Some(_) | None => module.to_vec(),
    }
}

/// The cycles among modules of the same folder, each with its folder.
fn circles(source: &Path) -> Vec<(String, BTreeSet<String>)> {
    let mut known = BTreeMap::new();
    modules(source, &Vec::new(), &mut known);
    let mut exported = BTreeMap::new();
    for (module, text) in &known {
        for (_, path) in imports(text).into_iter().filter(|(again, _)| *again) {
            if let (Some(name), Some(from)) = (path.last().cloned(), absolute(module, &path, &known)) {
                exported.insert((module.clone(), name), from);
            }
        }
    }
    let mut edges: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (module, text) in &known {
        let paths = imports(text).into_iter().filter(|(again, _)| !again).map(|(_, path)| path);
        for path in paths.chain(inline_paths(text)) {
            let Some(path) = absolute(module, &path, &known) else { continue };
            let other = origin(&path, &known, &exported, 4);
            let common = module.iter().zip(&other).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (module.get(common), other.get(common)) {
                let folder = edges.entry(module[..common].to_vec()).or_default();
                folder.entry(a.clone()).or_default().insert(b.clone());
            }
        }
    }
    edges
        .iter()
        .flat_map(|(folder, edges)| module_cycles(edges).into_iter().map(|c| (folder.join("::"), c)))
        .collect()
}

/// Groups of modules that all reach each other.
fn module_cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &String| -> BTreeSet<String> {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            open.extend(edges.get(next).into_iter().flatten().filter(|to| found.insert((*to).clone())));
        }
        found
    };
    let all: BTreeMap<&String, BTreeSet<String>> = edges.keys().map(|from| (from, reached(from))).collect();
    let circle = |from: &&String| -> Option<BTreeSet<String>> {
        let own = all.get(from)?;
        let back = |to: &&String| all.get(*to).is_some_and(|theirs| theirs.contains(*from));
        own.contains(*from).then(|| own.iter().filter(back).cloned().collect())
    };
    all.keys().filter_map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn no_crate_has_modules_that_need_each_other() {
    let found = |(name, folder): (String, PathBuf)| {
        let circles = circles(&folder.join("src")).into_iter();
        circles.map(move |(folder, circle)| format!("closc-{name}, in `{folder}`: {circle:?}"))
    };
    let wrong: Vec<String> = crates().into_iter().flat_map(found).collect();
    assert!(wrong.is_empty(), "modules that need each other:\n{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found_through_what_is_exported_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let place = folder.path().join(name);
        fs::create_dir_all(place.parent().expect("it has one")).expect("a folder");
        fs::write(place, text).expect("it is ours");
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::{B, other::O};\n");
    write("a.rs", "use crate::B;\npub struct A(B);\n");
    write("b.rs", "pub mod other;\n// use crate::c::C;\npub struct B;\n");
    write("b/other.rs", "pub struct O;\npub fn a() -> crate::a::A { super::super::a::A }\n");
    write("c.rs", "use crate::{O, a::A};\n");
    write("a/tests.rs", "use crate::c::C;\n");
    let circle = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
    assert_eq!(circles(folder.path()), [(String::new(), circle)]);
}
