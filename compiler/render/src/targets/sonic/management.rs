//! Management of the switch: `MGMT_PORT`, `MGMT_INTERFACE`, `NTP`, `NTP_SERVER`,
//! `SYSLOG_SERVER`, `SNMP` and `LLDP`.
//!
//! In: a view. Out: rows. Invariants: the management address has a gateway, which SONiC's model requires. The gateway
//! applies only to the management port, so the fabric still has no default route.

use std::net::IpAddr;

use super::json::{Document, Table};
use super::view::View;

/// The management port of every SONiC switch.
const PORT: &str = "eth0";

/// Writes `LLDP`, which is needed to compare the cabling with the plan.
pub(super) fn discovery(document: &mut Document) {
    document.table("LLDP", |table| table.row(&["GLOBAL"], |row| row.text("enabled", "true")));
}

/// Writes `MGMT_INTERFACE`.
pub(super) fn address(document: &mut Document, view: &View<'_>) {
    let Some(management) = &view.intent.system.management else { return };
    document.table("MGMT_INTERFACE", |table| {
        table.row(&[PORT, "|", &management.address.to_string()], |row| {
            row.show("gwaddr", management.gateway);
        });
    });
}

/// Writes `MGMT_PORT`.
pub(super) fn port(document: &mut Document, view: &View<'_>) {
    if view.intent.system.management.is_none() {
        return;
    }
    document.table("MGMT_PORT", |table| {
        table.row(&[PORT], |row| {
            row.text("admin_status", "up");
            row.text("alias", PORT);
        });
    });
}

/// Writes `NTP`.
pub(super) fn time(document: &mut Document, view: &View<'_>) {
    let system = &view.intent.system;
    if system.services.ntp.is_empty() {
        return;
    }
    document.table("NTP", |table| {
        table.row(&["global"], |row| {
            row.text("admin_state", "enabled");
            if system.management.is_some() {
                row.text("src_intf", PORT);
            }
            row.text("vrf", "default");
        });
    });
}

/// Writes `NTP_SERVER`.
pub(super) fn time_servers(document: &mut Document, view: &View<'_>) {
    document.table("NTP_SERVER", |table| {
        servers(table, &view.intent.system.services.ntp);
    });
}

/// Writes `SYSLOG_SERVER`.
pub(super) fn log_servers(document: &mut Document, view: &View<'_>) {
    document.table("SYSLOG_SERVER", |table| {
        servers(table, &view.intent.system.services.syslog);
    });
}

/// Writes a row without fields for each server, so that SONiC's defaults apply.
fn servers(table: &mut Table<'_>, servers: &[IpAddr]) {
    let mut servers = servers.to_vec();
    servers.sort_unstable();
    servers.dedup();
    for server in servers {
        table.bare(&[&server.to_string()]);
    }
}

/// Writes `SNMP`.
pub(super) fn inventory(document: &mut Document, view: &View<'_>) {
    let services = view.intent.system.services;
    document.table("SNMP", |table| {
        if let Some(contact) = &services.snmp_contact {
            table.row(&["CONTACT"], |row| row.text("Contact", contact));
        }
        if let Some(location) = &services.snmp_location {
            table.row(&["LOCATION"], |row| row.text("Location", location));
        }
    });
}
