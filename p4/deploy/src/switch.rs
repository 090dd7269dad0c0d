//! One switch as a fleet works on it, whatever it speaks.
//!
//! In: options, and where to report to. Out: what was done, or how it differs. Invariants: a switch is read before
//! anything is written and read back after; nothing is remembered between attempts, so each may die anywhere.

use std::future::Future;
use std::pin::Pin;

use crate::device_drift::DeviceDrift;
use crate::fault::Fault;
use crate::options::PushOptions;
use crate::progress::Progress;
use crate::report::Pushed;

/// Work on a switch.
pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// One switch.
pub(crate) trait Switch: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &str;

    /// Returns its plane, where that is known.
    fn plane(&self) -> Option<u8>;

    /// Returns the wave of a push that it belongs to.
    fn wave(&self) -> usize;

    /// Brings it to what the tree says: reads, compares, applies the difference, reads back.
    fn push<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, Pushed>;

    /// Reads and compares; nothing is written.
    fn drift<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, DeviceDrift>;
}
