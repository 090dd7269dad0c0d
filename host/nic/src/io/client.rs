//! The other end of the Unix socket: what the command line asks.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

use crate::api::Request;

/// Asks an agent and waits for its answer.
pub fn ask(socket: &Path, request: &Request) -> io::Result<Value> {
    let mut stream = UnixStream::connect(socket)?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    if answer.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the agent ended before it answered"));
    }
    Ok(serde_json::from_str(&answer)?)
}
