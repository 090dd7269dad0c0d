//! Compiled trees, as commands are given them.

use anyhow::Context as _;
use camino::Utf8Path;
use closc_artefacts::{Files, Folder, Manifest};
use closc_compile::{SignedTree, Signee};

/// Reads the manifest of a tree.
pub fn manifest(tree: &Utf8Path) -> anyhow::Result<Manifest> {
    Manifest::read(&Folder::new(tree)).with_context(|| format!("`{tree}`"))
}

/// Returns the name of the fabric that a tree was compiled from.
pub fn fabric(tree: &Utf8Path) -> anyhow::Result<String> {
    Ok(manifest(tree)?.fabric)
}

/// Opens a tree; one that has to be signed by a key is refused where it is not.
pub fn open(tree: &Utf8Path, key: Option<&Utf8Path>) -> anyhow::Result<Box<dyn Files>> {
    let folder = Folder::new(tree);
    Ok(match key {
        None => Box::new(folder),
        Some(key) => {
            Box::new(SignedTree::open(folder, &Signee::read(key)?).with_context(|| format!("`{tree}`"))?)
        }
    })
}
