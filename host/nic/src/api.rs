//! Requests over the Unix socket: one line of JSON each, answered by one line of JSON.
//!
//! In: a line. Out: a line, or the indication that the answer follows later. Invariants: no input causes a panic; an
//! invalid line is answered with an error message.

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agent::{Agent, AgentContext, Ban};

/// Maximum length of a line.
pub const LINE_MAX: usize = 16 * 1024;

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// The agent's status.
    Status {},
    /// The paths to a NIC.
    Paths {
        /// Its address.
        to: Ipv6Addr,
    },
    /// Faults.
    Findings {},
    /// Events after a number.
    Events {
        /// Number of the last event that the caller has received.
        #[serde(default)]
        after: u64,
    },
    /// Packets lost after a number.
    Losses {
        /// Number of the last loss that the caller has received.
        #[serde(default)]
        after: u64,
    },
    /// Packets of unfinished writes that are neither acknowledged nor lost.
    Unanswered {},
    /// The NIC's identity and its denials: the information that a caller needs before it denies paths.
    Denials {},
    /// Deny paths.
    Deny {
        /// The paths, with a reason.
        ban: Ban,
    },
    /// End a denial.
    Allow {
        /// Its number.
        id: u64,
    },
    /// Write bytes to a NIC. The answer follows when the NIC has them.
    Write {
        /// Its address.
        to: Ipv6Addr,
        /// Number of bytes.
        bytes: u64,
        /// Offset in the local region.
        #[serde(default)]
        local: u64,
        /// Offset in the far NIC's region.
        #[serde(default)]
        target: u64,
        /// Bytes of the write per packet.
        #[serde(default)]
        unit: Option<u32>,
    },
    /// Metrics in the text format of Prometheus.
    Metrics {},
    /// Reload the table file.
    Reload {},
}

impl Request {
    /// Returns whether the request changes something, here or at another NIC.
    pub(crate) fn is_order(&self) -> bool {
        match self {
            Request::Deny { .. } | Request::Allow { .. } | Request::Write { .. } | Request::Reload {} => true,
            Request::Status {}
            | Request::Paths { .. }
            | Request::Findings {}
            | Request::Events { .. }
            | Request::Losses { .. }
            | Request::Unanswered {}
            | Request::Denials {}
            | Request::Metrics {} => false,
        }
    }

    /// Returns whether the request is recorded in the audit log. Writes are traffic, so they are not.
    pub(crate) fn is_audited(&self) -> bool {
        self.is_order() && !matches!(self, Request::Write { .. })
    }
}

/// Answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Available now.
    Now(Value),
    /// Available when a write is done.
    WhenWritten(u64),
    /// Available when the table has been read.
    AfterReload,
}

/// A change of the denials by a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A denial began; its number.
    Denied(u64),
    /// A denial ended; its number.
    Allowed(u64),
}

/// Returns the answer for a failed request.
pub fn fault(text: impl std::fmt::Display) -> Value {
    json!({ "error": text.to_string() })
}

fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_else(fault)
}

/// Returns the answer for a change of denials that could not be saved. A new denial is dropped, because a restart would
/// lose it. An ended denial stays ended, so that `allow` works on a full disk.
pub fn answer_unsaved_change(agent: &mut Agent, at: &AgentContext<'_>, change: Change, why: &str) -> Answer {
    Answer::Now(match change {
        Change::Denied(id) => {
            agent.allow(at, id);
            fault(format_args!("{why}: a restart would lose the denial, so it is not in force"))
        }
        Change::Allowed(id) => {
            fault(format_args!("{why}: denial {id} has ended, and is in force again after a restart"))
        }
    })
}

/// Answers a line. `unix` is the time in seconds since 1970. Also returns the change of denials.
pub fn answer(agent: &mut Agent, at: &AgentContext<'_>, line: &[u8], unix: f64) -> (Answer, Option<Change>) {
    match serde_json::from_slice::<Request>(line) {
        Ok(request) => respond(agent, at, request, unix),
        Err(error) => (Answer::Now(fault(error)), None),
    }
}

/// Answers a request. `unix` is the time in seconds since 1970. Also returns the change of denials.
pub fn respond(
    agent: &mut Agent,
    at: &AgentContext<'_>,
    request: Request,
    unix: f64,
) -> (Answer, Option<Change>) {
    let now = match request {
        Request::Status {} => value(agent.status(at)),
        Request::Paths { to } => match agent.paths(at, to.octets()) {
            Some(paths) => value(paths),
            None => fault(format_args!(
                "{to} is not the address of another NIC of the fabric, or the limit of NICs is reached"
            )),
        },
        Request::Findings {} => value(agent.findings(at)),
        Request::Events { after } => value(agent.events_after(after).collect::<Vec<_>>()),
        Request::Losses { after } => value(agent.losses_after(after)),
        Request::Unanswered {} => value(agent.silence()),
        Request::Denials {} => {
            json!({ "nic": Ipv6Addr::from(agent.address()), "denials": agent.bans().bans })
        }
        Request::Deny { ban } => {
            let made = agent.deny(at, &Ban { id: None, ..ban }, unix);
            let changed = made.as_ref().ok().map(|id| Change::Denied(*id));
            let said = made.map_or_else(fault, |id| json!({ "id": id }));
            return (Answer::Now(said), changed);
        }
        Request::Allow { id } => {
            let ended = agent.allow(at, id);
            let said = if ended {
                json!({ "ended": id })
            } else {
                fault(format_args!("no denial {id} is in force"))
            };
            return (Answer::Now(said), ended.then_some(Change::Allowed(id)));
        }
        Request::Write { to, bytes, local, target, unit } => {
            match agent.write(at, to.octets(), (local, target, bytes, unit)) {
                Ok(write) => return (Answer::WhenWritten(write), None),
                Err(why) => fault(format_args!("{bytes} bytes cannot be written to {to}: {why}")),
            }
        }
        Request::Metrics {} => Value::String(agent.metrics(at)),
        Request::Reload {} => return (Answer::AfterReload, None),
    };
    (Answer::Now(now), None)
}
