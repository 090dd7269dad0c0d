//! Digests of the shipped pipelines, for the verifier.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Entry;
use closc_entries::{Pipeline, pipeline_files};

/// By path, one for each width of a port, the narrowest first. A file that is the same for several widths is listed
/// once for each.
static DIGESTS: LazyLock<BTreeMap<Utf8PathBuf, Vec<String>>> = LazyLock::new(|| {
    let mut digests: BTreeMap<Utf8PathBuf, Vec<String>> = BTreeMap::new();
    for file in Pipeline::shipped().flat_map(pipeline_files) {
        digests.entry(file.path.into()).or_default().push(Entry::of(file.text.as_bytes()).blake3);
    }
    digests
});

/// Returns the files of pipelines by their path in a tree, each with the function that returns its digests (BLAKE3): one for each
/// width of a port, the narrowest first. Pipelines of all widths are made when it is called first.
pub fn pipeline_digests() -> BTreeMap<Utf8PathBuf, fn(&Utf8Path) -> Vec<String>> {
    let files = Pipeline::all().iter().flat_map(pipeline_files);
    files.map(|file| (file.path.into(), digests as fn(&Utf8Path) -> Vec<String>)).collect()
}

fn digests(path: &Utf8Path) -> Vec<String> {
    DIGESTS.get(path).cloned().unwrap_or_default()
}
