//! Paths of the selected pairs; the table is empty if hosts do not choose paths.

use std::io;

use closc_plan::Plan;

use super::{RowSink, Selection};
use crate::row::Row;

/// Generates one row per path of each pair.
pub(super) fn emit_rows(plan: &Plan, selection: &Selection, take: &mut RowSink<'_>) -> io::Result<()> {
    if !plan.is_source_routed() {
        return Ok(());
    }
    let mut row = Row::default();
    for (from, to) in &selection.pairs {
        let table = plan.path_table(from.zone, from.group);
        let name = |nic| {
            let (node, number) = plan.topology().node_of(nic);
            plan.topology().naming.nic(node, number)
        };
        let (sender, receiver) = (name(*from), name(*to));
        for path in plan.paths(*from, *to).filter(|path| selection.has(path.plane)) {
            row.start().literal(&sender).literal(&receiver).integer(path.plane.0).integer(path.entropy);
            row.text(path.destination).list(path.hops.iter().map(|hop| plan.switch_name(hop.switch)));
            let cables = std::iter::once(path.first).chain(path.hops.iter().map(|hop| hop.link));
            row.list(cables.map(|link| plan.link_name(link)));
            take(row.maybe(table.denies(path.plane, *from, *to, path.choice).map(|denied| &denied.name)))?;
        }
    }
    Ok(())
}
