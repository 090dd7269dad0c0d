//! Ports of switches, used or not, and of NICs.

use std::io;

use closc_fabric::{Port, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, NicPort, Side, Switch};

use super::{RowSink, Selection};
use crate::row::Row;

/// Generates one row per port.
pub(super) fn emit_rows(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    let (fabric, mut row) = (plan.fabric(), Row::default());
    for switch in plan.switches().filter(|switch| selection.has(switch.plane)) {
        let name = plan.switch_name(switch);
        for port in fabric.ports(switch) {
            of_switch(plan, switch, &name, &port, &mut row);
            take(&row)?;
        }
    }
    for nic in fabric.nics() {
        let speed = plan.topology().port_speed(nic.zone);
        for plane in selection.planes(plan) {
            let link = Link::Host(NicPort { plane, nic });
            if !fabric.has_link(link) {
                continue;
            }
            let ends = plan.cable_ends(link);
            row.start()
                .literal(&ends.lower.0)
                .literal(&ends.lower.1)
                .integer(plane.0)
                .literal("up")
                .integer(plane.0);
            row.empty().empty().integer(speed.mbps()).integer(plan.topology().mtu.link).literal("linked");
            take(row.literal(&ends.upper.0).literal(&ends.upper.1))?;
        }
    }
    Ok(())
}

fn of_switch(plan: &Plan, switch: Switch, name: &str, port: &Port, row: &mut Row) {
    let topology = plan.topology();
    let physical = topology.hardware(switch).0.port(topology.slot(switch, port.at));
    let side = match port.at.side {
        Side::Down => "down",
        Side::Up => "up",
    };
    row.start()
        .literal(name)
        .literal(&physical.name)
        .integer(switch.plane.0)
        .literal(side)
        .integer(port.at.index);
    row.integer(physical.panel).integer(physical.subport).integer(physical.speed.mbps());
    row.integer(topology.mtu.link);
    match port.usage {
        PortUse::Link { link, .. } => {
            let ends = plan.cable_ends(link);
            let far = match port.at.side {
                Side::Down => ends.lower,
                Side::Up => ends.upper,
            };
            row.literal("linked").literal(&far.0).literal(&far.1)
        }
        PortUse::Absent { .. } => row.literal("absent").empty().empty(),
        PortUse::Spare => row.literal("spare").empty().empty(),
    };
}
