//! Why a port cannot mark as a rule wants.
//!
//! In: thresholds and what bounds them. Out: one sentence with the numbers. Invariants: the data are in fields, so that a later stage can point at a line.

use crate::units::Bytes;

/// Says why thresholds cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EcnError {
    /// Resolved thresholds are in the wrong order.
    #[error("ECN minimum {min} is not below the maximum {max} ({origin})")]
    ThresholdOrder {
        /// The lower threshold.
        min: Bytes,
        /// The upper threshold.
        max: Bytes,
        /// Where they come from.
        origin: String,
    },
    /// Marking would start after PFC or loss.
    #[error("ECN maximum {max} ({origin}) is not below {what} at {limit}: marking would come too late")]
    AboveLimit {
        /// The upper threshold.
        max: Bytes,
        /// Upper bound.
        limit: Bytes,
        /// Event there.
        what: &'static str,
        /// Where the threshold comes from.
        origin: String,
    },
    /// The buffer holds too few packets to mark any in time.
    #[error(
        "no room for ECN: a minimum of two packets ({floor}) and a maximum of {ratio} times that do not fit \
         below {what} at {limit}"
    )]
    NoRoom {
        /// The least minimum.
        floor: Bytes,
        /// The maximum, in multiples of the minimum.
        ratio: u64,
        /// Upper bound of the maximum.
        limit: Bytes,
        /// Event there.
        what: &'static str,
    },
}
