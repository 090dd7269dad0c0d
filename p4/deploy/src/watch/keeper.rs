//! Watches one switch for as long as the watch runs.
//!
//! Invariants: a broken connection is opened again, with a growing delay. When this controller becomes primary, the
//! switch is read at once, so a restart that emptied it is found as soon as it answers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use closc_runtime::client::{Backoff, ClientError, Jitter, Primacy, Session};
use closc_runtime::proto::v1;
use prost::Message as _;
use tokio::sync::watch::Receiver;
use tokio::time::timeout;

use super::board::Role;
use super::{WatchState, end};
use crate::counters::{CountersError, Names};
use crate::device::{self, load, next_election_id};
use crate::difference::Counts;
use crate::event::EventKind;
use crate::fault::{Fault, Operation};
use crate::member::Member;
use crate::progress::Progress;
use crate::read::live;
use crate::report::PipelineStep;
use crate::state::State;
use crate::tree::{TargetState, TargetStateSource};

/// Watches a switch until asked to stop.
pub(super) async fn keep(place: usize, member: Member, shared: Arc<WatchState>, mut stopped: Receiver<bool>) {
    let name = member.target.name.clone();
    let reporter = shared.reporter.of_device(&name, member.target.plane);
    let member = Member { target_state: remember(member.target_state), ..member };
    let mut keeper = Keeper {
        member,
        state: &shared,
        progress: Progress::new(reporter),
        consecutive_failures: 0,
        counter_status: CounterStatus::Unasked,
    };
    // Thousands of switches that lost their controller at the same time must not all reconnect at once.
    let backoff = Backoff { jitter: Jitter::Seeded(place as u64), ..shared.options.push.pause };
    while let Some(fault) = keeper.session(&mut stopped).await {
        keeper.report_away(fault);
        let wait = backoff.wait(keeper.consecutive_failures.saturating_sub(1));
        if timeout(wait, end(&mut stopped)).await.is_ok() {
            break;
        }
    }
    shared.board.change(&name, |status| {
        (status.role, status.in_sync, status.counters) = (Role::Away, false, None);
    });
}

/// Always returns the first target state. A watch keeps to the tree that it was started with: the operator has to push
/// files that are compiled later. The state is kept encoded, which takes a tenth of the memory.
fn remember(wanted: TargetStateSource) -> TargetStateSource {
    let kept: OnceLock<(TargetState, Vec<u8>)> = OnceLock::new();
    Arc::new(move || {
        if let Some((first, bytes)) = kept.get() {
            return Ok(Arc::new(decode(first, bytes)));
        }
        let desired = wanted()?;
        let updates = desired.state.entities().cloned().map(v1::Update::insert).collect();
        let request = v1::WriteRequest { updates, ..v1::WriteRequest::default() };
        let first = TargetState { state: State::default(), ..(*desired).clone() };
        kept.get_or_init(|| (first, request.encode_to_vec()));
        Ok(desired)
    })
}

fn decode(first: &TargetState, bytes: &[u8]) -> TargetState {
    let request = v1::WriteRequest::decode(bytes).expect("it was encoded by this program");
    let entities = request.updates.into_iter().filter_map(|update| update.entity).collect();
    let state = State::new(first.program.info(), entities).expect("it was a state before");
    TargetState { state, ..first.clone() }
}

struct Keeper<'s> {
    member: Member,
    state: &'s WatchState,
    progress: Progress,
    /// Consecutive connections and checks that ended without the switch in sync.
    consecutive_failures: u32,
    counter_status: CounterStatus,
}

/// State of the counters of the program that a switch runs.
enum CounterStatus {
    /// The switch has not answered since it connected or received another program.
    Unasked,
    /// They can be read.
    By(Names),
    /// They cannot be read.
    Never,
}

