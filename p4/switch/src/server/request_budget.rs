//! The memory budget of a long request while it arrives and is validated; short ones need none.
//!
//! In: a share of the memory, once the body is known to be long. Out: the returned share. Invariants: dropping the
//! request releases its share for the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedSemaphorePermit;

/// The budget of one request. Clones share it.
#[derive(Clone, Default)]
pub(super) struct RequestBudget(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl RequestBudget {
    fn slot(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the request has a budget.
    pub(super) fn is_taken(&self) -> bool {
        self.slot().is_some()
    }

    /// Assigns a budget to the request.
    pub(super) fn take(&self, permit: OwnedSemaphorePermit) {
        *self.slot() = Some(permit);
    }

    /// Releases the budget.
    pub(super) fn free(&self) {
        *self.slot() = None;
    }
}
