//! Writes updates in batches, several at once if the order allows it, and returns the outcome of each update.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::Range;

use thiserror::Error;
use tokio::task::JoinSet;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use super::batch::{Batch, Batches, EncodedCodec};
use super::error::{ClientError, Rpc};
use super::options::WriteOptions;
use super::session::Session;
use crate::info::Info;
use crate::order::{OrderedUpdates, Phase, Wave};
use crate::proto::v1::{self, write_request::Atomicity};
use crate::render;
use crate::status::{Outcome, unpack};

/// An update that the target rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedUpdate {
    /// Its index among the updates of the write.
    pub index: usize,
    /// The update.
    pub update: v1::Update,
    /// The answer of the target.
    pub outcome: Outcome,
}

impl FailedUpdate {
    /// Formats the rejected entry and the reason, with names.
    pub fn describe<'a>(&'a self, info: &'a Info) -> impl fmt::Display + 'a {
        struct FailureText<'a>(&'a FailedUpdate, &'a Info);
        impl fmt::Display for FailureText<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}: {}", render::update(self.1, &self.0.update), self.0.outcome)
            }
        }
        FailureText(self, info)
    }
}

/// A write that was not completely successful. Every update is in exactly one of five categories: applied, failed,
/// aborted, in doubt, unsent.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{endpoint}: {}", summary(self))]
pub struct WriteError {
    /// The target.
    pub endpoint: String,
    /// Updates that the target applied.
    pub n_applied: usize,
    /// Updates that the target rejected.
    pub failed: Vec<FailedUpdate>,
    /// Updates that the target did not try because of others (`ABORTED`), although they were retried.
    pub n_aborted: usize,
    /// Updates that were sent but not answered; they may or may not be applied.
    pub in_doubt: Vec<Range<usize>>,
    /// Updates that were not sent, or that the target ignored.
    pub n_unsent: usize,
    /// Reason why the write ended early.
    pub cause: Option<Box<ClientError>>,
}

fn summary(error: &WriteError) -> String {
    let mut parts = vec![format!("{} updates applied", error.n_applied)];
    if let Some(first) = error.failed.first() {
        let place = first.index;
        parts.push(format!(
            "{} refused, the first (number {place}) with {}",
            error.failed.len(),
            first.outcome
        ));
    }
    let n_in_doubt: usize = error.in_doubt.iter().map(Range::len).sum();
    if error.n_aborted > 0 {
        parts.push(format!("{} not tried by the target", error.n_aborted));
    }
    if n_in_doubt > 0 {
        parts.push(format!("{n_in_doubt} in doubt"));
    }
    if error.n_unsent > 0 {
        parts.push(format!("{} not sent", error.n_unsent));
    }
    if let Some(cause) = &error.cause {
        parts.push(cause.to_string());
    }
    parts.join(", ")
}

impl WriteError {
    /// Formats the error with names, one line per rejected update, for at most `limit` updates.
    pub fn describe(&self, info: &Info, limit: usize) -> String {
        let mut text = self.to_string();
        for failed in self.failed.iter().take(limit) {
            text.push_str("\n  ");
            text.push_str(&failed.describe(info).to_string());
        }
        if self.failed.len() > limit {
            write!(text, "\n  and {} more", self.failed.len() - limit).expect("a string takes everything");
        }
        text
    }
}

/// Maximum rounds in a row in which aborted updates are retried without any being applied. Each round finds another
/// rejected update, and there is no need to list thousands of them.
const FRUITLESS_ROUNDS: usize = 16;

/// Progress of a write.
#[derive(Debug, Default)]
struct Progress {
    n_applied: usize,
    failed: BTreeMap<usize, Outcome>,
    /// Updates of the current wave that the target aborted.
    aborted_updates: BTreeMap<usize, Outcome>,
    /// Updates that were still aborted after the last retry.
    n_aborted: usize,
    in_doubt: Vec<Range<usize>>,
    cause: Option<ClientError>,
}

impl Session {
    /// Writes updates batch by batch, in the given order.
    pub async fn write(&self, updates: &[v1::Update]) -> Result<(), WriteError> {
        let options = WriteOptions { in_flight: 1, ..self.client().options().write };
        let whole = Wave { phase: Phase::Insert, range: 0..updates.len() };
        self.write_waves(updates, &[whole], options, |_| ()).await
    }

    /// Writes ordered updates: waves one after the other, and several batches at once within a wave.
    pub async fn write_ordered(&self, ordered: &OrderedUpdates) -> Result<(), WriteError> {
        self.write_waves(&ordered.updates, &ordered.waves, self.client().options().write, |_| ()).await
    }

