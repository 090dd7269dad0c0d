//! Generated files: written, or compared with the committed ones.
//!
//! In: paths and texts. Out: files, or the names of those that differ. Invariants: a folder that a task owns
//! contains nothing else, so the page of a retired rule is removed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// A generated file.
pub(crate) struct Generated {
    /// Its path from the root of the repository.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) text: String,
    /// Whether the task owns all files of its folder.
    pub(crate) owns_folder: bool,
}

impl Generated {
    /// Makes a file that shares its folder with others.
    pub(crate) fn file(path: impl Into<PathBuf>, text: String) -> Self {
        Generated { path: path.into(), text, owns_folder: false }
    }

    /// Makes a file of a folder that contains only generated ones.
    pub(crate) fn page(path: impl Into<PathBuf>, text: String) -> Self {
        Generated { path: path.into(), text, owns_folder: true }
    }
}

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is a folder of the repository").to_path_buf()
}

/// Writes files that differ, and removes other files in folders that belong to the task.
pub(crate) fn write(root: &Path, files: &[Generated]) -> anyhow::Result<()> {
    for file in files {
        let path = root.join(&file.path);
        if fs::read_to_string(&path).is_ok_and(|text| text == file.text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, &file.text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", file.path.display());
    }
    for path in stale_files(root, files)? {
        fs::remove_file(root.join(&path))?;
        println!("removed {}", path.display());
    }
    Ok(())
}

/// Compares files with the committed ones.
pub(crate) fn check(root: &Path, files: &[Generated], task: &str) -> anyhow::Result<()> {
    let differs =
        |file: &&Generated| fs::read_to_string(root.join(&file.path)).ok().as_ref() != Some(&file.text);
    let mut stale: Vec<PathBuf> = files.iter().filter(differs).map(|file| file.path.clone()).collect();
    stale.extend(stale_files(root, files)?);
    if stale.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = stale.iter().map(|path| format!("  {}", path.display())).collect();
    bail!("stale files, run `cargo xtask {task}`:\n{}", names.join("\n"))
}

/// Finds files of owned folders that are not generated any more.
fn stale_files(root: &Path, files: &[Generated]) -> anyhow::Result<Vec<PathBuf>> {
    let made: BTreeSet<&Path> = files.iter().map(|file| file.path.as_path()).collect();
    let owned = files.iter().filter(|file| file.owns_folder).filter_map(|file| file.path.parent());
    let folders: BTreeSet<&Path> = owned.collect();
    let mut found = Vec::new();
    for folder in folders {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let path = folder.join(entry?.file_name());
            if !made.contains(path.as_path()) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
