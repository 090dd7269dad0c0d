//! Why a tree cannot be verified at all. Faults inside a tree are [`crate::Violation`]s.

use camino::Utf8PathBuf;
use closc_artefacts::ManifestError;

/// Why a tree cannot be verified at all.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A file or folder cannot be read.
    #[error("cannot read `{path}`: {source}")]
    Read {
        /// The path, below the tree.
        path: Utf8PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The manifest cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Only some devices were compiled, and a proof needs both ends of every cable.
    #[error("the tree holds only a part of the fabric (`{0}`), and a proof needs both ends of every cable")]
    Partial(String),
    /// The tree contains only a part of a plane.
    #[error(
        "the tree is a part that cuts planes (`{0}`), and a plane is proved in whole: take no more shards than planes, or \
         `--select plane=P`"
    )]
    Cut(String),
    /// There are more shards than planes.
    #[error("{of} shards are more than {planes} planes, and a plane is proved in whole")]
    Shards {
        /// Requested number of shards.
        of: u32,
        /// Planes of the fabric.
        planes: u64,
    },
    /// Something that was requested is not in the tree.
    #[error("there is no {0} in the tree")]
    Absent(String),
    /// Nothing that was requested is in the tree.
    #[error("the tree contains nothing of the selected part")]
    Nothing,
    /// The tree has files of nodes. Each covers all planes, so single planes cannot be proved.
    #[error(
        "nodes have files (`{0}`), and each is about all planes: such a fabric is proved in whole, without `--shard` and \
         `--select`"
    )]
    Nodes(Utf8PathBuf),
    /// Path tables of other groups are missing.
    #[error(
        "the paths of a plane lead to the NICs of all groups, and there is no path table of {0}: name the parts that have \
         them with --tables"
    )]
    Tables(String),
    /// Two parts have different tables with the same name.
    #[error("two parts have a `{0}`, and not the same")]
    Twice(Utf8PathBuf),
    /// A part with tables belongs to another fabric.
    #[error("`{0}` was compiled from another description than the tree")]
    Other(String),
}
