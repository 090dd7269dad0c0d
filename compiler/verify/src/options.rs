//! Scope and depth of verification.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use closc_platform::Hardware;

use crate::slice::Judged;

/// Returns the digests (BLAKE3) that a file of pipelines may have, by its path: one for each pipeline, in the same order for
/// each path. Asked for trees that have the file.
pub type PipelineDigests = fn(&Utf8Path) -> Vec<String>;

/// Scope and depth of verification.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether digests are compared with the manifest.
    pub digests: bool,
    /// Fabrics of at most as many paths are also walked path by path.
    pub walk_up_to: u128,
    /// Violations of one rule that are shown in full.
    pub shown: usize,
    /// Files of pipelines that are known, by path. Others are read as they are.
    pub pipelines: BTreeMap<Utf8PathBuf, PipelineDigests>,
    /// Judged parts of the tree.
    pub judged: Judged,
    /// Hardware that is known, by SONiC hwsku: what fits it, and the ports it has. Where none is, none is judged.
    pub hardware: BTreeMap<String, Hardware>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            digests: true,
            walk_up_to: 1 << 20,
            shown: 10,
            pipelines: BTreeMap::new(),
            judged: Judged::All,
            hardware: BTreeMap::new(),
        }
    }
}
