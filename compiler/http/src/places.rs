//! A limited number of places for connections.
//!
//! In: the tasks of connections, and whether each has received its request. Out: a free place. Invariants: there are
//! never more tasks than places; a connection with a request keeps its place, unless all connections have one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

/// A connection that is served.
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

    /// Frees a place if there is none: ends the oldest connection without a request, or else the oldest one.
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

    /// Gives a place to a connection.
    pub(crate) fn take(&mut self, task: JoinHandle<()>, asked: Arc<AtomicBool>) {
        self.connections.push(Place { task, has_request: asked });
    }
}
