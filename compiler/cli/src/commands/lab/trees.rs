//! Where labs have their trees if they are brought up from fabric files: beside their state.
//!
//! In: the options of labs. Out: a folder for each fabric. Invariants: a tree is there as long as a lab is up that was
//! brought up from it, and no longer.

use std::io::ErrorKind;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_lab::Options;

/// Returns where the file of a fabric is compiled to, in a folder that is its owner's alone.
pub fn place(options: &Options, fabric: &str) -> anyhow::Result<Utf8PathBuf> {
    let trees = folder(options);
    closc_lab::make_private(&trees)?;
    Ok(trees.join(fabric))
}

fn folder(options: &Options) -> Utf8PathBuf {
    options.runtime.with_file_name("trees")
}

/// Removes the tree of a fabric, and what is beside it, unless a lab is up that was brought up from it.
pub fn clear(options: &Options, fabric: &str) -> anyhow::Result<()> {
    let trees = folder(options);
    let tree = trees.join(fabric);
    let used = |tree: &Utf8Path| tree.canonicalize_utf8().unwrap_or_else(|_| tree.to_owned());
    if closc_lab::list(options)?.iter().any(|lab| lab.fabric == fabric && used(&lab.tree) == used(&tree)) {
        return Ok(());
    }
    remove(std::fs::remove_dir_all(&tree), &tree)?;
    let beside = trees.join(format!(".{fabric}.closc"));
    remove(std::fs::remove_file(&beside), &beside)?;
    // It goes when it is empty.
    let _ = std::fs::remove_dir(&trees);
    Ok(())
}

fn remove(removed: std::io::Result<()>, path: &Utf8Path) -> anyhow::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{path}`"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
