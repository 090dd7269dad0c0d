//! Errors about headroom that does not fit a switch or one of its ports.
//!
//! In: the sum and its limit. Out: a message with the numbers, all steps and suggestions. Invariants: the data are in
//! fields, so that a later stage can point at a line.

use super::refusal::{Refusal, Suggestion};
use crate::explain::Breakdown;
use crate::units::Bytes;

/// Reason why a buffer cannot be divided according to a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BufferError {
    /// The headroom of a switch does not fit its buffer.
    #[error("{0}")]
    HeadroomDoesNotFit(Box<Refusal>),
    /// The headroom of one port exceeds the limit of the platform.
    #[error("a port needs {} B of headroom, but the platform grants less than {} B", total.0, max.0)]
    PortHeadroom {
        /// SONiC's sum for the port.
        total: Bytes,
        /// Limit of the platform.
        max: Bytes,
        /// All steps, in order.
        terms: Box<Breakdown>,
    },
    /// The shared headroom of a port exceeds the limit of the ASIC.
    #[error("a port needs {} B of shared headroom, but the ASIC lets it use only {} B", pooled.0, max.0)]
    PortSharedHeadroom {
        /// Headroom required by the groups of the port.
        pooled: Bytes,
        /// Limit of the ASIC.
        max: Bytes,
        /// All steps, in order.
        terms: Box<Breakdown>,
    },
}

impl BufferError {
    /// Returns suggestions for the help lines of a message; empty if the message is sufficient.
    pub fn suggestions(&self) -> &[Suggestion] {
        if let Self::HeadroomDoesNotFit(refusal) = self { &refusal.ways } else { &[] }
    }
}
