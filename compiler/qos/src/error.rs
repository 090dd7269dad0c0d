//! Combined error type of the modules of this crate.
//!
//! In: the error of a module. Out: the same message. Invariants: the message is unchanged. Functions of a single module
//! return the error type of that module.

use crate::buffer::{BufferError, Suggestion};
use crate::ecn::EcnError;
use crate::headroom::{HeadroomError, UnknownModel};

/// Reason why the QoS settings of a switch cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QosError {
    /// A platform names an unknown formula.
    #[error(transparent)]
    Model(#[from] UnknownModel),
    /// The headroom of a link cannot be computed.
    #[error(transparent)]
    Headroom(#[from] HeadroomError),
    /// The buffer cannot be divided according to the profile.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// A queue cannot mark according to the profile.
    #[error(transparent)]
    Ecn(#[from] EcnError),
}

impl QosError {
    /// Returns suggestions for the help lines of a message; empty if the message is sufficient.
    pub fn suggestions(&self) -> &[Suggestion] {
        match self {
            Self::Buffer(error) => error.suggestions(),
            Self::Model(_) | Self::Headroom(_) | Self::Ecn(_) => &[],
        }
    }
}
