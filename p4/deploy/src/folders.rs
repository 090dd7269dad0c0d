//! Folders of closc on a switch that is reached over `ssh`.

/// Folders of closc on a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The folder for unconfirmed changes, and for backups.
    pub(crate) state: String,
    /// The folder with configuration files of the system.
    pub(crate) etc: String,
}
