//! Limits and pace of work on a fleet.

use std::time::Duration;

use closc_runtime::client::{Backoff, Commit, Deadlines, Jitter, Options};

/// The options of a push.
#[derive(Debug, Clone, Copy)]
pub struct PushOptions {
    /// Switches that are worked on at the same time.
    pub max_parallel: usize,
    /// Switches that may fail before no further one is begun.
    pub max_failures: usize,
    /// Time limit per switch, all attempts together.
    pub timeout: Duration,
    /// Number of attempts per switch.
    pub attempts: u32,
    /// Delay between attempts.
    pub pause: Backoff,
    /// Activation of a pipeline that differs.
    pub commit: Commit,
    /// Whether to become primary where another controller is.
    pub take_over: bool,
    /// Deadlines, sizes of requests, limits of answers.
    pub client: Options,
}

impl PushOptions {
    /// Returns the same options with another deadline for every call to a switch.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.client.deadlines = Deadlines::all(deadline);
        self
    }

    /// Returns the same options with another limit for what the entries of a switch take in memory.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.client.memory_limit = bytes;
        // Some switches return a whole table in one message.
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
        // A stream that breaks ends the attempt: the next one begins by reading what is there.
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

/// Order of signed trees, as a switch that remembers it compares them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceGuard {
    /// The number of the tree.
    pub sequence: u64,
    /// Whether the switch may have taken a tree with a higher one.
    pub allow_older: bool,
}
