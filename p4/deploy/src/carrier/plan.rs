//! What a push would do to a switch that is reached over `ssh`.
//!
//! In: what was compared. Out: the changes, and the files that lead to them, so that a saved plan needs no tree.

use super::system::Texts;

/// Preview of a push to a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CarriedPlan {
    /// Its plane, where that is known.
    pub(crate) plane: Option<u8>,
    /// The word of what it runs.
    pub(crate) os: String,
    /// What changes, a line each.
    pub(crate) changes: Vec<String>,
    /// What the switch is to hold.
    pub(crate) files: Texts,
}

impl CarriedPlan {
    /// Tells whether anything is done to the switch.
    pub(crate) fn changes(&self) -> bool {
        !self.changes.is_empty()
    }
}
