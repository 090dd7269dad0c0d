//! Digests of the built-in pipelines, for the verifier.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Entry;
use closc_entries::{Pipeline, pipeline_files};

/// Digests by path: one for each port width, the narrowest first. If a file is equal for several widths, its
/// digest is repeated.
static DIGESTS: LazyLock<BTreeMap<Utf8PathBuf, Vec<String>>> = LazyLock::new(|| {
    let mut digests: BTreeMap<Utf8PathBuf, Vec<String>> = BTreeMap::new();
    for file in Pipeline::tree_pipelines().flat_map(pipeline_files) {
        digests.entry(file.path.into()).or_default().push(Entry::of(file.text.as_bytes()).blake3);
    }
    digests
});

/// Returns, by path in a tree, a function for each pipeline file. The function returns the file's digests
/// (BLAKE3): one for each port width, the narrowest first. The first call generates the pipelines of all
/// widths.
pub fn pipeline_digests() -> BTreeMap<Utf8PathBuf, fn(&Utf8Path) -> Vec<String>> {
    let files = Pipeline::all().iter().flat_map(pipeline_files);
    files.map(|file| (file.path.into(), digests as fn(&Utf8Path) -> Vec<String>)).collect()
}

fn digests(path: &Utf8Path) -> Vec<String> {
    DIGESTS.get(path).cloned().unwrap_or_default()
}
