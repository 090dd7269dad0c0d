//! The path table of a T0 group in its two forms: JSON for users and tools, and the compact binary that the crate
//! `closc-paths` reads.
//!
//! In: a [`PathTable`]. Out: two [`Artefact`]s. Invariants: both forms have the same contents. A test follows every
//! path of small fabrics in both.

mod binary;
mod json;

pub(crate) use json::qos_of;

use closc_artefacts::paths;
use closc_plan::PathTable;

use crate::Artefact;

/// Renders the compact form of a path table, which hosts read.
pub fn binary(table: &PathTable<'_>) -> Vec<u8> {
    binary::bytes(table)
}

/// Renders both forms of a path table.
pub fn render(table: &PathTable<'_>) -> [Artefact; 2] {
    let zone = table.size.has_t2.then_some(table.zone.0);
    let [text, binary] = paths::path_table(zone, table.group + 1);
    [Artefact::new(text, json::bytes(table)), Artefact::new(binary, binary::bytes(table))]
}
