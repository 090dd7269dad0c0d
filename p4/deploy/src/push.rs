//! A push: wave after wave, many switches at a time, with a gate between waves and a limit on failures.
//!
//! In: a fleet, or a plan and addresses. Out: [`PushReport`]. Invariants: only switches of one plane are pushed at a
//! time, in the order of their waves, so all other planes keep carrying traffic. After too many failures no further
//! switch is started.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use closc_artefacts::Files;
use thiserror::Error;
use tokio::task::JoinSet;

use crate::carrier::{CarriedSwitch, CarrierOptions};
use crate::device::{self, Goal};
use crate::device_plan::DevicePlan;
use crate::event::{EventKind, Observer, Reporter};
use crate::fault::Fault;
use crate::fleet::Fleet;
use crate::inventory::{Inventory, InventoryError, KnownPlane, RuleList};
use crate::links::Links;
use crate::options::PushOptions;
use crate::pair::Pair;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::report::{Outcome, PushReport, PushSummary};
use crate::sonic::{SonicGoal, SonicOptions, SonicSwitch};
use crate::switch::Switch;
use crate::target::{Program, Target};

/// The result of a gate: an error is the reason why the next wave must not start.
pub type GateResult = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Called after each wave but the last, with the plane that was finished; returns whether the fabric is healthy enough
/// to continue.
pub type Gate = Arc<dyn Fn(Option<u8>) -> GateResult + Send + Sync>;

/// Returns a gate that is always open.
pub fn open_gate() -> Gate {
    Arc::new(|_| Box::pin(std::future::ready(Ok(()))))
}

/// A plan and an inventory do not match.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanTargetError {
    /// A switch of the plan has no address.
    #[error("`{device}` of the plan is not in the inventory")]
    NoAddress {
        /// The switch.
        device: String,
    },
}

/// Pushes the target state to every switch of a fleet.
pub async fn push(fleet: &Fleet, options: &PushOptions, observer: Observer, gate: Gate) -> PushReport {
    let jobs = fleet.switches().into_iter().map(Job::Switch);
    let reporter = Reporter::new(observer);
    let report = run(jobs.collect(), options, reporter.clone(), gate).await;
    let factory = reporter.factory();
    PushReport {
        factory,
        left_alone: fleet.skipped_switches.clone(),
        uncarried: fleet.unsupported_files(),
        ..report
    }
}

/// Pushes a plan. A switch that has changed since the plan was made is rejected; switches that the plan does not
/// contain are skipped.
pub async fn push_plan(
    connections: &SwitchConnections,
    plan: &Plan,
    options: &PushOptions,
    observer: Observer,
    gate: Gate,
) -> Result<PushReport, PlanTargetError> {
    let no_address = |name: &String| PlanTargetError::NoAddress { device: name.clone() };
    let mut jobs = Vec::new();
    let mut sonic = BTreeMap::new();
    for (name, made) in &plan.sonic {
        let switch = connections.sonic.get(name).ok_or_else(|| no_address(name))?.of_plan(made.clone());
        sonic.insert(name, switch);
    }
    for (name, device) in &plan.devices {
        let target = connections.targets.get(name).ok_or_else(|| no_address(name))?;
        let Some(program) = plan.programs.get(&device.program) else { continue };
        let (target, plan, program) = (target.clone(), device.clone(), program.clone());
        jobs.push(match sonic.remove(name) {
            Some(sonic) => Job::Switch(Arc::new(Pair::from_plan(target, plan, program, sonic))),
            None => Job::Planned { target: Box::new(target), plan, program },
        });
    }
    jobs.extend(sonic.into_values().map(|switch| Job::Switch(Arc::new(switch))));
    for (name, made) in &plan.carried_plans {
        let switch =
            connections.carried_switches.get(name).ok_or_else(|| no_address(name))?.of_plan(made.clone());
        jobs.push(Job::Switch(Arc::new(switch)));
    }
    let reporter = Reporter::new(observer);
    let report = run(jobs, options, reporter.clone(), gate).await;
    let (factory, left_alone) = (reporter.factory(), plan.skipped_switches.clone());
    Ok(PushReport { factory, left_alone, uncarried: plan.unsupported_files(), ..report })
}

/// Connections to the switches of a plan.
#[derive(Clone, Default)]
pub struct SwitchConnections {
    targets: BTreeMap<String, Target>,
    sonic: BTreeMap<String, SonicSwitch>,
    carried_switches: BTreeMap<String, CarriedSwitch>,
}

