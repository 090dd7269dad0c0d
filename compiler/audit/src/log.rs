//! The log of one process: lines with its user, operation and source.
//!
//! In: results and details. Out: lines. Invariants: a line that cannot be written is an error, and is counted
//! in [`LogState`]. The log of an event loop never waits for another process. A line that is retried later
//! counts once.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use camino::Utf8Path;
use closc_http::LogState;
use serde::Serialize;
use serde_json::Value;

use crate::sink::Sink;

/// The kernel's value for processes without a login user.
const NO_LOGIN: u32 = u32::MAX;

/// A line of the log.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Line<'l> {
    /// Digest of the previous line.
    prev: &'l str,
    /// Milliseconds since 1970.
    time_ms: u128,
    process: u32,
    user: &'l User,
    operation: &'static str,
    /// Origin of the change: a tree, a saved plan, a fabric file, a path table.
    source: &'l str,
    /// BLAKE3 digest of the source. For a tree, it is the digest of the manifest, which contains the digest
    /// of every file.
    digest: &'l str,
    /// `begun`, `done` or `failed`; some operations also log steps in between.
    result: &'l str,
    #[serde(skip_serializing_if = "Value::is_null")]
    details: &'l Value,
}

/// Author of a change.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    uid: u32,
    /// Login user, which does not change with `sudo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    login_uid: Option<u32>,
}

impl User {
    fn current() -> io::Result<Self> {
        let uid = fs::metadata("/proc/self")?.uid();
        let login_uid = fs::read_to_string("/proc/self/loginuid").ok();
        let login_uid = login_uid.and_then(|text| text.trim().parse().ok()).filter(|uid| *uid != NO_LOGIN);
        Ok(User { uid, login_uid })
    }
}

/// The log of one process.
pub struct Log {
    sink: Mutex<Sink>,
    state: LogState,
    user: User,
    operation: &'static str,
    source: String,
    digest: String,
}

impl Log {
    /// Opens the log (a file, `journald` or `syslog`) for an operation on a source with this content.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be opened.
    pub fn open(place: &Utf8Path, operation: &'static str, source: &str, content: &[u8]) -> io::Result<Log> {
        Log::with(Sink::open(place, true)?, operation, source, content)
    }

    /// Opens a log for an event loop: calls return [`io::ErrorKind::WouldBlock`] instead of waiting for a process that
    /// holds the lock of the file, or for a service.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be opened.
    pub fn open_for_loop(
        place: &Utf8Path,
        operation: &'static str,
        source: &str,
        content: &[u8],
    ) -> io::Result<Log> {
        Log::with(Sink::open(place, false)?, operation, source, content)
    }

    fn with(sink: Sink, operation: &'static str, source: &str, content: &[u8]) -> io::Result<Log> {
        Ok(Log {
            sink: Mutex::new(sink),
            state: LogState::default(),
            user: User::current()?,
            operation,
            source: source.to_owned(),
            digest: blake3::hash(content).to_string(),
        })
    }

    /// Writes a line.
    ///
    /// # Errors
    ///
    /// Returns why the line could not be written.
    pub fn write(&self, result: &str, details: &Value) -> io::Result<()> {
        let written = self.line(result, details, false);
        self.state.record(written.is_ok());
        written
    }

    /// Writes the first of two lines, and keeps the lock of the file for the second. The caller retries after
    /// [`io::ErrorKind::WouldBlock`], so it is not counted as a failure.
    ///
    /// # Errors
    ///
    /// Returns why the line could not be written.
    pub fn begin(&self, result: &str, details: &Value) -> io::Result<()> {
        let written = self.line(result, details, true);
        if !matches!(&written, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.state.record(written.is_ok());
        }
        written
    }

    /// Counts a failure for a line that will not be retried.
    pub fn give_up(&self) {
        self.state.record(false);
    }

    fn line(&self, result: &str, details: &Value, keep: bool) -> io::Result<()> {
        let time_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let Log { user, operation, source, digest, .. } = self;
        let process = std::process::id();
        let line = |prev: &str| {
            let line = Line { prev, time_ms, process, user, operation, source, digest, result, details };
            serde_json::to_string(&line).map_err(io::Error::other)
        };
        self.sink().write(line, keep)
    }

    /// Reopens the log.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be reopened.
    pub fn reopen(&self) -> io::Result<()> {
        let reopened = self.sink().reopen();
        if reopened.is_err() {
            self.state.record(false);
        }
        reopened
    }

    /// Returns whether the last line could be written, and the number of failed lines. Servers report both.
    pub fn state(&self) -> &LogState {
        &self.state
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
