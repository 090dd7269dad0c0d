//! Orders over the socket: permitted users, and records in the audit log.
//!
//! In: requests, and the process and user at the other end of the socket. Out: permission or the reason for a
//! rejection; lines of the audit log. Invariants: if the socket has a group, only root and the agent's user may give
//! orders. A denial or reload is logged before it is carried out, otherwise it is rejected. A denial can always be
//! ended. Another process that holds the log delays orders, but never the event loop.

use std::io::ErrorKind;

use camino::Utf8Path;
use closc_audit::Log;
use serde_json::{Value, json};

use crate::api::Request;
use crate::io::setup::SetupFault;

/// The other end of a connection: its process and its user. `None` if the kernel does not report them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller(pub(crate) Option<(i32, u32)>);

/// Maximum time for which the first line of an order is retried while another process holds the log.
const WAIT_NS: u64 = 2_000_000_000;
/// Time between two attempts.
pub(crate) const RETRY_NS: u64 = 10_000_000;

/// The result of an attempt to begin an order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OrderStart {
    /// The order can be carried out.
    Yes,
    /// Another process holds the log: try again after [`RETRY_NS`].
    Later,
    /// The reason why the order is not carried out.
    Refused(String),
}

/// Permitted users, and the audit log.
#[derive(Default)]
pub(crate) struct Orders {
    /// The agent's user, if only it and root may give orders. `None` if every process that can open the socket may.
    operator: Option<u32>,
    log: Option<Log>,
}

impl Orders {
    /// Opens the log, if one is named.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be opened.
    pub(crate) fn open(
        operator: Option<u32>,
        log: Option<&Utf8Path>,
        (source, content): (&str, &[u8]),
    ) -> Result<Orders, SetupFault> {
        let open = |place: &Utf8Path| {
            Log::open_for_loop(place, "nic", source, content)
                .map_err(|error| SetupFault::Open { resource: format!("the audit log `{place}`"), error })
        };
        Ok(Orders { operator, log: log.map(open).transpose()? })
    }

    /// Checks that a request is permitted, and writes its first line. `since` is the time of the first attempt. If the
    /// log is locked or the logging service is busy, the order is retried for [`WAIT_NS`] and then rejected.
    pub(crate) fn begin(
        &self,
        request: &Request,
        caller: &Caller,
        (now_ns, since): (u64, Option<u64>),
    ) -> OrderStart {
        let user = caller.0.map(|(_, uid)| uid);
        if let Some(operator) = self.operator.filter(|_| request.is_order())
            && user.is_none_or(|user| user != 0 && user != operator)
        {
            let user = user.map_or_else(|| "an unknown user".to_owned(), |user| format!("user {user}"));
            return OrderStart::Refused(format!("{user} may only read: orders need root or user {operator}"));
        }
        let Some(log) = self.log.as_ref().filter(|_| request.is_audited()) else { return OrderStart::Yes };
        let mut details = json!({ "order": request });
        if let Some((process, uid)) = caller.0 {
            details["ordered-by"] = json!({ "process": process, "uid": uid });
        }
        match first_line(log, &details, now_ns.saturating_sub(since.unwrap_or(now_ns))) {
            // A denial can be ended even without a log.
            OrderStart::Refused(_) if matches!(request, Request::Allow { .. }) => OrderStart::Yes,
            begun => begun,
        }
    }

    /// Writes the first line of a reload that a signal requested.
    pub(crate) fn begin_by_signal(&self, (now_ns, since): (u64, Option<u64>)) -> OrderStart {
        let Some(log) = &self.log else { return OrderStart::Yes };
        let details = json!({ "order": Request::Reload {}, "ordered-by": "SIGHUP" });
        first_line(log, &details, now_ns.saturating_sub(since.unwrap_or(now_ns)))
    }

    /// Writes the last line of an order, with its answer.
    pub(crate) fn end(&self, answer: &Value) -> Result<(), String> {
        let Some(log) = &self.log else { return Ok(()) };
        let result = if answer.get("error").is_some() { "failed" } else { "changed" };
        log.write(result, answer)
            .map_err(|error| format!("the order was executed, but the audit log cannot be written: {error}"))
    }

    /// Returns the metrics of the audit log.
    pub(crate) fn metrics(&self) -> String {
        self.log.as_ref().map(|log| log.state().metrics()).unwrap_or_default()
    }
}

fn first_line(log: &Log, details: &Value, waited_ns: u64) -> OrderStart {
    match log.begin("changing", details) {
        Ok(()) => OrderStart::Yes,
        Err(error) if error.kind() == ErrorKind::WouldBlock && waited_ns < WAIT_NS => OrderStart::Later,
        Err(error) => {
            if error.kind() == ErrorKind::WouldBlock {
                log.give_up();
            }
            OrderStart::Refused(format!("the audit log cannot be written, so nothing is changed: {error}"))
        }
    }
}
