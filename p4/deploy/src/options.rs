//! Limits and pace of work on a fleet.

use std::time::Duration;

use closc_runtime::client::{Backoff, Commit, Deadlines, Jitter, Options};

/// The options of a push.
#[derive(Debug, Clone, Copy)]
pub struct PushOptions {
    /// Number of switches that are pushed concurrently.
    pub max_parallel: usize,
    /// Number of switches that may fail before the push stops.
    pub max_failures: usize,
    /// Time limit per switch, including all attempts.
    pub timeout: Duration,
    /// Number of attempts per switch.
    pub attempts: u32,
    /// Delay between attempts.
    pub pause: Backoff,
    /// Activation of a different pipeline.
    pub commit: Commit,
    /// Whether to take over as primary from another controller.
    pub take_over: bool,
    /// Deadlines, sizes of requests, limits of answers.
    pub client: Options,
}

impl PushOptions {
    /// Returns the options with one deadline for all calls to a switch.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.client.deadlines = Deadlines::all(deadline);
        self
    }

    /// Returns the options with another memory limit for the entries of a switch.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.client.memory_limit = bytes;
        // Some switches return a complete table in one message.
        self.client.decode_limit = self.client.decode_limit.max(bytes / 2);
        self
    }
}

impl Default for PushOptions {
    fn default() -> Self {
        let pause = Backoff {
            initial: Duration::from_millis(200),
            max: Duration::from_secs(5),
            jitter: Jitter::None,
        };
        // A broken stream ends the attempt; the next one begins with a read.
        let client = Options { reconnect: None, ..Options::default() };
        PushOptions {
            max_parallel: 64,
            max_failures: 0,
            timeout: Duration::from_mins(5),
            attempts: 3,
            pause,
            commit: Commit::Clear,
            take_over: false,
            client,
        }
    }
}

/// Sequence number of a signed tree, for switches that store the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceGuard {
    /// The sequence number of the tree.
    pub sequence: u64,
    /// Whether the tree may be older than the last one that the switch accepted.
    pub allow_older: bool,
}
