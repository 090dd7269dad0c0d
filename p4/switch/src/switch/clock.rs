//! The clock of a switch: that of the machine, or a virtual one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock. Copies of a virtual one show the same time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    Wall {
        /// Its start.
        start: Instant,
        /// Wall-clock time at the start, in nanoseconds since 1970.
        epoch_ns: u64,
    },
    /// A virtual clock, which a driver advances.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// Returns the machine's clock, starting at zero.
    pub fn wall() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::Wall { start: Instant::now(), epoch_ns: epoch.as_nanos() as u64 }
    }

    /// Returns a virtual clock at zero.
    pub(crate) fn new_virtual() -> Self {
        Self::Virtual(Arc::default())
    }

    /// Returns the time in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        match self {
            Self::Wall { start, .. } => start.elapsed().as_nanos() as u64,
            Self::Virtual(time) => time.load(Ordering::Acquire),
        }
    }

    /// Converts a time of this clock to nanoseconds since 1970. A virtual clock starts in 1970.
    pub(crate) fn calendar_ns(&self, at_ns: u64) -> u64 {
        match self {
            Self::Wall { epoch_ns, .. } => epoch_ns.saturating_add(at_ns),
            Self::Virtual(_) => at_ns,
        }
    }

    /// Advances a virtual clock. It never goes back, and the machine's clock is not changed.
    pub(crate) fn advance_to(&self, at_ns: u64) {
        match self {
            Self::Wall { .. } => {}
            Self::Virtual(time) => drop(time.fetch_max(at_ns, Ordering::AcqRel)),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::wall()
    }
}
