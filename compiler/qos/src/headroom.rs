//! PFC headroom: the bytes that a priority group still receives after it paused its sender.
//!
//! In: a [`Model`] (the formula), a [`Link`] (speed, cable, MTU, lanes) and the traffic on it. Out: a [`Headroom`] with
//! XOFF, XON, size and all terms of the sum. Invariants: exact fractions of 128 bits do not overflow even for
//! kilometres of fibre. They are rounded only once, at the same step as in the original formula.

mod asic;
mod chips;
mod classic;
mod error;
mod formula;
mod ieee;
mod link;
mod model;
mod nic;
mod quanta;
mod slope;
mod spectrum;
mod tofino;

pub use asic::{ClassicAsic, SpectrumAsic};
pub use chips::{Chip, ChipRow};
pub use error::HeadroomError;
pub use link::{Link, Request};
pub use model::{Model, UnknownModel};
pub use nic::{NicBuffer, nic_buffer};
pub use quanta::{interface_bit_times, pause_quanta};

use schemars::JsonSchema;
use serde::Serialize;

use crate::codes::DynamicThreshold;
use crate::explain::{Breakdown, ExactFraction};
use crate::units::Bytes;

/// The speed of light in fibre in SONiC's computations, in m/s: 5.05 ns per metre.
pub const LIGHT_METERS_PER_SECOND: u32 = 198_000_000;

/// Headroom of a lossless priority group of a port, with its derivation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Headroom {
    /// The formula.
    pub model: Model,
    /// Bytes that the group receives after XOFF (SONiC: `BUFFER_PROFILE|xoff`).
    pub xoff: Bytes,
    /// Bytes below which the sender may resume (SONiC: `BUFFER_PROFILE|xon`).
    pub xon: Bytes,
    /// Bytes reserved for the group alone (SONiC: `BUFFER_PROFILE|size`).
    pub size: Bytes,
    /// Bytes that the group takes from a headroom pool, in addition to its size.
    pub pooled: Bytes,
    /// Bytes below the pool's limit at which the sender may resume, if the target has that setting.
    pub xon_offset: Option<Bytes>,
    /// The published dynamic threshold, if there is one.
    pub threshold: Option<DynamicThreshold>,
    /// All steps, in order.
    pub terms: Breakdown,
}

impl Headroom {
    /// Returns the maximum bytes of one group of one port: its own bytes and those from the pool.
    pub fn total(&self) -> Bytes {
        self.size + self.pooled
    }
}

/// Rounds a fraction of bytes up to a multiple of `step`.
fn round_up(bytes: ExactFraction, step: u64) -> ExactFraction {
    let step = ExactFraction::from_integer(u128::from(step.max(1)));
    (bytes / step).ceil() * step
}

/// Converts a fraction to bytes, rounded up.
fn ceil_bytes(bytes: ExactFraction) -> Bytes {
    Bytes(u64::try_from(bytes.ceil().to_integer()).expect("a link is bounded so that sums fit 64 bits"))
}
