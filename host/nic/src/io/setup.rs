//! Kernel state of an agent: routes and rules.
//!
//! In: the table. Out: routes, and rules that lead to them. Invariants: every route points to the TUN device, so the
//! kernel removes it when the agent ends, even by a crash. The kernel then receives packets itself. Rules remain, but
//! refer to tables that are then empty. [`clean`] and the next start remove them. Agents of several NICs of a node do
//! not interfere. Packets with a NIC's source address use that NIC, and others use any.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::Ipv6Addr;
use std::process::{Command, Stdio};

use closc_paths::Table;
use thiserror::Error;

use crate::io::state::Stranger;
use crate::wire::Segment;

/// Table with the routes of packets without a source address, shared by all agents of the node.
pub(super) const ROUTES: u32 = 4242;
/// Base number of the tables with the routes of one NIC. The unique index of its TUN device is added.
pub(super) const OWN_ROUTES: u32 = 4_242_000_000;
/// Preference of the rules: after the rule for local addresses, before those of administrators.
pub(super) const OWN_PREFERENCE: u32 = 10;
pub(super) const PREFERENCE: u32 = 11;

/// The reason why setup failed.
#[derive(Debug, Error)]
pub enum SetupFault {
    /// A device, socket or file could not be opened.
    #[error("cannot open {resource}: {error}")]
    Open {
        /// The device, socket or file.
        resource: String,
        /// The error.
        error: io::Error,
    },
    /// `ip` failed.
    #[error("`ip` failed: {0}")]
    Ip(String),
    /// The table cannot be used.
    #[error("{0}")]
    Table(String),
    /// The saved denials belong to another agent.
    #[error(transparent)]
    Stranger(#[from] Stranger),
    /// The user cannot write to the folder of the state file.
    #[error(
        "{0}: user `{1}` must own its folder; help: set `--state` to a path in a new folder, or `chown {1}` \
         a folder that nothing else uses"
    )]
    State(String, String),
    /// Another agent has the resource.
    #[error("{0} is in use by another agent: stop it first")]
    Held(String),
    /// The user does not exist.
    #[error("user `{0}` is not in /etc/passwd")]
    User(String),
    /// The group does not exist.
    #[error("group `{0}` is not in /etc/group")]
    Group(String),
    /// Privileges could not be dropped.
    #[error("cannot become user `{0}`: {1}")]
    Become(String, io::Error),
}

