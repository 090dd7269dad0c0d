//! Differences of a SONiC switch, for people.
//!
//! In: operations of a patch, and faults of daemon state. Out: [`Difference`]s by names.

use closc_sonic::{ConfigDb, StateFault};

use crate::device_drift::Difference;

/// Shows an operation as a difference.
pub(super) fn difference(live: &ConfigDb, operation: &closc_sonic::Operation) -> Difference {
    let place = operation.place();
    let before = || {
        let entry = live.entry(&operation.table, operation.key.as_deref()?)?;
        match &operation.field {
            Some(field) => entry.get(field).map(ToString::to_string),
            None => Some(format_entry(entry)),
        }
    };
    match &operation.action {
        closc_sonic::Action::Add(content) => Difference::Missing { wanted: format!("{place} {content}") },
        closc_sonic::Action::Replace(value) => Difference::Changed {
            wanted: format!("{place} {value}"),
            live: format!("{place} {}", before().unwrap_or_default()),
        },
        closc_sonic::Action::Remove => {
            Difference::Unexpected { live: format!("{place} {}", before().unwrap_or_default()) }
        }
    }
}

/// Shows a fault of daemon state, with the table of APPL_DB that it concerns.
pub(super) fn undone(fault: &StateFault) -> (&'static str, Difference) {
    match fault {
        StateFault::Port { port, status: Some(status) } => {
            let line = |status: &str| format!("PORT_TABLE:{port}.oper_status {status}");
            ("PORT_TABLE", Difference::Changed { wanted: line("up"), live: line(status) })
        }
        StateFault::Port { port, status: None } => {
            ("PORT_TABLE", Difference::Missing { wanted: format!("PORT_TABLE:{port}.oper_status up") })
        }
        StateFault::Route { key } => {
            ("ROUTE_TABLE", Difference::Missing { wanted: format!("the route of STATIC_ROUTE|{key}") })
        }
        StateFault::Segment { key } => (
            "SRV6_MY_SID_TABLE",
            Difference::Missing { wanted: format!("the segment of SRV6_MY_SIDS|{key}") },
        ),
        StateFault::Buffer { table, place, field: None } => {
            (table, Difference::Missing { wanted: place.clone() })
        }
        StateFault::Buffer { table, place, field: Some((name, wanted, live)) } => {
            let line = |value: &str| format!("{place}.{name} {value}");
            (table, Difference::Changed { wanted: line(wanted), live: line(live) })
        }
        StateFault::ResourceLimit { resource: what, requested: wanted, available: room } => {
            let line = |number: &u64| format!("{number} {what}");
            (
                "BUFFER_MAX_PARAM_TABLE",
                Difference::Changed { wanted: line(wanted), live: format!("room for {}", line(room)) },
            )
        }
        StateFault::Pauses { port, expected: wanted, live } => {
            let line = |bits: u8| format!("{port} pauses {}", priorities(bits));
            ("PORT_QOS_MAP", Difference::Changed { wanted: line(*wanted), live: line(*live) })
        }
        StateFault::AccessList { name, status } => {
            let line = |status: &str| format!("ACL_TABLE_TABLE:{name}.status {status}");
            let wanted = line("Active");
            let found = match status {
                Some(status) => Difference::Changed { wanted, live: line(status) },
                None => Difference::Missing { wanted },
            };
            ("ACL_TABLE_TABLE", found)
        }
        StateFault::Neighbour { port, expected: wanted, actual: Some(seen) } => {
            let line = |who: &str| format!("{port} to {who}");
            ("LLDP_ENTRY_TABLE", Difference::Changed { wanted: line(wanted), live: line(seen) })
        }
        StateFault::Neighbour { port, expected: wanted, actual: None } => {
            ("LLDP_ENTRY_TABLE", Difference::Missing { wanted: format!("{port} to {wanted}") })
        }
        StateFault::Blind { ports } => (
            "LLDP_ENTRY_TABLE",
            Difference::Missing {
                wanted: format!("a neighbour on any of {ports} ports to switches; is LLDP running?"),
            },
        ),
    }
}

/// Lists priorities from a bit mask.
fn priorities(bits: u8) -> String {
    let set: Vec<String> =
        (0..8).filter(|number| bits >> number & 1 == 1).map(|number: u8| number.to_string()).collect();
    if set.is_empty() { "no priority".to_owned() } else { format!("priorities {}", set.join(",")) }
}

fn format_entry(entry: &closc_sonic::Entry) -> String {
    entry.iter().map(|(field, value)| format!("{field}={value}")).collect::<Vec<_>>().join(" ")
}
