//! Finds the rows of `config_db.json` that determine a QoS setting of a port.
//!
//! In: the text of a file with a violation, a port and a setting. Out: paths: first the row with the value, then the
//! rows that refer to it. Invariants: the reader itself resolves the references a second time, so lines and values
//! agree.

use serde::Deserialize as _;
use serde::de::IgnoredAny;

use super::qos::{self, PORT_TABLES, SMALL_TABLES, row};
use crate::model::place::Step;
use crate::read::json::{tables, value};

/// Tables whose rows are reported if a setting is missing, by the beginning of the setting's name.
const REFER: [(&str, &str); 8] = [
    ("scheduler of queue ", "QUEUE"),
    ("wred_profile of queue ", "QUEUE"),
    ("buffer of queue ", "BUFFER_QUEUE"),
    ("buffer of group ", "BUFFER_PG"),
    ("pool ", "BUFFER_POOL"),
    ("watchdog", "PFC_WD"),
    ("trimming", "SWITCH_TRIMMING"),
    ("quota of pool", "BUFFER_PORT_INGRESS_PROFILE_LIST"),
];

/// Returns the paths of a setting.
pub(super) fn find(text: &str, port: &str, name: &str) -> Vec<Vec<Step>> {
    let mut parts: Vec<(&str, &str)> = Vec::new();
    let known = |name: &str| PORT_TABLES.iter().chain(&SMALL_TABLES).find(|known| **known == name).copied();
    // In an invalid file, only the tables before the error are searched.
    let _ = tables(text, |name, rest| {
        let length = value(rest, |json| IgnoredAny::deserialize(json).map(drop))?;
        parts.extend(known(name).map(|name| (name, &rest[..length])));
        Ok(length)
    });
    // The settings of all code points are in one row.
    let name = if name.starts_with("dscp_to_tc_map ") { "dscp_to_tc_map" } else { name };
    let mut sources = qos::sources(&parts, port).unwrap_or_default();
    if let Some(paths) = sources.remove(name) {
        return paths;
    }
    if name == "cable length" {
        return vec![vec!["CABLE_LENGTH".into(), Step::Start(String::new()), port.into()]];
    }
    if let Some(table) = name.strip_suffix("|global") {
        return vec![vec![table.into(), "global".into()]];
    }
    let refers = REFER.iter().find_map(|(start, table)| Some((*table, name.strip_prefix(start)?)));
    let (table, rest) = refers.unwrap_or(("PORT_QOS_MAP", ""));
    // The row exists but lacks the setting.
    if let Some(paths) = sources.remove(&row(table, rest)) {
        return paths;
    }
    vec![vec![table.into(), port.into()]]
}
