//! Settings of a collector.

/// Settings of judging and denying.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether denials are applied; otherwise they are proposed only.
    pub apply: bool,
    /// Time for which an agent's report counts.
    pub fresh_ms: u64,
    /// Time that reports must give the same verdict: every witness has reported again so much later.
    pub settle_ms: u64,
    /// Good probes in a row after which something is good again.
    pub good_probes: u64,
    /// Duration of a denial.
    pub deny_ms: u64,
    /// The share of a plane that may be denied: 0 to 1.
    pub plane_share: f64,
    /// Confidence that a verdict needs for a denial.
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
