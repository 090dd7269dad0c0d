//! Errors of a link or of its headroom.
//!
//! In: the invalid number. Out: a message with the valid range. Invariants: the data are in fields, so that a later
//! stage can point at a line.

use super::model::Model;
use crate::units::{Bytes, Length, Nanoseconds, Speed};

/// Reason why headroom cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadroomError {
    /// A headroom model has no numbers for a speed.
    #[error(
        "headroom model `{model}` has no numbers for {speed}: it has {allowed}{}",
        if *model == Model::Ieee { "" } else { "; `ieee-802-1qbb` has a formula for other speeds" }
    )]
    SpeedUnknown {
        /// The model.
        model: Model,
        /// The requested speed.
        speed: Speed,
        /// The known speeds.
        allowed: String,
    },
    /// A cable is longer than the circumference of the Earth.
    #[error("a cable of {cable} is longer than {longest}, once around the Earth")]
    CableTooLong {
        /// The cable.
        cable: Length,
        /// The maximum length.
        longest: Length,
    },
    /// A packet size is outside the range of Ethernet and IP.
    #[error("{kind} {mtu} is out of range: use {min} to {max}")]
    MtuOutOfRange {
        /// Kind of packet size.
        kind: &'static str,
        /// The value.
        mtu: Bytes,
        /// The minimum.
        min: Bytes,
        /// The maximum.
        max: Bytes,
    },
    /// A gearbox delay is too long.
    #[error("a gearbox delay of {delay} is out of range: use 0ns to {longest}")]
    GearboxTooSlow {
        /// The value.
        delay: Nanoseconds,
        /// The maximum.
        longest: Nanoseconds,
    },
    /// The buffer of a NIC is too small for the bytes that arrive after the NIC sends a pause.
    #[error(
        "a NIC buffer of {size} cannot be lossless: headroom {headroom} + MTU {mtu} leave no room; at least \
         {needed} are needed"
    )]
    NicBufferTooSmall {
        /// The buffer.
        size: Bytes,
        /// Bytes that arrive after the pause.
        headroom: Bytes,
        /// The largest packet.
        mtu: Bytes,
        /// The minimum size.
        needed: Bytes,
    },
}
