//! Digests of the pipelines that ship, for whoever judges a tree that has one.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use closc_artefacts::Entry;
use closc_entries::{Pipeline, pipeline_files};

/// Returns the digests (BLAKE3) of the files of pipelines, by their path in a tree: one for each width of a port, the
/// narrowest first.
pub fn pipeline_digests() -> BTreeMap<Utf8PathBuf, Vec<String>> {
    let mut digests: BTreeMap<Utf8PathBuf, Vec<String>> = BTreeMap::new();
    for file in Pipeline::widths().flat_map(pipeline_files) {
        digests.entry(file.path.into()).or_default().push(Entry::of(file.text.as_bytes()).blake3);
    }
    digests
}
