//! The plan as tables, for DuckDB, pandas and other programs that query millions of rows.
//!
//! In: a plan, a table, a selection, and a format. Out: rows, written as they are computed. Invariants:
//! memory does not grow with the fabric. The order of rows depends only on the plan, so the same plan results
//! in the same bytes. No table has a row for each pair of hosts.

mod row;
mod rows;
mod table;
mod write;

pub use rows::Selection;
pub use table::Table;
pub use write::{Format, write};
