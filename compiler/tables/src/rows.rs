//! The rows of each table, in one module per table.
//!
//! In: a plan and the selected parts of it. Out: rows, one at a time. Invariants: each row has one cell per
//! column of its table.

mod addresses;
mod devices;
mod links;
mod paths;
mod ports;
mod routes;
mod sids;

use std::io;

use closc_plan::Plan;
use closc_topology::{Nic, PlaneId};

use crate::row::Row;
use crate::table::Table;

/// Selected parts of a fabric.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Selects rows of these planes, and rows that do not belong to a plane. All rows are selected if the
    /// list is empty.
    pub planes: Vec<PlaneId>,
    /// Pairs of NICs whose paths are selected.
    pub pairs: Vec<(Nic, Nic)>,
}

impl Selection {
    /// Returns whether a plane is selected.
    fn has(&self, plane: PlaneId) -> bool {
        self.planes.is_empty() || self.planes.contains(&plane)
    }

    /// Returns the selected planes, in order.
    fn planes<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = PlaneId> + 'a {
        plan.planes().filter(|plane| self.has(*plane))
    }
}

/// Receives rows; an error ends the table.
pub(crate) type RowSink<'a> = dyn FnMut(&Row) -> io::Result<()> + 'a;

/// Generates the rows of a table.
pub(crate) fn emit_rows(
    plan: &Plan,
    table: Table,
    selection: &Selection,
    take: &mut RowSink<'_>,
) -> io::Result<()> {
    match table {
        Table::Devices => devices::emit_rows(plan, selection, take),
        Table::Links => links::emit_rows(plan, selection, take),
        Table::Ports => ports::emit_rows(plan, selection, take),
        Table::Addresses => addresses::emit_rows(plan, selection, take),
        Table::Sids => sids::emit_rows(plan, selection, take),
        Table::Routes => routes::emit_rows(plan, selection, take),
        Table::Paths => paths::emit_rows(plan, selection, take),
    }
}
