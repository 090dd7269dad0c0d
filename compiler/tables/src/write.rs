//! File formats of tables: CSV, JSON Lines, Parquet.

mod delimited;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;

use std::io;

use closc_plan::Plan;

use crate::row::Row;
use crate::rows::{self, Selection};
use crate::table::Table;

/// File format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180, but with LF line ends. The first line contains the column names; an absent value is empty.
    Csv,
    /// One object per line; an absent value is `null`.
    Jsonl,
    /// Apache Parquet, compressed with Snappy.
    Parquet,
}

impl Format {
    /// Returns the file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
        }
    }

    /// Returns whether this build supports the format. Parquet needs the Cargo feature `parquet`.
    pub fn is_built_in(self) -> bool {
        self != Format::Parquet || cfg!(feature = "parquet")
    }
}

/// A writer for a table.
trait Writer {
    /// Adds a row.
    fn row(&mut self, row: &Row) -> io::Result<()>;
    /// Ends the table.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Writes a table; returns the number of its rows.
pub fn write<W: io::Write + Send>(
    plan: &Plan,
    table: Table,
    selection: &Selection,
    format: Format,
    out: W,
) -> io::Result<u64> {
    let mut writer = writer(table, format, out)?;
    let mut count = 0;
    rows::emit_rows(plan, table, selection, &mut |row| {
        debug_assert_eq!(row.values().count(), table.columns().len(), "{}", table.name());
        count += 1;
        writer.row(row)
    })?;
    writer.finish()?;
    Ok(count)
}

fn writer<'a, W: io::Write + Send + 'a>(
    table: Table,
    format: Format,
    out: W,
) -> io::Result<Box<dyn Writer + 'a>> {
    Ok(match format {
        Format::Csv => Box::new(delimited::DelimitedWriter::new(table, out)?),
        Format::Jsonl => Box::new(lines::Lines::new(table, out)),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::Parquet::new(table, out)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "Parquet is not built in"));
        }
    })
}
