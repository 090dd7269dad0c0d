//! Requests from operators, jobs and collectors: denials and writes.

use std::net::Ipv6Addr;

use closc_paths::{Scope, Table};
use closc_paths_engine::{Denial, DenialId, DenyFault, Reason};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::agent::guard::{self, Sender};
use crate::agent::{Agent, AgentContext};
use crate::channel::Channel;
use crate::wire::{HEADER_LEN, OPTION_LEN};
use crate::writes::{Order, OutgoingWrite, WriteFault};

/// Maximum number of stored writes to one NIC.
const LEAVING_MAX: usize = 64;
/// Default size of a piece in bytes, if the MTU of the fabric permits it.
const UNIT: u32 = 8192;
/// Headers of UDP and of the message in front of the bytes of a piece, without the option.
const PIECE_HEAD: u16 = 8 + 16 + 36;
/// Bytes of a frame in addition to the piece: Ethernet, IPv6, option with the sequence, UDP, message.
pub const PIECE_HEADERS: u16 = (HEADER_LEN + OPTION_LEN) as u16 + PIECE_HEAD;

/// Paths that must not be used, as in requests and in the state file. An absent field matches everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Ban {
    /// Its number; absent in requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// First and last T0 uplink.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplinks: Option<(u16, u16)>,
    /// First and last T1 uplink.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t1_uplinks: Option<(u16, u16)>,
    /// Destination zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<u16>,
    /// Destination group, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u16>,
    /// Downlink of the destination, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downlink: Option<u16>,
    /// Origin of the denial: `administrator`, `drain`, `gray-loss`, `fault`.
    pub reason: String,
    /// Time at which it ends automatically, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

/// Rejects a range that ends before it begins, or whose first uplink does not exist.
fn range(of: &'static str, range: Option<(u16, u16)>, count: u16) -> Result<(), BanFault> {
    match range {
        Some((first, last)) if first > last => Err(BanFault::Backwards { first, last }),
        Some((first, _)) => exists("uplink", Some(first), of, count),
        None => Ok(()),
    }
}

/// Rejects a number that is out of range.
fn exists(what: &'static str, number: Option<u16>, of: &'static str, count: u16) -> Result<(), BanFault> {
    match number {
        Some(number) if number >= count => Err(BanFault::Missing { kind: what, number, of, count }),
        Some(_) | None => Ok(()),
    }
}

/// Denials that survive a restart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bans {
    /// Number of the next denial.
    pub next: u64,
    /// Denials in force.
    pub bans: Vec<Ban>,
}

/// The reason why a denial was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BanFault {
    /// The reason is not one of the four keywords.
    #[error("{}; expected administrator, drain, gray-loss or fault", if .0.is_empty() { "no reason is given".to_owned() } else { format!("`{}` is not a reason", .0.escape_default()) })]
    Reason(String),
    /// The denial has no restriction, so it would match every path.
    #[error("a denial needs a plane, an uplink or a destination; this one would deny everything")]
    Everything,
    /// The plane does not exist.
    #[error("no plane {plane} in this NIC; expected 0 to {last}")]
    Plane {
        /// The plane.
        plane: u8,
        /// The last plane of the NIC.
        last: u8,
    },
    /// The element does not exist.
    #[error("{kind} {number} (from 0) does not exist: a {of} has {count}")]
    Missing {
        /// Kind of element.
        kind: &'static str,
        /// Its number, from 0.
        number: u16,
        /// The device that would have it.
        of: &'static str,
        /// The number of such elements that a device has.
        count: u16,
    },
    /// The range ends before it begins, so it would deny nothing.
    #[error("{first} is above {last}; expected the first and the last uplink")]
    Backwards {
        /// First uplink of the range.
        first: u16,
        /// Last uplink of the range.
        last: u16,
    },
    /// The denial would remove the last path to this NIC, even if no traffic goes there now.
    #[error("it would remove the last path to {0}")]
    LastPath(Ipv6Addr),
    /// The end time is in the past.
    #[error("its end is in the past")]
    Past,
    /// The path engine rejected it.
    #[error("{0}")]
    Engine(DenyFault),
}

