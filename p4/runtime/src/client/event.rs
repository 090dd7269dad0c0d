//! Unsolicited messages of a target, and the queue in which they wait.

use std::sync::atomic::{AtomicU64, AtomicUsize};

use tokio::sync::{mpsc, watch};

use super::controller::Primacy;
use crate::proto::v1;

/// Unsolicited messages of a target.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A packet; see [`crate::packet`] for its metadata by name.
    PacketIn(v1::PacketIn),
    /// Values from the data plane; acknowledge the list with [`super::Session::acknowledge`].
    Digest(v1::DigestList),
    /// Entries that no packet has hit for a while.
    IdleTimeout(v1::IdleTimeoutNotification),
    /// Error about a message from this controller that the target could not process.
    Error(v1::StreamError),
    /// A message specific to the architecture.
    Other(prost_types::Any),
}

/// Shared state of the session and its stream.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) primacy: watch::Sender<Primacy>,
    /// The queue of events; each is sent with the bytes it occupies.
    pub(super) events: mpsc::Sender<(Event, usize)>,
    pub(super) queued_bytes: AtomicUsize,
    pub(super) n_dropped: AtomicU64,
}
