//! Unsolicited messages of a target, and those that wait to be fetched.

use std::sync::atomic::{AtomicU64, AtomicUsize};

use tokio::sync::{mpsc, watch};

use super::controller::Primacy;
use crate::proto::v1;

/// Unsolicited messages of a target.
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

/// Shared state of the session and its stream.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) primacy: watch::Sender<Primacy>,
    /// Items waiting to be fetched, each with its memory.
    pub(super) events: mpsc::Sender<(Event, usize)>,
    pub(super) queued_bytes: AtomicUsize,
    pub(super) n_dropped: AtomicU64,
}