impl Keeper<'_> {
    fn name(&self) -> &str {
        &self.member.target.name
    }

    fn report_away(&mut self, fault: Fault) {
        self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        self.progress.report(EventKind::Trouble { fault: fault.clone() });
        self.state.board.fail(self.name(), fault);
        self.state.board.change(self.name(), |status| {
            (status.role, status.counters) = (Role::Away, None);
        });
        self.counter_status = CounterStatus::Unasked;
    }

    /// Handles one connection to its end; `None` if the watch was stopped.
    async fn session(&mut self, stopped: &mut Receiver<bool>) -> Option<Fault> {
        let session = tokio::select! {
            opened = self.open() => match opened {
                Ok(session) => session,
                Err(fault) => return Some(fault),
            },
            () = end(stopped) => return None,
        };
        self.state.board.change(self.name(), |status| status.connections += 1);
        let fault = tokio::select! {
            fault = self.follow(&session) => Some(fault),
            () = end(stopped) => None,
        };
        if fault.is_none() {
            session.close().await;
        }
        fault
    }

    /// Leads or stands by, as primacy changes, until the stream breaks.
    async fn follow(&mut self, session: &Session) -> Fault {
        let mut primacy = session.watch_primacy();
        let mut was = Role::Away;
        loop {
            let state = primacy.borrow_and_update().clone();
            let is = match state {
                Primacy::Primary { .. } => Role::Leading,
                Primacy::Backup { .. } | Primacy::Vacant { .. } | Primacy::Opening => Role::StandingBy,
                Primacy::Lost { ref reason } | Primacy::Closed { ref reason } => {
                    return self.protocol_fault(reason.clone());
                }
            };
            if is != was {
                was = is;
                self.take(is, &state);
            }
            let done = match state {
                Primacy::Primary { .. } => self.lead(session).await,
                Primacy::Vacant { highest } => self.reach(session, highest).await.map(|()| None),
                Primacy::Backup { .. } | Primacy::Opening | Primacy::Lost { .. } | Primacy::Closed { .. } => {
                    Ok(None)
                }
            };
            let wait = match done {
                Ok(wait) => wait,
                Err(fault) => return fault,
            };
            tokio::select! {
                changed = primacy.changed() => if changed.is_err() {
                    return self.protocol_fault("the stream ended".to_owned());
                },
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            }
        }
    }

    /// Records the new role of this controller.
    fn take(&self, role: Role, state: &Primacy) {
        self.progress.report(match state {
            Primacy::Primary { .. } => EventKind::Leading,
            Primacy::Backup { primary: Some(id) } => EventKind::StandingBy { primary: Some(id.to_string()) },
            Primacy::Backup { primary: None }
            | Primacy::Vacant { .. }
            | Primacy::Opening
            | Primacy::Lost { .. }
            | Primacy::Closed { .. } => EventKind::StandingBy { primary: None },
        });
        self.state.board.change(self.name(), |status| {
            (status.role, status.in_sync, status.fault, status.counters) = (role, false, None, None);
        });
    }

    async fn open(&self) -> Result<Session, Fault> {
        let target = &self.member.target;
        let client = device::connect(target, &self.state.options.push, &self.progress).await?;
        let operation = self.progress.begin(Operation::Arbitrating);
        let opened = Session::open(client, target.controller.clone()).await;
        opened.map_err(|source| Fault::Call { operation, source })
    }

    fn protocol_fault(&self, reason: String) -> Fault {
        let endpoint = self.name().to_owned();
        let rpc = closc_runtime::client::Rpc::Stream;
        Fault::Call {
            operation: self.progress.operation(),
            source: ClientError::Protocol { endpoint, rpc, reason },
        }
    }

    /// Claims a vacant primacy. The next change of primacy shows whether it succeeded.
    async fn reach(
        &self,
        session: &Session,
        highest: Option<closc_runtime::ElectionId>,
    ) -> Result<(), Fault> {
        let (Some(own), Some(highest)) = (self.member.target.controller.election, highest) else {
            return Ok(());
        };
        let operation = self.progress.begin(Operation::Arbitrating);
        let reached = session.set_election(Some(next_election_id(own, highest))).await;
        reached.map_err(|source| Fault::Call { operation, source })
    }

    /// Checks and repairs the switch, and returns when to do so again; `None` if primacy was lost in the
    /// process.
    async fn lead(&mut self, session: &Session) -> Result<Option<Duration>, Fault> {
        let interval = self.state.options.interval;
        match self.check(session).await {
            Ok(()) => {
                self.consecutive_failures = 0;
                if self.state.options.counters {
                    self.count(session).await;
                }
                Ok(Some(interval))
            }
            Err(fault) if fault.kind() == "not-primary" => Ok(None),
            // Rejected updates, or a state that still differs, are tried again over the same connection.
            Err(fault @ (Fault::Write(_) | Fault::Differs { .. })) => Ok(Some(self.retry(fault))),
            Err(fault) if fault.is_transient() => Err(fault),
            Err(fault) => Ok(Some(self.retry(fault))),
        }
    }

    /// Records a fault and returns when to try again.
    fn retry(&mut self, fault: Fault) -> Duration {
        self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        self.progress.report(EventKind::Trouble { fault: fault.clone() });
        self.state.board.fail(self.name(), fault);
        let pause = self.state.options.push.pause;
        pause.wait(self.consecutive_failures.saturating_sub(1)).min(self.state.options.interval)
    }

    /// Reads the counters over the existing connection. A failure is not a fault of the switch's state. It is shown in
    /// the metrics, and as an event if the program's counters cannot be used at all.
    async fn count(&mut self, session: &Session) {
        let _permit = self.state.permits.acquire().await.expect("the semaphore stays open");
        let client = session.client();
        let limit = self.state.options.push.timeout;
        if matches!(self.counter_status, CounterStatus::Unasked) {
            self.counter_status = match timeout(limit, Names::ask(client)).await {
                Ok(Ok(names)) => CounterStatus::By(names),
                Ok(Err(CountersError::Client(_))) | Err(_) => CounterStatus::Unasked,
                Ok(Err(error)) => {
                    self.progress.report(EventKind::Uncounted { reason: error.to_string() });
                    CounterStatus::Never
                }
            };
        }
        let read = match &self.counter_status {
            CounterStatus::By(names) => timeout(limit, names.read(client)).await.ok().and_then(Result::ok),
            CounterStatus::Unasked | CounterStatus::Never => None,
        };
        self.state.board.change(self.name(), |status| status.counters = read.map(Arc::new));
    }

    /// Reads the switch, compares, and repairs the differences, within the timeout of one switch.
    async fn check(&mut self, session: &Session) -> Result<(), Fault> {
        let _permit = self.state.permits.acquire().await.expect("the semaphore stays open");
        let limit = self.state.options.push.timeout;
        let mut sent = Counts::default();
        let done = timeout(limit, self.check_once(session, &mut sent)).await;
        self.state.board.change(self.name(), |status| {
            status.checks += 1;
            status.updates += sent;
            status.repairs += u64::from(sent.total() > 0);
        });
        let late = |_| Fault::Timeout { timeout: limit, operation: self.progress.operation() };
        let entities = done.map_err(late).flatten()?;
        self.state.board.in_sync(self.name(), entities);
        if sent.total() > 0 {
            self.progress.report(EventKind::Repaired { updates: sent, entities });
        }
        Ok(())
    }

    async fn check_once(&mut self, session: &Session, sent: &mut Counts) -> Result<usize, Fault> {
        let desired = load(self.member.target_state.clone()).await?;
        let desired = device::bind(session.client(), desired, &self.progress).await?;
        let program = &desired.program;
        let commit = self.state.options.push.commit;
        let step = device::set_pipeline(session, program, commit, &self.progress).await?;
        if step != PipelineStep::Unchanged {
            self.counter_status = CounterStatus::Unasked;
            self.progress.report(EventKind::PipelineSet { step });
            self.state.board.change(self.name(), |status| status.pipelines_set += 1);
        }
        let read =
            live(session.client(), session.role(), program.info(), desired.state.len(), &self.progress)
                .await?;
        device::reconcile(session, &desired, read, &self.progress, sent).await
    }
}
