//! Test programs: one per crate, because each links the workspace again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{files, root};

/// Further test programs, and why each needs a process of its own.
const SEPARATE: &[(&str, &str)] = &[
    ("compiler/compile/tests/revisions.rs", "changes the working directory of its process"),
    ("compiler/topology/tests/errors.rs", "has one test per file, from its own runner"),
    ("compiler/topology/tests/hostile.rs", "counts the memory of its process"),
    ("compiler/topology/tests/shipped.rs", "has one test per file, from its own runner"),
    ("host/paths-engine/tests/c.rs", "needs the feature `c`"),
    ("host/paths-engine/tests/no_allocation.rs", "counts the allocations of its process"),
];

#[test]
fn each_crate_has_one_test_program() {
    let mut programs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in
        files(".rs").iter().filter_map(|path| path.strip_prefix(root()).ok()).map(Path::to_string_lossy)
    {
        let Some((owner, file)) = path.split_once("/tests/").filter(|_| !path.starts_with("tests/")) else {
            continue;
        };
        let is_program =
            !file.contains('/') || (file.ends_with("/main.rs") && file.matches('/').count() == 1);
        if is_program && !SEPARATE.iter().any(|(separate, _)| *separate == path) {
            programs.entry(owner.to_owned()).or_default().push(path.to_string());
        }
    }
    let several: Vec<_> = programs.values().filter(|programs| programs.len() > 1).collect();
    assert!(several.is_empty(), "add these to `tests/it/main.rs` of their crate: {several:?}");
    for (path, reason) in SEPARATE {
        assert!(root().join(path).exists(), "`{path}` ({reason}) does not exist");
    }
}

/// A file without a `mod` line is not compiled, and cargo does not report it.
#[test]
fn each_file_of_a_test_program_is_compiled() {
    let all = files(".rs");
    let folders =
        all.iter().filter(|path| path.ends_with("tests/it/main.rs")).filter_map(|path| path.parent());
    let mut orphans = Vec::new();
    for folder in folders {
        let texts: String = all
            .iter()
            .filter(|path| path.starts_with(folder))
            .map(|path| fs::read_to_string(path).expect("git lists it"))
            .collect();
        let is_declared =
            |name: &str| texts.contains(&format!("mod {name};")) || texts.contains(&format!("/{name}.rs\"]"));
        for path in all.iter().filter(|path| path.starts_with(folder) && !path.ends_with("main.rs")) {
            let module =
                if path.ends_with("mod.rs") { path.parent().unwrap_or(path) } else { path.as_path() };
            let name = module.file_stem().unwrap_or_default().to_string_lossy();
            if !is_declared(&name) {
                orphans.push(path.display().to_string());
            }
        }
    }
    assert!(orphans.is_empty(), "no `mod` line names {orphans:?}");
}
