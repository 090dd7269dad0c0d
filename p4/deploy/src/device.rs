//! Brings one switch to its target state.
//!
//! In: a member of the fleet. Out: the result of the push, or a fault. Invariants: the switch is read before anything
//! is written, and read back afterwards. Between attempts, only the resolved target state of a plan is kept. Each
//! attempt may be killed at any point.

use std::sync::Arc;

use closc_runtime::ElectionId;
use closc_runtime::client::{Client, Commit, Pipeline, Primacy, Session};
use closc_runtime::order::OrderedUpdates;
use closc_runtime::proto::v1::get_forwarding_pipeline_config_request::ResponseType;

use crate::bind::OmittedEntries;
use crate::device_plan::DevicePlan;
use crate::difference::{Counts, difference, updates};
use crate::event::EventKind;
use crate::fault::{Fault, Operation, WriteFault};
use crate::options::PushOptions;
use crate::progress::Progress;
use crate::read::{SwitchState, live};
use crate::report::{PipelineStep, PushSummary};
use crate::state::State;
use crate::target::{Program, Target};
use crate::tree::{TargetState, TargetStateSource, TreeError};

/// Target state of a switch.
#[derive(Clone)]
pub(crate) enum Goal {
    /// The state of the tree.
    Tree(TargetStateSource),
    /// The updates of a plan, if the switch is in the state for which the plan was made.
    Plan { plan: Arc<DevicePlan>, program: Arc<Program> },
}

/// Pushes to a switch until it is up to date, with retries.
pub(crate) async fn push(
    target: &Target,
    goal: Goal,
    options: &PushOptions,
    progress: &Progress,
) -> Result<PushSummary, Fault> {
    let mut sent = Counts::default();
    let mut pipeline = PipelineStep::Unchanged;
    let mut goal = ResolvedGoal::of(goal).await?;
    let mut attempt = 1;
    loop {
        match attempt_push(target, &mut goal, options, progress, &mut sent, &mut pipeline).await {
            Ok((entities, left_out)) => {
                return Ok(PushSummary { pipeline, updates: sent, entities, attempts: attempt, left_out });
            }
            Err(fault) if attempt < options.attempts && fault.is_transient() => {
                progress.report(EventKind::Retrying { attempt, fault });
                tokio::time::sleep(options.pause.wait(attempt - 1)).await;
                attempt += 1;
            }
            Err(fault) => return Err(fault),
        }
    }
}

/// A goal whose state may not be known yet.
#[derive(Clone)]
enum ResolvedGoal {
    /// The state is known.
    Desired(Arc<TargetState>),
    /// The state follows from the plan and the live state, which has not been read yet.
    Plan { plan: Arc<DevicePlan>, program: Arc<Program> },
}

impl ResolvedGoal {
    async fn of(goal: Goal) -> Result<Self, Fault> {
        match goal {
            Goal::Tree(wanted) => load(wanted).await.map(ResolvedGoal::Desired),
            Goal::Plan { plan, program } => Ok(ResolvedGoal::Plan { plan, program }),
        }
    }

    fn program(&self) -> &Arc<Program> {
        match self {
            ResolvedGoal::Desired(desired) => &desired.program,
            ResolvedGoal::Plan { program, .. } => program,
        }
    }

    /// A plan for a new program was made for empty tables, so the entries that a switch keeps are cleared.
    fn commit(&self, options: &PushOptions) -> Commit {
        match self {
            ResolvedGoal::Desired(_) => options.commit,
            ResolvedGoal::Plan { .. } => Commit::Clear,
        }
    }
}

/// Reads the target state on a blocking thread, because a large file takes a while.
pub(crate) async fn load(wanted: TargetStateSource) -> Result<Arc<TargetState>, Fault> {
    match tokio::task::spawn_blocking(move || wanted()).await {
        Ok(Ok(desired)) => Ok(desired),
        Ok(Err(error)) => Err(Fault::Tree(Box::new(error))),
        Err(error) => Err(Fault::Ended { reason: error.to_string() }),
    }
}

