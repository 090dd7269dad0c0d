//! A rendered file, and the errors of rendering it.

use camino::Utf8PathBuf;

/// A rendered file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// Path relative to the output folder, for example `switches/p0-t0-001/config_db.json`.
    pub path: Utf8PathBuf,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Artefact {
    /// Creates an artefact.
    pub fn new(path: impl Into<Utf8PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        Artefact { path: path.into(), bytes: bytes.into() }
    }
}

/// An error of rendering: in a template, or in the quality of service of a switch.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A template used an undefined value, or printed a value without a text form.
    #[error("template `{template}` failed for `{device}`: {message}")]
    Template {
        /// Name of the template, a path below `templates/`.
        template: String,
        /// Device or node that was rendered.
        device: String,
        /// The message of the template engine, with the line.
        message: String,
    },
    /// A template of the overlay folder that is never used.
    #[error(
        "template `{template}` is never used: it replaces no shipped template, and no other template \
         includes it{suggestion}; folders of templates are `{folders}`"
    )]
    Unknown {
        /// Its name.
        template: String,
        /// A similar name.
        suggestion: String,
        /// The folders of templates.
        folders: String,
    },
    /// A template of the overlay folder does not parse.
    #[error("template `{template}` does not parse: {message}")]
    Parse {
        /// Name of the template.
        template: String,
        /// The message of the template engine, with the line.
        message: String,
    },
    /// The headroom or ECN thresholds of a switch cannot be computed.
    #[error("quality of service of `{device}`: {source}")]
    Qos {
        /// Device that was rendered.
        device: String,
        /// The reason.
        source: closc_qos::QosError,
    },
}
