//! The path table of a T0 group in its two forms: JSON for people and tools, and the compact binary that the
//! crate `closc-paths` reads.
//!
//! In: a [`PathTable`]. Out: two [`Artefact`]s. Always: both forms say the same; a test walks every path of small
//! fabrics through both.

mod binary;
mod json;

use closc_plan::PathTable;

use crate::Artefact;

pub use json::FORMAT;

/// Renders both forms of a path table.
pub fn render(table: &PathTable<'_>) -> [Artefact; 2] {
    let stem = stem(table);
    [
        Artefact::new(format!("path-tables/{stem}.json"), json::bytes(table)),
        Artefact::new(format!("path-tables/{stem}.bin"), binary::bytes(table)),
    ]
}

/// Returns the file name of a group's table, without ending: zone from 0, group from 1.
pub fn stem(table: &PathTable<'_>) -> String {
    match table.plan.topology().t2 {
        None => format!("group-{:04}", table.group + 1),
        Some(_) => format!("z{}-group-{:04}", table.zone, table.group + 1),
    }
}
