//! Errors where several modules of this crate work together.
//!
//! In: the error of a room. Out: the same sentence. Invariants: nothing is added; who asks one room only gets that
//! room's own error.

use crate::buffer::{BufferError, WayOut};
use crate::ecn::EcnError;
use crate::headroom::{HeadroomError, UnknownModel};

/// Says why the quality of service of a switch cannot be worked out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QosError {
    /// A platform names a formula that there is not.
    #[error(transparent)]
    Model(#[from] UnknownModel),
    /// A link has no headroom.
    #[error(transparent)]
    Headroom(#[from] HeadroomError),
    /// The buffer cannot be divided as the profile wants.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// A queue cannot be marked as the profile wants.
    #[error(transparent)]
    Ecn(#[from] EcnError),
}

impl QosError {
    /// Returns what would help, for the help lines under a message; empty where the message says it all.
    pub fn ways_out(&self) -> &[WayOut] {
        match self {
            Self::Buffer(error) => error.ways_out(),
            Self::Model(_) | Self::Headroom(_) | Self::Ecn(_) => &[],
        }
    }
}
