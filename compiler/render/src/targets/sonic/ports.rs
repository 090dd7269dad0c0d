//! Ports and their addresses: `PORT` and `INTERFACE`.
//!
//! In: a view. Out: rows. Invariants: every port of the switch has a `PORT` row, and those without a cable are shut
//! down. An address row comes after the row of its port. A link's prefix is /127 or, in IPv4, /31, so both ends are
//! in one subnet. Unnumbered ports have only a link-local address.

use super::super::wire::needs_code;
use super::RouteWriter;
use super::json::{Document, Row};
use super::view::{PortView, View};

/// Writes `PORT`.
pub(super) fn ports(document: &mut Document, view: &View<'_>) {
    document.table("PORT", |table| {
        let states_autoneg = view.intent.platform.states_autoneg(view.intent.os);
        for port in &view.ports {
            table.row(&[port.name], |row| physical(row, port, view.route_writer, states_autoneg));
        }
    });
}

fn physical(row: &mut Row<'_>, view: &PortView<'_>, routed: RouteWriter, states_autoneg: bool) {
    let port = &view.port.physical;
    // SONiC's own default is `down`.
    row.text("admin_status", if view.link.is_some() { "up" } else { "down" });
    row.text("alias", &port.alias);
    // Without the field, drivers such as NVIDIA's let the port negotiate (sonic-buildimage 19607).
    if states_autoneg {
        row.text("autoneg", "off");
    }
    row.text("description", &view.port.description);
    row.text("fec", if needs_code(view.port) { "rs" } else { "none" });
    if routed == RouteWriter::ByController {
        row.number("id", port.number);
    }
    row.number("index", port.panel);
    row.commas("lanes", &port.lanes);
    row.number("mtu", view.port.mtu);
    row.number("speed", port.speed.mbps());
    row.number("subport", port.subport);
}

/// Writes `INTERFACE`.
pub(super) fn interfaces(document: &mut Document, view: &View<'_>) {
    document.table("INTERFACE", |table| {
        for (port, link) in view.links() {
            if link.connection.unnumbered {
                table.row(&[port.name], |row| row.text("ipv6_use_link_local_only", "enable"));
                continue;
            }
            table.bare(&[port.name]);
            table.bare(&[port.name, "|", &link.address]);
        }
    });
}
