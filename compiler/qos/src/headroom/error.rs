//! Errors of a link or of the headroom asked for it.
//!
//! In: the number at fault. Out: one sentence with what it may be. Invariants: the data are in fields, so that a later stage can point at a line.

use super::model::Model;
use crate::units::{Bytes, Length, Nanoseconds, Speed};

/// Reason for a link without headroom.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadroomError {
    /// A headroom model has no numbers for a speed.
    #[error(
        "headroom model `{model}` has no numbers for {speed}: it has {known}{}",
        if *model == Model::Ieee { "" } else { "; `ieee-802-1qbb` has a formula for other speeds" }
    )]
    SpeedUnknown {
        /// The model.
        model: Model,
        /// The speed asked for.
        speed: Speed,
        /// The speeds there are.
        known: String,
    },
    /// A cable is longer than the Earth is round.
    #[error("a cable of {cable} is longer than {longest}, once around the Earth")]
    CableTooLong {
        /// The cable.
        cable: Length,
        /// The longest there can be.
        longest: Length,
    },
    /// A packet size is outside what Ethernet and IP carry.
    #[error("{what} {mtu} is out of range: use {min} to {max}")]
    MtuOutOfRange {
        /// Which packet size.
        what: &'static str,
        /// Request.
        mtu: Bytes,
        /// The least.
        min: Bytes,
        /// The most.
        max: Bytes,
    },
    /// A gearbox is slower than any.
    #[error("a gearbox delay of {delay} is out of range: use 0ns to {longest}")]
    GearboxTooSlow {
        /// Request.
        delay: Nanoseconds,
        /// The most.
        longest: Nanoseconds,
    },
    /// A NIC cannot hold what still arrives after its pause.
    #[error(
        "a NIC buffer of {size} cannot be lossless: headroom {headroom} + MTU {mtu} leave nothing, at least \
         {needed} are needed"
    )]
    NicBufferTooSmall {
        /// The buffer.
        size: Bytes,
        /// Remaining arrivals.
        headroom: Bytes,
        /// The largest packet.
        mtu: Bytes,
        /// The least that works.
        needed: Bytes,
    },
}
