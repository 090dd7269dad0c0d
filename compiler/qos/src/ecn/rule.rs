//! The ECN rule of a class.
//!
//! In: YAML: `off`, `{preset: sonic-azure}`, `{thresholds: {min: 150KB, max: 1500KB, probability: 100}}`, `{fill: {min:
//! 55, max: 90, probability: 100}}` or `{computed: {}}`. Out: [`Ecn`]. Invariants: this module checks the syntax. The
//! rules of profiles check the order of thresholds, and [`super::resolve`] their limits.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::fixed::FixedThresholds;
use super::presets::EcnPreset;
use crate::codes::{Percent, RangeError, bounded};

bounded! {
    /// A multiple of the bandwidth-delay product in hundredths.
    BdpPercent(u16), 1..=10_000, "percentage of the bandwidth-delay product"
}

bounded! {
    /// Ratio of the maximum threshold to the minimum.
    MaxOverMin(u8), 2..=100, "ratio of the ECN thresholds"
}

/// The rule by which packets of a class are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// Never.
    Off,
    /// At published thresholds.
    Preset(EcnPreset),
    /// At these thresholds.
    Thresholds(FixedThresholds),
    /// At these shares of the maximum queue length.
    Fill(Fill),
    /// At thresholds computed from speed, round-trip time and buffer.
    Computed(ComputedThresholds),
}

/// Thresholds as shares of the maximum queue length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// The share below which no packet is marked.
    pub min: Percent,
    /// The share above which all packets are marked.
    pub max: Percent,
    /// The marking probability just below the maximum, in percent.
    pub probability: Percent,
}

/// Computed thresholds. The minimum is a share of the bandwidth-delay product, and the maximum a multiple of the
/// minimum. Both are reduced together if the buffer is too small for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ComputedThresholds {
    /// The minimum, in percent of the bandwidth-delay product.
    pub min: BdpPercent,
    /// The maximum, in multiples of the minimum.
    pub max_over_min: MaxOverMin,
    /// The marking probability just below the maximum, in percent.
    pub probability: Percent,
}

impl Default for ComputedThresholds {
    /// The minimum is one bandwidth-delay product, so that a queue at the minimum keeps the link busy while senders
    /// react. The maximum is four times that, with 20 %, as in the DCQCN configuration of the HPCC simulator
    /// (alibaba-edu/High-Precision-Congestion-Control: 400 KB, 1600 KB and 0.2 at 100G).
    fn default() -> Self {
        Self {
            min: BdpPercent::constant(100),
            max_over_min: MaxOverMin::constant(4),
            probability: Percent::constant(20),
        }
    }
}

impl Ecn {
    /// Returns the configured minimum and maximum, if they are in the wrong order.
    pub(crate) fn order_fault(&self) -> Option<(String, String)> {
        match self {
            Self::Thresholds(fixed) if fixed.min >= fixed.max => {
                Some((fixed.min.to_string(), fixed.max.to_string()))
            }
            Self::Fill(fill) if fill.min >= fill.max => {
                Some((format!("{} %", fill.min), format!("{} %", fill.max)))
            }
            Self::Off | Self::Preset(_) | Self::Thresholds(_) | Self::Fill(_) | Self::Computed(_) => None,
        }
    }

    /// Returns whether the marking probability is zero.
    pub(crate) fn never_marks(&self) -> bool {
        let probability = match self {
            Self::Off | Self::Preset(_) => return false,
            Self::Thresholds(fixed) => fixed.probability,
            Self::Fill(fill) => fill.probability,
            Self::Computed(computed) => computed.probability,
        };
        probability == Percent::MIN
    }
}
