//! Current step of one switch, for messages about timeouts.

use std::sync::{Arc, Mutex, PoisonError};

use closc_platform::FactorySetting;

use crate::event::{EventKind, Reporter};
use crate::factory::FactoryState;
use crate::fault::Operation;

/// Current step of one switch. Clones share it.
#[derive(Clone)]
pub(crate) struct Progress {
    operation: Arc<Mutex<Operation>>,
    reporter: Reporter,
}

impl Progress {
    pub(crate) fn new(reporter: Reporter) -> Self {
        Progress { operation: Arc::new(Mutex::new(Operation::Connecting)), reporter }
    }

    /// Records the start of an operation, and returns it.
    pub(crate) fn begin(&self, operation: Operation) -> Operation {
        *self.operation.lock().unwrap_or_else(PoisonError::into_inner) = operation.clone();
        operation
    }

    /// Returns the operation that was started last.
    pub(crate) fn operation(&self) -> Operation {
        self.operation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a finding about a factory setting of the switch.
    pub(crate) fn factory(&self, setting: &'static FactorySetting, state: FactoryState) {
        self.reporter.note(setting, state);
    }

    pub(crate) fn report(&self, what: EventKind) {
        self.reporter.send(what);
    }
}
