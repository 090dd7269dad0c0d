//! Tables of `config_db.json` that do not affect packets.
//!
//! In: the name of a table, and its text. Out: an error for an unknown row. Invariants: the contents of rows are
//! ignored, but tables with a single row must not have other rows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{Deserialize as _, DeserializeSeed as _, Deserializer, IgnoredAny};

use serde_json::Value;

use crate::read::json::Rows;

/// Tables that closc renders and that do not affect packets.
pub(super) const TABLES: [&str; 8] =
    ["CRM", PEERS, "LLDP", "MGMT_PORT", "NTP", "NTP_SERVER", "SNMP", "SYSLOG_SERVER"];

/// Tables of servers, which are equal on all switches of a fabric.
pub(super) const SERVERS: [&str; 4] = ["NTP", "NTP_SERVER", "SNMP", "SYSLOG_SERVER"];

/// Table of neighbour values, which also does not affect packets.
pub(super) const PEERS: &str = "DEVICE_NEIGHBOR_METADATA";

/// Tables that have a single row with a fixed name.
const SINGLE: [(&str, &str); 3] = [("CRM", "Config"), ("LLDP", "GLOBAL"), ("MGMT_PORT", MANAGEMENT_PORT)];

/// The only management port.
pub(super) const MANAGEMENT_PORT: &str = "eth0";

/// Checks a table that does not affect packets: if SONiC reads only a single row, there must be no others.
pub(super) fn check<'a, D: Deserializer<'a>>(name: &str, json: D) -> Result<(), D::Error> {
    let Some((_, only)) = SINGLE.iter().find(|(table, _)| *table == name) else {
        return IgnoredAny::deserialize(json).map(drop);
    };
    let own = |key: Cow<'a, str>, _: IgnoredAny| {
        if key == *only { Ok(()) } else { Err(format!("`{name}|{key}` is not a row of this table")) }
    };
    Rows::new(&mut { own }).deserialize(json)
}

/// Returns a table of servers in canonical form, with sorted rows.
pub(super) fn sort_rows(table: &str) -> Result<String, serde_json::Error> {
    let rows: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(table)?;
    serde_json::to_string(&rows)
}