    /// Writes updates wave by wave. A wave begins when the previous one is answered. After a rejected update the next
    /// wave does not begin, unless the options allow it. After each answer, `each` receives the number of updates
    /// applied or rejected so far.
    pub async fn write_waves(
        &self,
        updates: &[v1::Update],
        waves: &[Wave],
        options: WriteOptions,
        mut each: impl FnMut(usize) + Send,
    ) -> Result<(), WriteError> {
        let mut progress = Progress::default();
        for wave in waves {
            self.write_wave(updates, wave.range.clone(), options, &mut progress, &mut each).await;
            if progress.must_stop(options) {
                break;
            }
        }
        progress.finish(self.client().endpoint(), updates)
    }

    async fn write_wave(
        &self,
        updates: &[v1::Update],
        range: Range<usize>,
        options: WriteOptions,
        progress: &mut Progress,
        each: &mut (dyn FnMut(usize) + Send),
    ) {
        let header = match self.header(options) {
            Ok(header) => header,
            Err(error) => {
                progress.cause = Some(error);
                return;
            }
        };
        let mut in_flight: JoinSet<(Range<usize>, Result<(), FailedRequest>)> = JoinSet::new();
        let mut batches = Batches::new(updates, range, &header, options);
        loop {
            while in_flight.len() < options.in_flight.max(1) && !progress.must_stop(options) {
                let Some(batch) = batches.next() else { break };
                in_flight.spawn(self.send_batch(batch));
            }
            let Some(answer) = in_flight.join_next().await else { break };
            let (range, result) =
                answer.expect("a request neither panics nor is aborted while it is waited for");
            let places: Vec<usize> = range.collect();
            self.note(&places, result, options, progress);
            each(progress.n_applied + progress.failed.len());
        }
        self.write_untried(updates, &header, options, progress, each).await;
    }

    /// Retries updates that the target aborted because another update of their batch failed, until a retry has no
    /// effect. SONiC aborts updates in this mode per family of tables.
    async fn write_untried(
        &self,
        updates: &[v1::Update],
        header: &v1::WriteRequest,
        options: WriteOptions,
        progress: &mut Progress,
        each: &mut (dyn FnMut(usize) + Send),
    ) {
        let mut fruitless = 0;
        let mut before = (usize::MAX, usize::MAX);
        while !progress.aborted_updates.is_empty() && progress.cause.is_none() && fruitless < FRUITLESS_ROUNDS
        {
            let now = (progress.n_applied, progress.failed.len());
            if now == before {
                break;
            }
            fruitless = if now.0 == before.0 { fruitless + 1 } else { 0 };
            before = now;
            let places: Vec<usize> = std::mem::take(&mut progress.aborted_updates).into_keys().collect();
            let again: Vec<v1::Update> = places.iter().map(|place| updates[*place].clone()).collect();
            for batch in Batches::new(&again, 0..again.len(), header, options) {
                let (range, result) = self.send_batch(batch).await;
                self.note(&places[range], result, options, progress);
                each(progress.n_applied + progress.failed.len());
                if progress.cause.is_some() {
                    break;
                }
            }
        }
        let left = std::mem::take(&mut progress.aborted_updates);
        progress.n_aborted += left.len();
        if let Some(outcome) = left.into_values().next().filter(|_| progress.failed.is_empty()) {
            // No single update can be blamed, so the error is about the target.
            let endpoint = self.client().endpoint().to_owned();
            progress.cause.get_or_insert(ClientError::Rpc {
                endpoint,
                rpc: Rpc::Write,
                code: outcome.code,
                message: outcome.message,
                details: Vec::new(),
            });
        }
    }

    fn header(&self, options: WriteOptions) -> Result<v1::WriteRequest, ClientError> {
        let election_id = Some(self.require_primary()?.into());
        #[expect(deprecated, reason = "older targets know roles by number")]
        Ok(v1::WriteRequest {
            device_id: self.client().device().0,
            role_id: self.role().number(),
            role: self.role().name().to_owned(),
            election_id,
            updates: Vec::new(),
            atomicity: options.atomicity.into(),
        })
    }