impl SwitchConnections {
    /// Finds the switches of a plan in an inventory. `beside` reads the files that the inventory names.
    pub fn new(
        inventory: &Inventory,
        beside: &dyn Files,
        plan: &Plan,
        options: SonicOptions,
    ) -> Result<Self, InventoryError> {
        let mut made = SwitchConnections::default();
        let known = |plane| KnownPlane { of_switch: plane, n_planes: 0 };
        for (name, planned) in &plan.devices {
            let Some(device) = inventory.device(name)? else { continue };
            let mut target = Target::from_inventory(name, &device, &inventory.defaults, beside)?;
            let (list, known) = (RuleList::P4Runtime, known(planned.plane));
            target.plane = inventory.plane_in(list, name, device.plane, known)?;
            made.targets.insert(name.clone(), target);
        }
        let (mut links, options) = (Links::new(inventory, beside), Arc::new(options));
        for (name, planned) in &plan.sonic {
            let Some((link, plane)) = links.of(name, known(planned.plane))? else { continue };
            let goal = SonicGoal::of_plan(planned.clone());
            let (name, options, missed) = (name.clone(), options.clone(), planned.undelivered_files.clone());
            let switch = SonicSwitch { name, plane, link, goal, wave: 0, options, undelivered_files: missed };
            made.sonic.insert(switch.name.clone(), switch);
        }
        Ok(made)
    }

    /// Adds the switches of a plan that are configured by files.
    pub fn with_carried(
        mut self,
        inventory: &Inventory,
        beside: &dyn Files,
        plan: &Plan,
        options: CarrierOptions,
    ) -> Result<Self, InventoryError> {
        let (links, options) = (Links::new(inventory, beside), Arc::new(options));
        for (name, planned) in &plan.carried_plans {
            if let Some(switch) = CarriedSwitch::from_plan(name, planned, &links, options.clone())? {
                self.carried_switches.insert(name.clone(), switch);
            }
        }
        Ok(self)
    }

    /// Returns the switches of a fleet.
    pub fn of(fleet: &Fleet) -> Self {
        let targets = fleet.members.iter().map(|member| (member.target.name.clone(), member.target.clone()));
        let sonic = fleet.sonic.iter().map(|switch| (switch.name.clone(), switch.clone()));
        let carried = fleet.carried_switches.iter().map(|switch| (switch.name.clone(), switch.clone()));
        SwitchConnections {
            targets: targets.collect(),
            sonic: sonic.collect(),
            carried_switches: carried.collect(),
        }
    }

    /// Sets the wave of each switch.
    #[must_use]
    pub fn in_waves(mut self, wave: impl Fn(&str) -> usize) -> Self {
        self.targets.iter_mut().for_each(|(name, target)| target.wave = wave(name));
        self.sonic.iter_mut().for_each(|(name, switch)| switch.wave = wave(name));
        self.carried_switches.iter_mut().for_each(|(name, switch)| switch.wave = wave(name));
        self
    }
}

/// A switch and its target.
enum Job {
    /// The target state of the switch itself.
    Switch(Arc<dyn Switch>),
    /// The updates of a plan.
    Planned { target: Box<Target>, plan: Arc<DevicePlan>, program: Arc<Program> },
}

impl Job {
    fn name(&self) -> &str {
        match self {
            Job::Switch(switch) => switch.name(),
            Job::Planned { target, .. } => &target.name,
        }
    }

    fn plane(&self) -> Option<u8> {
        match self {
            Job::Switch(switch) => switch.plane(),
            Job::Planned { target, .. } => target.plane,
        }
    }

    fn wave(&self) -> usize {
        match self {
            Job::Switch(switch) => switch.wave(),
            Job::Planned { target, .. } => target.wave,
        }
    }

    async fn push(&self, options: &PushOptions, progress: &Progress) -> Result<PushSummary, Fault> {
        match self {
            Job::Switch(switch) => switch.push(options, progress).await,
            Job::Planned { target, plan, program } => {
                let goal = Goal::Plan { plan: plan.clone(), program: program.clone() };
                device::push(target, goal, options, progress).await
            }
        }
    }
}

async fn run(jobs: Vec<Job>, options: &PushOptions, reporter: Reporter, gate: Gate) -> PushReport {
    let options = Arc::new(*options);
    let mut waves: BTreeMap<(usize, Option<u8>), Vec<Job>> = BTreeMap::new();
    for job in jobs {
        waves.entry((job.wave(), job.plane())).or_default().push(job);
    }
    let mut report = PushReport::default();
    let n_waves = waves.len();
    for (place, ((_, plane), jobs)) in waves.into_iter().enumerate() {
        if report.stopped.is_some() {
            skip(jobs, &mut report);
            continue;
        }
        wave(plane, jobs, &options, &reporter, &mut report).await;
        if report.stopped.is_none() && place + 1 < n_waves {
            ask(plane, &gate, &reporter, &mut report).await;
        }
    }
    report
}

