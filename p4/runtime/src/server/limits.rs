//! Limits of a server for its clients.

use std::time::Duration;

/// The limits of a server. Requests beyond a limit are rejected, wait, or replace stalled ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of open connections. A further connection replaces the one that has been idle for longest, or one
    /// whose requests are all stalled. If there is none, it waits for a place within its handshake time. Twice as many
    /// connections may be in their handshake; a further one replaces the oldest of these.
    pub connections: usize,
    /// Maximum number of requests and streams per connection.
    pub requests_per_connection: u32,
    /// Maximum number of requests and streams of all connections. A further request ends the connection with the most
    /// requests that have been stalled for `grace`. If there is none, it ends the one with the most stalled requests,
    /// provided these exceed both eight and a sixteenth of the limit. Otherwise the request is rejected.
    pub requests: usize,
    /// Time for which an idle connection or a stalled request keeps its place while others wait for one.
    pub grace: Duration,
    /// Time limit from accepting a connection until it has a place, including TLS and the HTTP/2 preface. The
    /// same limit applies from opening a stream to its arbitration.
    pub handshake: Duration,
    /// Time limit without progress, for receiving a request or sending an answer.
    pub stall: Duration,
    /// Idle time after which a keep-alive is sent to a client.
    pub keep_alive: Duration,
    /// Time limit for the answer to a keep-alive.
    pub keep_alive_timeout: Duration,
    /// Maximum size of a Write, a Read and other requests, in bytes.
    pub message_bytes: usize,
    /// Maximum size of a `SetForwardingPipelineConfig`, in bytes.
    pub pipeline_bytes: usize,
    /// Maximum size of a message on a controller's stream, in bytes.
    pub stream_message_bytes: usize,
    /// Memory for long requests while they are received, in bytes. After the first bytes of a long request, the rest is
    /// received only when its size fits into this memory. A request that may be longer than this takes all of it.
    pub arriving_bytes: usize,
    /// Memory for decoded requests, in bytes.
    pub decoded_bytes: usize,
    /// Maximum size of the messages queued for one controller, in bytes.
    pub queued_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 64,
            requests_per_connection: 128,
            requests: 512,
            grace: Duration::from_millis(200),
            handshake: Duration::from_secs(5),
            stall: Duration::from_secs(8),
            keep_alive: Duration::from_secs(5),
            keep_alive_timeout: Duration::from_secs(4),
            message_bytes: 4 << 20,
            pipeline_bytes: 16 << 20,
            stream_message_bytes: 128 << 10,
            arriving_bytes: 5 << 20,
            decoded_bytes: 16 << 20,
            queued_bytes: 2 << 20,
        }
    }
}

impl Limits {
    /// Returns the limits of a server with several devices, each with its own controllers.
    #[must_use]
    pub fn for_devices(self, n_devices: usize) -> Self {
        let more = n_devices.saturating_sub(1);
        let connections = self.connections + 4 * more;
        let requests = self.requests + 8 * more;
        Limits { connections, requests, ..self }
    }
}
