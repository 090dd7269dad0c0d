//! The manifest of a tree that is proved: it has to be whole.

use closc_artefacts::{Files, Manifest};

use crate::error::VerifyError;

/// Reads the manifest of a whole tree.
pub(crate) fn read(tree: &dyn Files) -> Result<Manifest, VerifyError> {
    let manifest = Manifest::read(tree)?;
    match manifest.selection {
        Some(selection) => Err(VerifyError::Partial(selection)),
        None => Ok(manifest),
    }
}
