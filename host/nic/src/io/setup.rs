//! What the kernel has to know, and what it knows of the ports.
//!
//! In: the table. Out: interfaces and neighbours of each plane; routes. Invariants: every route that is made is of the
//! TUN device, so the kernel takes it away when the agent ends, however it ends, and receives by itself again. One
//! rule is left, which leads to a table that is then empty: [`clean`] removes it, and so does the next start.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::Ipv6Addr;
use std::process::{Command, Stdio};

use closc_paths::Table;
use serde_json::Value;
use thiserror::Error;

use crate::wire::Segment;

/// Routes of packets that the agent takes.
const ROUTES: u32 = 4242;
/// Before any rule of an administrator, after that of local addresses.
const PREFERENCE: u32 = 10;

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
    /// There is no such user.
    #[error("there is no user `{0}` in /etc/passwd")]
    User(String),
    /// Privileges could not be given up.
    #[error("cannot become user `{0}`: {1}")]
    Become(String, io::Error),
}

/// Runs `ip` and returns what it prints.
fn ip(args: &[&str], input: &str) -> Result<String, SetupFault> {
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
fn pool(table: &Table<'_>) -> String {
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
pub fn routes(table: &Table<'_>, tun: &str, own: [u8; 16], segments: &[Segment]) -> Result<(), SetupFault> {
    clean_rule(table);
    // A TUN device drops what its queue has no room for, and TCP then sends it again.
    let mut batch = format!("link set dev {tun} addrgenmode none txqueuelen 2000\n");
    let _ = writeln!(batch, "link set dev {tun} mtu {} up", inner_mtu(table));
    for segment in segments {
        let address = Ipv6Addr::from(u128::from(segment.block) << 96 | u128::from(segment.usid) << 80);
        let _ = writeln!(batch, "route replace {address}/48 dev {tun} metric 1");
    }
    let (pool, own) = (pool(table), Ipv6Addr::from(own));
    let _ = writeln!(batch, "route replace {pool} dev {tun} src {own} table {ROUTES}");
    let _ = writeln!(batch, "rule add pref {PREFERENCE} to {pool} lookup {ROUTES}");
    ip(&["-6", "-batch", "-"], &batch).map(|_| ())
}

/// Removes what an agent left.
pub fn clean(table: &Table<'_>) {
    clean_rule(table);
}

fn clean_rule(table: &Table<'_>) {
    let (preference, routes) = (PREFERENCE.to_string(), ROUTES.to_string());
    let pool = pool(table);
    // As many as there are: none is as good as one.
    for _ in 0..4 {
        let args = ["-6", "rule", "del", "pref", &preference, "to", &pool, "lookup", &routes];
        if ip(&args, "").is_err() {
            return;
        }
    }
}

/// The port of a plane, as the kernel's routes have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextHop {
    /// The interface.
    pub device: String,
    /// The MAC address of the T0, if it is known.
    pub neighbour: Option<[u8; 6]>,
}

/// Asks the kernel by which port, and to which neighbour, packets to the T0 of a plane go. Nothing, if there is no
/// route, as while the port is down.
pub fn way(table: &Table<'_>, plane: u8, downlink: u16) -> Option<NextHop> {
    let to = Ipv6Addr::from(table.t0_probe(plane, downlink)).to_string();
    let route: Value = serde_json::from_str(&ip(&["-j", "-6", "route", "get", &to], "").ok()?).ok()?;
    let route = route.get(0)?;
    let (device, gateway) = (route.get("dev")?.as_str()?, route.get("gateway")?.as_str()?);
    let known = ip(&["-j", "-6", "neighbour", "show", "to", gateway, "dev", device], "").ok();
    let known: Option<Value> = known.and_then(|text| serde_json::from_str(&text).ok());
    let neighbour = known.as_ref().and_then(|known| known.get(0)?.get("lladdr")?.as_str()).and_then(mac);
    Some(NextHop { device: device.to_owned(), neighbour })
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let mut bytes = text.split(':').map(|byte| u8::from_str_radix(byte, 16));
    let mut mac = [0; 6];
    for byte in &mut mac {
        *byte = bytes.next()?.ok()?;
    }
    bytes.next().is_none().then_some(mac)
}

/// Finds a user's numbers.
pub fn user(name: &str) -> Result<(u32, u32), SetupFault> {
    let text = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let entry =
        text.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|f| f.first() == Some(&name));
    let number = |at: usize| entry.as_ref().and_then(|fields| fields.get(at)?.parse().ok());
    number(2).zip(number(3)).ok_or_else(|| SetupFault::User(name.to_owned()))
}
