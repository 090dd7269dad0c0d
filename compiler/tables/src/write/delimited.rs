//! CSV.

use std::io;

use super::Writer;
use crate::row::{Row, Value};
use crate::table::Table;

/// A table as CSV.
pub(super) struct DelimitedWriter<W: io::Write> {
    out: csv::Writer<W>,
}

impl<W: io::Write> DelimitedWriter<W> {
    /// Begins a table with a line of column names.
    pub(super) fn new(table: Table, out: W) -> io::Result<Self> {
        let mut out = csv::Writer::from_writer(out);
        out.write_record(table.columns().iter().map(|(name, _)| name))?;
        Ok(DelimitedWriter { out })
    }
}

impl<W: io::Write> Writer for DelimitedWriter<W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        for value in row.values() {
            match value {
                Value::Text(text) => self.out.write_field(text)?,
                Value::Integer(number) => self.out.write_field(number.to_string())?,
                Value::Empty => self.out.write_field("")?,
            }
        }
        Ok(self.out.write_record(None::<&[u8]>)?)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}
