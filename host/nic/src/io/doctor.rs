//! Looks at everything that an agent needs, and says what is missing and what to do.

use std::net::Ipv6Addr;
use std::path::Path;

use serde::Serialize;

use crate::api::Request;
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

/// Looks at table, ports, devices and the agent.
pub fn examine(table: &Path, nic: Ipv6Addr, socket: &Path) -> Vec<Check> {
    let mut out = Vec::new();
    let mut check = |what: String, good: bool, said: String| out.push(Check { what, good, said });
    let bytes = match run::read_table(table) {
        Ok(bytes) => bytes,
        Err(fault) => {
            check("path table".into(), false, fault.to_string());
            return out;
        }
    };
    let (table, downlink) = match run::open_table(&bytes, nic) {
        Ok(opened) => opened,
        Err(fault) => {
            check("path table".into(), false, fault.to_string());
            return out;
        }
    };
    let h = table.header();
    check(
        "path table".into(),
        true,
        format!("group {}, downlink {}, {} planes", h.group + 1, downlink + 1, h.planes),
    );
    let tun = std::fs::File::options().read(true).write(true).open("/dev/net/tun");
    let said = tun.as_ref().map_or_else(ToString::to_string, |_| "there".into());
    check("/dev/net/tun".into(), tun.is_ok(), said);
    let any = std::net::UdpSocket::bind("[::1]:0").ok();
    for plane in 0..h.planes {
        let what = format!("plane {plane}");
        let Some(way) = setup::way(&table, plane, downlink) else {
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
    out.push(agent(socket));
    out
}

/// Asks the agent how it is.
fn agent(socket: &Path) -> Check {
    let (good, said) = match client::ask(socket, &Request::Status {}) {
        Ok(status) => {
            let findings = status.get("findings").and_then(|f| f.as_array()).map_or(0, Vec::len);
            (findings == 0, format!("answers at {}, {findings} findings", socket.display()))
        }
        Err(error) => (false, format!("does not answer at {}: {error}", socket.display())),
    };
    Check { what: "agent".into(), good, said }
}
