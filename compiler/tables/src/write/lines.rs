//! JSON Lines: one object per line.

use std::io::{self, BufWriter, Write as _};

use super::Writer;
use crate::row::{Row, Value};
use crate::table::Table;

/// A table as JSON Lines.
pub(super) struct Lines<W: io::Write> {
    table: Table,
    out: BufWriter<W>,
}

impl<W: io::Write> Lines<W> {
    /// Begins a table without rows.
    pub(super) fn new(table: Table, out: W) -> Self {
        Lines { table, out: BufWriter::new(out) }
    }
}

impl<W: io::Write> Writer for Lines<W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        let mut before = '{';
        for ((name, _), value) in self.table.columns().iter().zip(row.values()) {
            write!(self.out, "{before}\"{name}\":")?;
            match value {
                Value::Text(text) => serde_json::to_writer(&mut self.out, text)?,
                Value::Integer(number) => write!(self.out, "{number}")?,
                Value::Empty => self.out.write_all(b"null")?,
            }
            before = ',';
        }
        self.out.write_all(b"}\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}
