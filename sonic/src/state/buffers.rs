//! Buffers: the settings that `buffermgrd` copied to APPL_DB, and the limits of the switch.
//!
//! In: the buffer tables of a configuration. Out: faults. Invariants: if the switch computes buffers itself
//! (`buffer_model: dynamic`), only the existence of entries is compared, not their values.

use std::collections::BTreeMap;

use super::{StateFault, SwitchDatabases};
use crate::config_db::ConfigDb;

/// Tables of CONFIG_DB, each with its copy in APPL_DB.
const TABLES: [(&str, &str); 6] = [
    ("BUFFER_POOL", "BUFFER_POOL_TABLE"),
    ("BUFFER_PROFILE", "BUFFER_PROFILE_TABLE"),
    ("BUFFER_PG", "BUFFER_PG_TABLE"),
    ("BUFFER_QUEUE", "BUFFER_QUEUE_TABLE"),
    ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST_TABLE"),
    ("BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST_TABLE"),
];

/// Tables with numbered parts of a port, each with the field of STATE_DB that has their maximum.
const NUMBERED: [(&str, &str); 2] = [("BUFFER_PG", "max_priority_groups"), ("BUFFER_QUEUE", "max_queues")];

/// Returns whether a key of APPL_DB belongs to a buffer table.
pub(super) fn is_applied(key: &str) -> bool {
    key.split_once(':').is_some_and(|(table, _)| TABLES.iter().any(|(_, applied)| *applied == table))
}

/// Finds settings that were not applied.
pub(super) fn faults(config: &ConfigDb, applied: &SwitchDatabases<'_>, faults: &mut Vec<StateFault>) {
    let is_computed = config.text("DEVICE_METADATA", "localhost", "buffer_model") == Some("dynamic");
    for (table, copy) in TABLES {
        for (key, entry) in config.table(table) {
            let place = format!("{copy}:{}", key.replace('|', ":"));
            let Some(found) = applied.buffers.get(place.as_str()) else {
                faults.push(StateFault::Buffer { table: copy, place, field: None });
                continue;
            };
            for (name, wanted) in entry.iter().filter(|_| !is_computed) {
                let (wanted, live) = (wanted.to_string(), found.get(name).map(ToString::to_string));
                let is_same = live.as_deref().is_some_and(|live| reference(live) == reference(&wanted));
                if !is_same {
                    let field = Some((name.clone(), wanted, live.unwrap_or_default()));
                    faults.push(StateFault::Buffer { table: copy, place: place.clone(), field });
                }
            }
        }
    }
    pools(config, applied, faults);
    numbers(config, applied, faults);
}

/// Returns the name in a reference: releases before 2022 write `[TABLE:NAME]`.
fn reference(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else { return text };
    inner.split_once(['|', ':']).map_or(inner, |(_, name)| name)
}

/// The pools of a direction must fit into the buffer of the chip.
fn pools(config: &ConfigDb, applied: &SwitchDatabases<'_>, faults: &mut Vec<StateFault>) {
    let Some(room) = applied.available_amount("global", "mmu_size") else { return };
    let mut wanted: BTreeMap<&str, u64> = BTreeMap::new();
    for pool in config.table("BUFFER_POOL").keys() {
        let field = |name| config.text("BUFFER_POOL", pool, name);
        let size = field("size").and_then(|size| size.parse::<u64>().ok()).unwrap_or(0);
        let sum = wanted.entry(field("type").unwrap_or_default()).or_default();
        *sum = sum.saturating_add(size);
    }
    for (direction, wanted) in wanted.into_iter().filter(|(_, wanted)| *wanted > room) {
        let pools = if direction.is_empty() { "pools".to_owned() } else { format!("{direction} pools") };
        faults.push(StateFault::ResourceLimit {
            resource: format!("bytes of {pools}"),
            requested: wanted,
            available: room,
        });
    }
}

/// A port must have the priority groups and queues that are configured.
fn numbers(config: &ConfigDb, applied: &SwitchDatabases<'_>, faults: &mut Vec<StateFault>) {
    for (table, field) in NUMBERED {
        for key in config.table(table).keys() {
            let Some((port, numbers)) = key.split_once('|') else { continue };
            let last = numbers.rsplit('-').next().and_then(|last| last.parse::<u64>().ok());
            let (Some(last), Some(room)) = (last, applied.available_amount(port, field)) else { continue };
            if last >= room {
                let what = format!("{table} of {port}, by {field}");
                faults.push(StateFault::ResourceLimit {
                    resource: what,
                    requested: last + 1,
                    available: room,
                });
            }
        }
    }
}
