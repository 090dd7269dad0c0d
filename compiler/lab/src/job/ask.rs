//! Requests of a job to agents, over their sockets.
//!
//! In: a socket, a request. Out: the answer, or the error. Invariants: answers have a maximum length, and waiting has a
//! timeout.

use std::io::{self, Read as _, Write as _};
use std::net::Ipv6Addr;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use camino::Utf8Path;
use closc_nic::api::Request;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum size of an answer.
const ANSWER_MAX: usize = 16 << 20;
/// Timeout for an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// State of an agent, as needed by jobs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Status {
    /// Time of its clock.
    pub(super) now_ns: u64,
    pub(super) planes: Vec<Plane>,
    pub(super) channels: Vec<Channel>,
    pub(super) counters: Counters,
    pub(super) wrong_bytes: u64,
}

/// A plane, as seen from a NIC.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Plane {
    pub(super) carrier: bool,
    /// `None` without a carrier.
    pub(super) t0_answers: Option<bool>,
}

/// The connection to a far NIC.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Channel {
    pub(super) to: Ipv6Addr,
    pub(super) sent: Vec<u64>,
    pub(super) rtt_us: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Counters {
    pub(super) written_bytes: u64,
    pub(super) repeated: u64,
}

/// A completed write.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct CompletedWrite {
    pub(super) elapsed_us: f64,
    pub(super) sent: u64,
    pub(super) resent: u64,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Line {
    stream: UnixStream,
    read: Vec<u8>,
}

impl Line {
    pub(super) fn open(socket: &Utf8Path) -> io::Result<Line> {
        let stream = UnixStream::connect(socket)?;
        stream.set_nonblocking(true)?;
        Ok(Line { stream, read: Vec::new() })
    }

    /// Returns the stream to wait for.
    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends a request.
    pub(super) fn send(&mut self, request: &Request) -> io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        // This does not block, because the request fits any socket buffer and only one is outstanding.
        self.stream.write_all(&line)
    }

    /// Returns the answer, if it has arrived.
    pub(super) fn answer(&mut self) -> io::Result<Option<Value>> {
        let mut bytes = [0; 16 * 1024];
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(end + 1);
                let line = std::mem::replace(&mut self.read, rest);
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            if self.read.len() > ANSWER_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is incomplete"));
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the agent has ended")),
                Ok(n) => self.read.extend_from_slice(&bytes[..n]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a request and waits for the answer.
    pub(super) fn ask<T: DeserializeOwned>(&mut self, request: &Request) -> io::Result<T> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_read_timeout(Some(PATIENCE))?;
        self.send(request)?;
        let answer = self.answer();
        self.stream.set_nonblocking(true)?;
        let answer = answer?.ok_or(io::ErrorKind::TimedOut)?;
        if let Some(error) = answer.get("error").and_then(Value::as_str) {
            return Err(io::Error::other(error.to_owned()));
        }
        Ok(serde_json::from_value(answer)?)
    }
}
