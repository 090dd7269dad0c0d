//! Judges a P4Runtime server by the sentences of the specification.
//!
//! In: a connection to a server, and a program with one of everything. Out: a [`Report`]: for each section of the
//! specification its corners, each passed, failed with the answer that came instead, or not applicable. Invariants: every
//! corner starts from the program as it was set, whatever the corner before did; a refused update must leave the state as it
//! was; what the specification leaves open is not judged.

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

use bench::Bench;
use corners::Corner;

/// Runs the corners of some sections; `done` is called after each how many there are and how many are done.
pub async fn judge(
    subject: Subject,
    wanted: impl Fn(Section) -> bool,
    mut done: impl FnMut(usize, usize),
) -> Result<Report, ConformanceError> {
    let mut bench = Box::pin(Bench::connect(subject)).await?;
    let corners: Vec<Corner> =
        corners::all(bench.info()).into_iter().filter(|corner| wanted(corner.section)).collect();
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

/// Returns the program that a server is judged with, as the compiler for BMv2 made it.
pub fn program() -> (&'static str, &'static [u8]) {
    let info = include_str!("../../switch/tests/programs/features.p4info.txtpb");
    (info, include_bytes!("../../switch/tests/programs/features.json"))
}
