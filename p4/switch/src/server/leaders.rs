//! Which connections carry the stream of a primary: their requests wait for no stranger.
//!
//! In: streams that took part in an arbitration, and ended. Out: whether one of a connection is that of a primary now.
//! Invariants: a stream that ended counts for nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closc_runtime::server::StreamId;

use super::device::Device;

/// A stream, after the number of its connection.
type Key = (u64, StreamId);

/// The streams of controllers by connection.
#[derive(Default)]
pub(super) struct Leaders(Mutex<BTreeMap<Key, Arc<Device>>>);

impl Leaders {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Device>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a stream that took part in the arbitration of a device.
    pub(super) fn join(&self, connection: u64, stream: StreamId, device: &Arc<Device>) {
        self.lock().insert((connection, stream), Arc::clone(device));
    }

    /// Forgets a stream that ended.
    pub(super) fn leave(&self, connection: u64, stream: StreamId) {
        self.lock().remove(&(connection, stream));
    }

    /// Says whether a primary is on a connection.
    pub(super) fn lead(&self, connection: u64) -> bool {
        let streams = (connection, StreamId(0))..=(connection, StreamId(u64::MAX));
        self.lock().range(streams).any(|((_, stream), device)| device.is_primary(*stream))
    }
}
