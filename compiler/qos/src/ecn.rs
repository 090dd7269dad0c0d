//! ECN marking: converts a rule to two thresholds and a probability.
//!
//! In: an [`Ecn`] rule of a class and the [`EcnContext`] of a port. Out: [`EcnThresholds`] with the origin of the
//! numbers and all steps. Invariants: minimum < maximum < the level at which PFC or the queue limit takes effect, so
//! that marking comes first. Configured and published numbers are not rounded; computed ones are whole cells.
//!
//! A switch never marks below the minimum, and always above the maximum. In between, the probability rises linearly up
//! to the given one (SONiC `WRED_PROFILE`).

mod error;
mod fixed;
mod presets;
mod resolve;
mod rule;

pub use error::EcnError;
pub use fixed::FixedThresholds;
pub use presets::EcnPreset;
pub use rule::{BdpPercent, ComputedThresholds, Ecn, Fill, MaxOverMin};

use serde::Serialize;

use crate::codes::Percent;
use crate::explain::Breakdown;
use crate::place::Place;
use crate::units::{Bytes, Nanoseconds, Speed};

/// Upper bound of the maximum threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Bytes in a priority group at which PFC pauses the sender.
    Xoff(Bytes),
    /// Bytes in a queue at which packets are dropped or trimmed.
    Queue(Bytes),
}

impl Limit {
    /// Returns the bytes.
    pub const fn bytes(self) -> Bytes {
        match self {
            Self::Xoff(bytes) | Self::Queue(bytes) => bytes,
        }
    }

    /// Returns the name of the limit for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xoff(_) => "the PFC XOFF point",
            Self::Queue(_) => "the queue's limit",
        }
    }
}

/// The port for which thresholds are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EcnContext {
    /// The speed of the port.
    pub speed: Speed,
    /// The allocation unit of the buffer.
    pub cell: Bytes,
    /// MTU of the port.
    pub mtu: Bytes,
    /// Position of the port on a path.
    pub place: Place,
    /// The round-trip time without queueing, for computed thresholds.
    pub base_rtt: Nanoseconds,
    /// Upper bound of the maximum.
    pub limit: Limit,
}

/// Thresholds in valid order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EcnThresholds {
    min: Bytes,
    max: Bytes,
    probability: Percent,
    /// Whether packets without ECN are dropped with the same probability with which others are marked.
    drops: bool,
    origin: String,
    terms: Breakdown,
}

impl EcnThresholds {
    /// Creates thresholds. The minimum must be below the maximum, and the maximum below the limit.
    pub fn new(
        min: Bytes,
        max: Bytes,
        probability: Percent,
        limit: Limit,
        origin: impl Into<String>,
    ) -> Result<Self, EcnError> {
        let origin = origin.into();
        if min >= max {
            return Err(EcnError::ThresholdOrder { min, max, origin });
        }
        if max >= limit.bytes() {
            let (limit, what) = (limit.bytes(), limit.name());
            return Err(EcnError::AboveLimit { max, limit, limit_name: what, origin });
        }
        Ok(Self { min, max, probability, drops: true, origin, terms: Breakdown::default() })
    }

    /// Returns the queue length below which no packet is marked.
    pub fn min(&self) -> Bytes {
        self.min
    }

    /// Returns the queue length above which all packets are marked.
    pub fn max(&self) -> Bytes {
        self.max
    }

    /// Returns the marking probability just below the maximum.
    pub fn probability(&self) -> Percent {
        self.probability
    }

    /// Returns the thresholds for marking only: packets without ECN are not dropped between them.
    #[must_use]
    pub fn for_marks_alone(self) -> Self {
        Self { drops: false, ..self }
    }

    /// Returns whether packets without ECN are dropped with the same probability with which others are marked.
    pub fn drops(&self) -> bool {
        self.drops
    }

    /// Returns the origin of the numbers, for comments and documents.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the steps of the calculation; empty for configured numbers.
    pub fn terms(&self) -> &Breakdown {
        &self.terms
    }
}
