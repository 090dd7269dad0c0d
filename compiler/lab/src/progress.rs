//! Progress messages of labs, and interruption.
//!
//! In: a function that is called at every step. Invariants: this module does not print.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::LabError;

/// Progress of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Operation, for example `send packets`.
    pub operation: &'static str,
    /// Number of completed steps.
    pub done: u64,
    /// Total number of steps.
    pub total: u64,
}

/// Receives progress and can stop the work.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
    /// `None` if the work cannot be interrupted.
    interrupt: Option<&'a Interrupt>,
}

impl<'a> Watch<'a> {
    /// Creates a watch from a function for progress and a request to stop.
    pub fn new(progress: &'a (dyn Fn(Progress) + Sync), interrupt: &'a Interrupt) -> Self {
        Watch { progress, interrupt: Some(interrupt) }
    }

    /// Returns a watch without progress or interruption.
    pub(crate) fn noop() -> Watch<'static> {
        Watch { progress: &|_| {}, interrupt: None }
    }

    /// Returns a watch with the same progress and without interruption, for cleaning up.
    #[must_use]
    pub(crate) fn to_the_end(self) -> Self {
        Watch { interrupt: None, ..self }
    }

    pub(crate) fn step(&self, what: &'static str, done: u64, total: u64) {
        (self.progress)(Progress { operation: what, done, total });
    }

    /// Returns [`LabError::Interrupted`] after an interruption, because `error` is then a consequence of it. Otherwise
    /// returns `error`.
    pub(crate) fn reason(&self, error: LabError) -> LabError {
        self.check().err().unwrap_or(error)
    }

    /// Returns an error after an interruption.
    pub fn check(&self) -> Result<(), LabError> {
        if self.interrupt.is_some_and(Interrupt::is_set) { Err(LabError::Interrupted) } else { Ok(()) }
    }
}

/// A request to stop, for example by Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Creates an interrupt that SIGINT, SIGTERM and SIGHUP set. A second signal only calls `again`, because the lab
    /// is already stopping. A third one ends the process immediately, as SIGQUIT always does.
    pub fn from_signals(again: impl Fn() + Send + 'static) -> io::Result<Self> {
        let interrupt = Interrupt::default();
        let asked = interrupt.clone();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for (number, signal) in (1_u32..).zip(signals.forever()) {
                match number {
                    1 => asked.set(),
                    2 => again(),
                    _ => {
                        // This call does not return. If it cannot end the process, the next signal tries again.
                        let _ = signal_hook::low_level::emulate_default_handler(signal);
                    }
                }
            }
        })?;
        Ok(interrupt)
    }

    /// Requests a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether a stop was requested.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