/// Translates the target state to the ids of the program that the switch keeps, if it keeps one.
pub(crate) async fn bind(
    client: &Client,
    desired: Arc<TargetState>,
    progress: &Progress,
) -> Result<Arc<TargetState>, Fault> {
    let Some(roles) = desired.kept_roles.clone() else { return Ok(desired) };
    let operation = progress.begin(Operation::ComparingPipeline);
    let config = client.pipeline(ResponseType::P4infoAndCookie).await;
    let config = config.map_err(|source| Fault::Call { operation, source })?;
    let kept = |reason: String| Fault::Tree(Box::new(TreeError::Kept { reason }));
    let p4info =
        config.and_then(|config| config.p4info).ok_or_else(|| kept("it runs no program".to_owned()))?;
    let work = move || {
        let pipeline =
            Pipeline::from_message(p4info, Vec::new().into()).map_err(|error| kept(error.to_string()))?;
        let program = Arc::new(Program::with_kept_pipeline(pipeline));
        desired.bound(program, &roles).map(Arc::new).map_err(|error| Fault::Tree(Box::new(error)))
    };
    let ended = |error: tokio::task::JoinError| Fault::Ended { reason: error.to_string() };
    tokio::task::spawn_blocking(work).await.map_err(ended).flatten()
}

/// One attempt, from the connection to the read-back.
async fn attempt_push(
    target: &Target,
    goal: &mut ResolvedGoal,
    options: &PushOptions,
    progress: &Progress,
    sent: &mut Counts,
    pipeline: &mut PipelineStep,
) -> Result<(usize, Vec<OmittedEntries>), Fault> {
    let client = connect(target, options, progress).await?;
    let session = lead(client, target, options, progress).await?;
    let mut bound = goal.clone();
    if let ResolvedGoal::Desired(desired) = &mut bound {
        *desired = bind(session.client(), desired.clone(), progress).await?;
    }
    let unbound = std::mem::replace(goal, bound);
    let done = bring(&session, goal, options, progress, sent, pipeline).await;
    // The switch may run another program in the next attempt.
    if let ResolvedGoal::Desired(_) = &unbound {
        *goal = unbound;
    }
    let desired = done?;
    session.close().await;
    Ok((desired.state.len(), desired.omissions.clone()))
}

/// Sets the program and pushes the entries.
async fn bring(
    session: &Session,
    goal: &mut ResolvedGoal,
    options: &PushOptions,
    progress: &Progress,
    sent: &mut Counts,
    pipeline: &mut PipelineStep,
) -> Result<Arc<TargetState>, Fault> {
    let program = goal.program().clone();
    if let ResolvedGoal::Plan { plan, program } = goal {
        plan.check_pipeline(has_pipeline(session.client(), program, progress).await?)?;
    }
    let step = set_pipeline(session, &program, goal.commit(options), progress).await?;
    if step != PipelineStep::Unchanged {
        *pipeline = step;
        progress.report(EventKind::PipelineSet { step });
    }
    let expected = match goal {
        ResolvedGoal::Desired(desired) => desired.state.len(),
        ResolvedGoal::Plan { plan, .. } => plan.max_entities,
    };
    let read = live(session.client(), session.role(), program.info(), expected, progress).await?;
    let desired = match goal {
        ResolvedGoal::Desired(desired) => desired.clone(),
        ResolvedGoal::Plan { plan, program } => Arc::new(plan.resolve(program, &read.state, *pipeline)?),
    };
    *goal = ResolvedGoal::Desired(desired.clone());
    reconcile(session, &desired, read, progress, sent).await?;
    Ok(desired)
}

/// Writes the differences, and reads back if there were any. `read` is the live state.
pub(crate) async fn reconcile(
    session: &Session,
    desired: &TargetState,
    read: SwitchState,
    progress: &Progress,
    sent: &mut Counts,
) -> Result<usize, Fault> {
    let program = &desired.program;
    let info = program.info();
    read.check_support(info, &desired.state)?;
    let ordered = {
        let changes = difference(&desired.state, &read.state);
        updates(info, program.order(), &read.state, &changes)
    };
    drop(read);
    progress.report(EventKind::Compared { updates: Counts::of(&ordered.updates) });
    if !ordered.updates.is_empty() {
        write(session, program, &ordered, progress, sent).await?;
        let read = live(session.client(), session.role(), info, desired.state.len(), progress).await?;
        verify(desired, &read.state)?;
    }
    progress.report(EventKind::Verified { entities: desired.state.len() });
    Ok(desired.state.len())
}

