//! What one switch is at, for messages about time running out.

use std::sync::{Arc, Mutex, PoisonError};

use crate::event::{Reporter, What};
use crate::fault::Doing;

/// What one switch is at. Clones share it.
#[derive(Clone)]
pub(crate) struct Progress {
    doing: Arc<Mutex<Doing>>,
    reporter: Reporter,
}

impl Progress {
    pub(crate) fn new(reporter: Reporter) -> Self {
        Progress { doing: Arc::new(Mutex::new(Doing::Connecting)), reporter }
    }

    /// Takes note of what is begun, and returns it.
    pub(crate) fn begin(&self, doing: Doing) -> Doing {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing.clone();
        doing
    }

    /// Returns what was begun last.
    pub(crate) fn doing(&self) -> Doing {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn report(&self, what: What) {
        self.reporter.send(what);
    }
}
