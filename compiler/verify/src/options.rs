//! Scope and depth of verification.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use closc_platform::Hardware;

use crate::slice::TreeSelection;

/// Returns the allowed BLAKE3 digests of a pipeline file, given its path: one per pipeline, in the same order for every
/// path. Called only for trees that contain the file.
pub type PipelineDigests = fn(&Utf8Path) -> Vec<String>;

/// Scope and depth of verification.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether digests are compared with the manifest.
    pub digests: bool,
    /// Fabrics with at most this many paths are also walked path by path.
    pub walk_up_to: u128,
    /// Maximum number of violations per rule that are shown in full.
    pub max_violations: usize,
    /// Digests of known pipeline files, by path. Files that are not listed are read without this check.
    pub pipelines: BTreeMap<Utf8PathBuf, PipelineDigests>,
    /// Parts of the tree to judge.
    pub selection: TreeSelection,
    /// Known hardware, by SONiC hwsku: table sizes and ports. If the map is empty, hardware is not judged.
    pub hardware: BTreeMap<String, Hardware>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            digests: true,
            walk_up_to: 1 << 20,
            max_violations: 10,
            pipelines: BTreeMap::new(),
            selection: TreeSelection::All,
            hardware: BTreeMap::new(),
        }
    }
}
