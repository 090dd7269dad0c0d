//! Write errors of a mandatory log, as reported by `/healthz` and metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters shared by the writer of the log and by servers.
#[derive(Debug, Clone, Default)]
pub struct LogState(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    failures: AtomicU64,
    is_failing: AtomicBool,
}

impl LogState {
    /// Records whether a line was written.
    pub fn record(&self, is_written: bool) {
        self.0.is_failing.store(!is_written, Ordering::Relaxed);
        self.0.failures.fetch_add(u64::from(!is_written), Ordering::Relaxed);
    }

    /// Returns whether the last line could not be written.
    pub fn is_failing(&self) -> bool {
        self.0.is_failing.load(Ordering::Relaxed)
    }

    /// Returns the state as Prometheus metrics.
    pub fn metrics(&self) -> String {
        let failures = self.0.failures.load(Ordering::Relaxed);
        format!(
            "# HELP closc_audit_failures_total Lines that could not be written to the audit log.\n\
             # TYPE closc_audit_failures_total counter\nclosc_audit_failures_total {failures}\n\
             # HELP closc_audit_failing 1 if the last line could not be written to the audit log.\n\
             # TYPE closc_audit_failing gauge\nclosc_audit_failing {}\n",
            u8::from(self.is_failing())
        )
    }
}
