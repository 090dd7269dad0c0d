//! Settings of a collector.

/// Settings for verdicts and denials.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether denials are applied; otherwise they are only proposed.
    pub apply: bool,
    /// Time for which an agent's report is valid.
    pub fresh_ms: u64,
    /// Time for which reports must support a verdict. Every witness must report again after this time.
    pub settle_ms: u64,
    /// Minimum number of consecutive good probes after which an element counts as recovered. Rare losses need more.
    pub good_probes: u64,
    /// Duration of a denial.
    pub deny_ms: u64,
    /// Maximum share of a plane that may be denied, 0 to 1.
    pub plane_share: f64,
    /// Minimum confidence of a verdict for a denial.
    pub confidence: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            apply: false,
            fresh_ms: 15_000,
            settle_ms: 5_000,
            good_probes: 200,
            deny_ms: 3_600_000,
            plane_share: 0.1,
            confidence: 0.999,
        }
    }
}
