//! A distribution over pairs in seven figures.

use schemars::JsonSchema;
use serde::Serialize;

use crate::distribution::Distribution;

/// Minimum, quantiles and mean over all pairs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The least.
    pub minimum: f64,
    /// What one pair in a thousand is below.
    pub thousandth: f64,
    /// What one pair in a hundred is below.
    pub hundredth: f64,
    /// What one pair in ten is below.
    pub tenth: f64,
    /// What half of the pairs are below.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// What every pair has when nothing fails.
    pub planned: f64,
}

impl Spread {
    pub(crate) fn new(found: &Distribution, planned: f64, unit: f64) -> Self {
        let at = |thousandths| found.quantile(thousandths) as f64 * unit;
        Spread {
            minimum: found.minimum() as f64 * unit,
            thousandth: at(1),
            hundredth: at(10),
            tenth: at(100),
            median: at(500),
            mean: found.mean() * unit,
            planned,
        }
    }
}
