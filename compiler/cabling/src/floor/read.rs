//! Floor plans as CSV.
//!
//! In: text with the columns `rack`, `row`, `x`, `y`, `units` and optionally `watts`, in any order. Out: a [`Floor`].
//! A plan that `closc place` wrote also states its trays, which options replace.
//! Invariants: an unknown column is rejected, so that a misspelled limit is not ignored.

use std::collections::BTreeSet;

use closc_artefacts::{OPEN_QUOTE, open_quote, record_line};

use super::{Floor, FloorRack, Trays};

/// Maximum coordinate, in metres.
const FAR: f64 = 10_000.0;

/// Required columns.
const REQUIRED: [&str; 5] = ["rack", "row", "x", "y", "units"];

/// Optional columns. `closc place` writes `device_rack` and all columns after it. Of these, `device_rack`, `drop` and
/// `crossings` are read.
const OPTIONAL: [&str; 9] = [
    "watts",
    "device_rack",
    "kind",
    "devices",
    "used_units",
    "used_watts",
    "without_published_power",
    "drop",
    "crossings",
];

/// Cable length from a device to the tray if neither an option nor the file states it, in millimetres.
const DROP: u64 = 2_500;

/// Trays that the user states; the file or a default states the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrayOptions {
    /// Positions of trays that cross all rows, in millimetres along the rows.
    pub crossings: Option<Vec<i64>>,
    /// Cable length from a device to the tray, in millimetres, including slack.
    pub drop: Option<u64>,
}

/// Why a file is not a floor plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FloorError {
    /// A column is missing.
    #[error(
        "line 1: no column `{0}`; expected `rack`, `row`, `x`, `y`, `units` and, for limits of power, `watts`"
    )]
    Missing(&'static str),
    /// A column is unknown.
    #[error("line 1: unknown column `{0}`; expected `rack`, `row`, `x`, `y`, `units`, `watts`")]
    Unknown(String),
    /// A column occurs twice.
    #[error("line 1: column `{0}` appears twice")]
    Twice(String),
    /// A cell is invalid.
    #[error("line {line}: `{text}` is not {expected} (column `{column}`)")]
    Cell {
        /// Line.
        line: u64,
        /// Column.
        column: &'static str,
        /// The cell.
        text: String,
        /// Expected contents.
        expected: &'static str,
    },
    /// Two racks have the same name.
    #[error("line {line}: rack `{name}` is already listed")]
    Known {
        /// Line.
        line: u64,
        /// Name.
        name: String,
    },
    /// Two racks have the same position.
    #[error("line {line}: `{name}` has the coordinates of another rack")]
    SamePlace {
        /// Line.
        line: u64,
        /// Name.
        name: String,
    },
    /// There are no racks.
    #[error("the floor plan has no racks")]
    Empty,
    /// It is not CSV.
    #[error("line {line}: {cause}")]
    Form {
        /// Line.
        line: u64,
        /// Cause.
        cause: String,
    },
}

impl Floor {
    /// Reads a floor plan. Cells may be separated by `;` or tabs, as some spreadsheets do. Decimals may then have a
    /// comma.
    ///
    /// # Errors
    ///
    /// [`FloorError`] with the line.
    pub fn read(text: &str, stated: TrayOptions) -> Result<Floor, FloorError> {
        let text = text.trim_start_matches('\u{feff}');
        let head = text.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
        let delimiter = [b';', b'\t'].into_iter().find(|byte| head.as_bytes().contains(byte)).unwrap_or(b',');
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let columns = columns(&mut reader)?;
        if let Some(line) = open_quote(text.as_bytes(), delimiter) {
            return Err(FloorError::Form { line, cause: OPEN_QUOTE.to_owned() });
        }
        let (mut racks, mut names, mut places) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut in_file: Option<TrayOptions> = None;
        for row in reader.records() {
            let row = row.map_err(|error| form(&error))?;
            let at = row.position().map_or((0, 0), |start| (start.byte(), start.line()));
            let line = record_line(text.as_bytes(), at, Some(b'#'));
            let row = Row { cells: &row, columns: &columns, line };
            row.trays(&mut in_file)?;
            let rack = rack(&row)?;
            if !names.insert(rack.name.clone()) {
                return Err(FloorError::Known { line, name: rack.name });
            }
            if !places.insert((rack.x, rack.y)) {
                return Err(FloorError::SamePlace { line, name: rack.name });
            }
            racks.push(rack);
        }
        let in_file = in_file.unwrap_or_default();
        let trays = Trays {
            crossings: stated.crossings.or(in_file.crossings).unwrap_or_default(),
            drop: stated.drop.or(in_file.drop).unwrap_or(DROP),
        };
        if racks.is_empty() { Err(FloorError::Empty) } else { Ok(Floor { racks, trays }) }
    }
}

