//! Connections with the stream of a primary, whose requests have priority over those of other clients.
//!
//! In: streams that take part in an arbitration, and ended ones. Out: whether a connection has a stream that is
//! currently primary. Invariants: ended streams do not count.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closc_runtime::server::StreamId;

use super::device::Device;

/// Key of a stream, which starts with the number of its connection.
type Key = (u64, StreamId);

/// The streams of controllers by connection.
#[derive(Default)]
pub(super) struct Leaders(Mutex<BTreeMap<Key, Arc<Device>>>);

impl Leaders {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Device>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stream that takes part in the arbitration of a device.
    pub(super) fn join(&self, connection: u64, stream: StreamId, device: &Arc<Device>) {
        self.lock().insert((connection, stream), Arc::clone(device));
    }

    /// Removes a stream that ended.
    pub(super) fn leave(&self, connection: u64, stream: StreamId) {
        self.lock().remove(&(connection, stream));
    }

    /// Returns whether a connection has a primary.
    pub(super) fn lead(&self, connection: u64) -> bool {
        let streams = (connection, StreamId(0))..=(connection, StreamId(u64::MAX));
        self.lock().range(streams).any(|((_, stream), device)| device.is_primary(*stream))
    }
}
