//! Limits of a server for its clients.

use std::time::Duration;

/// The limits of a server. What is beyond them is refused, waits, or makes room by ending what stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open connections at a time. One more ends the connection that has been without a request for longest, or one whose
    /// requests all stand still; where there is none, it waits for a place as long as for a handshake. Twice as many may
    /// be on their way to it; one more ends the oldest of them.
    pub connections: usize,
    /// Requests and streams at a time of one connection.
    pub requests_per_connection: u32,
    /// Requests and streams at a time of all connections. One more ends the connection of the request that has stood
    /// still for longest, at once where many of one connection stand still.
    pub requests: usize,
    /// Time that an idle entry keeps its place when others want it.
    pub grace: Duration,
    /// From the accepted connection to its first request over HTTP/2, TLS included; and from an opened stream to its
    /// arbitration.
    pub handshake: Duration,
    /// Time limit without progress for a request to arrive, or an answer to be taken.
    pub stall: Duration,
    /// Silence after which a client is asked whether it is still there.
    pub keep_alive: Duration,
    /// Time limit for that answer.
    pub keep_alive_timeout: Duration,
    /// Bytes of a Write, a Read and of other requests.
    pub message_bytes: usize,
    /// Bytes of a `SetForwardingPipelineConfig`.
    pub pipeline_bytes: usize,
    /// Bytes of a message of a controller on its stream.
    pub stream_message_bytes: usize,
    /// Bytes that long requests may take on their way in, all together: what is behind their first bytes waits for its
    /// share. One that may be longer has all of them to itself.
    pub arriving_bytes: usize,
    /// Bytes that requests may take once they are decoded, all together.
    pub decoded_bytes: usize,
    /// Bytes of messages that wait for one controller to take them.
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
    /// Returns the limits of a server with several devices, each of which brings its controllers.
    #[must_use]
    pub fn for_devices(self, n_devices: usize) -> Self {
        let more = n_devices.saturating_sub(1);
        let connections = self.connections + 4 * more;
        let requests = self.requests + 8 * more;
        Limits { connections, requests, ..self }
    }
}
