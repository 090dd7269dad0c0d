//! A rendered file, and what can go wrong on the way to it.

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
    /// Makes an artefact.
    pub fn new(path: impl Into<Utf8PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        Artefact { path: path.into(), bytes: bytes.into() }
    }
}

/// Why an artefact could not be rendered: a template is at fault, or the platform's buffer does not hold what the
/// profile asks of it.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A template asked for something that does not exist, or printed what has no text form.
    #[error("template `{template}` failed for `{device}`: {message}")]
    Template {
        /// Name of the template, a path below `templates/`.
        template: String,
        /// Device or node that was rendered.
        device: String,
        /// What the template engine says, with the line.
        message: String,
    },
    /// A text of an overlay that is used by nothing.
    #[error(
        "template `{template}` replaces none of the shipped ones, and none includes it{near}; folders of templates are \
         `{folders}`"
    )]
    Unknown {
        /// Its name.
        template: String,
        /// A name that looks like it.
        near: String,
        /// Where templates are.
        folders: String,
    },
    /// A template of the overlay folder does not parse.
    #[error("template `{template}` does not parse: {message}")]
    Parse {
        /// Name of the template.
        template: String,
        /// What the template engine says, with the line.
        message: String,
    },
    /// Headroom or marking thresholds cannot be had on this switch.
    #[error("quality of service of `{device}`: {source}")]
    Qos {
        /// Device that was rendered.
        device: String,
        /// The part that does not fit.
        source: closc_qos::QosError,
    },
}
