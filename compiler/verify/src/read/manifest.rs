//! The manifest of a tree, and the parts of the tree that are judged.

use camino::Utf8Path;
use closc_artefacts::{Files, Manifest, paths};

use crate::error::VerifyError;
use crate::slice::{Slice, TreeSelection};

/// Reads a manifest, and determines which parts of the tree are judged.
pub(crate) fn read(tree: &dyn Files, judged: &TreeSelection) -> Result<(Manifest, Slice), VerifyError> {
    let manifest = Manifest::read(tree)?;
    let slice = Slice::of(judged, &manifest)?;
    if slice.is_whole() {
        return Ok((manifest, slice));
    }
    if slice.is_empty() {
        return Err(VerifyError::Nothing);
    }
    let judged = manifest.files_below(Utf8Path::new(paths::HOSTS)).next();
    match judged.map(Utf8Path::to_owned) {
        Some(file) => Err(VerifyError::Nodes(file)),
        None => Ok((manifest, slice)),
    }
}
