//! Compiled trees, as commands are given them.

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_artefacts::paths::MANIFEST;
use closc_artefacts::{Files, Folder, Manifest};
use closc_compile::{SignedTree, Signee};

/// Reads the manifest of a tree.
pub fn manifest(tree: &Utf8Path) -> anyhow::Result<Manifest> {
    is_folder(tree)?;
    Manifest::read(&Folder::new(tree)).with_context(|| format!("`{tree}`"))
}

/// Refuses a file, with the folder that was meant.
fn is_folder(tree: &Utf8Path) -> anyhow::Result<()> {
    if !tree.is_file() {
        return Ok(());
    }
    if tree.file_name() == Some(MANIFEST) {
        let folder = tree.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        bail!("`{tree}` is a file of a compiled tree: name the folder, `{folder}`");
    }
    if tree.as_str().ends_with(".tar.zst") {
        bail!("`{tree}` is an archive: unpack it with `tar --zstd -xf {tree}`, and name the folder");
    }
    bail!("`{tree}` is a file: name the folder of a compiled tree")
}

/// Returns the name of the fabric that a tree was compiled from.
pub fn fabric(tree: &Utf8Path) -> anyhow::Result<String> {
    Ok(manifest(tree)?.fabric)
}

/// Opens a tree; one that has to be signed by a key is refused where it is not.
pub fn open(tree: &Utf8Path, key: Option<&Utf8Path>) -> anyhow::Result<Box<dyn Files>> {
    is_folder(tree)?;
    let folder = Folder::new(tree);
    Ok(match key {
        None => Box::new(folder),
        Some(key) => {
            Box::new(SignedTree::open(folder, &Signee::read(key)?).with_context(|| format!("`{tree}`"))?)
        }
    })
}
