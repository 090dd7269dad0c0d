//! Ports and their addresses: `PORT` and `INTERFACE`.
//!
//! In: a view. Out: rows. Invariants: every port of the switch has a `PORT` row, and those without a cable are shut. An
//! address row comes after the row of its port. A link's prefix is /127 or, in IPv4, /31, so both ends are in one
//! subnet. Unnumbered ports have only a link-local address.

use closc_platform::PhysicalPort;

use super::super::wire::needs_code;
use super::RouteWriter;
use super::json::{Document, Row};
use super::view::{PortView, View};

/// Writes `PORT`.
pub(super) fn ports(document: &mut Document, view: &View<'_>) {
    document.table("PORT", |table| {
        for port in &view.ports {
            table.row(&[port.name], |row| physical(row, port, view.routed));
        }
    });
}

fn physical(row: &mut Row<'_>, view: &PortView<'_>, routed: RouteWriter) {
    let port = &view.port.physical;
    // SONiC's own default is `down`.
    row.text("admin_status", if view.link.is_some() { "up" } else { "down" });
    row.text("alias", &port.alias);
    row.text("description", &view.port.description);
    row.text("fec", fec(port));
    if routed == RouteWriter::ByController {
        row.number("id", port.number);
    }
    row.number("index", port.panel);
    row.commas("lanes", &port.lanes);
    row.number("mtu", view.port.mtu);
    row.number("speed", port.speed.mbps());
    row.number("subport", port.subport);
}

fn fec(port: &PhysicalPort) -> &'static str {
    if needs_code(port) { "rs" } else { "none" }
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

#[cfg(test)]
mod tests {
    use closc_qos::Speed;
    use smol_str::SmolStr;

    use super::*;

    fn port(gbps: u32, lanes: u16) -> PhysicalPort {
        PhysicalPort {
            name: SmolStr::new("Ethernet0"),
            alias: SmolStr::new("etp1"),
            panel: 1,
            subport: 0,
            lanes: (1..=lanes).collect(),
            speed: Speed::gbps(gbps),
            number: 1,
            device: 1,
        }
    }

    #[test]
    fn fast_lanes_are_corrected() {
        for (gbps, lanes) in [(100, 1), (100, 4), (400, 4), (800, 8), (25, 1)] {
            assert_eq!(fec(&port(gbps, lanes)), "rs", "{gbps}G over {lanes} lanes");
        }
        for (gbps, lanes) in [(10, 1), (40, 4)] {
            assert_eq!(fec(&port(gbps, lanes)), "none", "{gbps}G over {lanes} lanes");
        }
    }
}
