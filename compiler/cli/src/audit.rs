//! The audit log: author, subject and result of each change. One line of JSON is appended before a change and one after
//! it, and never rewritten; an interrupted change has only the first. Each line has the digest of the previous one
//! ([`chain`]).
//!
//! Invariants: if a log was requested and cannot be written, nothing is changed. The first line is on disk, or handed
//! to the logging service, before the change begins. A change that fails also gets its second line.

pub(crate) mod chain;
mod sink;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use camino::Utf8Path;
use closc_http::LogState;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::Args;
use crate::output;
use sink::Sink;

/// The kernel's value for a process without a login user.
const NOBODY: u32 = u32::MAX;

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
    /// Origin of the change: a tree, a saved plan, a fabric file.
    source: &'l str,
    /// BLAKE3 digest of the source; for a tree, of its manifest, which contains the digest of every file.
    digest: &'l str,
    /// `begun`, `done`, `failed`; for `watch` also `repairing`, `repaired` and `stopped`.
    result: &'l str,
    #[serde(skip_serializing_if = "Value::is_null")]
    details: Value,
}

/// Author of a change.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    uid: u32,
    /// Login user, which stays the same through `sudo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    login_uid: Option<u32>,
}

impl User {
    fn current() -> anyhow::Result<Self> {
        let uid = fs::metadata("/proc/self").context("cannot say who runs this")?.uid();
        let login_uid = fs::read_to_string("/proc/self/loginuid").ok();
        let login_uid = login_uid.and_then(|text| text.trim().parse().ok()).filter(|uid| *uid != NOBODY);
        Ok(User { uid, login_uid })
    }
}

/// The log of one change; `None` if no log was requested.
pub struct Audit(Option<Log>);

struct Log {
    sink: Mutex<Sink>,
    state: LogState,
    user: User,
    operation: &'static str,
    source: String,
    digest: String,
}

impl Audit {
    /// Logs the start of a change that applies a source with this content.
    pub fn begin(
        args: &Args,
        operation: &'static str,
        source: &Utf8Path,
        content: &[u8],
    ) -> anyhow::Result<Self> {
        let Some(place) = &args.audit_log else { return Ok(Audit(None)) };
        let cannot = || format!("cannot write the audit log `{place}`, so nothing is changed");
        let sink = Mutex::new(Sink::open(place).with_context(cannot)?);
        let digest = blake3::hash(content).to_string();
        let state = LogState::default();
        let log = Log { sink, state, user: User::current()?, operation, source: source.to_string(), digest };
        let audit = Audit(Some(log));
        audit.say("begun", Value::Null).with_context(cannot)?;
        Ok(audit)
    }

    /// Logs the start of a change that applies a tree.
    pub fn begin_tree(args: &Args, operation: &'static str, tree: &Utf8Path) -> anyhow::Result<Self> {
        let manifest = match &args.audit_log {
            Some(_) => closc_files::given(&tree.join("manifest.json"), closc_files::TEXT_MAX)?,
            None => Vec::new(),
        };
        Self::begin(args, operation, tree, &manifest)
    }

    /// Makes a change and logs its result: success or failure, and details.
    ///
    /// If a change was made but cannot be logged, returns an error, because the log would lack it.
    pub fn record<T>(
        &self,
        change: impl FnOnce() -> anyhow::Result<T>,
        ended: impl FnOnce(&T) -> (bool, Value),
    ) -> anyhow::Result<T> {
        let made = change();
        let (good, details) = match &made {
            Ok(value) => ended(value),
            Err(error) => (false, json!({ "error": output::reason(error) })),
        };
        let said = self.say(if good { "done" } else { "failed" }, details);
        let made = made?;
        said.context("the change is made, but the audit log cannot be written")?;
        Ok(made)
    }

    /// Logs the progress of the change.
    #[expect(clippy::needless_pass_by_value, reason = "callers make the value in the call")]
    pub fn say(&self, result: &str, details: Value) -> anyhow::Result<()> {
        let Some(log) = &self.0 else { return Ok(()) };
        let time_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let Log { user, operation, source, digest, .. } = log;
        let process = std::process::id();
        let line = |prev: &str| {
            let details = details.clone();
            let line = Line { prev, time_ms, process, user, operation, source, digest, result, details };
            serde_json::to_string(&line).map_err(std::io::Error::other)
        };
        let mut sink = log.sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = sink.write(line);
        log.state.record(written.is_ok());
        Ok(written?)
    }

    /// Returns whether lines can be written, for servers; `None` without a log.
    pub fn state(&self) -> Option<LogState> {
        self.0.as_ref().map(|log| log.state.clone())
    }

    /// Opens the log again.
    pub fn reopen(&self) {
        let Some(log) = &self.0 else { return };
        let reopened = log.sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner).reopen();
        if let Err(error) = reopened {
            log.state.record(false);
            output::say(format_args!("the audit log cannot be opened again: {error}"));
        }
    }
}