    fn send_batch(
        &self,
        batch: Batch,
    ) -> impl Future<Output = (Range<usize>, Result<(), FailedRequest>)> + use<> {
        let target = self.client().target.clone();
        let channel = self.client().channel.clone();
        let Batch { range, request } = batch;
        async move {
            let deadline = target.options.deadlines.write;
            let late =
                || ClientError::Deadline { endpoint: target.endpoint.clone(), rpc: Rpc::Write, deadline };
            let result = match tokio::time::timeout(deadline, write_one(channel, request)).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(status)) => Err(FailedRequest::classify(&target.endpoint, &status, range.len())),
                Err(_) => Err(FailedRequest::InDoubt(late())),
            };
            (range, result)
        }
    }

    /// Records the answer to a batch; `places` are the indices of its updates.
    fn note(
        &self,
        places: &[usize],
        result: Result<(), FailedRequest>,
        options: WriteOptions,
        progress: &mut Progress,
    ) {
        match result {
            Ok(()) => progress.n_applied += places.len(),
            Err(FailedRequest::Outcomes(outcomes)) => {
                // In an atomic batch, an aborted update must not be retried alone.
                let single = options.atomicity == Atomicity::ContinueOnError;
                for (index, outcome) in places.iter().copied().zip(outcomes) {
                    if outcome.is_ok() {
                        progress.n_applied += 1;
                    } else if single && outcome.code == Code::Aborted {
                        progress.aborted_updates.insert(index, outcome);
                    } else {
                        progress.failed.insert(index, outcome);
                    }
                }
            }
            Err(FailedRequest::Ignored(error)) => {
                let error = self.demote_on_denial(error);
                progress.cause.get_or_insert(error);
            }
            Err(FailedRequest::InDoubt(error)) => {
                progress.in_doubt.extend(runs(places));
                progress.cause.get_or_insert(error);
            }
        }
    }
}

/// Returns ascending indices as ranges.
fn runs(places: &[usize]) -> impl Iterator<Item = Range<usize>> {
    places.chunk_by(|one, next| one + 1 == *next).map(|run| run[0]..run[run.len() - 1] + 1)
}

impl Progress {
    fn must_stop(&self, options: WriteOptions) -> bool {
        self.cause.is_some() || (!self.failed.is_empty() && !options.continue_after_refusal)
    }

    fn finish(mut self, endpoint: &str, updates: &[v1::Update]) -> Result<(), WriteError> {
        if self.cause.is_none() && self.failed.is_empty() {
            return Ok(());
        }
        self.in_doubt.sort_by_key(|range| range.start);
        let n_in_doubt: usize = self.in_doubt.iter().map(Range::len).sum();
        let n_unsent = updates.len() - self.n_applied - self.failed.len() - self.n_aborted - n_in_doubt;
        let failed = self.failed.into_iter();
        let failed =
            failed.map(|(index, outcome)| FailedUpdate { index, update: updates[index].clone(), outcome });
        Err(WriteError {
            endpoint: endpoint.to_owned(),
            n_applied: self.n_applied,
            failed: failed.collect(),
            n_aborted: self.n_aborted,
            in_doubt: self.in_doubt,
            n_unsent,
            cause: self.cause.map(Box::new),
        })
    }
}

/// Result of a request that failed.
#[derive(Debug)]
enum FailedRequest {
    /// The target reported the outcome of each update.
    Outcomes(Vec<Outcome>),
    /// The target ignored the updates.
    Ignored(ClientError),
    /// The outcome is unknown.
    InDoubt(ClientError),
}

impl FailedRequest {
    fn classify(endpoint: &str, status: &Status, n_updates: usize) -> FailedRequest {
        let error = ClientError::from_status(endpoint, Rpc::Write, status);
        if let ClientError::Rpc { code, .. } = &error {
            match unpack(status) {
                Some(outcomes) if outcomes.len() == n_updates => return FailedRequest::Outcomes(outcomes),
                Some(outcomes) => {
                    let reason = format!("{} outcomes for {n_updates} updates", outcomes.len());
                    let endpoint = endpoint.to_owned();
                    return FailedRequest::InDoubt(ClientError::Protocol {
                        endpoint,
                        rpc: Rpc::Write,
                        reason,
                    });
                }
                // Some targets answer a request that contains one update with the code of that update.
                None if n_updates == 1 && is_about_entities(*code) => {
                    return FailedRequest::Outcomes(vec![Outcome::failure(*code, status.message())]);
                }
                None if is_about_entities(*code) || is_about_requests(*code) => {
                    return FailedRequest::Ignored(error);
                }
                None => {}
            }
        }
        FailedRequest::InDoubt(error)
    }
}

/// Returns whether a code can be about an entity.
fn is_about_entities(code: Code) -> bool {
    matches!(code, Code::InvalidArgument | Code::NotFound | Code::AlreadyExists | Code::OutOfRange)
}

/// Returns whether a code without details means that no update was tried, because the error is about the request.
fn is_about_requests(code: Code) -> bool {
    matches!(
        code,
        Code::PermissionDenied | Code::FailedPrecondition | Code::Unimplemented | Code::Unauthenticated
    )
}

async fn write_one(channel: Channel, request: bytes::Bytes) -> Result<(), Status> {
    let mut grpc = tonic::client::Grpc::new(channel).max_encoding_message_size(usize::MAX);
    grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
    let path = PathAndQuery::from_static("/p4.v1.P4Runtime/Write");
    grpc.unary(Request::new(request), path, EncodedCodec).await.map(drop)
}
