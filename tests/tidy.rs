//! Rules about the tree itself: imports that crates may have, the beginning of files, and forbidden contents.

#[path = "tidy/additions.rs"]
mod additions;
#[path = "tidy/budget.rs"]
mod budget;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/english.rs"]
mod english;
#[path = "tidy/fields.rs"]
mod fields;
#[path = "tidy/locks.rs"]
mod locks;
#[path = "tidy/programs.rs"]
mod programs;
#[path = "tidy/public.rs"]
mod public;
#[path = "tidy/rooms.rs"]
mod rooms;
#[path = "tidy/shape.rs"]
mod shape;
#[path = "tidy/walks.rs"]
mod walks;
#[path = "tidy/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};

use words::has_phrase;

/// The stages in order. A crate may import only crates of earlier lines, and none of its own line. `paths`
/// and `runtime` are independent, so that hosts and other controllers can use them alone. `deploy` connects
/// to switches and reads trees, so it comes before all stages that plan. It reads factory settings of
/// `platform`.
const STAGES: &[&[&str]] = &[
    &["budget"],
    &["diagnostics", "files", "http", "log", "manual", "paths", "qos", "runtime", "sonic"],
    &["artefacts", "audit"],
    &["platform", "paths-engine", "conformance"],
    &["deploy"],
    &["topology", "hwsku", "nic"],
    &["fabric", "design"],
    &["plan"],
    &["cabling", "render", "entries", "verify", "switch"],
    &["compile", "diff", "exports", "tables", "whatif", "te", "collect", "provision"],
    &["import", "lab", "lsp", "report"],
    &["cli", "playground"],
];

/// Imports that the order allows but the design does not.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("qos", "diagnostics", "formulas report typed errors; the topology turns them into diagnostics"),
    ("switch", "plan", "the switch is a target: it knows P4 and nothing of fabrics"),
    ("switch", "topology", "the switch is a target: it knows P4 and nothing of fabrics"),
    ("whatif", "render", "what failures cost follows from the wiring, not from artefacts"),
    ("whatif", "verify", "what failures cost follows from the wiring, not from artefacts"),
    ("verify", "plan", "the second reader never asks the planner"),
    ("verify", "fabric", "the second reader never asks the planner"),
    ("verify", "topology", "the second reader never asks the planner"),
    ("verify", "render", "the second reader reads bytes"),
    ("render", "fabric", "intents say all that render needs"),
];

/// Programs of nodes, below host/.
const HOST_CRATES: &[&str] = &["paths-engine", "nic"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is a folder of the workspace").to_owned()
}

fn stage_of(name: &str) -> Option<usize> {
    STAGES.iter().position(|stage| stage.contains(&name))
}

/// The folders of the crates, by their short names.
fn crates() -> BTreeMap<String, PathBuf> {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo knows the workspace");
    let folder = |package: &cargo_metadata::Package| {
        let name = package
            .name
            .strip_prefix("closc-")
            .filter(|name| !["tests", "skip", "browser"].contains(name))?;
        Some((name.to_owned(), package.manifest_path.parent()?.as_std_path().to_owned()))
    };
    metadata.packages.iter().filter_map(folder).collect()
}

/// A source without its comments and without code for tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let plain = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    plain.fold(String::new(), |all, line| all + line + "\n")
}

fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo knows the workspace");
    let short = |name: &str| name.strip_prefix("closc-").map(str::to_owned);
    metadata
        .packages
        .iter()
        .filter_map(|package| {
            let own = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind == DependencyKind::Normal)
                .filter_map(|dependency| short(&dependency.name));
            Some((short(&package.name)?, own.collect()))
        })
        .collect()
}

#[test]
fn stages_import_only_earlier_ones() {
    let imports = imports();
    assert!(imports.len() > 5, "cargo metadata lists the crates");
    for (importer, imported) in
        imports.iter().filter(|(name, _)| !["tests", "skip", "browser"].contains(&name.as_str()))
    {
        let Some(stage) = stage_of(importer) else {
            panic!("closc-{importer} is in no stage of {}", file!())
        };
        for import in imported {
            let earlier = stage_of(import).is_some_and(|other| other < stage);
            assert!(earlier, "closc-{importer} imports closc-{import}, which is not of an earlier stage");
            let forbidden = FORBIDDEN.iter().find(|(a, b, _)| a == importer && b == import);
            assert!(forbidden.is_none(), "closc-{importer} imports closc-{import}: {forbidden:?}");
        }
    }
}

/// The compiler does not run on hosts. Programs of hosts import only the crates that read its tables, write
/// manuals, serve HTTP and limit input.
#[test]
fn host_crates_import_the_reader_of_tables_only() {
    let imports = imports();
    for importer in HOST_CRATES {
        let imported = imports.get(*importer).unwrap_or_else(|| panic!("there is no closc-{importer}"));
        for import in imported {
            let allowed = ["paths", "manual", "http", "budget", "audit", "log"].contains(&import.as_str())
                || HOST_CRATES.contains(&import.as_str());
            assert!(allowed, "closc-{importer} runs on hosts and imports closc-{import}");
        }
    }
}

