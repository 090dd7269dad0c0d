//! Ports of switches, used or not, and of NICs.

use std::io;

use closc_fabric::{Port, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, NicPort, Side, Switch};

use super::{RowSink, Selection};
use crate::row::Row;

/// Makes one row per port.
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
            row.start().word(&ends.lower.0).word(&ends.lower.1).integer(plane.0).word("up").integer(plane.0);
            row.empty().empty().integer(speed.mbps()).integer(plan.topology().mtu.link).word("linked");
            take(row.word(&ends.upper.0).word(&ends.upper.1))?;
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
    row.start().word(name).word(&physical.name).integer(switch.plane.0).word(side).integer(port.at.index);
    row.integer(physical.panel).integer(physical.subport).integer(physical.speed.mbps());
    row.integer(topology.mtu.link);
    match port.used {
        PortUse::Link { link, .. } => {
            let ends = plan.cable_ends(link);
            let far = match port.at.side {
                Side::Down => ends.lower,
                Side::Up => ends.upper,
            };
            row.word("linked").word(&far.0).word(&far.1)
        }
        PortUse::Absent { .. } => row.word("absent").empty().empty(),
        PortUse::Spare => row.word("spare").empty().empty(),
    };
}
