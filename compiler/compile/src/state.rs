//! Cache beside the tree: the output of the last run, for use by the next one.
//!
//! In: units with fingerprints and files. Out: the text of the file `.NAME.closc` beside the tree `NAME`.
//! This file is also the lock of the tree. Invariants: it is only a cache. Without it, or if the recorded
//! size or time of a file differs, the unit is rendered again. It contains times, so it cannot be inside the
//! tree: trees of the same source must be equal byte for byte.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;
use crate::{Job, Unit};

/// Output of the last run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// Version of the program.
    pub(crate) closc: String,
    /// Digest of everything except exceptions and single pins.
    pub(crate) common: String,
    /// Whether the tree was synced to the disk before it replaced the old one.
    #[serde(default)]
    pub(crate) synced: bool,
    /// Units by name.
    pub(crate) units: BTreeMap<String, UnitState>,
}

/// Output of the last run for one unit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UnitState {
    /// Digest of the inputs of rendering.
    pub(crate) fingerprint: Fingerprint,
    /// Its files.
    pub(crate) files: Vec<FileState>,
}

/// One file as it was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FileState {
    /// Path in the tree.
    pub(crate) path: Utf8PathBuf,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Time of the last change, seconds and nanoseconds.
    pub(crate) changed: (i64, i64),
    /// BLAKE3 of the bytes.
    pub blake3: String,
}

impl State {
    /// Parses the cache; returns an empty one if it is invalid or another version wrote it.
    pub(crate) fn parse(bytes: &[u8]) -> State {
        serde_json::from_slice::<State>(bytes)
            .ok()
            .filter(|state| state.closc == env!("CARGO_PKG_VERSION"))
            .unwrap_or_default()
    }
}

impl State {
    /// Returns the state of a run that wrote these units.
    pub(crate) fn of(job: &Job<'_>, synced: bool, units: BTreeMap<String, UnitState>) -> State {
        let common = job.fingerprints.common().to_string();
        State { closc: env!("CARGO_PKG_VERSION").to_owned(), common, synced, units }
    }

    /// Returns the files of all units of a job if there is nothing to do: all units are fresh, and the state
    /// has no others.
    pub(crate) fn all_fresh(&self, job: &Job<'_>, tree: &Utf8Path) -> Option<Vec<&FileState>> {
        let fresh = |unit: &Unit| {
            let state = self.units.get(&unit.name(job.plan))?;
            state.is_fresh(tree, job.fingerprints.of(*unit)).then_some(&state.files)
        };
        let same = self.units.len() == job.units.len();
        let files: Option<Vec<_>> = same.then(|| job.units.par_iter().map(fresh).collect())?;
        Some(files?.into_iter().flatten().collect())
    }
}

impl UnitState {
    /// Returns whether the unit does not need to be rendered again: its inputs are the same, and its files
    /// are unchanged.
    pub(crate) fn is_fresh(&self, tree: &Utf8Path, fingerprint: Fingerprint) -> bool {
        self.fingerprint == fingerprint && self.files.iter().all(|file| file.is_unchanged(tree))
    }
}

impl FileState {
    /// Returns whether the file is unchanged, by size and time.
    pub(crate) fn is_unchanged(&self, tree: &Utf8Path) -> bool {
        std::fs::symlink_metadata(tree.join(&self.path))
            .is_ok_and(|meta| meta.is_file() && meta.len() == self.size && change_time(&meta) == self.changed)
    }
}

/// Returns the time of a file's last change.
pub(crate) fn change_time(meta: &std::fs::Metadata) -> (i64, i64) {
    (meta.mtime(), meta.mtime_nsec())
}
