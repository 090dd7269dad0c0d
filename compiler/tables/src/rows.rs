//! The rows of each table, in one module per table.
//!
//! In: a plan and the selected parts of it. Out: rows, one at a time. Invariants: a row has the cells of its table's
//! columns.

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
    /// Rows of these planes, and those that belong to no plane; all rows if the list is empty.
    pub planes: Vec<PlaneId>,
    /// Pairs of NICs whose paths are wanted.
    pub pairs: Vec<(Nic, Nic)>,
}

impl Selection {
    /// Returns whether a plane is wanted.
    fn has(&self, plane: PlaneId) -> bool {
        self.planes.is_empty() || self.planes.contains(&plane)
    }

    /// Returns the planes that are wanted, in order.
    fn planes<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = PlaneId> + 'a {
        plan.planes().filter(|plane| self.has(*plane))
    }
}

/// Receives rows; an error ends the table.
pub(crate) type Take<'a> = dyn FnMut(&Row) -> io::Result<()> + 'a;

/// Makes the rows of a table.
pub(crate) fn each(plan: &Plan, table: Table, selection: &Selection, take: &mut Take<'_>) -> io::Result<()> {
    match table {
        Table::Devices => devices::each(plan, selection, take),
        Table::Links => links::each(plan, selection, take),
        Table::Ports => ports::each(plan, selection, take),
        Table::Addresses => addresses::each(plan, selection, take),
        Table::Sids => sids::each(plan, selection, take),
        Table::Routes => routes::each(plan, selection, take),
        Table::Paths => paths::each(plan, selection, take),
    }
}
