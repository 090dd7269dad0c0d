//! Opens compiled trees: folders, and archives on disk or in an object store, which are read without unpacking.

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths::MANIFEST;
use closc_artefacts::{Files, Manifest};
use closc_compile::{Folder, PackedTree, SignedTree, TrustedKey};

use crate::objects;

/// File name extension of archives.
const ARCHIVE: &str = ".tar.zst";

/// Returns whether a place is an archive. This depends only on its name, because an output may not exist yet.
pub(crate) fn is_archive(place: &Utf8Path) -> bool {
    has_archive_name(place) && (objects::is_object(place) || !place.is_dir())
}

/// Returns whether a place has the name of an archive.
pub(crate) fn has_archive_name(place: &Utf8Path) -> bool {
    place.as_str().ends_with(ARCHIVE)
}

/// Reads the manifest of a tree.
pub fn manifest(tree: &Utf8Path) -> anyhow::Result<Manifest> {
    Manifest::read(&*files(tree)?).with_context(|| format!("`{tree}`"))
}

/// Opens a folder or an archive; the error for another file names the folder that was probably meant.
fn files(tree: &Utf8Path) -> anyhow::Result<Box<dyn Files>> {
    if objects::is_object(tree) {
        objects::require_archive(tree)?;
        return Ok(Box::new(PackedTree::of(tree, objects::blob(tree)?)?));
    }
    if !tree.exists() {
        bail!("`{tree}` does not exist: name the folder that `closc compile --out` wrote");
    }
    if !tree.is_file() {
        return Ok(Box::new(Folder::new(tree)));
    }
    if is_archive(tree) {
        return Ok(Box::new(PackedTree::open(tree)?));
    }
    if tree.file_name() == Some(MANIFEST) {
        let folder = tree.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        bail!("`{tree}` is a file of a compiled tree: name the folder, `{folder}`");
    }
    bail!("`{tree}` is a file: name the folder of a compiled tree, or its archive (`{ARCHIVE}`)")
}

/// Returns the name of the fabric that a tree was compiled from.
pub fn fabric(tree: &Utf8Path) -> anyhow::Result<String> {
    Ok(manifest(tree)?.fabric)
}

/// Keys that must have signed a tree, and the required number of signatures.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a> {
    pub public: &'a [Utf8PathBuf],
    /// `None` requires all keys.
    pub needed: Option<u32>,
}

/// Opens a tree; fails if a required signature is missing.
pub fn open(tree: &Utf8Path, keys: Keys<'_>) -> anyhow::Result<Box<dyn Files>> {
    let files = files(tree)?;
    if keys.public.is_empty() {
        return Ok(files);
    }
    let needed = keys.needed.map(|needed| needed as usize);
    if needed.is_some_and(|needed| needed > keys.public.len()) {
        bail!("`--signatures` is more than the {} keys that are given", keys.public.len());
    }
    let signees = keys.public.iter().map(|key| TrustedKey::read(key)).collect::<Result<Vec<_>, _>>()?;
    let signed = SignedTree::open(files, &signees, needed).with_context(|| format!("`{tree}`"))?;
    Ok(Box::new(signed))
}
