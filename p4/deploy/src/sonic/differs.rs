//! What differs on a SONiC switch, for people.
//!
//! In: operations of a patch, and what the switch does not do. Out: [`Difference`]s by names.

use closc_sonic::{ConfigDb, StateFault};

use crate::device_drift::Difference;

/// Shows an operation as a difference.
pub(super) fn difference(live: &ConfigDb, operation: &closc_sonic::Operation) -> Difference {
    let place = operation.place();
    let before = || {
        let entry = live.entry(&operation.table, operation.key.as_deref()?)?;
        match &operation.field {
            Some(field) => entry.get(field).map(ToString::to_string),
            None => Some(shown(entry)),
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

/// Shows what a switch does not do, with the table of APPL_DB that it is missed in.
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
    }
}

fn shown(entry: &closc_sonic::Entry) -> String {
    entry.iter().map(|(field, value)| format!("{field}={value}")).collect::<Vec<_>>().join(" ")
}
