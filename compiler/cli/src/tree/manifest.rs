//! `manifest.json`: what is in the tree, so that anybody can check it.
//!
//! In: the list of files with sizes and digests. Out: JSON. Always: sorted by path, without time, host name or
//! absolute path; the same source gives the same bytes.

use std::collections::BTreeMap;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_fabric::Counts;
use serde::{Deserialize, Serialize};

/// Name of the manifest in the tree.
pub const NAME: &str = "manifest.json";

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Form of this file.
    pub format: String,
    /// Version of the program.
    pub closc: String,
    /// Name of the fabric.
    pub fabric: String,
    /// How packets find their way.
    pub routing: String,
    /// BLAKE3 of what the source means: the same for permuted keys and other comments.
    pub source: String,
    /// BLAKE3 of everything that the tree is rendered from.
    pub inputs: String,
    /// Terms of `--select`, where only a part was compiled into an empty folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// Numbers of the fabric.
    pub counts: Counts,
    /// Every other file.
    pub files: BTreeMap<Utf8PathBuf, FileEntry>,
}

/// Returns the name of the fabric that a tree was compiled from.
pub fn fabric(tree: &Utf8Path) -> anyhow::Result<String> {
    let path = tree.join(NAME);
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read `{path}`"))?;
    let manifest: Manifest =
        serde_json::from_slice(&bytes).with_context(|| format!("`{path}` does not parse"))?;
    Ok(manifest.fabric)
}

/// A file of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Bytes.
    pub size: u64,
    /// BLAKE3 of the bytes.
    pub blake3: String,
}
