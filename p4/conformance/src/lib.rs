//! Tests whether a P4Runtime server conforms to the specification.
//!
//! In: a connection to a server, and a program with every kind of object. Out: a [`Report`] with the corners
//! (test cases) of each section of the specification. Each has passed, has failed with the answer of the
//! server, or is not applicable. Invariants: every corner starts with a newly set program, so it does not
//! depend on the previous corner. A rejected update must leave the state unchanged. Behaviour that the
//! specification leaves open is not tested.

mod bench;
mod corners;
mod make;
mod report;
mod section;
mod step;
mod stream;

pub use bench::{ConformanceError, Subject};
pub use report::{CornerResult, Report, SectionResult, Verdict};
pub use section::Section;

use closc_runtime::info::{Info, InfoError};
use closc_runtime::proto::config;

use bench::Bench;
use corners::Corner;

/// Returns the names of all corners, in the order of the specification.
pub fn corners(p4info: config::P4Info) -> Result<Vec<&'static str>, InfoError> {
    let info = Info::new(p4info)?;
    Ok(corners::all(&info).into_iter().map(|corner| corner.id).collect())
}

/// Runs the corners selected by their sections and names. After each corner, `done` is called with the number
/// of finished corners and the total.
pub async fn judge(
    subject: Subject,
    wanted: impl Fn(Section, &str) -> bool,
    mut done: impl FnMut(usize, usize),
) -> Result<Report, ConformanceError> {
    let mut bench = Box::pin(Bench::connect(subject)).await?;
    let corners: Vec<Corner> =
        corners::all(bench.info()).into_iter().filter(|corner| wanted(corner.section, corner.id)).collect();
    let mut results = Vec::with_capacity(corners.len());
    let count = corners.len();
    for corner in corners {
        let verdict = Box::pin(bench.run(&corner)).await;
        results.push(CornerResult::new(&corner, verdict));
        done(results.len(), count);
    }
    let api_version = Box::pin(bench.api_version()).await;
    Ok(Report::new(bench.address().to_owned(), bench.device(), api_version, &results))
}

/// Returns the program for the test: its P4Info, and its JSON from the compiler for BMv2.
pub fn program() -> (&'static str, &'static [u8]) {
    let info = include_str!("../../switch/tests/programs/features.p4info.txtpb");
    (info, include_bytes!("../../switch/tests/programs/features.json"))
}
