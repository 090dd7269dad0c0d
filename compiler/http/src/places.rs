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
    asked: Arc<AtomicBool>,
}

/// All connections, the oldest first.
pub(crate) struct Places {
    taken: Vec<Place>,
    most: usize,
}

impl Places {
    pub(crate) fn new(most: usize) -> Places {
        Places { taken: Vec::with_capacity(most), most }
    }

    /// Frees a place if there is none: ends the oldest connection without a request, or else the oldest one.
    pub(crate) async fn make_room(&mut self) {
        self.taken.retain(|place| !place.task.is_finished());
        if self.taken.len() < self.most {
            return;
        }
        let silent = self.taken.iter().position(|place| !place.asked.load(Ordering::Relaxed));
        let place = self.taken.remove(silent.unwrap_or(0));
        place.task.abort();
        // Wait until the task has ended, so that its memory is free.
        let _ = place.task.await;
    }

    /// Gives a place to a connection.
    pub(crate) fn take(&mut self, task: JoinHandle<()>, asked: Arc<AtomicBool>) {
        self.taken.push(Place { task, asked });
    }
}
