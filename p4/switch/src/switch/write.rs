//! Writes and reads of controllers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use closc_runtime::proto::v1;
use closc_runtime::status::Outcome;
use closc_runtime::wire::{Elements, WireError};
use prost::Message as _;
use tonic::Code;
use v1::write_request::Atomicity;

use super::{LoadedPipeline, Switch, lock};
use crate::entity::{Fault, Page, Spot};

/// Number of updates that are applied before packets are processed again, except in a batch that is atomic
/// for the data plane.
const UPDATES_AT_ONCE: usize = 64;

/// The switch has no pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the switch has no pipeline yet")]
pub struct NoPipeline;

/// Maximum number of failed requests of a read. The remaining requests are not processed.
const MOST_FAILURES: usize = 256;

/// Maximum number of requests of a read for which every outcome is returned.
const MOST_OUTCOMES: usize = 4096;

/// Maximum number of requests of a read that are processed before other reads and writes. The size limit of a
/// page is not enough, because requests may find no entities.
const REQUESTS_AT_ONCE: usize = 256;

/// Progress of a read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadState {
    /// The current request, and its position.
    current: Option<v1::Entity>,
    from: Spot,
    /// Number of processed requests.
    n_done: usize,
    failed: BTreeMap<usize, Outcome>,
}

impl ReadState {
    /// Returns the outcome of each processed request, or none if all succeeded. For a very long read, only
    /// the failures are returned.
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        if self.failed.is_empty() || self.n_done > MOST_OUTCOMES {
            return self.failed.values().cloned().collect();
        }
        let outcome = |at| self.failed.get(&at).cloned().unwrap_or_else(Outcome::ok);
        (0..self.n_done).map(outcome).collect()
    }
}

/// Result of a read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadResult {
    /// The entities.
    pub entities: Vec<v1::Entity>,
    /// One outcome for each request.
    pub outcomes: Vec<Outcome>,
}

impl Switch {
    /// Applies updates; returns the outcome of each. The atomicity of the batch determines the effect of a failed
    /// update.
    pub fn write(&self, updates: &[v1::Update], atomicity: Atomicity) -> Result<Vec<Outcome>, NoPipeline> {
        let _control = lock(&self.control);
        match atomicity {
            Atomicity::ContinueOnError => self.write_each(updates),
            Atomicity::RollbackOnError => self.write_all(updates, UPDATES_AT_ONCE),
            Atomicity::DataplaneAtomic => self.write_all(updates, updates.len()),
        }
    }

    fn write_each(&self, updates: &[v1::Update]) -> Result<Vec<Outcome>, NoPipeline> {
        let mut outcomes = Vec::with_capacity(updates.len());
        let now_ns = self.now_ns();
        for chunk in updates.chunks(UPDATES_AT_ONCE) {
            let mut state = lock(&self.state);
            let loaded = state.current().ok_or(NoPipeline)?;
            outcomes.extend(chunk.iter().map(|update| outcome(write_one(loaded, now_ns, update))));
        }
        if updates.is_empty() { self.require_pipeline().map(|()| outcomes) } else { Ok(outcomes) }
    }

