//! Tables of `config_db.json` that move no packet.
//!
//! In: the name of a table, and its text. Out: nothing, or the row that SONiC does not know. Invariants: what rows say is passed
//! over; which rows a table of one row has is not.

use std::borrow::Cow;

use serde::de::{Deserialize as _, DeserializeSeed as _, Deserializer, IgnoredAny};

use crate::read::json::Rows;

/// Tables that move no packet and that switches are rendered with.
pub(super) const TABLES: [&str; 8] =
    ["CRM", PEERS, "LLDP", "MGMT_PORT", "NTP", "NTP_SERVER", "SNMP", "SYSLOG_SERVER"];

/// What is stated of neighbours, which moves no packet either.
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
        if key == *only { Ok(()) } else { Err(format!("`{name}|{key}` is no row of this table")) }
    };
    Rows::new(&mut { own }).deserialize(json)
}