fn form(error: &csv::Error) -> FloorError {
    let line = error.position().map_or(0, csv::Position::line);
    FloorError::Form { line, cause: error.to_string() }
}

/// Returns the names of the columns.
fn columns(reader: &mut csv::Reader<&[u8]>) -> Result<Vec<String>, FloorError> {
    let head = reader.headers().map_err(|error| form(&error))?;
    let columns: Vec<String> = head.iter().map(str::to_lowercase).collect();
    for (at, column) in columns.iter().enumerate() {
        if !REQUIRED.contains(&column.as_str()) && !OPTIONAL.contains(&column.as_str()) {
            return Err(FloorError::Unknown(column.clone()));
        }
        if columns[..at].contains(column) {
            return Err(FloorError::Twice(column.clone()));
        }
    }
    let missing = REQUIRED.into_iter().find(|name| !columns.iter().any(|column| column == name));
    missing.map_or(Ok(columns), |name| Err(FloorError::Missing(name)))
}

/// A line with its columns.
struct Row<'a> {
    cells: &'a csv::StringRecord,
    columns: &'a [String],
    line: u64,
}

impl Row<'_> {
    fn cell(&self, column: &str) -> &str {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).unwrap_or_default()
    }

    fn wrong(&self, column: &'static str, expected: &'static str) -> FloorError {
        FloorError::Cell { line: self.line, column, text: self.cell(column).to_owned(), expected }
    }

    fn name(&self, column: &'static str) -> Result<String, FloorError> {
        let text = self.cell(column);
        if text.is_empty() { Err(self.wrong(column, "a name")) } else { Ok(text.to_owned()) }
    }

    /// Returns a coordinate in millimetres.
    fn millimeters(&self, column: &'static str) -> Result<i64, FloorError> {
        let expected = "a number of metres, such as 4.8, below 10000";
        millimeters(self.cell(column)).ok_or_else(|| self.wrong(column, expected))
    }

    /// Reads the trays of this line, which must be those of the lines before.
    fn trays(&self, known: &mut Option<TrayOptions>) -> Result<(), FloorError> {
        let drop = match self.cell("drop") {
            "" => None,
            _ => Some(
                u64::try_from(self.millimeters("drop")?)
                    .map_err(|_| self.wrong("drop", "a number of metres, such as 2.5"))?,
            ),
        };
        let crossings: Option<Vec<i64>> =
            self.cell("crossings").split_whitespace().map(millimeters).collect();
        let crossings = crossings
            .ok_or_else(|| self.wrong("crossings", "a list of positions in metres, such as `0 14.4`"))?;
        let here = TrayOptions { crossings: Some(crossings).filter(|list| !list.is_empty()), drop };
        let first = known.get_or_insert_with(|| here.clone());
        let equal = "the value of the first rack, as all racks have the same trays";
        if first.drop != here.drop {
            return Err(self.wrong("drop", equal));
        }
        if first.crossings == here.crossings { Ok(()) } else { Err(self.wrong("crossings", equal)) }
    }
}

/// Returns a number of metres in millimetres.
fn millimeters(text: &str) -> Option<i64> {
    let meters: f64 = text.replace(',', ".").parse().ok()?;
    (meters.abs() < FAR).then(|| (meters * 1000.0).round() as i64)
}

