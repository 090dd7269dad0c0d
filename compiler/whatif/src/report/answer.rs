//! Report on one failure.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FailedElements, RemainingCapacity};
use crate::element::{Element, Elements};
use crate::outcome::Outcome;

/// Report on one failure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The fabric.
    pub fabric: String,
    /// Failing elements.
    pub failed: FailedElements,
    /// The seed of random failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Remaining capacity.
    pub left: RemainingCapacity,
}

impl Answer {
    /// Creates the report.
    pub fn new(elements: Elements<'_>, failed: &[Element], seed: Option<u64>, outcome: &Outcome) -> Answer {
        Answer {
            fabric: elements.fabric.topology().name.to_string(),
            failed: FailedElements::new(elements, failed),
            seed,
            left: RemainingCapacity::new(elements, outcome),
        }
    }
}
