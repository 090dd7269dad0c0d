//! Messages of a working lab, and its stop requests.
//!
//! In: a function that is called with every step. Invariants: nothing here prints; the command line does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::LabError;

/// A step of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Operation, for example `send packets`.
    pub what: &'static str,
    /// Progress.
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

    /// Returns one that shows nothing and is never stopped.
    pub(crate) fn unwatched() -> Watch<'static> {
        Watch { progress: &|_| {}, interrupt: None }
    }

    /// Returns one that shows the same progress and is never stopped, for cleaning up.
    #[must_use]
    pub(crate) fn to_the_end(self) -> Self {
        Watch { interrupt: None, ..self }
    }

    pub(crate) fn step(&self, what: &'static str, done: u64, total: u64) {
        (self.progress)(Progress { what, done, total });
    }

    /// Returns why the work ended: after a stop request, that request and none of its consequences.
    pub(crate) fn reason(&self, error: LabError) -> LabError {
        self.check().err().unwrap_or(error)
    }

    /// Ends the work after a stop request.
    pub fn check(&self) -> Result<(), LabError> {
        if self.interrupt.is_some_and(Interrupt::is_set) { Err(LabError::Interrupted) } else { Ok(()) }
    }
}

/// A request to stop, for example from Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Makes one that SIGINT, SIGTERM and SIGHUP set. A second signal calls `again` and changes nothing, because what
    /// was made is being taken down; a third one ends the process at once, as SIGQUIT always does.
    pub fn on_signals(again: impl Fn() + Send + 'static) -> io::Result<Self> {
        let interrupt = Interrupt::default();
        let asked = interrupt.clone();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for (number, signal) in (1_u32..).zip(signals.forever()) {
                match number {
                    1 => asked.set(),
                    2 => again(),
                    _ => {
                        // It does not return; where it cannot end the process, the next signal tries again.
                        let _ = signal_hook::low_level::emulate_default_handler(signal);
                    }
                }
            }
        })?;
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
