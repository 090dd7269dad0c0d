//! Apache Parquet.
//!
//! Invariants: one row group is in memory at a time. The file does not contain a time or host name, so that
//! the same rows result in the same bytes.

use std::io;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::Writer;
use crate::row::{Row, Value};
use crate::table::{Kind, Table};

/// Rows per row group: DuckDB's default.
const GROUP: usize = 122_880;

/// Name of the program, for the metadata of the file.
const CREATED_BY: &str = concat!("closc version ", env!("CARGO_PKG_VERSION"));

/// The values of a column in a group.
enum Column {
    Text { bytes: Vec<u8>, ends: Vec<usize>, present: Vec<i16> },
    Integer { values: Vec<i64>, present: Vec<i16> },
}

/// A table as Parquet.
pub(super) struct Parquet<W: io::Write + Send> {
    out: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

impl<W: io::Write + Send> Parquet<W> {
    /// Begins a table without rows.
    pub(super) fn new(table: Table, out: W) -> io::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(CREATED_BY.to_owned())
            .build();
        let out = SerializedFileWriter::new(out, schema(table).map_err(failed)?, Arc::new(properties));
        let columns = table.columns().iter().map(|(_, kind)| Column::new(*kind)).collect();
        Ok(Parquet { out: out.map_err(failed)?, columns, rows: 0 })
    }

    /// Writes the row group.
    fn flush(&mut self) -> Result<(), ParquetError> {
        if mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        for column in &mut self.columns {
            let mut out = group.next_column()?.expect("the schema has the columns of the table");
            column.write(&mut out)?;
            out.close()?;
        }
        group.close().map(drop)
    }
}

impl<W: io::Write + Send> Writer for Parquet<W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(row.values()) {
            column.push(value);
        }
        self.rows += 1;
        if self.rows < GROUP { Ok(()) } else { self.flush().map_err(failed) }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush().map_err(failed)?;
        self.out.close().map(drop).map_err(failed)
    }
}

impl Column {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Column::Text { bytes: Vec::new(), ends: Vec::new(), present: Vec::new() },
            Kind::Integer => Column::Integer { values: Vec::new(), present: Vec::new() },
        }
    }

    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Column::Text { bytes, ends, present }, Value::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                present.push(1);
            }
            (Column::Integer { values, present }, Value::Integer(number)) => {
                values.push(number);
                present.push(1);
            }
            (Column::Text { present, .. } | Column::Integer { present, .. }, Value::Empty) => present.push(0),
            (Column::Text { .. }, Value::Integer(_)) | (Column::Integer { .. }, Value::Text(_)) => {
                unreachable!("each cell has the kind of its column")
            }
        }
    }

    /// Writes the values and clears them.
    fn write(&mut self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Column::Text { bytes, ends, present } => {
                let all = Bytes::from(mem::take(bytes));
                let start = |at: usize| if at == 0 { 0 } else { ends[at - 1] };
                let part = |range: Range<usize>| ByteArray::from(all.slice(range));
                let values: Vec<ByteArray> =
                    ends.iter().enumerate().map(|(at, end)| part(start(at)..*end)).collect();
                out.typed::<ByteArrayType>().write_batch(&values, Some(present), None)?;
                ends.clear();
                present.clear();
            }
            Column::Integer { values, present } => {
                out.typed::<Int64Type>().write_batch(values, Some(present), None)?;
                values.clear();
                present.clear();
            }
        }
        Ok(())
    }
}

/// The columns of a table. Each column can have empty cells.
fn schema(table: Table) -> Result<Arc<Type>, ParquetError> {
    let column = |(name, kind): &(&str, Kind)| {
        let built = match kind {
            Kind::Text => Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String)),
            Kind::Integer => Type::primitive_type_builder(name, Physical::INT64),
        };
        built.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = table.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder(table.name()).with_fields(fields).build().map(Arc::new)
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
