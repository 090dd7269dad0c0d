//! Demand matrices: the rate from each source to each destination.
//!
//! In: the bytes of a table with the columns `source`, `destination` and one of `mbps`, `gbps`, `tbps`. Out: a
//! [`Matrix`], or the faults with their lines. Invariants: rates are finite and not negative, names are resolved, a NIC
//! does not send to itself.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use closc_plan::Plan;

use crate::place::{Place, UnknownName, nearest};

/// One row: a total rate from one place to another, spread evenly over their pairs of NICs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Sender.
    pub from: Place,
    /// Receiver.
    pub to: Place,
    /// Total rate, in Gb/s.
    pub gbps: f64,
    /// Line of the file, or number of the row, from 1.
    pub line: u64,
}

/// A demand matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    /// Its rows in the order of the file.
    pub demands: Vec<Demand>,
}

/// A fault of a demand file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {kind}")]
pub struct Fault {
    /// Line of a CSV file, or row of a Parquet file, from 1.
    pub line: u64,
    /// The error.
    pub kind: FaultKind,
}

/// Errors of a demand file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The file has no rows.
    #[error("the file has no demands; write a header `source,destination,gbps` and a row for each demand")]
    Empty,
    /// A column is missing.
    #[error("no column `{0}`; expected `source`, `destination`, and `gbps`, `mbps` or `tbps`")]
    Missing(&'static str),
    /// A column is given twice, or the rate in two units.
    #[error("column `{0}` is given twice, or is a second rate; give each demand once, in one unit")]
    Twice(String),
    /// A column with an unknown name.
    #[error(
        "`{name}` is not a column; expected `source`, `destination`, and `gbps`, `mbps` or `tbps`{}",
        near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
    )]
    Column {
        /// The column.
        name: String,
        /// The known column with the nearest name.
        near: Option<String>,
    },
    /// A row whose number of cells differs from that of the header, or input in another format.
    #[error("{0}")]
    Form(String),
    /// A rate that is not a number, negative or not finite.
    #[error("`{0}` is not a rate; expected a number of at least 0, without the unit of the column name")]
    Rate(String),
    /// An unknown name.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// A NIC sends to itself.
    #[error("`{0}` sends to itself; expected two different NICs")]
    Itself(String),
    /// This program was built without support for Parquet.
    #[error("this build does not read Parquet; run `cargo build --features parquet`, or write CSV")]
    NoParquet,
}

/// Maximum number of reported errors.
const FAULTS_MAX: usize = 50;

impl Matrix {
    /// Reads CSV (RFC 4180) with a header.
    pub fn from_csv(plan: &Plan, bytes: &[u8]) -> Result<Matrix, Vec<Fault>> {
        let mut rows = Rows::new(plan);
        csv::read(bytes, &mut rows);
        rows.finish()
    }

    /// Reads a Parquet file with the columns of the CSV form: names as text, and the rate as a number of any type.
    #[cfg(feature = "parquet")]
    pub fn from_parquet(plan: &Plan, bytes: Vec<u8>) -> Result<Matrix, Vec<Fault>> {
        let mut rows = Rows::new(plan);
        parquet::read(bytes, &mut rows);
        rows.finish()
    }

    /// Fails: this program was built without support for Parquet.
    #[cfg(not(feature = "parquet"))]
    pub fn from_parquet(_plan: &Plan, _bytes: Vec<u8>) -> Result<Matrix, Vec<Fault>> {
        Err(vec![Fault { line: 1, kind: FaultKind::NoParquet }])
    }

    /// Returns the sum of all demands in Gb/s. An empty matrix gives 0, whereas `Iterator::sum` gives -0.
    pub fn gbps(&self) -> f64 {
        self.demands.iter().fold(0.0, |sum, demand| sum + demand.gbps)
    }
}

/// Positions of the columns.
#[derive(Debug, Clone, Copy)]
struct Columns {
    source: usize,
    destination: usize,
    rate: usize,
    /// Gb/s per unit of the rate.
    unit: f64,
}

