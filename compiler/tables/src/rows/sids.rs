//! uSIDs of switches and NICs; the table is empty if packets are not routed by uSIDs.

use std::io;

use closc_plan::Plan;
use closc_topology::{Link, NicPort};

use super::{RowSink, Selection};
use crate::row::Row;

/// Generates one row per uSID and plane.
pub(super) fn emit_rows(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    if !plan.is_source_routed() {
        return Ok(());
    }
    let (segments, mut row) = (plan.segments(), Row::default());
    for switch in plan.switches().filter(|switch| selection.has(switch.plane)) {
        let name = plan.switch_name(switch);
        for usid in segments.switch_usids(switch) {
            row.start().literal(&name).literal(switch.tier.keyword()).integer(switch.plane.0).text(usid);
            take(row.text(segments.prefix(switch.plane, usid)))?;
        }
    }
    for nic in plan.fabric().nics() {
        let (node, number) = plan.topology().node_of(nic);
        let name = plan.topology().naming.nic(node, number);
        for plane in selection.planes(plan) {
            if plan.fabric().has_link(Link::Host(NicPort { plane, nic })) {
                let usid = segments.nic(plane, nic);
                row.start().literal(&name).literal("nic").integer(plane.0).text(usid);
                take(row.text(segments.prefix(plane, usid)))?;
            }
        }
    }
    Ok(())
}