fn rack(row: &Row<'_>) -> Result<FloorRack, FloorError> {
    let units = row.cell("units").parse::<u16>().ok().filter(|units| *units > 0);
    let watts = match row.cell("watts") {
        "" => None,
        text => Some(text.parse().map_err(|_| row.wrong("watts", "a whole number of watts"))?),
    };
    Ok(FloorRack {
        name: row.name("rack")?,
        row: row.name("row")?,
        x: row.millimeters("x")?,
        y: row.millimeters("y")?,
        units: units.ok_or_else(|| row.wrong("units", "a whole number of rack units, from 1 to 65535"))?,
        watts,
        device_rack: Some(row.cell("device_rack").to_owned()).filter(|name| !name.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Floor, FloorError> {
        Floor::read(text, TrayOptions::default())
    }

    #[test]
    fn plans_of_spreadsheets_are_read() {
        let plain = read("rack,row,x,y,units,watts\nA1,A,0,0,48,40000\nA2,A,0.6,0,48,\n").unwrap();
        let sheet = "\u{feff}Units;Row;Rack;X;Y;Watts\r\n48;A;A1;0;0;40000\r\n48;A;A2;0,6;0;\r\n";
        assert_eq!(read(sheet).unwrap(), plain);
        assert_eq!((plain.racks[1].x, plain.racks[1].watts), (600, None));
    }

    #[test]
    fn options_replace_the_trays_of_the_file() {
        let text = "rack,row,x,y,units,drop,crossings\nA1,A,0,0,48,3.2,-3 13.8\nA2,A,0.6,0,48,3.2,-3 13.8\n";
        assert_eq!(read(text).unwrap().trays, Trays { crossings: vec![-3_000, 13_800], drop: 3_200 });
        let stated = TrayOptions { crossings: Some(vec![0]), drop: None };
        assert_eq!(Floor::read(text, stated).unwrap().trays, Trays { crossings: vec![0], drop: 3_200 });
    }

    #[test]
    fn faults_have_a_line() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        for (text, wanted) in [
            ("", "no column `rack`"),
            ("rack,row,x,y\n", "no column `units`"),
            ("rack,row,x,y,units,wats\n", "unknown column `wats`"),
            ("rack,row,x,y,units,x\n", "column `x` appears twice"),
            ("rack,row,x,y,units\n", "the floor plan has no racks"),
            ("rack,row,x,y,units\nA,a,0,0,0\n", "line 2: `0` is not a whole number of rack units"),
            ("rack,row,x,y,units\r\n# b\r\nA,a,0,0,0\r\n", "line 3: `0` is not a whole number of rack units"),
            ("rack,row,x,y,units\nA,a,nan,0,1\n", "line 2: `nan` is not a number of metres"),
            ("rack,row,x,y,units\nA,a,1e9,0,1\n", "line 2: `1e9` is not a number of metres"),
            ("rack,row,x,y,units\n,a,0,0,1\n", "line 2: `` is not a name"),
            ("rack,row,x,y,units\nA,a,0,0,1\nA,a,1,0,1\n", "line 3: rack `A` is already listed"),
            ("rack,row,x,y,units\nA,a,0,0,1\nB,a,0,0,1\n", "line 3: `B` has the coordinates of another rack"),
            ("rack,row,x,y,units,watts\nA,a,0,0,1,-5\n", "line 2: `-5` is not a whole number of watts"),
            ("rack,row,x,y,units\nA,a,0\n", "line 2"),
            ("rack,row,x,y,units,drop\nA,a,0,0,1,-1\n", "line 2: `-1` is not a number of metres"),
            ("rack,row,x,y,units,crossings\nA,a,0,0,1,0 b\n", "line 2: `0 b` is not a list of positions"),
            (
                "rack,row,x,y,units,drop\nA,a,0,0,1,2\nB,a,1,0,1,3\n",
                "line 3: `3` is not the value of the first",
            ),
        ] {
            assert!(message(text).contains(wanted), "{text:?}: {}", message(text));
        }
    }
}
