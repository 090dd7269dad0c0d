//! Why headroom does not fit a switch or one of its ports.
//!
//! In: the sum and what it is compared with. Out: one sentence with the numbers, every step and what would help.
//! Invariants: the data are in fields, so that a later stage can point at a line.

use super::refusal::{Refusal, WayOut};
use crate::explain::Breakdown;
use crate::units::Bytes;

/// Says why a buffer cannot be divided as a profile wants.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BufferError {
    /// The headroom of a switch does not fit its buffer.
    #[error("{0}")]
    HeadroomDoesNotFit(Box<Refusal>),
    /// The headroom of one port is more than the platform grants.
    #[error("a port needs {} B of headroom and the platform grants less than {} B", total.0, max.0)]
    PortHeadroom {
        /// SONiC's sum for the port.
        total: Bytes,
        /// Maximum of the platform.
        max: Bytes,
        /// Every step, in order.
        terms: Box<Breakdown>,
    },
    /// A port takes more of the shared headroom pool than the ASIC lets it.
    #[error("a port needs {} B of shared headroom and the ASIC lets it use {} B", pooled.0, max.0)]
    PortSharedHeadroom {
        /// Needs of the groups of the port.
        pooled: Bytes,
        /// Buffer that the ASIC lets a port use.
        max: Bytes,
        /// Every step, in order.
        terms: Box<Breakdown>,
    },
}

impl BufferError {
    /// Returns what would help, for the help lines under a message; empty where the message says it all.
    pub fn ways_out(&self) -> &[WayOut] {
        if let Self::HeadroomDoesNotFit(refusal) = self { &refusal.ways } else { &[] }
    }
}
