//! The client side of the Unix socket, used by the command line.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::api::Request;

/// Sends a request to an agent and waits for its answer.
pub fn ask(socket: &Path, request: &Request) -> io::Result<Value> {
    exchange(UnixStream::connect(socket)?, request)
}

/// Sends a request to an agent and waits for its answer, but not longer than a limit.
///
/// # Errors
///
/// Returns the error of the socket or the answer; `WouldBlock` on a timeout.
pub(crate) fn ask_within(socket: &Path, request: &Request, limit: Duration) -> io::Result<Value> {
    let stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    exchange(stream, request)
}

fn exchange(mut stream: UnixStream, request: &Request) -> io::Result<Value> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    if answer.is_empty() {
        let why = "the agent closed the connection before it answered";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
    }
    Ok(serde_json::from_str(&answer)?)
}
