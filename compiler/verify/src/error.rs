//! Why a tree cannot be verified at all. What is wrong inside a tree is a [`crate::Violation`].

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
        /// What the system says.
        source: std::io::Error,
    },
    /// There is no manifest to go by.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Only a part of the fabric was compiled, and a proof needs both ends of every cable.
    #[error("the tree holds only a part of the fabric (`{0}`), and a proof needs both ends of every cable")]
    Partial(String),
}
