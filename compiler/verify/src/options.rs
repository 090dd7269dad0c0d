//! What to verify, and how thoroughly.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;

use crate::check::limits::Limits;

/// What to verify, and how thoroughly.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether digests are compared with the manifest.
    pub digests: bool,
    /// Fabrics of at most as many paths are also walked path by path.
    pub walk_up_to: u128,
    /// Violations of one rule that are shown in full.
    pub shown: usize,
    /// Digests (BLAKE3) of the files of pipelines that are known, by path; others are read as they are.
    pub pipelines: BTreeMap<Utf8PathBuf, String>,
    /// Ports that hardware has, by SONiC hwsku: name and, with spaces between, lanes, alias, number on the panel and part.
    pub ports: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Limits of hardware by SONiC hwsku, or platform name of other targets.
    pub limits: BTreeMap<String, Limits>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            digests: true,
            walk_up_to: 1 << 20,
            shown: 10,
            pipelines: BTreeMap::new(),
            ports: BTreeMap::new(),
            limits: BTreeMap::new(),
        }
    }
}
