//! A switch with two transports: a SONiC transport for CONFIG_DB, and P4Runtime for table entries.
//!
//! In: both transports of a switch. Out: a [`Switch`]. Invariants: no entry names a port that CONFIG_DB
//! lacks. Added ports are configured, and exist, before entries name them; entries of removed ports are
//! deleted before the ports are. No state is kept, so the next push completes an interrupted one.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_runtime::client::ClientError;
use tonic::Code;

use crate::dependents::intermediate_state;
use crate::device::{self, Goal, load};
use crate::device_drift::{DeviceDrift, Difference};
use crate::device_plan::DevicePlan;
use crate::difference::Counts;
use crate::event::EventKind;
use crate::fault::{Fault, Operation};
use crate::member::Member;
use crate::options::PushOptions;
use crate::progress::Progress;
use crate::read::live;
use crate::report::{PipelineStep, PushSummary};
use crate::sonic::{PortMoves, SonicSwitch};
use crate::state::State;
use crate::switch::{Switch, Work};
use crate::target::{Program, Target};
use crate::tree::TargetState;

/// A switch with two transports.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) member: Member,
    pub(crate) sonic: SonicSwitch,
    /// Entries of a saved plan, instead of the member's target state.
    pub(crate) saved_plan: Option<(Arc<DevicePlan>, Arc<Program>)>,
}

impl Switch for Pair {
    fn name(&self) -> &str {
        self.member.name()
    }

    fn plane(&self) -> Option<u8> {
        self.member.plane()
    }

    fn wave(&self) -> usize {
        self.member.wave()
    }

    fn push<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, PushSummary> {
        Box::pin(self.bring(options, progress))
    }

    fn drift<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, DeviceDrift> {
        Box::pin(self.compare(options, progress))
    }
}

impl Pair {
    /// Returns a switch with a plan as its target.
    pub(crate) fn from_plan(
        target: Target,
        entries: Arc<DevicePlan>,
        program: Arc<Program>,
        sonic: SonicSwitch,
    ) -> Self {
        let nothing = Arc::new(TargetState::new(program.clone(), State::default()));
        Pair { member: Member::new(target, nothing), sonic, saved_plan: Some((entries, program)) }
    }

    async fn bring(&self, options: &PushOptions, progress: &Progress) -> Result<PushSummary, Fault> {
        let Some((plan, program)) = &self.saved_plan else { return self.bring_both(options, progress).await };
        let mut attempt = 1;
        let desired = loop {
            match self.resolve(plan, program, options, progress).await {
                Ok(desired) => break Arc::new(desired),
                Err(fault) if attempt < options.attempts && fault.is_transient() => {
                    progress.report(EventKind::Retrying { attempt, fault });
                    tokio::time::sleep(options.pause.wait(attempt - 1)).await;
                    attempt += 1;
                }
                Err(fault) => return Err(fault),
            }
        };
        let member = Member::new(self.member.target.clone(), desired);
        let pair = Pair { member, sonic: self.sonic.clone(), saved_plan: None };
        pair.bring_both(options, progress).await
    }

