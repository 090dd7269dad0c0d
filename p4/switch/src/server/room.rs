//! The room that a long request has while it arrives and is looked through; a short one has none.
//!
//! In: a share of the memory, once the body turns out to be long. Out: the share again. Invariants: whoever drops the
//! request gives its room to the next one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedSemaphorePermit;

/// The room of one request. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Room(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Room {
    fn slot(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether the request has room.
    pub(super) fn is_taken(&self) -> bool {
        self.slot().is_some()
    }

    /// Gives room to the request.
    pub(super) fn take(&self, permit: OwnedSemaphorePermit) {
        *self.slot() = Some(permit);
    }

    /// Gives the room to the next one.
    pub(super) fn free(&self) {
        *self.slot() = None;
    }
}
