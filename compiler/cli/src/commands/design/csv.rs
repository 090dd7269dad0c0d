//! Designs as CSV: one line per design, in the order of the list. The last column contains weaknesses, release and
//! known faults.

use anyhow::Context as _;

use super::{Designs, columns, page};

/// Returns the designs as CSV.
pub(super) fn csv(found: &Designs) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = columns::ALL.iter().map(|column| column.name);
    writer.write_record(std::iter::once("design").chain(names).chain(["notes"]))?;
    for (at, row) in found.designs.iter().enumerate() {
        let cells = columns::ALL.iter().map(|column| (column.cell)(row));
        let notes = page::notes(row).join("; ");
        writer.write_record(std::iter::once((at + 1).to_string()).chain(cells).chain([notes]))?;
    }
    let bytes = writer.into_inner().context("the table is not complete")?;
    String::from_utf8(bytes).context("the table is not text")
}
