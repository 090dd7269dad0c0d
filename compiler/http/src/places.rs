//! A limited number of places for connections.
//!
//! In: the tasks of connections, and whether each has received its request. Out: a free place. Invariants:
//! there are never more tasks than places. A connection that has received its request keeps its place, unless
//! all connections have received theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

/// An open connection.
struct Place {
    task: JoinHandle<()>,
    has_request: Arc<AtomicBool>,
}

/// All connections, the oldest first.
pub(crate) struct Places {
    connections: Vec<Place>,
    capacity: usize,
}

impl Places {
    pub(crate) fn new(most: usize) -> Places {
        Places { connections: Vec::with_capacity(most), capacity: most }
    }

    /// If all places are taken, frees one: ends the oldest connection without a request, or else the oldest
    /// connection.
    pub(crate) async fn make_room(&mut self) {
        self.connections.retain(|place| !place.task.is_finished());
        if self.connections.len() < self.capacity {
            return;
        }
        let silent = self.connections.iter().position(|place| !place.has_request.load(Ordering::Relaxed));
        let place = self.connections.remove(silent.unwrap_or(0));
        place.task.abort();
        // Wait until the task has ended, so that its memory is free.
        let _ = place.task.await;
    }

    /// Assigns a place to a connection.
    pub(crate) fn take(&mut self, task: JoinHandle<()>, asked: Arc<AtomicBool>) {
        self.connections.push(Place { task, has_request: asked });
    }
}
