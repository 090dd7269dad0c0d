//! Routes in the configurations of switches. BGP routes are not included.

use std::io;

use closc_plan::{Plan, Target};

use super::{RowSink, Selection};
use crate::row::Row;

/// Generates one row per route, one device at a time.
pub(super) fn emit_rows(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    let mut row = Row::default();
    for switch in plan.switches().filter(|switch| selection.has(switch.plane)) {
        let device = plan.device(switch);
        for route in &device.routes {
            row.start().literal(&device.name).integer(switch.plane.0).text(route.prefix);
            match &route.target {
                Target::Blackhole => row.literal("blackhole").integer(0).empty().empty(),
                Target::Ports(hops) => {
                    row.literal("ports").integer(u32::try_from(hops.len()).unwrap_or(u32::MAX));
                    row.list(hops.iter().map(|hop| &device.ports[hop.port].physical.name));
                    row.list(hops.iter().map(|hop| hop.weight))
                }
            };
            take(&row)?;
        }
    }
    Ok(())
}