    /// Computes the target state from the plan, before anything is changed.
    async fn resolve(
        &self,
        plan: &DevicePlan,
        program: &Arc<Program>,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<TargetState, Fault> {
        if plan.set_pipeline {
            return plan.resolve(program, &State::default(), PipelineStep::Unchanged);
        }
        let target = &self.member.target;
        let client = device::connect(target, options, progress).await?;
        plan.check_pipeline(device::has_pipeline(&client, program, progress).await?)?;
        let read =
            live(&client, &target.controller.role, program.info(), plan.max_entities, progress).await?;
        plan.resolve(program, &read.state, PipelineStep::Unchanged)
    }

    /// Removes entries of removed ports, then pushes CONFIG_DB, then the entries of added ports.
    async fn bring_both(&self, options: &PushOptions, progress: &Progress) -> Result<PushSummary, Fault> {
        let moves = self.sonic.moves(options, progress).await?;
        let mut sent = Counts::default();
        // A switch without a device id has no entries, and a reload removes all entries.
        if !moves.removed_ids.is_empty() && moves.has_number && !moves.is_reload {
            sent += self.withdraw(&moves, options, progress).await?;
        }
        let configured = self.sonic.push(options, progress).await?;
        progress.report(EventKind::Configured { updates: configured.updates });
        self.sonic.until_there(options, progress).await?;
        let is_changed = configured.updates.total() > 0;
        let mut pushed = self.entries(is_changed, options, progress).await?;
        pushed.updates += sent;
        pushed.updates += configured.updates;
        pushed.entities += configured.entities;
        pushed.attempts = pushed.attempts.max(configured.attempts);
        Ok(pushed)
    }

    /// Pushes the entries. After a change of CONFIG_DB the P4Runtime server may not have applied it yet, so this
    /// retries until the timeout of the switch.
    async fn entries(
        &self,
        is_changed: bool,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<PushSummary, Fault> {
        let mut n_waits = 0;
        loop {
            let goal = Goal::Tree(self.member.target_state.clone());
            match device::push(&self.member.target, goal, options, progress).await {
                Err(fault) if is_changed && is_starting(&fault) => {
                    progress.report(EventKind::Retrying { attempt: n_waits + 1, fault });
                    tokio::time::sleep(options.pause.wait(n_waits)).await;
                    n_waits += 1;
                }
                done => return done,
            }
        }
    }

    /// Deletes the entries of removed ports, and pushes everything that needs no added port.
    async fn withdraw(
        &self,
        moves: &PortMoves,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<Counts, Fault> {
        let mut sent = Counts::default();
        let mut attempt = 1;
        loop {
            match self.withdraw_once(moves, options, progress, &mut sent).await {
                Ok(()) => return Ok(sent),
                Err(fault) if attempt < options.attempts && fault.is_transient() => {
                    progress.report(EventKind::Retrying { attempt, fault });
                    tokio::time::sleep(options.pause.wait(attempt - 1)).await;
                    attempt += 1;
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    async fn withdraw_once(
        &self,
        moves: &PortMoves,
        options: &PushOptions,
        progress: &Progress,
        sent: &mut Counts,
    ) -> Result<(), Fault> {
        let target = &self.member.target;
        let desired = load(self.member.target_state.clone()).await?;
        let client = device::connect(target, options, progress).await?;
        let desired = device::bind(&client, desired, progress).await?;
        let program = &desired.program;
        // If the switch runs another program, this one cannot name its entries.
        if !device::has_pipeline(&client, program, progress).await? {
            return Ok(());
        }
        let session = device::lead(client, target, options, progress).await?;
        let info = program.info();
        let read = live(session.client(), session.role(), info, desired.state.len(), progress).await?;
        let states = (&desired.state, &read.state);
        let state = intermediate_state(info, states, (&moves.removed_ids, &moves.added_ids))
            .map_err(|invalid| Fault::InvalidState { operation: progress.operation(), invalid })?;
        let goal = TargetState::new(Arc::clone(program), state);
        device::reconcile(&session, &goal, read, progress, sent).await?;
        session.close().await;
        Ok(())
    }

    /// Returns the differences of both transports. If the switch accepts no controller because of its configuration,
    /// the difference of the configuration is reported.
    async fn compare(&self, options: &PushOptions, progress: &Progress) -> Result<DeviceDrift, Fault> {
        let configured = self.sonic.drift(options, progress).await?;
        let entries = match self.member.drift(options, progress).await {
            Err(fault) if configured != DeviceDrift::None && is_starting(&fault) => {
                let wanted = format!("unreadable entries: {fault}");
                let objects = BTreeMap::from([("entries".to_owned(), 1)]);
                DeviceDrift::Entries { objects, differences: vec![Difference::Missing { wanted }] }
            }
            entries => entries?,
        };
        Ok(merge_drift(configured, entries))
    }
}

/// Returns whether a switch may accept a controller soon: it does not answer yet, or has no device id or program yet.
fn is_starting(fault: &Fault) -> bool {
    match fault {
        Fault::Call { operation: Operation::Connecting | Operation::Arbitrating, source } => {
            source.is_transient()
                || matches!(source, ClientError::Protocol { .. })
                || matches!(source.code(), Some(Code::FailedPrecondition | Code::NotFound))
        }
        _ => false,
    }
}

/// Merges the differences of both transports.
fn merge_drift(configured: DeviceDrift, entries: DeviceDrift) -> DeviceDrift {
    match (configured, entries) {
        (DeviceDrift::None, other) | (other, DeviceDrift::None) => other,
        (DeviceDrift::Unknown(fault), _) | (_, DeviceDrift::Unknown(fault)) => DeviceDrift::Unknown(fault),
        (one, other) => {
            let (mut objects, mut differences) = parts(one);
            let (more, others) = parts(other);
            objects.extend(more);
            differences.extend(others);
            DeviceDrift::Entries { objects, differences }
        }
    }
}

/// Returns counts and differences; a different program is one difference.
fn parts(drift: DeviceDrift) -> (BTreeMap<String, u64>, Vec<Difference>) {
    match drift {
        DeviceDrift::Entries { objects, differences } => (objects, differences),
        DeviceDrift::Pipeline { wanted, live } => {
            let live = live.map_or_else(|| "none".to_owned(), |live| live.to_string());
            let difference = Difference::Changed {
                wanted: format!("pipeline {wanted}"),
                live: format!("pipeline {live}"),
            };
            (BTreeMap::from([("pipeline".to_owned(), 1)]), vec![difference])
        }
        DeviceDrift::None | DeviceDrift::Unknown(_) => (BTreeMap::new(), Vec::new()),
    }
}
