//! Tables of `config_db.json` that move no packet.
//!
//! In: the name of a table, and its text. Out: nothing, or the row that SONiC does not know. Invariants: what rows say is passed
//! over; which rows a table of one row has is not.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{Deserialize as _, DeserializeSeed as _, Deserializer, IgnoredAny};

use serde_json::Value;

use crate::read::json::Rows;

/// Tables that move no packet and that switches are rendered with.
pub(super) const TABLES: [&str; 8] =
    ["CRM", PEERS, "LLDP", "MGMT_PORT", "NTP", "NTP_SERVER", "SNMP", "SYSLOG_SERVER"];

/// Those about servers of the whole fabric, which are the same on all switches.
pub(super) const SERVERS: [&str; 4] = ["NTP", "NTP_SERVER", "SNMP", "SYSLOG_SERVER"];

/// Statements about neighbours, which move no packet either.
pub(super) const PEERS: &str = "DEVICE_NEIGHBOR_METADATA";

/// Tables of those with one row, which no other one stands for.
const SINGLE: [(&str, &str); 3] = [("CRM", "Config"), ("LLDP", "GLOBAL"), ("MGMT_PORT", MANAGEMENT_PORT)];

/// The only management port.
pub(super) const MANAGEMENT_PORT: &str = "eth0";

/// Takes a table that moves no packet: its rows are those that SONiC knows, where it knows one.
pub(super) fn check<'a, D: Deserializer<'a>>(name: &str, json: D) -> Result<(), D::Error> {
    let Some((_, only)) = SINGLE.iter().find(|(table, _)| *table == name) else {
        return IgnoredAny::deserialize(json).map(drop);
    };
    let own = |key: Cow<'a, str>, _: IgnoredAny| {
        if key == *only { Ok(()) } else { Err(format!("`{name}|{key}` is not a row of this table")) }
    };
    Rows::new(&mut { own }).deserialize(json)
}

/// Returns a table of servers in one form, whatever the order of its rows.
pub(super) fn sorted(table: &str) -> Result<String, serde_json::Error> {
    let rows: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(table)?;
    serde_json::to_string(&rows)
}