/// Runs `ip` and returns what it prints.
pub(super) fn ip(args: &[&str], input: &str) -> Result<String, SetupFault> {
    let said = |error: io::Error| SetupFault::Open { resource: "`ip` (iproute2)".into(), error };
    let mut child = Command::new("ip")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(said)?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the process has ended, its own error is reported below.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(said)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(SetupFault::Ip(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// Returns the address pool of NICs in the notation of `ip`.
pub(super) fn pool(table: &Table<'_>) -> String {
    let h = table.header();
    format!("{}/{}", Ipv6Addr::from(h.pool), h.pool_len)
}

/// Returns the maximum length of a packet of the node that still fits after the headers are added.
pub fn inner_mtu(table: &Table<'_>) -> usize {
    // The table's MTU excludes the outer IPv6 header but not the option.
    usize::from(table.header().mtu).saturating_sub(crate::wire::OPTION_LEN).max(1280)
}

/// Adds routes for packets to NICs, and for the NIC's own segments, to the TUN device. The route of a segment has a
/// better metric than the kernel's own route. The agent receives these packets over its socket. The kernel drops its
/// copies, because a node does not forward.
pub fn routes(
    table: &Table<'_>,
    (tun, index): (&str, libc::c_int),
    address: [u8; 16],
    segments: &[Segment],
) -> Result<(), SetupFault> {
    let (pool, own) = (pool(table), Ipv6Addr::from(address));
    clean_own(&pool, own);
    ip(&["-6", "-batch", "-"], &batch(table, (tun, index), own, segments))?;
    add_shared(&pool)
}

/// Adds missing routes of [`routes`] to a TUN device of the previous process. Existing routes are not removed first,
/// because packets would be lost.
pub(crate) fn complete(
    table: &Table<'_>,
    device: (&str, libc::c_int),
    address: [u8; 16],
    segments: &[Segment],
) -> Result<(), SetupFault> {
    let batch = batch(table, device, Ipv6Addr::from(address), segments);
    let is_there = |line: &str| line.ends_with("File exists") || line.starts_with("Command failed");
    match ip(&["-6", "-force", "-batch", "-"], &batch) {
        Err(SetupFault::Ip(said)) if said.lines().all(is_there) => {}
        done => drop(done?),
    }
    add_shared(&pool(table))
}

/// Returns the commands that add the routes of a TUN device.
fn batch(
    table: &Table<'_>,
    (tun, index): (&str, libc::c_int),
    address: Ipv6Addr,
    segments: &[Segment],
) -> String {
    let pool = pool(table);
    // A TUN device drops packets when its queue is full, and TCP must retransmit them.
    let mut batch = format!("link set dev {tun} addrgenmode none txqueuelen 2000\n");
    let _ = writeln!(batch, "link set dev {tun} mtu {} up", inner_mtu(table));
    for segment in segments {
        let address = Ipv6Addr::from(u128::from(segment.block) << 96 | u128::from(segment.usid) << 80);
        // Append, to keep the route of another agent: NICs of a node may share a segment.
        let _ = writeln!(batch, "route append {address}/48 dev {tun} metric 1");
    }
    let own_routes = OWN_ROUTES + index.unsigned_abs();
    let _ = writeln!(batch, "route replace {pool} dev {tun} src {address} table {own_routes}");
    let _ = writeln!(batch, "route append {pool} dev {tun} src {address} table {ROUTES} metric {index}");
    let _ = writeln!(batch, "rule add pref {OWN_PREFERENCE} from {address} to {pool} lookup {own_routes}");
    batch
}

/// Adds the rule shared by all agents. It is not an error if another agent has added it.
fn add_shared(pool: &str) -> Result<(), SetupFault> {
    let (preference, routes) = (PREFERENCE.to_string(), ROUTES.to_string());
    match ip(&["-6", "rule", "add", "pref", &preference, "to", pool, "lookup", &routes], "") {
        Err(SetupFault::Ip(said)) if said.contains("File exists") => Ok(()),
        done => done.map(|_| ()),
    }
}

/// Removes the kernel state of an agent that no longer runs. Nothing is removed if the service manager keeps its TUN
/// device, which queues packets for the next process.
pub(super) fn clean(table: &Table<'_>, nic: Ipv6Addr) {
    let pool = pool(table);
    if is_kept(&pool, nic) {
        return;
    }
    clean_own(&pool, nic);
    let (preference, routes) = (PREFERENCE.to_string(), ROUTES.to_string());
    if !leads_nowhere(&routes) {
        return;
    }
    remove(&["-6", "rule", "del", "pref", &preference, "to", &pool, "lookup", &routes]);
    // An agent that started in the meantime needs the rule that was just removed.
    if !leads_nowhere(&routes) {
        // Best effort: this process is about to end.
        let _ = add_shared(&pool);
    }
}

/// Returns whether a routing table of the kernel has no route.
fn leads_nowhere(routes: &str) -> bool {
    // A table without routes does not exist, so `ip` fails.
    ip(&["-6", "route", "show", "table", routes], "").map_or(true, |said| said.trim().is_empty())
}

/// Returns whether the table of a NIC's rule has routes, which means that its TUN device still exists.
fn is_kept(pool: &str, own: Ipv6Addr) -> bool {
    let (preference, own) = (OWN_PREFERENCE.to_string(), own.to_string());
    let rules = ip(&["-6", "rule", "show", "pref", &preference], "").unwrap_or_default();
    rules.lines().any(|rule| match rule.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "from", from, "to", to, "lookup", table] => from == own && to == pool && !leads_nowhere(table),
        _ => false,
    })
}

fn clean_own(pool: &str, own: Ipv6Addr) {
    let (preference, own) = (OWN_PREFERENCE.to_string(), own.to_string());
    remove(&["-6", "rule", "del", "pref", &preference, "from", &own, "to", pool]);
}

/// Removes all copies of a rule; it is not an error if there is none.
fn remove(rule: &[&str]) {
    for _ in 0..4 {
        if ip(rule, "").is_err() {
            return;
        }
    }
}

/// Finds the numeric IDs of a user.
pub fn user(name: &str) -> Result<(u32, u32), SetupFault> {
    let fields = entry("/etc/passwd", name);
    let number = |at: usize| fields.get(at)?.parse().ok();
    number(2).zip(number(3)).ok_or_else(|| SetupFault::User(name.to_owned()))
}

/// Finds a group's number.
pub fn group(name: &str) -> Result<u32, SetupFault> {
    let number = entry("/etc/group", name).get(2).and_then(|number| number.parse().ok());
    number.ok_or_else(|| SetupFault::Group(name.to_owned()))
}

/// Returns the fields of a name in a list of users or groups; empty if the name is missing.
fn entry(list: &str, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(list).unwrap_or_default();
    let mut entries = text.lines().map(|line| line.split(':').map(str::to_owned).collect::<Vec<_>>());
    entries.find(|fields| fields.first().is_some_and(|first| first == name)).unwrap_or_default()
}
