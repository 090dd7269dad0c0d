//! sFlow: samples of packets, from switches that send them.
//!
//! In: collectors. Out: `overlay/sflow.json`, which `--overlay` adds to CONFIG_DB. Invariants: it has tables of the site only; a switch
//! samples one packet in as many as its port has Mb/s, SONiC's own default, as the model takes no rate for all ports.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};

use crate::{File, Refusal};

/// How many collectors a switch takes (SONiC's model `sonic-sflow`).
const COLLECTORS: u64 = 2;

/// Returns the overlay.
///
/// # Errors
///
/// Refuses more collectors than a switch takes.
pub fn overlay(collectors: &[SocketAddr]) -> Result<File<'_>, Refusal> {
    let count = collectors.len() as u64;
    if count > COLLECTORS {
        return Err(Refusal::TooMany {
            format: "SFLOW_COLLECTOR",
            what: "collectors",
            arithmetic: format!("{count} options `--sflow`"),
            count,
            most: COLLECTORS,
            help: "give the nearest two",
        });
    }
    Ok(File::new("overlay/sflow.json", move |out| {
        let rows: Map<String, Value> = (1..).zip(collectors).map(|(number, to)| row(number, to)).collect();
        let tables = json!({
            "FEATURE": { "sflow": { "state": "enabled" } },
            "SFLOW": { "global": { "admin_state": "up", "agent_id": "Loopback0" } },
            "SFLOW_COLLECTOR": rows,
            "SFLOW_SESSION": { "all": { "admin_state": "up" } },
        });
        writeln!(out, "{:#}", json!({ "tables": tables }))
    }))
}

fn row(number: u32, to: &SocketAddr) -> (String, Value) {
    let row = json!({ "collector_ip": to.ip(), "collector_port": to.port().to_string() });
    (format!("collector{number}"), row)
}
