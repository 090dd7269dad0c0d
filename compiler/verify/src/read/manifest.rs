//! Reads `manifest.json`: which files the tree has, and what it says of itself.

use std::collections::BTreeMap;
use std::ops::Bound;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::error::VerifyError;
use crate::model::routing::Routing;
use crate::tree::Tree;

/// Name of the manifest in the tree.
pub(crate) const NAME: &str = "manifest.json";

/// The form this reader knows.
const FORM: &str = "closc-manifest/1";

/// The manifest.
#[derive(Debug, Clone, Deserialize)]
struct Written {
    format: String,
    fabric: String,
    routing: String,
    #[serde(default)]
    selection: Option<String>,
    files: BTreeMap<Utf8PathBuf, Entry>,
}

/// The manifest.
#[derive(Debug, Clone)]
pub(crate) struct Manifest {
    /// Name of the fabric.
    pub(crate) fabric: String,
    /// How packets find their way.
    pub(crate) routing: Routing,
    /// Every other file.
    pub(crate) files: BTreeMap<Utf8PathBuf, Entry>,
}

/// A file of the tree.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Entry {
    /// Bytes.
    pub(crate) size: u64,
    /// BLAKE3 of the bytes.
    pub(crate) blake3: String,
}

impl Manifest {
    /// Reads the manifest of a tree.
    pub(crate) fn read(tree: &dyn Tree) -> Result<Manifest, VerifyError> {
        let path = Utf8PathBuf::from(NAME);
        let mut bytes = Vec::new();
        tree.read(&path, &mut bytes).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => VerifyError::NoManifest(path.clone()),
            _ => VerifyError::Read { path: path.clone(), source },
        })?;
        let written: Written =
            serde_json::from_slice(&bytes).map_err(|source| VerifyError::Manifest { path, source })?;
        if written.format != FORM {
            return Err(VerifyError::Form(written.format));
        }
        if let Some(selection) = written.selection {
            return Err(VerifyError::Partial(selection));
        }
        let routing = Routing::from_word(&written.routing).ok_or(VerifyError::Routing(written.routing))?;
        Ok(Manifest { fabric: written.fabric, routing, files: written.files })
    }

    /// Returns the files of a folder: the name of each sub-folder with its files.
    pub(crate) fn folders(&self, parent: &str) -> BTreeMap<&str, Vec<&Utf8Path>> {
        let mut folders: BTreeMap<&str, Vec<&Utf8Path>> = BTreeMap::new();
        for path in self.files.keys() {
            let mut parts = path.iter();
            if let (Some(first), Some(folder), Some(_)) = (parts.next(), parts.next(), parts.next())
                && first == parent
            {
                folders.entry(folder).or_default().push(path);
            }
        }
        folders
    }

    /// Returns the files below a folder.
    pub(crate) fn files_below<'a>(&'a self, folder: &'a Utf8Path) -> impl Iterator<Item = &'a Utf8Path> {
        let from = self.files.range::<Utf8Path, _>((Bound::Included(folder), Bound::Unbounded));
        from.map(|(path, _)| path.as_path()).take_while(move |path| path.starts_with(folder))
    }

    /// Returns the files that stand right in a folder and end in `.ending`.
    pub(crate) fn files_in<'a>(
        &'a self,
        parent: &'a str,
        ending: &'a str,
    ) -> impl Iterator<Item = &'a Utf8Path> {
        self.files.keys().map(Utf8PathBuf::as_path).filter(move |path| {
            path.parent() == Some(Utf8Path::new(parent)) && path.extension() == Some(ending)
        })
    }
}
