//! Lock files of separate builds (fuzz targets, unsafe code under a sanitizer) must match the workspace.
//! `--locked` would reject an outdated one too, but those builds run last. This test needs no registry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::{files, root};

/// The packages of a `Cargo.lock` and their dependencies, by name.
fn lock_packages(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut name = "";
    for line in text.lines() {
        if let Some(own) = line.strip_prefix("name = ") {
            name = own.trim_matches('"');
            packages.entry(name).or_default();
        } else if let Some(dependency) = line.strip_prefix(" \"") {
            // If the file has several versions of a package, its name is followed by one: "nix 0.31.3".
            let dependency = dependency.split(['"', ' ']).next().unwrap_or_default();
            packages.entry(name).or_default().insert(dependency);
        }
    }
    packages
}

#[test]
fn locks_of_builds_apart_follow_the_workspace() {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo knows the workspace");
    let places = files("Cargo.lock");
    if places.is_empty() {
        return;
    }
    let mut behind = Vec::new();
    let mut compared = 0;
    for place in places.into_iter().filter(|place| *place != root().join("Cargo.lock")) {
        let text = fs::read_to_string(&place).expect("a lock file is text");
        let locked = lock_packages(&text);
        for package in &metadata.packages {
            let Some(listed) = locked.get(package.name.as_str()) else { continue };
            compared += 1;
            // Dev-dependencies are not built here.
            let built =
                || package.dependencies.iter().filter(|other| other.kind != DependencyKind::Development);
            let wanted = built().filter(|other| !other.optional).map(|other| other.name.as_str());
            let missing = wanted.filter(|name| !listed.contains(name));
            let named: BTreeSet<&str> = built().map(|other| other.name.as_str()).collect();
            let gone = listed.iter().copied().filter(|name| !named.contains(name));
            let difference: Vec<&str> = missing.chain(gone).collect();
            if !difference.is_empty() {
                behind.push(format!("{}: {} and {}", place.display(), package.name, difference.join(", ")));
            }
        }
    }
    assert!(compared > 5, "fuzz targets use crates of the workspace");
    assert!(behind.is_empty(), "run `cargo update --workspace` in the folders of:\n{}", behind.join("\n"));
}