/// Text files that git tracks or would track.
fn files(ending: &str) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root())
        .output();
    // Git also rejects a tree that belongs to another user, or that is not a checkout.
    let Some(output) = listed.ok().filter(|output| output.status.success()) else {
        closc_skip::skip("git does not list the files of the tree, so they are not looked at");
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout)
        .split('\0')
        .filter(|path| path.ends_with(ending))
        .map(|path| root().join(path))
        .filter(|path| path.is_file())
        .collect()
}

#[test]
fn every_rust_file_says_what_it_is_about() {
    for file in files(".rs") {
        let text = fs::read_to_string(&file).expect("a tracked file can be read");
        assert!(text.starts_with("//!"), "{} does not open with //!", file.display());
    }
}

#[test]
fn no_rust_file_grows_past_a_screenful_of_screens() {
    for file in files(".rs") {
        let lines = fs::read_to_string(&file).expect("a tracked file can be read").lines().count();
        assert!(lines <= 900, "{} has {lines} lines: split it", file.display());
    }
}

#[test]
fn every_shipped_topology_names_its_schema() {
    // Scenarios of labs and platforms are not fabrics; the lab's tests and shipped.rs read them.
    let others = ["topologies/lab/scenarios", "topologies/reference/platforms"];
    let is_fabric = |file: &PathBuf| {
        !file.parent().is_some_and(|folder| others.iter().any(|other| folder.ends_with(other)))
    };
    let below = root().join("topologies");
    let shipped: Vec<PathBuf> =
        files(".yaml").into_iter().filter(|f| f.starts_with(&below)).filter(is_fabric).collect();
    for file in &shipped {
        let text = fs::read_to_string(file).expect("a tracked file can be read");
        let depth = file.strip_prefix(&below).map_or(0, |path| path.components().count());
        let up = "../".repeat(depth - 1);
        assert!(
            text.starts_with(&format!("# yaml-language-server: $schema={up}topology.schema.json\n")),
            "{} does not name its schema in the first line",
            file.display()
        );
    }
}

#[test]
fn folders_that_people_open_have_a_readme() {
    let wanted = [
        "compiler",
        "host",
        "host/collect",
        "host/nic",
        "host/paths-engine",
        "p4",
        "templates",
        "topologies",
        "tests",
        "p4/runtime",
        "p4/switch",
        "p4/deploy",
        "p4/pipelines",
    ];
    for folder in wanted {
        assert!(root().join(folder).join("README.md").is_file(), "{folder} has no README.md");
    }
}

#[test]
fn nothing_is_left_unfinished() {
    // Written in two halves, so that this file does not match itself.
    let words =
        [["todo", "!("], ["unimplemented", "!("], ["#[ign", "ore]"], ["dbg", "!("]].map(|w| w.concat());
    for file in files(".rs") {
        let text = fs::read_to_string(&file).expect("a tracked file can be read");
        for word in &words {
            assert!(!text.contains(word.as_str()), "{} contains {word}", file.display());
        }
    }
}

/// Dependencies that no source names, each with the reason.
const NAMED_BY_NOBODY: &[(&str, &str, &str)] =
    &[("closc-runtime", "tonic-prost", "the code that its build script makes names it")];

/// The sources of a crate, and the files that its tests include from other folders with `#[path]`.
fn sources(folder: &Path) -> String {
    let below = |folder: &Path| files(".rs").into_iter().filter(|file| file.starts_with(folder)).collect();
    let mut open: Vec<PathBuf> = below(folder);
    let (mut read, mut text) = (BTreeSet::new(), String::new());
    while let Some(file) = open.pop() {
        if !read.insert(file.clone()) {
            continue;
        }
        let source = fs::read_to_string(&file).expect("a tracked file can be read");
        for included in source.split("#[path = \"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let place = file.parent().expect("a file is in a folder").join(included);
            // The file does not exist if the text belongs to a test like this one.
            let Ok(place) = place.canonicalize() else { continue };
            let modules: Vec<PathBuf> = below(place.parent().expect("a file is in a folder"));
            open.extend(modules.into_iter().chain([place]));
        }
        text.push_str(&source);
    }
    text
}

#[test]
fn every_dependency_is_used() {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo knows the workspace");
    if files(".rs").is_empty() {
        return;
    }
    let mut unused = Vec::new();
    for package in &metadata.packages {
        let folder = package.manifest_path.parent().expect("a manifest is in a folder");
        let text = sources(folder.as_std_path());
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
            let own = (package.name.as_str(), dependency.name.as_str());
            let is_kept = NAMED_BY_NOBODY.iter().any(|(package, name, _)| own == (*package, *name));
            if !has_phrase(&text, &name) && !is_kept {
                unused.push(format!("{} names {} nowhere", package.name, dependency.name));
            }
        }
    }
    assert!(unused.is_empty(), "dependencies that nothing uses:\n{}", unused.join("\n"));
}
