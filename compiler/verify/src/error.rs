//! Why a tree cannot be verified at all. What is wrong inside a tree is a [`crate::Violation`].

use camino::Utf8PathBuf;

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
    /// The folder has no manifest, so it is no artefact tree.
    #[error("`{0}` is missing: this is no artefact tree")]
    NoManifest(Utf8PathBuf),
    /// The manifest does not parse.
    #[error("`{path}` does not parse: {source}")]
    Manifest {
        /// The path.
        path: Utf8PathBuf,
        /// What the parser says, with the line.
        source: serde_json::Error,
    },
    /// The manifest is of a form that this reader does not know.
    #[error("manifests of form `{0}` are not known here")]
    Form(String),
    /// The manifest names a way of routing that nobody knows.
    #[error("`{0}` is no way of routing that is known: the manifest is of another release, or was edited")]
    Routing(String),
    /// Only a part of the fabric was compiled, and a proof needs both ends of every cable.
    #[error("the tree holds only a part of the fabric (`{0}`), and a proof needs both ends of every cable")]
    Partial(String),
}
