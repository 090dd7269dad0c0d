//! What a target sends of its own accord, and what of it waits to be fetched.

use std::sync::atomic::{AtomicU64, AtomicUsize};

use tokio::sync::{mpsc, watch};

use super::controller::Primacy;
use crate::proto::v1;

/// What a target sends of its own accord.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A packet; see [`crate::packet`] for its metadata by name.
    PacketIn(v1::PacketIn),
    /// Values from the data plane; acknowledge it with [`super::Session::acknowledge`].
    Digest(v1::DigestList),
    /// Entries that no packet has hit for a while.
    IdleTimeout(v1::IdleTimeoutNotification),
    /// A message of ours that the target could not use.
    Error(v1::StreamError),
    /// A message of the architecture's own.
    Other(prost_types::Any),
}

/// What the session and its stream share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) primacy: watch::Sender<Primacy>,
    /// What waits to be fetched, each with what it takes in memory.
    pub(super) events: mpsc::Sender<(Event, usize)>,
    pub(super) queued_bytes: AtomicUsize,
    pub(super) n_dropped: AtomicU64,
}
