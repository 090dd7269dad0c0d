//! Requests over the Unix socket: a line of JSON, answered by a line of JSON.
//!
//! In: a line. Out: a line, or that the answer comes later. Invariants: no line makes it panic; a line that cannot be
//! read is answered with what is wrong.

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agent::{Agent, At, Ban};

/// No line is longer.
pub const LINE_MAX: usize = 16 * 1024;

/// Questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// States.
    Status {},
    /// The paths to a NIC.
    Paths {
        /// Its address.
        to: Ipv6Addr,
    },
    /// Faults.
    Findings {},
    /// Effects of an event.
    Events {
        /// The number of that event.
        #[serde(default)]
        after: u64,
    },
    /// Packets that were lost after one of them.
    Losses {
        /// The number of that one.
        #[serde(default)]
        after: u64,
    },
    /// Packets of writes that are not done of which nothing is known.
    Unanswered {},
    /// Which NIC it is, and what is denied: all that whoever denies something has to know.
    Denials {},
    /// Deny paths.
    Deny {
        /// Which.
        ban: Ban,
    },
    /// End a denial.
    Allow {
        /// Its number.
        id: u64,
    },
    /// Write bytes to a NIC; answered when it has them.
    Write {
        /// Its address.
        to: Ipv6Addr,
        /// Count.
        bytes: u64,
        /// Where they begin in the region here.
        #[serde(default)]
        local: u64,
        /// Where they go in the region there.
        #[serde(default)]
        target: u64,
        /// Bytes of a packet.
        #[serde(default)]
        unit: Option<u32>,
    },
    /// Metrics in the text format of Prometheus.
    Metrics {},
    /// Read the table's file again.
    Reload {},
}

/// Answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// At once.
    Now(Value),
    /// When a write is done.
    WhenWritten(u64),
    /// After the table was read.
    AfterReload,
}

/// How a request changed the denials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// One more is in force.
    Denied(u64),
    /// One ended.
    Allowed(u64),
}

/// The answer that something is wrong.
pub fn fault(text: impl std::fmt::Display) -> Value {
    json!({ "error": text.to_string() })
}

fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_else(fault)
}

/// Returns the answer where a change of the denials could not be saved. A denial that a restart would forget does not begin; one that
/// ended has ended, as lifting has to work on a full disk, too.
pub fn unsaved(agent: &mut Agent, at: &At<'_>, change: Change, why: &str) -> Answer {
    Answer::Now(match change {
        Change::Denied(id) => {
            agent.allow(at, id);
            fault(format_args!("{why}: a restart would forget the denial, so it is not in force"))
        }
        Change::Allowed(id) => {
            fault(format_args!("{why}: denial {id} has ended, and is in force again after a restart"))
        }
    })
}

/// Answers a line. `unix` is the time in seconds since 1970. Tells how denials changed.
pub fn answer(agent: &mut Agent, at: &At<'_>, line: &[u8], unix: f64) -> (Answer, Option<Change>) {
    let request = match serde_json::from_slice::<Request>(line) {
        Ok(request) => request,
        Err(error) => return (Answer::Now(fault(error)), None),
    };
    let now = match request {
        Request::Status {} => value(agent.status(at)),
        Request::Paths { to } => match agent.paths(at, to.octets()) {
            Some(paths) => value(paths),
            None => fault(format_args!(
                "{to} is the address of no other NIC of the fabric, or there is no room for more"
            )),
        },
        Request::Findings {} => value(agent.findings(at)),
        Request::Events { after } => value(agent.events_after(after).collect::<Vec<_>>()),
        Request::Losses { after } => value(agent.losses_after(after)),
        Request::Unanswered {} => value(agent.silence()),
        Request::Denials {} => {
            json!({ "nic": Ipv6Addr::from(agent.own()), "denials": agent.bans().bans })
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
