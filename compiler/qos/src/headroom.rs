//! PFC headroom: how much a priority group still takes in after it asked its sender to stop.
//!
//! In: a [`Model`] (whose formula), a [`Link`] (speed, cable, MTU, lanes) and the traffic on it. Out: a
//! [`Headroom`] with XOFF, XON, size and every term of the sum. Invariants: exact fractions of 128 bits, rounded
//! once and where the original rounds, so that kilometres of fibre do not truncate.

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
use crate::explain::{Breakdown, Exact};
use crate::units::Bytes;

/// The speed of light in fibre that SONiC computes with, in m/s: 5.05 ns a metre.
pub const LIGHT_METERS_PER_SECOND: u32 = 198_000_000;

/// Headroom of a lossless priority group of a port, with its derivation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Headroom {
    /// Formula.
    pub model: Model,
    /// Bytes the group takes in after XOFF (SONiC: `BUFFER_PROFILE|xoff`).
    pub xoff: Bytes,
    /// Bytes below which the sender may go on (SONiC: `BUFFER_PROFILE|xon`).
    pub xon: Bytes,
    /// Bytes reserved for the group alone (SONiC: `BUFFER_PROFILE|size`).
    pub size: Bytes,
    /// Bytes the group takes, beyond its size, from a pool of headroom.
    pub pooled: Bytes,
    /// Bytes below the pool's limit at which the sender may go on, where the target wants it.
    pub xon_offset: Option<Bytes>,
    /// The dynamic threshold published with these numbers, where there is one.
    pub threshold: Option<DynamicThreshold>,
    /// Every step, in order.
    pub terms: Breakdown,
}

impl Headroom {
    /// Returns all the bytes one group of one port may hold: its own and those from the pool.
    pub fn total(&self) -> Bytes {
        self.size + self.pooled
    }
}

/// Rounds a fraction of bytes up to a multiple of `step`.
fn round_up(bytes: Exact, step: u64) -> Exact {
    let step = Exact::from_integer(u128::from(step.max(1)));
    (bytes / step).ceil() * step
}

/// Turns a whole fraction into bytes.
fn whole(bytes: Exact) -> Bytes {
    Bytes(u64::try_from(bytes.ceil().to_integer()).expect("a link is bounded so that sums fit 64 bits"))
}
