//! Designs as CSV: one line per design, in the order of the listing.

use anyhow::Context as _;

use super::{Designs, columns};

/// Returns the text.
pub(super) fn csv(found: &Designs) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = columns::ALL.iter().map(|column| column.name);
    writer.write_record(std::iter::once("design").chain(names))?;
    for (at, row) in found.designs.iter().enumerate() {
        let cells = columns::ALL.iter().map(|column| (column.cell)(row));
        writer.write_record(std::iter::once((at + 1).to_string()).chain(cells))?;
    }
    let bytes = writer.into_inner().context("the table is not complete")?;
    String::from_utf8(bytes).context("the table is not text")
}