/// Returns the largest piece of a write that fits into the fabric's MTU with its headers.
pub fn unit_max(table: &Table<'_>) -> u32 {
    u32::from(table.header().mtu.saturating_sub(PIECE_HEAD + OPTION_LEN as u16)).max(1)
}

impl Agent {
    /// Denies paths. `unix` is the time in seconds since 1970. Returns the number of the denial.
    pub fn deny(&mut self, at: &AgentContext<'_>, ban: &Ban, unix: f64) -> Result<u64, BanFault> {
        let reason = Reason::of(&ban.reason).ok_or_else(|| BanFault::Reason(ban.reason.clone()))?;
        let last = at.table.header().planes.saturating_sub(1);
        if let Some(plane) = ban.plane.filter(|plane| *plane > last) {
            return Err(BanFault::Plane { plane, last });
        }
        let header = at.table.header();
        range("T0", ban.uplinks, header.t0_uplinks)?;
        range("T1", ban.t1_uplinks, header.t1_uplinks)?;
        exists("zone", ban.zone, "fabric", header.zones)?;
        exists("group", ban.group, "zone", header.groups)?;
        exists("downlink", ban.downlink, "T0", header.nics)?;
        let scope = Scope {
            source: None,
            uplinks: ban.uplinks,
            t1_uplinks: ban.t1_uplinks,
            zone: ban.zone,
            group: ban.group,
            downlink: ban.downlink,
        };
        if scope == Scope::default() && ban.plane.is_none() {
            return Err(BanFault::Everything);
        }
        let until_ns = match ban.until {
            None => None,
            Some(until) if until > unix => Some(at.now_ns.saturating_add(((until - unix) * 1e9) as u64)),
            Some(_) => return Err(BanFault::Past),
        };
        self.guard(at, (ban.plane, scope))?;
        let denial = Denial { plane: ban.plane, scope, reason, until_ns };
        let made = self.engine.deny(denial, at.now_ns).map_err(|fault| {
            let which = match fault {
                DenyFault::LastPath(path) => self.engine.destination(path),
                DenyFault::Full(_) => None,
            };
            which.map_or(BanFault::Engine(fault), |(_, inner)| BanFault::LastPath(inner.into()))
        })?;
        let id = ban.id.unwrap_or(self.next_ban);
        self.next_ban = self.next_ban.max(id + 1);
        self.bans.push((Ban { id: Some(id), ..ban.clone() }, made));
        self.event(at.now_ns, format!("denial {id} begins: {}", ban.reason));
        Ok(id)
    }

    /// Rejects a denial that would remove the last path to a NIC, including NICs without a channel. For NICs with a
    /// channel the engine checks again, because it has the state of their ports.
    fn guard(&self, at: &AgentContext<'_>, more: guard::Denial) -> Result<(), BanFault> {
        let denials = self.engine.denials().map(|(_, denial)| (denial.plane, denial.scope));
        self.guard_beside(at, denials.collect(), more)
    }

    /// As [`Self::guard`], with the given denials in force.
    fn guard_beside(
        &self,
        at: &AgentContext<'_>,
        denials: Vec<guard::Denial>,
        more: guard::Denial,
    ) -> Result<(), BanFault> {
        let (downlink, ports) = (self.options.downlink, self.engine.local_ports());
        let sender = Sender { table: at.table, downlink, ports, denials };
        sender.cut_off(more).map_or(Ok(()), |inner| Err(BanFault::LastPath(inner.into())))
    }

