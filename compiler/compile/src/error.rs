//! Reasons why a tree could not be written.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths::MANIFEST;
use closc_entries::EntriesError;
use closc_qos::QosError;
use closc_render::RenderError;

#[cfg(feature = "disk")]
use crate::SignatureError;

/// Reason why a tree could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A template fails, or a switch buffer is too small for the profile.
    #[error("{0}")]
    Render(#[from] RenderError),
    /// Entries of a P4 switch do not fit its pipeline.
    #[error("{0}")]
    Entries(#[from] EntriesError),
    /// A setting of a profile cannot be configured on a switch.
    #[error("{0}")]
    Qos(#[from] QosError),
    /// A file or folder cannot be used.
    #[error("cannot {operation} `{path}`: {error}")]
    File {
        /// The failed operation, as a verb.
        operation: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The error returned by the system.
        error: io::Error,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Stopped,
    /// The target is not a folder.
    #[error("`{0}` is not a folder; name another with --out")]
    NotAFolder(Utf8PathBuf),
    /// The folder contains files but is not a tree.
    #[error("`{0}` holds files and no `{MANIFEST}`: it is not a tree of closc; name another with --out")]
    Foreign(Utf8PathBuf),
    /// The path does not end in a name for the tree.
    #[error("`{0}` names no file or folder")]
    Nameless(Utf8PathBuf),
    /// Another process writes to the same target.
    #[error("another closc is writing there: `{0}` is locked")]
    Locked(Utf8PathBuf),
    /// The manifest of the old tree cannot be read.
    #[error("`{place}`: {reason}; `--force` replaces the tree, whatever is in it")]
    Unreadable {
        /// The tree.
        place: Utf8PathBuf,
        /// The error in its manifest.
        reason: String,
    },
    /// The tree into which a part is compiled belongs to another fabric description.
    #[error(
        "`{place}` was compiled from another description of `{fabric}`: compile it whole, or name another folder"
    )]
    Mixture {
        /// The tree.
        place: Utf8PathBuf,
        /// The fabric from which it was compiled.
        fabric: String,
    },
    /// A part would leave outdated files of other units in a complete tree.
    #[error(
        "`{place}` was compiled with other exceptions, and `{unit}`, which is not in the part, would stay as it was: compile \
         it whole, or name another folder"
    )]
    Stale {
        /// The tree.
        place: Utf8PathBuf,
        /// The outdated unit.
        unit: String,
    },
    /// The tree cannot be signed.
    #[cfg(feature = "disk")]
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// The selection is empty.
    #[error("`--select` selects no device of this fabric")]
    Nothing,
    /// The selection names an element that does not exist in the fabric.
    #[error("`--select {term}`: the last {kind} of this fabric is {last}; planes and zones count from 0")]
    Absent {
        /// The term of the selection.
        term: String,
        /// Kind of the element, in words.
        kind: String,
        /// The number of the last element of this kind.
        last: u16,
    },
    /// There are more shards than the fabric can be divided into.
    #[error(
        "{of} shards are more than {planes} planes of {zones} zones can be cut into: at most {}",
        u32::from(*planes) * u32::from(*zones)
    )]
    Shards {
        /// Requested number of shards.
        of: u32,
        /// Planes of the fabric.
        planes: u8,
        /// Zones of the fabric.
        zones: u16,
    },
    /// The folder contains another part.
    #[error("`{place}` holds another part, `{part}`: name another folder with --out")]
    OtherPart {
        /// The folder.
        place: Utf8PathBuf,
        /// The part in the folder.
        part: String,
    },
}

impl CompileError {
    /// Returns a closure for `map_err` that adds the operation and path to an I/O error.
    pub(crate) fn file(
        operation: &'static str,
        path: impl AsRef<Utf8Path>,
    ) -> impl FnOnce(io::Error) -> CompileError {
        let path = path.as_ref().to_owned();
        move |error| CompileError::File { operation, path, error }
    }
}
