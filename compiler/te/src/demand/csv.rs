//! Demands from CSV (RFC 4180).
//!
//! In: bytes. Out: rows and faults with their lines. Invariants: empty lines and lines that begin with `#` are skipped.

use super::{Columns, FaultKind, Rows};

/// Reads a table.
pub(super) fn read(bytes: &[u8], rows: &mut Rows<'_>) {
    let separator = closc_artefacts::separator(bytes);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(bytes);
    let columns = match reader.headers() {
        Ok(header) if header.is_empty() => return,
        Ok(header) => Columns::find(header.iter()),
        Err(error) => Err(vec![form(&error)]),
    };
    let columns = match columns {
        Ok(columns) => columns,
        Err(faults) => {
            for what in faults {
                rows.fault(1, what);
            }
            return;
        }
    };
    if let Some(line) = closc_artefacts::open_quote(bytes, separator) {
        return rows.fault(line, FaultKind::Form(closc_artefacts::OPEN_QUOTE.to_owned()));
    }
    let width = reader.headers().map_or(0, csv::StringRecord::len);
    let mut record = csv::StringRecord::new();
    while !rows.is_full() {
        match reader.read_record(&mut record) {
            Ok(false) => return,
            Ok(true) => {
                let line = line(bytes, record.position());
                if record.len() == width {
                    let cell = record.get(columns.rate).unwrap_or_default();
                    // Spreadsheets that separate cells by `;` or tabs write 1.5 as `1,5`.
                    let number = if separator == b',' { cell.to_owned() } else { cell.replace(',', ".") };
                    let rate = number.parse::<f64>().ok().map(|rate| rate * columns.unit);
                    let name = |at: usize| record.get(at).unwrap_or_default();
                    rows.row(line, name(columns.source), name(columns.destination), rate, cell);
                } else {
                    let what = format!("the row has {} cells, but the header has {width}", record.len());
                    rows.fault(line, FaultKind::Form(what));
                }
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                rows.fault(line, form(&error));
                return;
            }
        }
    }
}

fn line(bytes: &[u8], start: Option<&csv::Position>) -> u64 {
    start.map_or(0, |start| closc_artefacts::record_line(bytes, (start.byte(), start.line()), Some(b'#')))
}

fn form(error: &csv::Error) -> FaultKind {
    FaultKind::Form(match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
        _ => error.to_string(),
    })
}
