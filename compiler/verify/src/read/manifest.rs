//! Reads `manifest.json`: which files the tree has, and what it says of itself.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::error::VerifyError;
use crate::tree::Tree;

/// Name of the manifest in the tree.
pub(crate) const NAME: &str = "manifest.json";

/// The form this reader knows.
const FORM: &str = "closc-manifest/1";

/// The manifest.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Manifest {
    format: String,
    /// Name of the fabric.
    pub(crate) fabric: String,
    /// How packets find their way.
    pub(crate) routing: String,
    #[serde(default)]
    selection: Option<String>,
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

/// The routing in which hosts write the path.
const SOURCE_ROUTED: &str = "srv6-static";

/// The routing in which switches choose the way by static routes.
const CHOSEN: &str = "ecmp-static";

/// The routing in which ports have no addresses of their own and find their neighbours themselves.
const UNNUMBERED: &str = "bgp-unnumbered";

impl Manifest {
    /// Tells whether hosts write the path, which is what the proof of delivery is about.
    pub(crate) fn is_source_routed(&self) -> bool {
        self.routing == SOURCE_ROUTED
    }

    /// Tells whether switches choose the way by static routes.
    pub(crate) fn is_chosen(&self) -> bool {
        self.routing == CHOSEN
    }

    /// Tells whether all routes stand in the artefacts.
    pub(crate) fn is_static(&self) -> bool {
        self.is_source_routed() || self.is_chosen()
    }

    /// Tells whether ports find their neighbours themselves.
    pub(crate) fn is_unnumbered(&self) -> bool {
        self.routing == UNNUMBERED
    }

    /// Reads the manifest of a tree.
    pub(crate) fn read(tree: &dyn Tree) -> Result<Manifest, VerifyError> {
        let path = Utf8PathBuf::from(NAME);
        let mut bytes = Vec::new();
        tree.read(&path, &mut bytes).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => VerifyError::NoManifest(path.clone()),
            _ => VerifyError::Read { path: path.clone(), source },
        })?;
        let manifest: Manifest =
            serde_json::from_slice(&bytes).map_err(|source| VerifyError::Manifest { path, source })?;
        match manifest.selection {
            _ if manifest.format != FORM => Err(VerifyError::Form(manifest.format)),
            Some(selection) => Err(VerifyError::Partial(selection)),
            None => Ok(manifest),
        }
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
