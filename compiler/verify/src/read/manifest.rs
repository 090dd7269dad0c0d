//! What a proof needs of `manifest.json`: which files the tree has, and how packets find their way.

use std::collections::BTreeMap;
use std::ops::Bound;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Routing;
use closc_artefacts::{Entry, Files};

use crate::error::VerifyError;
use crate::model::stated::{Counts, Stated};

/// The manifest of a whole tree.
#[derive(Debug, Clone)]
pub(crate) struct Manifest {
    /// Name of the fabric.
    pub(crate) fabric: String,
    /// How packets find their way.
    pub(crate) routing: Routing,
    /// Numbers of the fabric.
    pub(crate) counts: Counts,
    /// What the fabric states of itself.
    pub(crate) profile: Option<Stated>,
    /// Every other file.
    pub(crate) files: BTreeMap<Utf8PathBuf, Entry>,
}

impl Manifest {
    /// Reads the manifest of a tree.
    pub(crate) fn read(tree: &dyn Files) -> Result<Manifest, VerifyError> {
        let written = closc_artefacts::Manifest::read(tree)?;
        if let Some(selection) = written.selection {
            return Err(VerifyError::Partial(selection));
        }
        let routing = written.routing;
        let closc_artefacts::Manifest { fabric, counts, profile, files, .. } = written;
        Ok(Manifest { fabric, routing, counts, profile, files })
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
