//! Options of a client.

use std::time::Duration;

use super::Backoff;
use crate::proto::v1::write_request::Atomicity;

/// Time limit of each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// To connect, including TLS.
    pub connect: Duration,
    /// From opening the stream to the result of the arbitration.
    pub arbitration: Duration,
    /// For one request of a Write.
    pub write: Duration,
    /// For the first answer to a Read, and from one answer to the next.
    pub read: Duration,
    /// To set a pipeline.
    pub set_pipeline: Duration,
    /// To get a pipeline.
    pub get_pipeline: Duration,
    /// To get the capabilities.
    pub capabilities: Duration,
}

impl Deadlines {
    /// Returns the same deadline for all calls, except that setting a pipeline may take at least a minute, because
    /// hardware may restart.
    pub fn all(deadline: Duration) -> Self {
        Deadlines {
            connect: deadline,
            arbitration: deadline,
            write: deadline,
            read: deadline,
            set_pipeline: deadline.max(Duration::from_mins(1)),
            get_pipeline: deadline,
            capabilities: deadline,
        }
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        // A target that does not answer within this time is treated as down.
        Deadlines::all(Duration::from_secs(10))
    }
}

/// Division of updates into requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// Maximum updates per request. The answer to a failed request has one detail per update, and all of them must fit
    /// `Options::header_limit`.
    pub max_updates: usize,
    /// Maximum bytes per request; every target accepts 4 MiB.
    pub max_bytes: usize,
    /// Maximum requests in flight within one wave.
    pub in_flight: usize,
    /// Handling of the other updates if one fails. Most targets support only `ContinueOnError`.
    pub atomicity: Atomicity,
    /// Whether to send further requests after an update was rejected.
    pub continue_after_refusal: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            max_updates: 4096,
            max_bytes: 2 << 20,
            in_flight: 4,
            atomicity: Atomicity::ContinueOnError,
            continue_after_refusal: false,
        }
    }
}

/// The options of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Time limit of each call.
    pub deadlines: Deadlines,
    /// Division of updates into requests.
    pub write: WriteOptions,
    /// Reconnection after the stream broke; `None` disables it.
    pub reconnect: Option<Backoff>,
    /// Maximum size of a received message, in bytes. Some targets return a complete table in one message.
    pub decode_limit: usize,
    /// Maximum memory of one message, or of one read of the complete state of a device. An entry takes
    /// several hundred bytes.
    pub memory_limit: usize,
    /// Maximum size of received headers, in bytes. The outcomes of a failed Write are in the headers.
    pub header_limit: u32,
    /// Maximum number of packets, digests and notifications in the queue; further ones are dropped and counted.
    pub event_queue: usize,
    /// Maximum memory of that queue, in bytes; further events are dropped and counted.
    pub event_bytes: usize,
    /// Keep-alive interval of an idle connection; `None` leaves this to TCP. Targets built on gRPC's C core close a
    /// connection that sends keep-alives more often than every five minutes.
    pub keep_alive: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            deadlines: Deadlines::default(),
            write: WriteOptions::default(),
            reconnect: Some(Backoff::default()),
            decode_limit: 16 << 20,
            memory_limit: 32 << 20,
            header_limit: 4 << 20,
            event_queue: 4096,
            event_bytes: 8 << 20,
            keep_alive: None,
        }
    }
}
