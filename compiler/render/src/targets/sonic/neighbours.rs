//! Neighbours: `DEVICE_NEIGHBOR`, `DEVICE_NEIGHBOR_METADATA` and `NEIGH`.
//!
//! In: a view. Out: rows. Invariants: every cable has its neighbour by name and port, so that LLDP can be compared
//! with the plan. Every neighbouring switch has its MAC address if that is known in advance. A static route waits for
//! the address, and after a reboot no traffic resolves it.

use std::net::IpAddr;

use closc_artefacts::Family;
use closc_plan::Peer;

use super::device::kind;
use super::json::Document;
use super::view::View;

/// Writes `DEVICE_NEIGHBOR`, keyed by the local port as in SONiC's own converters.
pub(super) fn ports(document: &mut Document, view: &View<'_>) {
    document.table("DEVICE_NEIGHBOR", |table| {
        for (port, link) in view.links() {
            table.row(&[port.name], |row| {
                row.text("name", link.connection.peer.device());
                row.text(
                    "port",
                    match &link.connection.peer {
                        Peer::Switch(peer) => &peer.port,
                        Peer::Nic(peer) => &peer.interface,
                    },
                );
            });
        }
    });
}

/// Writes `DEVICE_NEIGHBOR_METADATA`: one row for each neighbouring switch. Nodes have none, because a switch does not
/// use their type and addresses.
pub(super) fn devices(document: &mut Document, view: &View<'_>) {
    document.table("DEVICE_NEIGHBOR_METADATA", |table| {
        let mut last = None;
        for peer in view.links().filter_map(|(_, link)| link.switch()) {
            // Parallel cables are adjacent.
            if last.replace(peer.switch) == Some(peer.switch) {
                continue;
            }
            table.row(&[&peer.name], |row| {
                row.text("hwsku", &peer.hardware);
                match peer.loopback.family() {
                    Family::V4 => row.show("lo_addr", peer.loopback),
                    Family::V6 => row.show("lo_addr_v6", peer.loopback),
                }
                match peer.management {
                    Some(IpAddr::V4(address)) => row.show("mgmt_addr", address),
                    Some(IpAddr::V6(address)) => row.show("mgmt_addr_v6", address),
                    None => {}
                }
                row.text("type", kind(peer.switch.tier));
            });
        }
    });
}

/// Writes `NEIGH`: permanent neighbours. NICs are omitted, because their MAC addresses are resolved.
pub(super) fn addresses(document: &mut Document, view: &View<'_>) {
    document.table("NEIGH", |table| {
        for (port, link) in view.links() {
            let Some(peer) = link.switch() else { continue };
            if link.connection.unnumbered {
                continue; // Discovered with router advertisements.
            }
            let Some(mac) = peer.mac else { continue };
            table.row(&[port.name, "|", &link.peer], |row| {
                row.text("family", link.connection.address.family().name());
                row.show("neigh", mac);
            });
        }
    });
}