/// Units of the rate: column name and Gb/s.
const UNITS: [(&str, f64); 3] = [("mbps", 0.001), ("gbps", 1.0), ("tbps", 1000.0)];

impl Columns {
    /// Finds the columns in a header.
    fn find<'a>(header: impl Iterator<Item = &'a str>) -> Result<Columns, Vec<FaultKind>> {
        let (mut source, mut destination, mut rate) = (None, None, None);
        let mut faults = Vec::new();
        for (at, name) in header.map(str::trim).enumerate() {
            let unit = UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, factor)| *factor);
            let twice = match (name, unit) {
                ("source", _) => source.replace(at).is_some(),
                ("destination", _) => destination.replace(at).is_some(),
                (_, Some(unit)) => rate.replace((at, unit)).is_some(),
                (_, None) => {
                    let known = ["source", "destination"].into_iter().chain(UNITS.map(|(unit, _)| unit));
                    let near = nearest(name, known.map(str::to_owned));
                    faults.push(FaultKind::Column { name: name.to_owned(), near });
                    false
                }
            };
            if twice {
                faults.push(FaultKind::Twice(name.to_owned()));
            }
        }
        let missing = [("source", source.is_none()), ("destination", destination.is_none())];
        let missing = missing.into_iter().chain([("gbps", rate.is_none())]);
        faults.extend(missing.filter(|(_, gone)| *gone).map(|(name, _)| FaultKind::Missing(name)));
        match (source, destination, rate) {
            (Some(source), Some(destination), Some((rate, unit))) if faults.is_empty() => {
                Ok(Columns { source, destination, rate, unit })
            }
            _ => Err(faults),
        }
    }
}

/// Collects rows and faults.
struct Rows<'a> {
    plan: &'a Plan,
    demands: Vec<Demand>,
    faults: Vec<Fault>,
    /// The last name of each side with its place, as a cache: tables repeat names.
    last: [Option<(String, Place)>; 2],
}

impl<'a> Rows<'a> {
    fn new(plan: &'a Plan) -> Self {
        Rows { plan, demands: Vec::new(), faults: Vec::new(), last: [None, None] }
    }

    /// Returns whether the maximum number of faults is reached.
    fn is_full(&self) -> bool {
        self.faults.len() >= FAULTS_MAX
    }

    fn fault(&mut self, line: u64, what: FaultKind) {
        self.faults.push(Fault { line, kind: what });
    }

    /// Adds a row. `rate` is `None` if the cell is not a number; `cell` is its text for the message.
    fn row(&mut self, line: u64, from: &str, to: &str, rate: Option<f64>, cell: &str) {
        let (source, destination) = (self.place(line, 0, from), self.place(line, 1, to));
        let rate = rate.filter(|rate| rate.is_finite() && *rate >= 0.0);
        if rate.is_none() {
            self.fault(line, FaultKind::Rate(cell.to_owned()));
        }
        let (Some(from), Some(to), Some(gbps)) = (source, destination, rate) else { return };
        if from == to && matches!(from, Place::Nic(_)) {
            let name = from.name(self.plan.topology());
            self.fault(line, FaultKind::Itself(name));
            return;
        }
        self.demands.push(Demand { from, to, gbps, line });
    }

    fn place(&mut self, line: u64, side: usize, text: &str) -> Option<Place> {
        if let Some((_, place)) = self.last[side].as_ref().filter(|(last, _)| last == text) {
            return Some(*place);
        }
        match Place::parse(self.plan, text) {
            Ok(place) => {
                self.last[side] = Some((text.to_owned(), place));
                Some(place)
            }
            Err(unknown) => {
                self.fault(line, FaultKind::Name(unknown));
                None
            }
        }
    }

    fn finish(mut self) -> Result<Matrix, Vec<Fault>> {
        if self.demands.is_empty() && self.faults.is_empty() {
            self.fault(1, FaultKind::Empty);
        }
        if self.faults.is_empty() { Ok(Matrix { demands: self.demands }) } else { Err(self.faults) }
    }
}
