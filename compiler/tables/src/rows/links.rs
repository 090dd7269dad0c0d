//! Cables, plane by plane, NIC cables first.

use std::io;

use closc_plan::{CableEnd, Plan};
use closc_topology::{Link, PortRef, Side, TierId};

use super::{RowSink, Selection};
use crate::row::Row;

/// Generates one row per cable.
pub(super) fn emit_rows(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    let (fabric, mut row) = (plan.fabric(), Row::default());
    for plane in selection.planes(plan) {
        for link in fabric.host_links(plane).chain(fabric.switch_links(plane)) {
            fill_row(plan, link, &mut row);
            take(&row)?;
        }
    }
    Ok(())
}

/// Returns the kind of a cable: the tiers that it connects.
fn kind(link: Link) -> &'static str {
    match link {
        Link::Host(_) => "nic-t0",
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => "t0-t1",
        Link::Fabric { .. } => "t1-t2",
    }
}

fn fill_row(plan: &Plan, link: Link, row: &mut Row) {
    let (topology, fabric, addresses) = (plan.topology(), plan.fabric(), plan.addresses());
    let ends = plan.cable_ends(link);
    let cable = fabric.cable(link);
    // With BGP, ports between switches have only link-local addresses.
    let is_numbered = matches!(link, Link::Host(_)) || !topology.routing.speaks_bgp();
    let address = |end| is_numbered.then(|| addresses.link(link, end));
    let (zone, speed) = match link {
        Link::Host(port) => (port.nic.zone, topology.port_speed(port.nic.zone)),
        Link::Fabric { lower, up } => {
            let slot = topology.slot(lower, PortRef { side: Side::Up, index: up });
            (lower.zone, slot.breakout.speed)
        }
    };
    row.start().literal(&plan.link_name(link)).literal(kind(link)).integer(link.plane().0).integer(zone.0);
    row.literal(&ends.lower.0).literal(&ends.lower.1).maybe(address(CableEnd::Lower));
    row.literal(&ends.upper.0).literal(&ends.upper.1).maybe(address(CableEnd::Upper));
    row.integer(speed.mbps()).integer(cable.length.millimeters().cast_signed()).literal(&cable.medium);
    row.literal(match (fabric.is_isolated(link), fabric.is_drained(link)) {
        (true, _) => "isolated",
        (false, true) => "drained",
        (false, false) => "active",
    });
}
