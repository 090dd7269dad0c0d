//! Effect of a push on a switch that is configured over `ssh`.
//!
//! In: the result of a comparison. Out: the changes, and the files to push, so that a saved plan needs no tree.

use super::system::Texts;

/// Preview of a push to a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CarriedPlan {
    /// Its plane, if known.
    pub(crate) plane: Option<u8>,
    /// The keyword of its operating system.
    pub(crate) os: String,
    /// The changes, one per line.
    pub(crate) changes: Vec<String>,
    /// The target files.
    pub(crate) files: Texts,
}

impl CarriedPlan {
    /// Returns whether anything changes on the switch.
    pub(crate) fn changes(&self) -> bool {
        !self.changes.is_empty()
    }
}
