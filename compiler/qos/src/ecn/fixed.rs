//! Two thresholds and a probability, configured or published.
//!
//! In: YAML `{min: 150KB, max: 1500KB, probability: 100}`, or a preset. Out: [`FixedThresholds`], plain data.
//! Invariants: none, because [`super::EcnThresholds`] checks the order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codes::Percent;
use crate::units::Bytes;

/// Fixed thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedThresholds {
    /// The queue length below which no packet is marked.
    pub min: Bytes,
    /// The queue length above which all packets are marked.
    pub max: Bytes,
    /// The marking probability just below the maximum, in percent.
    pub probability: Percent,
}
