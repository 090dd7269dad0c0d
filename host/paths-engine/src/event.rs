//! Events: state changes of paths.
//!
//! Invariants: events wait in a ring of fixed size. If it is full, further events are counted and dropped.

use std::collections::VecDeque;

use crate::path_id::PathId;
use crate::value::State;

/// The reason why a state changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A packet was lost.
    Loss,
    /// Probes were missed.
    Probe,
    /// Enough packets or probes were answered.
    Answer,
    /// A denial began.
    Denial,
    /// A denial ended.
    Allowed,
    /// A new path table changed the state.
    Table,
    /// A port at one end of the path recovered.
    Port,
}

impl Cause {
    /// Returns the keyword.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Loss => "loss",
            Cause::Probe => "probe",
            Cause::Answer => "answer",
            Cause::Denial => "denial",
            Cause::Allowed => "allowed",
            Cause::Table => "table",
            Cause::Port => "port",
        }
    }
}

/// A change of state of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The destination.
    pub path: PathId,
    /// The entropy value.
    pub entropy: u32,
    /// State before the change.
    pub from: State,
    /// State after the change.
    pub to: State,
    /// Cause of the change.
    pub cause: Cause,
    /// Packets that the path has lost so far.
    pub lost: u32,
    /// Time of the change.
    pub at_ns: u64,
}

/// The ring of events.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
    capacity: usize,
    pub(crate) dropped: u64,
}

impl Events {
    pub(crate) fn new(room: usize) -> Self {
        Events { queue: VecDeque::with_capacity(room), capacity: room, dropped: 0 }
    }

    pub(crate) fn push(&mut self, event: Event) {
        if self.queue.len() < self.capacity {
            self.queue.push_back(event);
        } else {
            self.dropped += 1;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}
