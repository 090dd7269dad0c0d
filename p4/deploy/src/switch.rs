//! One switch of a fleet, independent of its protocol.
//!
//! In: options, and a receiver of progress. Out: the result of a push, or the differences. Invariants: a switch is read
//! before anything is written and read back afterwards; no state is kept between attempts, so each may be killed at any
//! point.

use std::future::Future;
use std::pin::Pin;

use crate::device_drift::DeviceDrift;
use crate::fault::Fault;
use crate::options::PushOptions;
use crate::progress::Progress;
use crate::report::PushSummary;

/// Work on a switch.
pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// One switch.
pub(crate) trait Switch: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &str;

    /// Returns its plane, if known.
    fn plane(&self) -> Option<u8>;

    /// Returns the wave of a push that it belongs to.
    fn wave(&self) -> usize;

    /// Brings it to the state of the tree: reads, compares, applies the difference, reads back.
    fn push<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, PushSummary>;

    /// Reads and compares; nothing is written.
    fn drift<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, DeviceDrift>;
}
