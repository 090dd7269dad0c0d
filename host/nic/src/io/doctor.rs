//! Looks at everything that an agent needs, and says what is missing and what to do.

use std::net::Ipv6Addr;
use std::path::Path;

use closc_paths::Header;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use crate::agent::TableView;
use crate::api::Request;
use crate::io::ports::{Names, Ports};
use crate::io::{client, run, setup, sys};

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub what: String,
    /// Whether it is as it has to be.
    pub good: bool,
    /// What was found, or what to do.
    pub said: String,
}

/// What to look at.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The table's file.
    pub table: &'a Path,
    /// The NIC's address.
    pub nic: Ipv6Addr,
    /// The fabric that the table has to be of; none, if any will do.
    pub fabric: Option<&'a str>,
    /// Names of the NIC's ports.
    pub ports: &'a Names,
    /// Where the agent takes requests.
    pub socket: &'a Path,
}

/// Looks at table, ports, devices and the agent.
pub fn examine(asked: &Asked<'_>) -> Vec<Check> {
    let &Asked { table, nic, fabric, socket, .. } = asked;
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
        asked.ports.fit(table.header().planes)?;
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
    check("path table".into(), true, named(&view, h, downlink));
    let here = run::is_here(nic);
    let said = if here {
        "an address of this machine"
    } else {
        "no address of this machine: is it the NIC of another node?"
    };
    check(nic.to_string(), here, said.into());
    let tun = std::fs::File::options().read(true).write(true).open("/dev/net/tun");
    let said = tun.as_ref().map_or_else(ToString::to_string, |_| "there".into());
    check("/dev/net/tun".into(), tun.is_ok(), said);
    let any = std::net::UdpSocket::bind("[::1]:0").ok();
    let mut ports = Ports::new(asked.ports.clone());
    let planes: Vec<u8> = (0..h.planes).collect();
    let ways = setup::next_hops(&mut ports, &table, downlink, &planes);
    if let Some(doubt) = ports.doubt() {
        check("ports".into(), false, doubt.to_string());
    }
    for (plane, way) in planes.into_iter().zip(ways) {
        let what = format!("plane {plane}");
        let Some(way) = way else {
            let said = "no route to the T0: is the port up, and was ip.batch run since it was down?";
            check(what, false, said.into());
            continue;
        };
        let carrier = any.as_ref().and_then(|any| {
            use std::os::fd::AsFd as _;
            sys::interface(any.as_fd(), &way.device).ok()
        });
        match (carrier, way.neighbour) {
            (Some((_, true)), Some(_)) => {
                check(what, true, format!("port {} up, neighbour known", way.device));
            }
            (Some((_, true)), None) => {
                check(what, false, format!("port {}: the T0's MAC address is unknown", way.device));
            }
            _ => check(what, false, format!("port {} is down", way.device)),
        }
    }
    out.push(agent(socket, &view));
    out
}

/// Says which table it is.
fn named(view: &TableView, header: &Header, downlink: u16) -> String {
    let fabric = view.fabric.as_ref().map(|fabric| format!("fabric `{}`", fabric.escape_default()));
    let fabric = fabric.unwrap_or_else(|| "no fabric".to_owned());
    let (group, downlink, planes) = (header.group + 1, downlink + 1, header.planes);
    format!("{fabric}, group {group}, downlink {downlink}, {planes} planes, checksum {}", view.checksum)
}

/// Asks the agent how it is, and whether it has the table.
fn agent(socket: &Path, table: &TableView) -> Check {
    let runs = |status: &Value| status.get("table").and_then(|own| TableView::deserialize(own).ok());
    let (good, said) = match client::ask(socket, &Request::Status {}) {
        Ok(status) if runs(&status).is_some_and(|own| own != *table) => {
            let own = runs(&status).map(|own| own.checksum).unwrap_or_default();
            let said = format!(
                "runs another table, with checksum {own}: `closc-nic reload`, or start it with this one"
            );
            (false, said)
        }
        Ok(status) => {
            let findings = status.get("findings").and_then(|f| f.as_array()).map_or(0, Vec::len);
            (findings == 0, format!("answers at {}, {findings} findings", socket.display()))
        }
        Err(error) => (false, format!("does not answer at {}: {error}", socket.display())),
    };
    Check { what: "agent".into(), good, said }
}
