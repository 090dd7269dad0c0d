//! Kinds of files. Each kind in a tree must be damaged.
//!
//! In: all trees, and the names of files in [`closc_artefacts::paths`]. The test fails for a new kind of file,
//! operating system or node output until cases damage it.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use closc_platform::Os;
use closc_topology::HostOutput;

use crate::base::{Base, Trees};
use crate::generated::cases;

/// Files that are outside of trees, or damaged in other tests.
const BESIDE: [(&str, &str); 1] = [(
    "manifest.json.sig",
    "the signature of the manifest, which `closc verify --key` reads before anything else",
)];

/// Returns the kind of a file: its path without device names and numbers.
fn kind(path: &Utf8Path) -> String {
    let parts: Vec<&str> = path.iter().collect();
    match parts.as_slice() {
        ["switches", _, name] => format!("switches/*/{name}"),
        ["hosts", _, "networkd", unit] => format!("hosts/*/networkd/{}", crate::generated::unit(unit)),
        ["hosts", _, "closc", _] => "hosts/*/closc/nicN.env".to_owned(),
        ["hosts", _, name] => format!("hosts/*/{name}"),
        ["cables", _] => "cables/*.csv".to_owned(),
        ["path-tables", name] => format!("path-tables/*.{}", name.rsplit('.').next().unwrap_or_default()),
        ["p4", name] => format!("p4/*.{}", name.split_once('.').map_or("", |(_, rest)| rest)),
        _ => path.to_string(),
    }
}

/// Returns the kinds of files that cases damage.
fn damaged_kinds(trees: &Trees) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for case in cases(trees) {
        // Damaging one table or line of a file is sufficient.
        let section = (case.section.clone(), case.base);
        if seen.contains(&section) {
            continue;
        }
        let own = trees.tree(case.base);
        let mut tree = own.clone();
        (case.damage)(&mut tree);
        let differs = own.files.iter().filter(|(path, bytes)| tree.files.get(*path) != Some(*bytes));
        let kinds: Vec<String> = differs.map(|(path, _)| kind(path)).collect();
        if !kinds.is_empty() {
            seen.insert(section);
        }
        found.extend(kinds);
    }
    found
}

#[test]
fn every_kind_of_file_is_damaged() {
    let trees = Trees::new();
    let damaged = damaged_kinds(&trees);
    let mut kinds: BTreeMap<String, Base> = BTreeMap::new();
    for base in Base::ALL {
        kinds.extend(trees.tree(base).files.keys().map(|path| (kind(path), base)));
    }
    let missing: Vec<_> = kinds.iter().filter(|(kind, _)| !damaged.contains(*kind)).collect();
    assert!(missing.is_empty(), "kinds of files that nothing damages: {missing:?}");
}

#[test]
fn trees_have_every_file_name_system_and_output_that_there_is() {
    let trees = Trees::new();
    let mut names = BTreeSet::new();
    let (mut systems, mut outputs) = (BTreeSet::new(), BTreeSet::new());
    for base in Base::ALL {
        names.extend(trees.tree(base).files.keys().filter_map(|path| path.file_name().map(str::to_owned)));
        let plan = trees.plan(base);
        systems.extend(plan.kinds().into_iter().map(|switch| plan.os(switch)));
        outputs.extend(plan.topology().hosts.outputs.iter().copied());
    }
    let missing: Vec<Os> = Os::ALL.into_iter().filter(|os| !systems.contains(os)).collect();
    assert!(missing.is_empty(), "no tree runs {missing:?}");
    let missing: Vec<HostOutput> =
        HostOutput::ALL.into_iter().filter(|output| !outputs.contains(output)).collect();
    assert!(missing.is_empty(), "no tree has {missing:?}");
    let source = include_str!("../../../../artefacts/src/paths.rs");
    let named = source.lines().filter_map(|line| {
        let text = line.strip_prefix("pub const ")?.split_once("&str = \"")?.1;
        text.strip_suffix("\";")
    });
    let is_file = |name: &&str| name.contains('.') || *name == "daemons";
    let beside = |name: &str| BESIDE.iter().any(|(known, _)| *known == name);
    let files: Vec<&str> = named.filter(is_file).collect();
    assert!(files.len() > 10, "{files:?}");
    let missing: Vec<&&str> = files.iter().filter(|name| !names.contains(**name) && !beside(name)).collect();
    assert!(missing.is_empty(), "no tree has {missing:?}");
}
