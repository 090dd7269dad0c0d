//! Options of a client.

use std::time::Duration;

use super::Backoff;
use crate::proto::v1::write_request::Atomicity;

/// Time limit of each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// To connect, TLS included.
    pub connect: Duration,
    /// From the opening of the stream to the answer who is primary.
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
    /// Returns one deadline for all calls; to set a pipeline may take a minute, in which hardware starts anew.
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
        // A target that is there and does not answer is as good as gone after that.
        Deadlines::all(Duration::from_secs(10))
    }
}

/// Division of updates into requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// The most updates in a request. A refused one is answered with a detail for each of its updates, which
    /// must fit `Options::header_limit`.
    pub max_updates: usize,
    /// The most bytes in a request; 4 MiB is what every target takes.
    pub max_bytes: usize,
    /// Requests that may wait for their answer at once, within one wave.
    pub in_flight: usize,
    /// Handling of the other updates when one fails. Most targets have only `ContinueOnError`.
    pub atomicity: Atomicity,
    /// Whether to go on with the next request after some updates were refused.
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
    /// Reconnection after the stream broke; `None` for no reconnection.
    pub reconnect: Option<Backoff>,
    /// The greatest message to take, in bytes. Some targets return a whole table in one.
    pub decode_limit: usize,
    /// Memory limit of a message, or of everything read from a device at once. An entry takes some
    /// hundred bytes.
    pub memory_limit: usize,
    /// The greatest list of headers to take, in bytes: the outcomes of a failed Write travel in them.
    pub header_limit: u32,
    /// Packets, digests and notifications that may wait to be fetched; more are dropped and counted.
    pub event_queue: usize,
    /// What they may take in memory all together; more are dropped and counted as well.
    pub event_bytes: usize,
    /// Keep-alive interval of a silent connection; `None` leaves it to TCP. Targets built on gRPC's
    /// C core hang up on those who ask more often than every five minutes.
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
