//! Kernel state: required, and of the ports.
//!
//! In: the table. Out: interfaces and neighbours of each plane; routes. Invariants: every route that is made is of the
//! TUN device, so the kernel takes it away when the agent ends, however it ends, and receives by itself again. Rules
//! are left, which lead to tables that are then empty: [`clean`] removes them, and so does the next start. Agents of several
//! NICs of a node do not touch each other's: what has a NIC's address as its source goes by that NIC, the rest by any.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::Ipv6Addr;
use std::process::{Command, Stdio};

use closc_paths::Table;
use thiserror::Error;

use crate::io::state::Stranger;
use crate::wire::Segment;

/// Routes of packets without a source yet, of all agents of the node.
pub(super) const ROUTES: u32 = 4242;
/// Routes of packets of one NIC: this, and the number of the TUN device, which no other agent has.
pub(super) const OWN_ROUTES: u32 = 4_242_000_000;
/// Before any rule of an administrator, after that of local addresses.
pub(super) const OWN_PREFERENCE: u32 = 10;
pub(super) const PREFERENCE: u32 = 11;

/// Why the machine could not be set up.
#[derive(Debug, Error)]
pub enum SetupFault {
    /// A device or socket could not be opened.
    #[error("cannot open {what}: {error}")]
    Open {
        /// Which.
        what: String,
        /// Why not.
        error: io::Error,
    },
    /// `ip` did not do what was asked.
    #[error("`ip` says: {0}")]
    Ip(String),
    /// The table cannot be used.
    #[error("{0}")]
    Table(String),
    /// The denials that are kept are not this agent's.
    #[error(transparent)]
    Stranger(#[from] Stranger),
    /// The user may not write where denials are kept.
    #[error(
        "{0}: user `{1}` has to own its folder; help: write `--state` with a folder that does not exist yet, or `chown {1}` one that \
         has no other use"
    )]
    State(String, String),
    /// Another agent has it.
    #[error("{0} is another agent's, which runs: end it first")]
    Held(String),
    /// There is no such user.
    #[error("there is no user `{0}` in /etc/passwd")]
    User(String),
    /// Privileges could not be given up.
    #[error("cannot become user `{0}`: {1}")]
    Become(String, io::Error),
}

/// Runs `ip` and returns what it prints.
pub(super) fn ip(args: &[&str], input: &str) -> Result<String, SetupFault> {
    let said = |error: io::Error| SetupFault::Open { what: "`ip` (iproute2)".into(), error };
    let mut child = Command::new("ip")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(said)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that ended says why by itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(said)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(SetupFault::Ip(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// The pool of NICs, as `ip` writes it.
pub(super) fn pool(table: &Table<'_>) -> String {
    let h = table.header();
    format!("{}/{}", Ipv6Addr::from(h.pool), h.pool_len)
}

/// Bytes of a packet of the node that fits with the headers in front of it.
pub fn inner_mtu(table: &Table<'_>) -> usize {
    // The table's number is what fits into the outer IPv6 header; the option takes its share.
    usize::from(table.header().mtu).saturating_sub(crate::wire::OPTION_LEN).max(1280)
}

/// Leads packets to NICs, and the NIC's own segments, to the TUN device. A segment's route has a better metric than that
/// by which the kernel receives, and a node does not forward: so the kernel drops what the agent takes.
pub fn routes(
    table: &Table<'_>,
    (tun, index): (&str, libc::c_int),
    own: [u8; 16],
    segments: &[Segment],
) -> Result<(), SetupFault> {
    let (pool, own) = (pool(table), Ipv6Addr::from(own));
    clean_own(&pool, own);
    // A TUN device drops what its queue has no room for, and TCP then sends it again.
    let mut batch = format!("link set dev {tun} addrgenmode none txqueuelen 2000\n");
    let _ = writeln!(batch, "link set dev {tun} mtu {} up", inner_mtu(table));
    for segment in segments {
        let address = Ipv6Addr::from(u128::from(segment.block) << 96 | u128::from(segment.usid) << 80);
        // Not in place of that of another agent: NICs of a node may have one segment.
        let _ = writeln!(batch, "route append {address}/48 dev {tun} metric 1");
    }
    let own_routes = OWN_ROUTES + index.unsigned_abs();
    let _ = writeln!(batch, "route replace {pool} dev {tun} src {own} table {own_routes}");
    let _ = writeln!(batch, "route append {pool} dev {tun} src {own} table {ROUTES} metric {index}");
    let _ = writeln!(batch, "rule add pref {OWN_PREFERENCE} from {own} to {pool} lookup {own_routes}");
    ip(&["-6", "-batch", "-"], &batch)?;
    add_shared(&pool)
}

/// The rule of all agents. It may be there: another agent made it.
fn add_shared(pool: &str) -> Result<(), SetupFault> {
    let (preference, routes) = (PREFERENCE.to_string(), ROUTES.to_string());
    match ip(&["-6", "rule", "add", "pref", &preference, "to", pool, "lookup", &routes], "") {
        Err(SetupFault::Ip(said)) if said.contains("File exists") => Ok(()),
        done => done.map(|_| ()),
    }
}

/// Removes what an agent left that does not run any more.
pub(super) fn clean(table: &Table<'_>, nic: Ipv6Addr) {
    let pool = pool(table);
    clean_own(&pool, nic);
    let (preference, routes) = (PREFERENCE.to_string(), ROUTES.to_string());
    if !leads_nowhere(&routes) {
        return;
    }
    remove(&["-6", "rule", "del", "pref", &preference, "to", &pool, "lookup", &routes]);
    // An agent that began in the meantime found the rule that is gone now.
    if !leads_nowhere(&routes) {
        // It says so itself if it cannot be made.
        let _ = add_shared(&pool);
    }
}

/// Tells whether a table of the kernel has no route.
fn leads_nowhere(routes: &str) -> bool {
    // A table without routes does not exist, which is an error.
    ip(&["-6", "route", "show", "table", routes], "").map_or(true, |said| said.trim().is_empty())
}

fn clean_own(pool: &str, own: Ipv6Addr) {
    let (preference, own) = (OWN_PREFERENCE.to_string(), own.to_string());
    remove(&["-6", "rule", "del", "pref", &preference, "from", &own, "to", pool]);
}

/// Removes rules, as many as there are: none is as good as one.
fn remove(rule: &[&str]) {
    for _ in 0..4 {
        if ip(rule, "").is_err() {
            return;
        }
    }
}

/// Finds a user's numbers.
pub fn user(name: &str) -> Result<(u32, u32), SetupFault> {
    let text = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let entry =
        text.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|f| f.first() == Some(&name));
    let number = |at: usize| entry.as_ref().and_then(|fields| fields.get(at)?.parse().ok());
    number(2).zip(number(3)).ok_or_else(|| SetupFault::User(name.to_owned()))
}
