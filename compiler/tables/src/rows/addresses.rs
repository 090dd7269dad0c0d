//! Addresses of switches and NICs, and of both ends of numbered cables.

use std::io;

use closc_fabric::PortUse;
use closc_plan::{AddressPlan, CableEnd, Plan};
use closc_topology::{Link, NicPort, Side, TierId};

use super::{RowSink, Selection};
use crate::row::Row;

/// Generates one row per address.
pub(super) fn emit_rows(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    of_switches(plan, selection, take)?;
    of_nics(plan, selection, take)
}

fn of_switches(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    let (topology, addresses, mut row) = (plan.topology(), plan.addresses(), Row::default());
    for switch in plan.switches().filter(|switch| selection.has(switch.plane)) {
        let (name, plane) = (plan.switch_name(switch), switch.plane.0);
        row.start().literal(&name).empty().literal("loopback").integer(plane);
        let loopback = addresses.loopback(switch);
        take(row.text(loopback).integer(128 - loopback.family().offset()))?;
        if let Some(net) = addresses.management(switch) {
            row.start().literal(&name).empty().literal("management").integer(plane);
            take(row.text(net.addr()).integer(net.prefix_len()))?;
        }
        for port in plan.fabric().ports(switch) {
            let PortUse::Link { link, .. } = port.usage else { continue };
            let faces_nic = switch.tier == TierId::T0 && port.at.side == Side::Down;
            if topology.routing.speaks_bgp() && !faces_nic {
                continue;
            }
            let end = if port.at.side == Side::Up { CableEnd::Lower } else { CableEnd::Upper };
            row.start()
                .literal(&name)
                .literal(&plan.port_name(switch, port.at))
                .literal("link")
                .integer(plane);
            let address = addresses.link(link, end);
            take(row.text(address).integer(AddressPlan::LINK_PREFIX - address.family().offset()))?;
        }
    }
    Ok(())
}

fn of_nics(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    let (topology, addresses, mut row) = (plan.topology(), plan.addresses(), Row::default());
    for nic in plan.fabric().nics() {
        let (node, number) = topology.node_of(nic);
        let name = plan.node_name(node);
        row.start().literal(&name).text(format_args!("nic{number}")).literal("nic").empty();
        let address = addresses.nic(nic);
        take(row.text(address).integer(128 - address.family().offset()))?;
        for plane in selection.planes(plan) {
            let link = Link::Host(NicPort { plane, nic });
            if plan.fabric().has_link(link) {
                row.start()
                    .literal(&name)
                    .literal(&plan.cable_ends(link).lower.1)
                    .literal("link")
                    .integer(plane.0);
                let address = addresses.link(link, CableEnd::Lower);
                take(row.text(address).integer(AddressPlan::LINK_PREFIX - address.family().offset()))?;
            }
        }
    }
    Ok(())
}
