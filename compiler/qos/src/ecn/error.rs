//! Errors about ports that cannot mark according to a rule.
//!
//! In: thresholds and their limits. Out: a message with the numbers. Invariants: the data are in fields, so that a
//! later stage can point at a line.

use crate::units::Bytes;

/// Reason why thresholds are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EcnError {
    /// Resolved thresholds are in the wrong order.
    #[error("ECN minimum {min} is not below the maximum {max} ({origin})")]
    ThresholdOrder {
        /// The lower threshold.
        min: Bytes,
        /// The upper threshold.
        max: Bytes,
        /// Origin of the thresholds.
        origin: String,
    },
    /// Marking would start after PFC or loss.
    #[error("ECN maximum {max} ({origin}) is not below {limit_name} at {limit}: marking would come too late")]
    AboveLimit {
        /// The upper threshold.
        max: Bytes,
        /// Upper bound of the maximum.
        limit: Bytes,
        /// The name of the limit.
        limit_name: &'static str,
        /// Origin of the threshold.
        origin: String,
    },
    /// The buffer is too small to mark any packet in time.
    #[error(
        "no room for ECN: a minimum of two packets ({floor}) and a maximum of {ratio} times that do not fit \
         below {limit_name} at {limit}"
    )]
    NoRoom {
        /// The smallest possible minimum.
        floor: Bytes,
        /// The maximum, in multiples of the minimum.
        ratio: u64,
        /// Upper bound of the maximum.
        limit: Bytes,
        /// The name of the limit.
        limit_name: &'static str,
    },
}