    /// Ends the denials that would remove the last path to a NIC under a new table, as a restart with that table would.
    /// Returns their numbers and the reasons.
    pub(super) fn guard_again(&mut self, at: &AgentContext<'_>) -> Vec<(u64, BanFault)> {
        let (mut kept, mut ended) = (Vec::new(), Vec::new());
        let denials: Vec<(DenialId, guard::Denial)> =
            self.engine.denials().map(|(id, denial)| (id, (denial.plane, denial.scope))).collect();
        for (made, denial) in denials {
            match self.guard_beside(at, kept.clone(), denial) {
                Ok(()) => kept.push(denial),
                Err(fault) => {
                    let id = self.bans.iter().find(|(_, own)| *own == made).and_then(|(ban, _)| ban.id);
                    ended.extend(id.map(|id| (id, fault)));
                }
            }
        }
        for (id, _) in &ended {
            self.allow(at, *id);
        }
        ended
    }

    /// Ends a denial. Returns whether it was in force.
    pub fn allow(&mut self, at: &AgentContext<'_>, id: u64) -> bool {
        let Some(place) = self.bans.iter().position(|(ban, _)| ban.id == Some(id)) else { return false };
        let (_, made) = self.bans.remove(place);
        self.engine.allow(made, at.now_ns);
        self.event(at.now_ns, format!("denial {id} ends"));
        true
    }

    /// Drops denials that have expired.
    pub(super) fn bans_expired(&mut self) {
        let engine = &self.engine;
        self.bans.retain(|(_, made)| engine.denials().any(|(id, _)| id == *made));
    }

    /// Returns the denials in force, for the state file.
    pub fn bans(&self) -> Bans {
        Bans { next: self.next_ban, bans: self.bans.iter().map(|(ban, _)| ban.clone()).collect() }
    }

    /// Restores the denials of the previous process. Those that have expired since are skipped.
    pub fn restore(&mut self, at: &AgentContext<'_>, bans: &Bans, unix: f64) -> Vec<BanFault> {
        let mut faults = Vec::new();
        for ban in &bans.bans {
            match self.deny(at, ban, unix) {
                Ok(_) | Err(BanFault::Past) => {}
                Err(fault) => faults.push(fault),
            }
        }
        self.next_ban = self.next_ban.max(bans.next);
        faults
    }

    /// Starts a write. Returns its identifier, or the reason why it cannot start.
    pub fn write(
        &mut self,
        at: &AgentContext<'_>,
        address: [u8; 16],
        order: (u64, u64, u64, Option<u32>),
    ) -> Result<u64, WriteFault> {
        let (local, target, total, unit) = order;
        let most = unit_max(at.table);
        let unit = unit.unwrap_or(UNIT.min(most));
        if !(1..=most).contains(&unit) {
            return Err(WriteFault::Unit { unit, max: most });
        }
        let to = Ipv6Addr::from(address);
        if address == self.address {
            return Err(WriteFault::Own(to));
        }
        if at.table.destination(address).is_none() {
            return Err(WriteFault::Stranger(to));
        }
        if !self.region.holds(local, total) {
            return Err(WriteFault::Region { has: self.region.len(), local, total });
        }
        let write = OutgoingWrite::new(self.next_write, Order { local, target, total, unit }, at.now_ns)?;
        // The other channels are reserved for incoming writes. Otherwise all NICs of a job could fill their channels
        // with outgoing writes. Then none could accept a write, and no write would finish.
        let sends = |c: &&Channel| c.address != address && c.is_writing();
        let sending = self.channels.iter().filter(sends).count();
        if sending >= self.channel_memory.senders() {
            return Err(WriteFault::Crowded(sending));
        }
        let channel =
            self.channel(at, address).map_err(|_| WriteFault::Crowded(self.channel_memory.channels))?;
        let leaving = &mut self.channels[channel].outgoing_writes;
        if leaving.len() >= LEAVING_MAX {
            let done = leaving.iter().position(|write| write.ended_ns.is_some());
            let done = done.ok_or(WriteFault::Busy(LEAVING_MAX))?;
            leaving.remove(done);
        }
        leaving.push(write);
        self.next_write += 1;
        Ok(self.next_write - 1)
    }
}