/// Asks the gate whether the next wave may start.
async fn ask(plane: Option<u8>, gate: &Gate, reporter: &Reporter, report: &mut PushReport) {
    let reporter = reporter.of_plane(plane);
    reporter.send(EventKind::GateAsked);
    match gate(plane).await {
        Ok(()) => reporter.send(EventKind::GatePassed),
        Err(reason) => {
            stop(report, &reporter, format!("the gate failed after {}: {reason}", describe_plane(plane)));
        }
    }
}

fn stop(report: &mut PushReport, reporter: &Reporter, reason: String) {
    reporter.send(EventKind::Stopped { reason: reason.clone() });
    report.stopped.get_or_insert(reason);
}

fn describe_plane(plane: Option<u8>) -> String {
    plane.map_or_else(|| "the switches without a plane".to_owned(), |plane| format!("plane {plane}"))
}

fn skip(jobs: impl IntoIterator<Item = Job>, report: &mut PushReport) {
    for job in jobs {
        report.devices.insert(job.name().to_owned(), Outcome::Skipped);
    }
}

/// Pushes to the switches of one plane.
async fn wave(
    plane: Option<u8>,
    jobs: Vec<Job>,
    options: &Arc<PushOptions>,
    reporter: &Reporter,
    report: &mut PushReport,
) {
    let own = reporter.of_plane(plane);
    own.send(EventKind::WaveStarted { devices: jobs.len() });
    let names: Vec<String> = jobs.iter().map(|job| job.name().to_owned()).collect();
    let mut left = jobs.into_iter();
    let mut running: JoinSet<(String, Outcome)> = JoinSet::new();
    loop {
        while report.stopped.is_none() && running.len() < options.max_parallel.max(1) {
            let Some(job) = left.next() else { break };
            running.spawn(one(job, options.clone(), reporter.clone()));
        }
        match running.join_next().await {
            None => break,
            Some(Ok((name, outcome))) => {
                report.devices.insert(name, outcome);
            }
            // The error does not name the switch. Below, every switch without an outcome is reported as lost.
            Some(Err(error)) => tracing::error!(%error, "the task of a switch ended unexpectedly"),
        }
        let n_failed = report.failures().count();
        if n_failed > options.max_failures && report.stopped.is_none() && left.len() > 0 {
            stop(report, &own, too_many(n_failed, options));
        }
    }
    skip(left, report);
    for name in &names {
        let lost = || Outcome::Failed(Fault::Ended { reason: "it did not return".to_owned() });
        report.devices.entry(name.clone()).or_insert_with(lost);
    }
    let failed = names.iter().filter(|name| matches!(report.devices[*name], Outcome::Failed(_))).count();
    let good = names.iter().filter(|name| matches!(report.devices[*name], Outcome::Good(_))).count();
    own.send(EventKind::WaveDone { good, failed });
    let n_failed = report.failures().count();
    if n_failed > options.max_failures && report.stopped.is_none() {
        stop(report, &own, too_many(n_failed, options));
    }
}

fn too_many(n_failed: usize, options: &PushOptions) -> String {
    format!("{n_failed} switches failed; at most {} may fail", options.max_failures)
}

/// Pushes to one switch, within its timeout.
async fn one(job: Job, options: Arc<PushOptions>, reporter: Reporter) -> (String, Outcome) {
    let reporter = reporter.of_device(job.name(), job.plane());
    if let Err(reason) = reporter.ask(EventKind::DeviceStarted) {
        return (job.name().to_owned(), report_failure(&reporter, Fault::Refused { reason }));
    }
    let progress = Progress::new(reporter.clone());
    let work = tokio::time::timeout(options.timeout, job.push(&options, &progress));
    let outcome = match work.await {
        Ok(Ok(good)) => {
            reporter.send(EventKind::DeviceDone { updates: good.updates });
            Outcome::Good(good)
        }
        Ok(Err(fault)) => report_failure(&reporter, fault),
        Err(_) => report_failure(
            &reporter,
            Fault::Timeout { timeout: options.timeout, operation: progress.operation() },
        ),
    };
    (job.name().to_owned(), outcome)
}

fn report_failure(reporter: &Reporter, fault: Fault) -> Outcome {
    reporter.send(EventKind::DeviceFailed { fault: fault.clone() });
    Outcome::Failed(fault)
}
