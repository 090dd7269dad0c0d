//! The time of a switch: that of the machine, or one that a driver moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock. Copies of a virtual one show the same time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's.
    Wall {
        /// When it showed zero.
        start: Instant,
        /// Wall-clock time of the machine then, in nanoseconds since 1970.
        epoch_ns: u64,
    },
    /// One that stands still until it is moved.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// Returns the machine's clock, from zero.
    pub fn wall() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::Wall { start: Instant::now(), epoch_ns: epoch.as_nanos() as u64 }
    }

    /// Returns a clock that stands at zero.
    pub(crate) fn standing() -> Self {
        Self::Virtual(Arc::default())
    }

    /// Returns the time in nanoseconds.
    pub(crate) fn now_ns(&self) -> u64 {
        match self {
            Self::Wall { start, .. } => start.elapsed().as_nanos() as u64,
            Self::Virtual(time) => time.load(Ordering::Acquire),
        }
    }

    /// Returns a time of this clock as nanoseconds since 1970; a virtual one began then.
    pub(crate) fn calendar_ns(&self, at_ns: u64) -> u64 {
        match self {
            Self::Wall { epoch_ns, .. } => epoch_ns.saturating_add(at_ns),
            Self::Virtual(_) => at_ns,
        }
    }

    /// Moves a virtual clock forward; that of the machine moves by itself, and none moves back.
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
