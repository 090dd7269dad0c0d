//! Packets from other threads: packets from controllers, and injected packets.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::Node;
use crate::switch::Ports;

/// A packet for a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The switch.
    pub node: Node,
    /// Its port.
    pub port: u32,
    /// The packet.
    pub frame: Vec<u8>,
}

/// An arriving packet.
#[derive(Debug)]
pub(super) enum Mail {
    /// A packet for a port.
    In(Injection),
    /// A packet that left a port outside of a run.
    Out(Injection),
}

#[derive(Debug, Default)]
pub(super) struct Inbox {
    mail: Mutex<Vec<Mail>>,
    arrival: Condvar,
}

impl Inbox {
    fn put(&self, mail: Mail) {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
        self.arrival.notify_one();
    }

    /// Takes all packets so far.
    pub(super) fn take(&self) -> Vec<Mail> {
        std::mem::take(&mut *self.mail.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for a packet, with a timeout.
    pub(super) fn wait(&self, longest: Duration) {
        let mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        // Spurious wake-ups are harmless.
        drop(self.arrival.wait_timeout_while(mail, longest, |mail| mail.is_empty()));
    }
}

/// The ports of a switch in a fabric.
#[derive(Debug)]
pub(super) struct Plug {
    node: Node,
    inbox: Arc<Inbox>,
}

impl Plug {
    pub(super) fn new(node: Node, inbox: Arc<Inbox>) -> Self {
        Self { node, inbox }
    }
}

impl Ports for Plug {
    fn send(&self, port: u32, _at_ns: u64, frame: &[u8]) {
        self.inbox.put(Mail::Out(Injection { node: self.node, port, frame: frame.to_vec() }));
    }
}

/// Injects packets from any thread; they are processed in the next run.
#[derive(Clone, Debug)]
pub struct FabricHandle {
    inbox: Arc<Inbox>,
}

impl FabricHandle {
    pub(super) fn new(inbox: Arc<Inbox>) -> Self {
        Self { inbox }
    }

    /// Puts a packet into a port.
    pub fn inject(&self, injection: Injection) {
        self.inbox.put(Mail::In(injection));
    }
}