fn verify(desired: &TargetState, live: &State) -> Result<(), Fault> {
    let changes = difference(&desired.state, live);
    if changes.is_empty() {
        return Ok(());
    }
    let info = desired.program.info();
    Err(Fault::Differs { changes: changes.iter().map(|change| change.describe(info)).collect() })
}

/// Connects to a switch.
pub(crate) async fn connect(
    target: &Target,
    options: &PushOptions,
    progress: &Progress,
) -> Result<Client, Fault> {
    let operation = progress.begin(Operation::Connecting);
    target.connect(options.client).await.map_err(|source| Fault::Call { operation, source })
}

/// Becomes primary.
pub(crate) async fn lead(
    client: Client,
    target: &Target,
    options: &PushOptions,
    progress: &Progress,
) -> Result<Session, Fault> {
    let operation = progress.begin(Operation::Arbitrating);
    let fault = |source| Fault::Call { operation: operation.clone(), source };
    let session = Session::open(client, target.controller.clone()).await.map_err(fault)?;
    let highest = match session.primacy() {
        // Without a primary, an id above the highest one seen so far disturbs no controller.
        Primacy::Vacant { highest } => highest,
        Primacy::Backup { primary } if options.take_over => primary,
        Primacy::Primary { .. }
        | Primacy::Backup { .. }
        | Primacy::Opening
        | Primacy::Lost { .. }
        | Primacy::Closed { .. } => None,
    };
    if let (Some(own), Some(highest)) = (target.controller.election, highest) {
        session.set_election(Some(next_election_id(own, highest))).await.map_err(fault)?;
        session.wait_primary(options.client.deadlines.arbitration).await.map_err(fault)?;
    }
    session.require_primary().map_err(fault)?;
    Ok(session)
}

/// Returns an election id above `highest` that still distinguishes controllers. The upper half counts how
/// often primacy changed, the lower half is the controller's own id. So if two controllers claim a vacant
/// primacy at once, the one with the greater own id wins, and their ids differ.
pub(crate) fn next_election_id(own: ElectionId, highest: ElectionId) -> ElectionId {
    const HALF: u32 = 64;
    let own = own.0 & (u128::MAX >> HALF);
    let round = highest.0 >> HALF;
    let same = round << HALF | own;
    if same > highest.0 {
        ElectionId(same)
    } else {
        ElectionId((round + 1).min(u128::MAX >> HALF) << HALF | own)
    }
}

/// Returns whether the switch runs this program.
pub(crate) async fn has_pipeline(
    client: &Client,
    program: &Program,
    progress: &Progress,
) -> Result<bool, Fault> {
    let operation = progress.begin(Operation::ComparingPipeline);
    client.has_pipeline(program.pipeline()).await.map_err(|source| Fault::Call { operation, source })
}

/// Sets a program unless the switch runs it already.
pub(crate) async fn set_pipeline(
    session: &Session,
    program: &Program,
    commit: Commit,
    progress: &Progress,
) -> Result<PipelineStep, Fault> {
    if has_pipeline(session.client(), program, progress).await? {
        return Ok(PipelineStep::Unchanged);
    }
    if program.is_kept() {
        let reason = "its program changed in the meantime".to_owned();
        return Err(Fault::Tree(Box::new(TreeError::Kept { reason })));
    }
    let operation = progress.begin(Operation::SettingPipeline);
    let set = session.commit_pipeline(program.pipeline(), commit).await;
    set.map(PipelineStep::from).map_err(|source| Fault::Call { operation, source })
}

/// Writes ordered updates.
async fn write(
    session: &Session,
    program: &Program,
    ordered: &OrderedUpdates,
    progress: &Progress,
    sent: &mut Counts,
) -> Result<(), Fault> {
    progress.begin(Operation::Writing);
    let options = session.client().options().write;
    let (updates, of) = (&ordered.updates, ordered.updates.len());
    let each = |answered| progress.report(EventKind::Written { updates: answered, of });
    match session.write_waves(updates, &ordered.waves, options, each).await {
        Ok(()) => {
            *sent += Counts::of(updates);
            Ok(())
        }
        Err(error) => {
            // Waves are written in order and each has one kind of update, so the counts of the first updates are exact.
            *sent += Counts::of(&updates[..error.n_applied]);
            Err(Fault::Write(Box::new(WriteFault::new(program.info(), updates, error))))
        }
    }
}
