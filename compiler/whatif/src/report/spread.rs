//! Distribution over pairs, summarised in seven figures.

use schemars::JsonSchema;
use serde::Serialize;

use crate::distribution::Distribution;

/// Minimum, quantiles and mean over pairs of NICs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Minimum.
    pub minimum: f64,
    /// 0.1st percentile.
    pub thousandth: f64,
    /// 1st percentile.
    pub hundredth: f64,
    /// 10th percentile.
    pub tenth: f64,
    /// Median over pairs.
    pub median: f64,
    /// Mean.
    pub mean: f64,
    /// Value without failures. For bandwidth, this is the rate of the fastest NIC.
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
