//! Digests of the pipelines that ship, for whoever judges a tree that has one.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use closc_artefacts::Entry;
use closc_entries::{Pipeline, pipeline_files};

/// Returns the digests (BLAKE3) of the files of pipelines, by their path in a tree.
pub fn pipeline_digests() -> BTreeMap<Utf8PathBuf, String> {
    let files = pipeline_files(Pipeline::fabric()).into_iter();
    files.map(|file| (file.path.into(), Entry::of(file.text.as_bytes()).blake3)).collect()
}
