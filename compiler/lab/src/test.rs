//! The test: a packet over every path, and every counter compared with what the addresses named.
//!
//! In: a backend. Out: [`TestReport`]. Invariants: a packet counts as delivered only if it came in exactly once, at
//! the NIC port that its address names, with the inner packet untouched, and its node took the outer header off
//! and accepted it.

mod inbox;
mod report;

pub use report::{FlowName, PortMismatch, SegmentMismatch, ShareMismatch, Spread, TestReport};

use crate::LabError;
use crate::backend::{Backend, Counters};
use crate::model::{Model, PortId};
use crate::progress::Watch;
use crate::sample::{Extent, Selected};
use crate::traffic::PathRef;
use crate::tree::Tree;

/// How each path of a test ended, for those who look for the cause.
#[derive(Debug, Default)]
pub(crate) struct Outcomes<'a> {
    pub(crate) delivered: Vec<PathRef<'a>>,
    pub(crate) failed: Vec<PathRef<'a>>,
    /// Ports that sent what they should, into cables out of which something else came.
    pub(crate) leaking: Vec<PortId>,
}

/// Sends a packet over every path, or every path of a sample, and judges what came of it.
pub fn run(
    tree: &Tree,
    model: &Model,
    backend: &mut dyn Backend,
    extent: Extent,
    watch: &Watch<'_>,
) -> Result<TestReport, LabError> {
    Ok(run_with_outcomes(tree, model, backend, extent, watch, false)?.0)
}

/// The same; with `keep` set, every path with its end comes along.
pub(crate) fn run_with_outcomes<'a>(
    tree: &'a Tree,
    model: &Model,
    backend: &mut dyn Backend,
    extent: Extent,
    watch: &Watch<'_>,
    keep: bool,
) -> Result<(TestReport, Outcomes<'a>), LabError> {
    let selected = Selected::new(tree, extent);
    let mut report = TestReport { pairs: selected.pairs, drawn: selected.drawn, ..TestReport::default() };
    let mut outcomes = Outcomes::default();
    let mut expected = Counters::default();
    let before = backend.counters()?;
    let senders = selected.senders();
    selected.each(tree, model, |at, outgoing| {
        watch.check()?;
        watch.step("send packets", at, senders);
        report.absent += outgoing.absent;
        let (good, bad): (Vec<_>, Vec<_>) = outgoing.paths.into_iter().partition(|path| path.route.is_ok());
        for path in &bad {
            report.take_unnamed(path);
        }
        report.paths += good.len() as u64;
        let sent: Vec<PathRef<'_>> =
            good.into_iter().flat_map(|path| vec![path.clone(); path.copies() as usize]).collect();
        for path in &sent {
            expect(&mut expected, path);
        }
        let ends = inbox::send(model, backend, &sent, at as u32)?;
        for (path, end) in sent.into_iter().zip(ends) {
            let fine = report.take(&path, &end, model);
            if keep {
                let pile = if fine { &mut outcomes.delivered } else { &mut outcomes.failed };
                pile.push(path);
            }
        }
        Ok::<(), LabError>(())
    })?;
    watch.step("send packets", senders, senders);
    let counted = backend.counters()?.since(&before);
    outcomes.leaking = report.compare(model, &expected, &counted);
    Ok((report, outcomes))
}

/// Counts what a packet ought to move.
fn expect(expected: &mut Counters, path: &PathRef<'_>) {
    let Ok(route) = &path.route else { return };
    for port in &route.crossings {
        expected.ports.entry(*port).or_default().sent += 1;
        expected.ports.entry(port.far()).or_default().received += 1;
    }
    for place in &route.segments {
        expected.segments.entry(*place).or_default().packets += 1;
    }
}
