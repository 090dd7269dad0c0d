//! Demands from Parquet.
//!
//! In: bytes of a file. Out: rows and faults with their row numbers. Invariants: columns are found by name; a rate
//! may be of any number type; compression is Snappy or none, the usual defaults of writers.

use parquet::data_type::AsBytes as _;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

use super::{Columns, FaultKind, Rows};

/// Reads a table.
pub(super) fn read(bytes: Vec<u8>, rows: &mut Rows<'_>) {
    let reader = match SerializedFileReader::new(bytes::Bytes::from(bytes)) {
        Ok(reader) => reader,
        Err(error) => return rows.fault(1, FaultKind::Form(format!("the file is not Parquet: {error}"))),
    };
    let names: Vec<String> = {
        let schema = reader.metadata().file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name().to_owned()).collect()
    };
    let columns = match Columns::find(names.iter().map(String::as_str)) {
        Ok(columns) => columns,
        Err(faults) => {
            for what in faults {
                rows.fault(1, what);
            }
            return;
        }
    };
    let table = match reader.get_row_iter(None) {
        Ok(table) => table,
        Err(error) => return rows.fault(1, FaultKind::Form(error.to_string())),
    };
    for (at, row) in table.enumerate() {
        let line = at as u64 + 1;
        match row {
            Ok(row) => {
                let cells: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
                let (cell, rate) = (cells[columns.rate].to_string(), number(cells[columns.rate]));
                let rate = rate.map(|rate| rate * columns.unit);
                let (from, to) = (text(cells[columns.source]), text(cells[columns.destination]));
                rows.row(line, &from, &to, rate, &cell);
            }
            Err(error) => return rows.fault(line, FaultKind::Form(error.to_string())),
        }
        if rows.is_full() {
            return;
        }
    }
}

fn text(field: &Field) -> String {
    match field {
        Field::Str(text) => text.clone(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        other => other.to_string(),
    }
}

fn number(field: &Field) -> Option<f64> {
    match field {
        Field::Byte(value) => Some(f64::from(*value)),
        Field::Short(value) => Some(f64::from(*value)),
        Field::Int(value) => Some(f64::from(*value)),
        Field::Long(value) => Some(*value as f64),
        Field::UByte(value) => Some(f64::from(*value)),
        Field::UShort(value) => Some(f64::from(*value)),
        Field::UInt(value) => Some(f64::from(*value)),
        Field::ULong(value) => Some(*value as f64),
        Field::Float(value) => Some(f64::from(*value)),
        Field::Double(value) => Some(*value),
        _ => None,
    }
}
