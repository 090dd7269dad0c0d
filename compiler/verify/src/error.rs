//! Reasons why a tree cannot be verified at all. Faults inside a tree are [`crate::Violation`]s.

use camino::Utf8PathBuf;
use closc_artefacts::ManifestError;

/// Reason why a tree cannot be verified at all.
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
    /// The manifest is missing or invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The tree contains a selection of devices, but a proof needs both ends of every cable.
    #[error(
        "the tree contains only a part of the fabric (`{0}`), but a proof needs both ends of every cable"
    )]
    Partial(String),
    /// The tree contains an incomplete plane.
    #[error(
        "the tree is a part that divides planes (`{0}`), but only complete planes can be proved: use at most \
         one shard per plane, or `--select plane=P`"
    )]
    Cut(String),
    /// There are more shards than planes.
    #[error("{of} shards are more than {planes} planes, but only complete planes can be proved")]
    Shards {
        /// Requested number of shards.
        of: u32,
        /// Planes of the fabric.
        planes: u64,
    },
    /// A requested item is not in the tree.
    #[error("there is no {0} in the tree")]
    Absent(String),
    /// None of the requested items is in the tree.
    #[error("the tree does not contain any device of the selected part")]
    Nothing,
    /// The tree has files of nodes. Each covers all planes, so single planes cannot be proved.
    #[error(
        "nodes have files (`{0}`) that cover all planes: prove such a fabric completely, without `--shard` \
         and `--select`"
    )]
    Nodes(Utf8PathBuf),
    /// Path tables of other groups are missing.
    #[error(
        "the paths of a plane lead to the NICs of all groups, but there is no path table of {0}: name the \
         parts that have them with `--tables`"
    )]
    Tables(String),
    /// Two parts contain different tables of the same name.
    #[error("two parts have different versions of `{0}`")]
    Twice(Utf8PathBuf),
    /// A part with tables belongs to another fabric.
    #[error("`{0}` was not compiled from the same fabric file as the tree")]
    Other(String),
}