    /// Applies all updates or none.
    fn write_all(&self, updates: &[v1::Update], at_once: usize) -> Result<Vec<Outcome>, NoPipeline> {
        self.require_pipeline()?;
        let mut failed = None;
        let now_ns = self.now_ns();
        for (place, chunk) in updates.chunks(at_once.max(1)).enumerate() {
            let mut state = lock(&self.state);
            let loaded = state.current().ok_or(NoPipeline)?;
            if place == 0 {
                loaded.store.begin();
            }
            let applied = chunk.iter().enumerate().try_for_each(|(at, update)| {
                match write_one(loaded, now_ns, update) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(fault) => ControlFlow::Break((place * at_once + at, fault)),
                }
            });
            if let ControlFlow::Break(fault) = applied {
                // The rollback happens before the lock is released, so that as few packets as possible meet a
                // partial batch.
                loaded.store.rollback();
                failed = Some(fault);
                break;
            }
            if (place + 1) * at_once >= updates.len() {
                loaded.store.commit();
            }
        }
        let Some((at, fault)) = failed else { return Ok(vec![Outcome::ok(); updates.len()]) };
        let aborted = format!("rolled back or not tried: update {} of the batch failed", at + 1);
        let mut outcomes = vec![Outcome::failure(Code::Aborted, aborted); updates.len()];
        outcomes[at] = fault.outcome();
        Ok(outcomes)
    }

    fn require_pipeline(&self) -> Result<(), NoPipeline> {
        lock(&self.state).current().map(|_| ()).ok_or(NoPipeline)
    }

    /// Reads the entities of requests.
    pub fn read(&self, requests: &[v1::Entity]) -> Result<ReadResult, NoPipeline> {
        let _control = lock(&self.control);
        self.require_pipeline()?;
        let mut found = ReadResult::default();
        let now_ns = self.now_ns();
        for request in requests {
            let mut state = lock(&self.state);
            let loaded = state.current().ok_or(NoPipeline)?;
            let read = loaded.store.read(now_ns, request).map(|mut read| found.entities.append(&mut read));
            found.outcomes.push(outcome(read));
        }
        Ok(found)
    }

    /// Reads the next page; `None` after the last. During a page, packets are processed between its requests,
    /// but writes are not. Between pages, which may be empty, writes and other reads are processed too.
    pub(crate) fn read_page(
        &self,
        requests: &mut Elements<v1::Entity>,
        reading: &mut ReadState,
        limit: usize,
    ) -> Result<Result<Option<Vec<v1::Entity>>, WireError>, NoPipeline> {
        let _control = lock(&self.control);
        let mut found = Vec::new();
        let (mut bytes, mut looked) = (0, 0);
        let now_ns = self.now_ns();
        let mut at_end = false;
        while bytes < limit && looked < REQUESTS_AT_ONCE {
            if reading.failed.len() >= MOST_FAILURES {
                at_end = true;
                break;
            }
            looked += 1;
            let request = match reading.current.take() {
                Some(request) => request,
                None => match requests.next() {
                    Some(Ok(request)) => request,
                    Some(Err(error)) => return Ok(Err(error)),
                    None => {
                        at_end = true;
                        break;
                    }
                },
            };
            let mut page = Page::new(reading.from, limit - bytes);
            let read = {
                let mut state = lock(&self.state);
                state.current().ok_or(NoPipeline)?.store.read_page(now_ns, &request, &mut page)
            };
            let (mut entities, rest) = page.finish();
            if let Err(fault) = read {
                reading.failed.insert(reading.n_done, fault.outcome());
                entities.clear();
            }
            bytes += entities.iter().map(|entity| entity.encoded_len() + 8).sum::<usize>();
            found.append(&mut entities);
            if let Some(from) = rest {
                (reading.from, reading.current) = (from, Some(request));
            } else {
                (reading.from, reading.n_done) = (Spot::default(), reading.n_done + 1);
            }
        }
        // An empty request is also rejected.
        self.require_pipeline()?;
        Ok(Ok((!at_end || !found.is_empty()).then_some(found)))
    }
}

/// Applies an update. A panic is handled as an error, so the batch is rolled back and the locks stay usable.
fn write_one(loaded: &mut LoadedPipeline, now_ns: u64, update: &v1::Update) -> Result<(), Fault> {
    let write = AssertUnwindSafe(|| loaded.store.write(now_ns, update));
    catch_unwind(write).unwrap_or(Err(Fault::Panic))
}

fn outcome(result: Result<(), Fault>) -> Outcome {
    match result {
        Ok(()) => Outcome::ok(),
        Err(fault) => fault.outcome(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use closc_runtime::text::read_p4info;

    use super::*;
    use crate::pipeline::Pipeline;
    use crate::switch::SwitchConfig;

    /// Returns a switch that panics on writes to `exact_dst`, and two entries: one for another table, one for
    /// `exact_dst`.
    fn defective() -> (Switch, [v1::Update; 2]) {
        let info = read_p4info(include_str!("../../tests/programs/features.p4info.txtpb"));
        let program = include_bytes!("../../tests/programs/features.json").as_slice();
        let pipeline = Pipeline::new(info.expect("the fixture is a P4Info"), program.into());
        let mut pipeline = pipeline.expect("the fixture is a pipeline");
        let info = pipeline.info().clone();
        pipeline.misbind(info.table("exact_dst").expect("a table").preamble.id);
        let good = info.entry("lpm_src").expect("a table").lpm("source", 1_u64 << 40, 8);
        let good = good.action("drop", &[]).build().expect("an entry");
        let bad = info.entry("exact_dst").expect("a table").exact("dst", 1_u64);
        let bad = bad.action("drop", &[]).build().expect("an entry");
        let switch = Switch::new(SwitchConfig::default());
        switch.run_pipeline(Arc::new(pipeline));
        (switch, [v1::Update::insert(good), v1::Update::insert(bad)])
    }

    #[test]
    fn a_panic_is_an_outcome_and_a_batch_is_rolled_back() {
        let of_all = [v1::TableEntry::default().into()];
        for atomicity in [Atomicity::RollbackOnError, Atomicity::DataplaneAtomic] {
            let (switch, updates) = defective();
            let before = switch.read(&of_all).expect("a pipeline runs");
            let outcomes = switch.write(&updates, atomicity).expect("a pipeline runs");
            let codes: Vec<Code> = outcomes.iter().map(|outcome| outcome.code).collect();
            assert_eq!(codes, [Code::Aborted, Code::Internal]);
            assert_eq!(switch.read(&of_all).expect("a pipeline runs"), before, "{atomicity:?}");
        }
        let (switch, updates) = defective();
        let outcomes = switch.write(&updates, Atomicity::ContinueOnError).expect("a pipeline runs");
        let codes: Vec<Code> = outcomes.iter().map(|outcome| outcome.code).collect();
        assert_eq!(codes, [Code::Ok, Code::Internal], "each update has its own outcome");
    }
}
