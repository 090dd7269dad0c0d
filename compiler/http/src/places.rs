//! Places of connections, of which there are so many.
//!
//! In: tasks that serve, and whether their clients have asked. Out: room for one more. Invariants: there are never more tasks than
//! places; a client that asked keeps its place for its time, unless all have asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

/// A connection that is served.
struct Place {
    task: JoinHandle<()>,
    asked: Arc<AtomicBool>,
}

/// All of them, in the order in which they came.
pub(crate) struct Places {
    taken: Vec<Place>,
    most: usize,
}

impl Places {
    pub(crate) fn new(most: usize) -> Places {
        Places { taken: Vec::with_capacity(most), most }
    }

    /// Makes room for one more: where there is none, the oldest connection that has not asked ends, or else the oldest one.
    pub(crate) async fn make_room(&mut self) {
        self.taken.retain(|place| !place.task.is_finished());
        if self.taken.len() < self.most {
            return;
        }
        let silent = self.taken.iter().position(|place| !place.asked.load(Ordering::Relaxed));
        let place = self.taken.remove(silent.unwrap_or(0));
        place.task.abort();
        // It is gone when this returns, and not at some time.
        let _ = place.task.await;
    }

    /// Takes a place.
    pub(crate) fn take(&mut self, task: JoinHandle<()>, asked: Arc<AtomicBool>) {
        self.taken.push(Place { task, asked });
    }
}
