//! The audit log: author, subject and result of each change. JSON lines are appended before a change, during it and
//! after it, and are never rewritten. An interrupted change lacks its last line. Each line contains the digest of the
//! previous one ([`Log`]).
//!
//! Invariants: a change does not begin if the requested log cannot be written. There are two exceptions: `watch`
//! still repairs switches, and `collect` still lifts denials. The first line is on disk, or handed to the logging
//! service, before the change begins. A failed change also has its last line.

use std::sync::Arc;

use anyhow::Context as _;
use camino::Utf8Path;
use closc_audit::Log;
use closc_http::LogState;
use serde_json::{Value, json};

use crate::args::Args;
use crate::output;

/// The log of one change; `None` if no log was requested.
#[derive(Clone)]
pub struct Audit(Option<Arc<Log>>);

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
        let log = Log::open(place, operation, source.as_str(), content).with_context(cannot)?;
        let audit = Audit(Some(Arc::new(log)));
        audit.say("begun", Value::Null).with_context(cannot)?;
        Ok(audit)
    }

    /// Logs the start of a change that applies a tree.
    pub fn begin_tree(args: &Args, operation: &'static str, tree: &Utf8Path) -> anyhow::Result<Self> {
        let manifest = match &args.audit_log {
            Some(_) => closc_files::read_user_file(&tree.join("manifest.json"), closc_files::TEXT_MAX)?,
            None => Vec::new(),
        };
        Self::begin(args, operation, tree, &manifest)
    }

    /// Makes a change and logs its result: success or failure, and details.
    ///
    /// If the change was made but its result cannot be logged, returns an error.
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
        Ok(log.write(result, &details)?)
    }

    /// Returns whether lines can be written, for status pages of servers; `None` without a log.
    pub fn state(&self) -> Option<LogState> {
        self.0.as_ref().map(|log| log.state().clone())
    }

    /// Opens the log again.
    pub fn reopen(&self) {
        let Some(log) = &self.0 else { return };
        if let Err(error) = log.reopen() {
            output::say(format_args!("the audit log cannot be opened again: {error}"));
        }
    }
}
