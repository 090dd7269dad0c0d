//! Reads comma-separated lists. Every row and error has its line number.
//!
//! In: text and the names of its columns. Out: rows with one field per column, or the error of a line.
//! Invariants: a header line, empty lines and lines that start with `#` are skipped.

/// Error of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct LineError {
    /// The line, from 1.
    pub line: u64,
    /// The error, and the way to fix it.
    pub reason: String,
}

/// Maximum number of elements in a list. The limit is necessary because a short range can name 100,000.
pub(crate) const NAMED_MAX: usize = 200_000;

/// Maximum number of errors reported for a list.
pub(crate) const FAULTS_MAX: usize = 100;

impl LineError {
    /// Returns the error for a list that names too many elements.
    pub(crate) fn too_much(line: u64) -> Self {
        LineError {
            line,
            reason: format!("with the lines above, the list names more than {NAMED_MAX} elements"),
        }
    }
}

/// A line.
pub(crate) struct Row<const N: usize> {
    pub(crate) line: u64,
    pub(crate) fields: [String; N],
}

/// Reads all rows.
pub(crate) fn rows<const N: usize>(text: &str, header: &[&str; N]) -> Vec<Result<Row<N>, LineError>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    if let Some(line) = closc_artefacts::open_quote(text.as_bytes(), b',') {
        rows.push(Err(LineError { line, reason: closc_artefacts::OPEN_QUOTE.to_owned() }));
        return rows;
    }
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                rows.push(Err(LineError { line, reason: format!("does not parse: {error}") }));
                continue;
            }
        };
        let at = record.position().map_or((0, 0), |start| (start.byte(), start.line()));
        let line = closc_artefacts::record_line(text.as_bytes(), at, Some(b'#'));
        if rows.is_empty() && record.iter().eq(header.iter().copied()) {
            continue;
        }
        let fields: Vec<String> = record.iter().map(str::to_owned).collect();
        rows.push(fields.try_into().map(|fields| Row { line, fields }).map_err(|fields: Vec<String>| {
            let why = format!("has {} fields; expected {N}: {}", fields.len(), header.join(","));
            LineError { line, reason: why }
        }));
    }
    rows
}
