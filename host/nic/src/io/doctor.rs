//! Checks everything that an agent needs, and reports problems with their remedies.

use std::io::ErrorKind;
use std::net::Ipv6Addr;
use std::path::Path;
use std::time::Duration;

use closc_paths::{Header, Table};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use crate::agent::TableView;
use crate::api::Request;
use crate::io::ports::{Names, Ports};
use crate::io::{client, run};

mod agent_state;
mod kernel;

/// Time limit for the agent's answer: a stopped process still has a socket but does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject.
    pub what: String,
    /// Whether the check passed.
    pub good: bool,
    /// The finding, or the remedy.
    pub said: String,
}

/// Checks the table, ports, devices and the agent.
pub fn examine(
    table: &Path,
    (nic, fabric): (Ipv6Addr, Option<&str>),
    names: &Names,
    socket: &Path,
) -> Vec<Check> {
    let mut out = Vec::new();
    let mut check = |what: String, good: bool, said: String| out.push(Check { what, good, said });
    let bytes = match run::read_table(table) {
        Ok(bytes) => bytes,
        Err(fault) => {
            check("path table".into(), false, fault.to_string());
            return out;
        }
    };
    let opened = run::open_table(&bytes, nic);
    let opened = opened.and_then(|(table, downlink)| {
        run::is_of(&table, fabric)?;
        names.fit(table.header().planes)?;
        Ok((table, downlink))
    });
    let (table, downlink) = match opened {
        Ok(opened) => opened,
        Err(fault) => {
            check("path table".into(), false, fault.to_string());
            return out;
        }
    };
    let h = table.header();
    let view = TableView::of(&table);
    check("path table".into(), true, describe_table(&view, h, downlink));
    let here = run::is_here(nic);
    let said = if here {
        "an address of this machine"
    } else {
        "not an address of this machine; is it the NIC of another node?"
    };
    check(nic.to_string(), here, said.into());
    let tun = std::fs::File::options().read(true).write(true).open("/dev/net/tun");
    let said = tun.as_ref().map_or_else(ToString::to_string, |_| "there".into());
    check("/dev/net/tun".into(), tun.is_ok(), said);
    let (agent, runs, known) = agent(socket, &view);
    out.extend(kernel::machine(runs));
    out.extend(ports(&table, downlink, names));
    out.extend(kernel::tun(&table, downlink, nic));
    out.push(agent);
    out.extend(known);
    out
}

/// Checks the port of each plane.
fn ports(table: &Table<'_>, downlink: u16, names: &Names) -> Vec<Check> {
    let mut ports = Ports::new(names.clone());
    let planes: Vec<u8> = (0..table.header().planes).collect();
    let found = ports.next_hops(table, downlink, &planes);
    let doubt =
        ports.doubt().map(|doubt| Check { what: "ports".into(), good: false, said: doubt.to_string() });
    let named = |plane: u8| names.of(plane).filter(|name| !name.is_empty());
    // A plane without a port of the NIC is not checked.
    let is_absent = |plane: u8| names.of(plane).is_some_and(|name| name.is_empty());
    let planes = planes.into_iter().zip(found).filter(|(plane, _)| !is_absent(*plane));
    let each = planes.map(|(plane, hop)| kernel::port(table, plane, hop.as_ref(), named(plane).as_deref()));
    doubt.into_iter().chain(each).collect()
}

/// Describes a table.
fn describe_table(view: &TableView, header: &Header, downlink: u16) -> String {
    let fabric = view.fabric.as_ref().map(|fabric| format!("fabric `{}`", fabric.escape_default()));
    let fabric = fabric.unwrap_or_else(|| "no fabric".to_owned());
    let (group, downlink, planes) = (header.group + 1, downlink + 1, header.planes);
    format!("{fabric}, group {group}, downlink {downlink}, {planes} planes, checksum {}", view.checksum)
}

/// Describes the number of far NICs of an agent, the maximum, and whether channels ran out.
fn describe_capacity(status: &Value) -> (String, bool) {
    let known = status.get("channels").and_then(Value::as_array).map_or(0, Vec::len);
    let no_room = status.pointer("/counters/no_room").and_then(Value::as_u64).unwrap_or(0);
    // Agents of other versions may not report it.
    let Some(most) = status.get("channels_max").and_then(Value::as_u64) else {
        return (String::new(), false);
    };
    let advice = if no_room > 0 {
        format!(", limit reached {no_room} times: increase `--far-nics`")
    } else {
        String::new()
    };
    (format!(", {known} of {most} far NICs{advice}"), no_room > 0)
}

/// Checks whether the agent answers and has this table. Returns the check, whether the agent runs, and the problems
/// that it reports.
fn agent(socket: &Path, table: &TableView) -> (Check, bool, Vec<Check>) {
    let runs = |status: &Value| status.get("table").and_then(|own| TableView::deserialize(own).ok());
    let status = client::ask_within(socket, &Request::Status {}, PATIENCE);
    let answers = status.is_ok();
    let known = status.as_ref().map(agent_state::problem_checks).unwrap_or_default();
    let (good, said) = match status {
        Ok(status) if runs(&status).is_some_and(|own| own != *table) => {
            let own = runs(&status).map(|own| own.checksum).unwrap_or_default();
            let said = format!(
                "runs another table, with checksum {own}: `closc-nic reload`, or start it with this one"
            );
            (false, said)
        }
        Ok(status) => {
            let findings = status.get("findings").and_then(|f| f.as_array()).map_or(0, Vec::len);
            let (room, crowded) = describe_capacity(&status);
            (findings == 0 && !crowded, format!("answers at {}, {findings} findings{room}", socket.display()))
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            let limit = PATIENCE.as_secs();
            let said = format!("does not answer within {limit} s at {}: restart it", socket.display());
            (false, said)
        }
        Err(error) => (false, format!("does not answer at {}: {error}", socket.display())),
    };
    (Check { what: "agent".into(), good, said }, answers, known)
}
