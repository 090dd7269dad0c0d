//! What a lab says while it works, and how it is asked to stop.
//!
//! In: a function that is called with every step. Invariants: nothing here prints; the command line does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::LabError;

/// A step of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, for example `send packets`.
    pub what: &'static str,
    /// How much is done.
    pub done: u64,
    /// Of how much.
    pub total: u64,
}

/// Watches over the work: receives its progress and can stop it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
    /// Nothing where the work must come to its end.
    interrupt: Option<&'a Interrupt>,
}

impl<'a> Watch<'a> {
    /// Takes a function for progress and a way to stop.
    pub fn new(progress: &'a (dyn Fn(Progress) + Sync), interrupt: &'a Interrupt) -> Self {
        Watch { progress, interrupt: Some(interrupt) }
    }

    /// Returns one that shows nothing and is stopped by nobody.
    pub(crate) fn unwatched() -> Watch<'static> {
        Watch { progress: &|_| {}, interrupt: None }
    }

    /// Returns one that shows the same progress and is stopped by nobody, to put things right again.
    #[must_use]
    pub(crate) fn to_the_end(self) -> Self {
        Watch { interrupt: None, ..self }
    }

    pub(crate) fn step(&self, what: &'static str, done: u64, total: u64) {
        (self.progress)(Progress { what, done, total });
    }

    /// Ends the work where somebody asked for it.
    pub(crate) fn check(&self) -> Result<(), LabError> {
        if self.interrupt.is_some_and(Interrupt::is_set) { Err(LabError::Interrupted) } else { Ok(()) }
    }
}

/// A request to stop, for example from Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Makes one that SIGINT, SIGTERM and SIGHUP set. A second signal of a kind ends the process at once.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Interrupt::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
        {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupt.0))?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))?;
        }
        Ok(interrupt)
    }

    /// Asks for a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Tells whether a stop was asked for.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
