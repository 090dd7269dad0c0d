//! The test: sends a packet over every path, and compares every counter with the expected paths.
//!
//! In: a backend. Out: [`TestReport`]. Invariants: a packet counts as delivered only if it arrived exactly once,
//! unchanged, at the NIC port of its address. Its node must also have decapsulated and accepted it.

mod inbox;
mod report;

pub use report::{FlowName, PortMismatch, SegmentMismatch, ShareMismatch, Spread, TestReport};

use std::sync::mpsc;

use hashbrown::HashMap;

use crate::LabError;
use crate::backend::{Backend, Counters, PortCounter, RETRIES, SegmentCounter};
use crate::model::{DeviceId, Model, PortId};
use crate::progress::Watch;
use crate::sample::{Extent, TestPaths};
use crate::segment::Segment;
use crate::traffic::{NicPaths, PathRef};
use crate::tree::Tree;

/// Result of each path of a test, for diagnosis.
#[derive(Debug, Default)]
pub(crate) struct Outcomes<'a> {
    pub(crate) delivered_paths: Vec<PathRef<'a>>,
    pub(crate) failed: Vec<PathRef<'a>>,
    /// Ports with correct counters whose packets did not all arrive at the far end.
    pub(crate) leaking_ports: Vec<PortId>,
}

/// Sends a packet over every path, or every path of a sample, and evaluates the results.
pub fn run(
    tree: &Tree,
    model: &Model,
    backend: &mut dyn Backend,
    extent: Extent,
    watch: &Watch<'_>,
) -> Result<TestReport, LabError> {
    Ok(run_with_outcomes(tree, model, backend, extent, watch, false)?.0)
}

/// Like [`run`]. If `keep` is set, also returns the result of every path.
pub(crate) fn run_with_outcomes<'a>(
    tree: &'a Tree,
    model: &Model,
    backend: &mut dyn Backend,
    extent: Extent,
    watch: &Watch<'_>,
    keep: bool,
) -> Result<(TestReport, Outcomes<'a>), LabError> {
    let selected = TestPaths::new(tree, extent);
    let mut report =
        TestReport { pairs: selected.pairs, drawn: selected.sample_origin, ..TestReport::default() };
    let mut outcomes = Outcomes::default();
    let mut expected = ExpectedCounters::new(model);
    let before = backend.counters()?;
    let senders = selected.senders();
    let burst = backend.burst();
    std::thread::scope(|scope| {
        // The next packets are created while the previous ones are in flight. If one thread ends, the other one also
        // ends.
        let (ready, made) = mpsc::sync_channel(1);
        scope.spawn(|| {
            selected.for_each_batch(tree, model, burst, move |at, some| ready.send((at, some)).map_err(drop))
        });
        for (at, outgoing) in made {
            watch.check()?;
            watch.step("send packets", at, senders);
            let sent = packet_paths(outgoing, &mut report);
            let ends = send(model, backend, &sent, at as u32)?;
            for (path, (end, tries)) in sent.into_iter().zip(ends) {
                expected.add(&path, tries, end.is_lost());
                report.resent += u64::from(tries > 1);
                let fine = report.take(&path, &end, model);
                if keep {
                    let pile = if fine { &mut outcomes.delivered_paths } else { &mut outcomes.failed };
                    pile.push(path);
                }
            }
        }
        Ok::<(), LabError>(())
    })?;
    watch.step("send packets", senders, senders);
    let counted = backend.counters()?.since(&before);
    outcomes.leaking_ports = report.compare(model, &expected.counters(model), &counted);
    Ok((report, outcomes))
}

/// Sends a packet over each path, and retransmits lost ones if switches drop packets under load. Returns the final
/// result of each, and the number of transmissions.
fn send(
    model: &Model,
    backend: &mut dyn Backend,
    paths: &[PathRef<'_>],
    batch: u32,
) -> Result<Vec<(inbox::End, u32)>, LabError> {
    let first = inbox::send(model, backend, paths, batch)?;
    let mut ends: Vec<(inbox::End, u32)> = first.into_iter().map(|end| (end, 1)).collect();
    for round in 1..=if backend.drops_under_load() { RETRIES } else { 0 } {
        let lost: Vec<usize> = (0..ends.len()).filter(|at| ends[*at].0.is_lost()).collect();
        if lost.is_empty() {
            break;
        }
        let again: Vec<PathRef<'_>> = lost.iter().map(|at| paths[*at].clone()).collect();
        // Late packets of an earlier attempt have another batch number.
        let found = inbox::send(model, backend, &again, batch | round << BATCH_BITS)?;
        for (at, end) in lost.into_iter().zip(found) {
            ends[at] = (end, ends[at].1 + 1);
        }
    }
    Ok(ends)
}

/// Returns the paths of the packets to send, one entry per packet, and counts the paths that are not tested.
fn packet_paths<'a>(outgoing: NicPaths<'a>, report: &mut TestReport) -> Vec<PathRef<'a>> {
    report.absent += outgoing.absent;
    let mut sent = Vec::with_capacity(outgoing.paths.len());
    for path in outgoing.paths {
        if path.route.is_err() {
            report.take_unnamed(&path);
            continue;
        }
        report.paths += 1;
        let copies = path.copies() as usize;
        sent.extend(std::iter::repeat_n(path, copies));
    }
    sent
}

/// Batch numbers: the lower bits number the senders, the bits above the attempts.
const BATCH_BITS: u32 = 28;

/// Expected counters.
struct ExpectedCounters {
    /// By port number: the required count, and the permitted excess. A packet that is lost under load is counted on
    /// only part of its path.
    ports: Vec<[PortCounter; 2]>,
    segments: HashMap<(DeviceId, Segment), [u64; 2]>,
}

impl ExpectedCounters {
    fn new(model: &Model) -> Self {
        ExpectedCounters {
            ports: vec![Default::default(); model.all_ports().count()],
            segments: HashMap::new(),
        }
    }

    /// Adds the counts of a packet that was sent `tries` times. If it was delivered, only the last transmission is
    /// required. Otherwise all transmissions are required, so that counters show where it was lost.
    fn add(&mut self, path: &PathRef<'_>, tries: u32, is_lost: bool) {
        let Ok(route) = &path.route else { return };
        let tries = u64::from(tries);
        let counts = if is_lost { [tries, 0] } else { [1, tries - 1] };
        for (which, packets) in counts.into_iter().enumerate() {
            for port in &route.crossings {
                self.ports[port.number() as usize][which].sent += packets;
                self.ports[port.peer().number() as usize][which].received += packets;
            }
            for place in &route.segments {
                self.segments.entry(*place).or_default()[which] += packets;
            }
        }
    }

    /// Required counts, and permitted extra counts.
    fn counters(self, model: &Model) -> [Counters; 2] {
        [0, 1].map(|which: usize| {
            let port = |(port, counters): (PortId, &[PortCounter; 2])| (port, counters[which]);
            let moved = |(_, counter): &(PortId, PortCounter)| *counter != PortCounter::default();
            let segment = |(place, packets): (&(DeviceId, Segment), &[u64; 2])| {
                (*place, SegmentCounter { packets: packets[which], errors: 0 })
            };
            Counters {
                ports: model.all_ports().zip(&self.ports).map(port).filter(moved).collect(),
                segments: self.segments.iter().map(segment).collect(),
            }
        })
    }
}
