//! Orders over the socket: the users who may give them, and their lines in the audit log.
//!
//! In: requests, and the process and user at the other end of the socket. Out: permission, or the reason against it; lines. Invariants:
//! with a group for the socket, only root and the user of the agent may order; a denial or a reload without a line before it is not
//! carried out, and a denial can always end.

use camino::Utf8Path;
use closc_audit::Log;
use serde_json::{Value, json};

use crate::api::Request;
use crate::io::setup::SetupFault;

/// The other end of a connection: its process and its user. None if the kernel does not report them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller(pub(crate) Option<(i32, u32)>);

/// The users who may order, and the audit log.
#[derive(Default)]
pub(crate) struct Orders {
    /// The user of the agent, if other users only read. Otherwise every process that can open the socket may order.
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
            Log::open(place, "nic", source, content)
                .map_err(|error| SetupFault::Open { what: format!("the audit log `{place}`"), error })
        };
        Ok(Orders { operator, log: log.map(open).transpose()? })
    }

    /// Checks that a request is permitted, and writes its first line.
    pub(crate) fn begin(&self, request: &Request, caller: &Caller) -> Result<(), String> {
        let user = caller.0.map(|(_, uid)| uid);
        if let Some(operator) = self.operator.filter(|_| request.is_order())
            && user.is_none_or(|user| user != 0 && user != operator)
        {
            let user = user.map_or_else(|| "an unknown user".to_owned(), |user| format!("user {user}"));
            return Err(format!("{user} may only read: orders need root or user {operator}"));
        }
        let Some(log) = self.log.as_ref().filter(|_| request.is_audited()) else { return Ok(()) };
        let mut details = json!({ "order": request });
        if let Some((process, uid)) = caller.0 {
            details["ordered-by"] = json!({ "process": process, "uid": uid });
        }
        match log.write("changing", &details) {
            Err(error) if !matches!(request, Request::Allow { .. }) => {
                Err(format!("the audit log cannot be written, so nothing is changed: {error}"))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes the first line of a reload that a signal asked for.
    pub(crate) fn begin_by_signal(&self) -> Result<(), String> {
        let Some(log) = &self.log else { return Ok(()) };
        let details = json!({ "order": Request::Reload {}, "ordered-by": "SIGHUP" });
        log.write("changing", &details)
            .map_err(|error| format!("the audit log cannot be written, so nothing is changed: {error}"))
    }

    /// Writes the last line of an order, with its answer.
    pub(crate) fn end(&self, answer: &Value) -> Result<(), String> {
        let Some(log) = &self.log else { return Ok(()) };
        let result = if answer.get("error").is_some() { "failed" } else { "changed" };
        log.write(result, answer).map_err(|error| {
            format!("the order was carried out, but the audit log cannot be written: {error}")
        })
    }

    /// Returns the lines of a page of metrics.
    pub(crate) fn metrics(&self) -> String {
        self.log.as_ref().map(|log| log.state().metrics()).unwrap_or_default()
    }
}
