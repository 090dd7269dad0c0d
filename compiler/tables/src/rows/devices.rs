//! Switches and nodes.

use std::io;

use closc_plan::Plan;
use closc_topology::RackPlace;

use super::{RowSink, Selection};
use crate::row::Row;

/// Generates one row per device.
pub(super) fn emit_rows(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    let (topology, addresses) = (plan.topology(), plan.addresses());
    let exceptions = &topology.exceptions;
    let mut row = Row::default();
    for switch in plan.switches().filter(|switch| selection.has(switch.plane)) {
        let (platform, os) = topology.hardware(switch);
        let is_drained = exceptions.drained_switches.contains(&switch)
            || exceptions.drained_planes.contains(&switch.plane);
        row.start().literal(&plan.switch_name(switch)).literal(switch.tier.keyword());
        row.integer(switch.plane.0).integer(switch.zone.0).integer(switch.index);
        row.literal(&platform.id).literal(os.keyword());
        if topology.routing.speaks_bgp() {
            row.integer(addresses.asn(switch));
        } else {
            row.empty();
        }
        row.text(addresses.switch_mac(switch)).text(addresses.loopback(switch));
        row.maybe(addresses.management(switch).map(|net| net.addr()));
        row.literal(if is_drained { "drained" } else { "active" });
        take(place(&mut row, topology.switch_place(switch)))?;
    }
    for node in plan.nodes() {
        row.start().literal(&plan.node_name(node)).literal("node").empty();
        row.integer(node.zone.0)
            .integer(u32::from(node.unit) * u32::from(topology.nodes_per_unit()) + u32::from(node.index));
        row.empty().empty().empty().empty().empty().empty().literal("active");
        take(place(&mut row, topology.node_place(node)))?;
    }
    Ok(())
}

/// Adds the rack position of a device.
fn place(row: &mut Row, place: Option<RackPlace>) -> &mut Row {
    match place {
        Some(place) => {
            row.literal(&place.rack).integer(place.unit).integer(place.units).literal(place.face.keyword())
        }
        None => row.empty().empty().empty().empty(),
    }
}
