//! A push that was computed but not performed yet: the updates for each switch, with digests of its state
//! before and after.
//!
//! In: the wanted and the live state. Out: [`Plan`], which can be shown, saved, loaded and pushed. Invariants: exactly
//! the changes that are shown are sent; a switch that has changed since rejects the plan.

mod carried;
mod file;
mod preview;
mod show;
mod sonic;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_artefacts::carriers::UndeliveredFile;

pub use file::{PlanFile, PlanFileError};
pub use preview::Preview;

use crate::carrier::CarriedPlan;
use crate::device::{self, load};
use crate::device_plan::DevicePlan;
use crate::difference::{Counts, difference, updates};
use crate::event::Reporter;
use crate::factory::FactoryNote;
use crate::fault::{DeviceError, Fault};
use crate::fleet::Fleet;
use crate::member::Member;
use crate::options::PushOptions;
use crate::parallel::map_parallel;
use crate::progress::Progress;
use crate::read::live;
use crate::skipped_switches::SkippedSwitches;
use crate::sonic::SonicPlan;
use crate::state::State;
use crate::target::Program;
use crate::tree::{TargetState, TreeError};
use crate::unsupported_files::{UnsupportedFile, group_unsupported};

/// Data to send to the switches of a fleet.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Name of the fabric.
    pub fabric: String,
    /// The programs that the switches will run, by name.
    pub programs: BTreeMap<String, Arc<Program>>,
    /// The switches by name.
    pub devices: BTreeMap<String, Arc<DevicePlan>>,
    /// The switches with a CONFIG_DB to push, by name. A switch that is also in `devices` has two transports.
    pub(crate) sonic: BTreeMap<String, SonicPlan>,
    /// The switches that are configured by files, by name.
    pub(crate) carried_plans: BTreeMap<String, CarriedPlan>,
    /// Files of devices that no transport carries, by device.
    pub(crate) undelivered_files: BTreeMap<String, Vec<UndeliveredFile>>,
    /// Switches of the tree that the push skips; not part of a saved plan.
    pub(crate) skipped_switches: Vec<SkippedSwitches>,
    /// Factory settings that switches lack, and files on switches that undo a push; not part of a saved plan.
    pub(crate) factory: Vec<FactoryNote>,
}

/// A plan, or the switches for which it could not be made.
pub type PlanResult = Result<Plan, Vec<DeviceError>>;

/// Reads every switch and computes what a push would send. Nothing is written, and no primacy is needed.
pub async fn plan(fleet: &Fleet, options: &PushOptions, observer: crate::event::Observer) -> PlanResult {
    let reporter = Reporter::new(observer);
    let all = reporter.clone();
    let options = *options;
    let sonic = of_sonic(fleet, &options, &reporter).await;
    let carried = carried::of(fleet, &options, &reporter).await;
    let unnumbered = sonic.iter().filter(|(_, made)| made.as_ref().is_ok_and(|made| !made.has_number));
    let unnumbered: BTreeSet<String> = unnumbered.map(|(name, _)| name.clone()).collect();
    let made = map_parallel(fleet.members.clone(), options.max_parallel, move |member| {
        let reporter = reporter.of_device(&member.target.name, member.target.plane);
        let is_new = unnumbered.contains(&member.target.name);
        async move {
            let progress = Progress::new(reporter);
            let work = async {
                if is_new { from_nothing(&member).await } else { one(&member, &options, &progress).await }
            };
            let made = tokio::time::timeout(options.timeout, work).await;
            let late = |_| Fault::Timeout { timeout: options.timeout, operation: progress.operation() };
            (member.target.name, made.map_err(late).flatten())
        }
    })
    .await;
    let mut plan = Plan {
        fabric: fleet.fabric.clone(),
        undelivered_files: fleet.undelivered_files.clone(),
        skipped_switches: fleet.skipped_switches.clone(),
        factory: all.factory(),
        ..Plan::default()
    };
    let mut failed = Vec::new();
    for (device, made) in sonic {
        match made {
            Ok(made) => drop(plan.sonic.insert(device, made)),
            Err(fault) => failed.push(DeviceError { device, fault }),
        }
    }
    for (device, made) in carried {
        match made {
            Ok(made) => drop(plan.carried_plans.insert(device, made)),
            Err(fault) => failed.push(DeviceError { device, fault }),
        }
    }
    for (device, made) in made {
        match made {
            Ok((program, made)) => plan.add(device, program, made),
            Err(fault) => failed.push(DeviceError { device, fault }),
        }
    }
    if failed.is_empty() { Ok(plan) } else { Err(failed) }
}

/// Computes what a push would do to the SONiC switches.
async fn of_sonic(
    fleet: &Fleet,
    options: &PushOptions,
    reporter: &Reporter,
) -> Vec<(String, Result<SonicPlan, Fault>)> {
    let (reporter, options) = (reporter.clone(), *options);
    map_parallel(fleet.sonic.clone(), options.max_parallel, move |switch| {
        let reporter = reporter.of_device(&switch.name, switch.plane);
        async move {
            let progress = Progress::new(reporter);
            let made = tokio::time::timeout(options.timeout, switch.plan(&options, &progress)).await;
            let late = |_| Fault::Timeout { timeout: options.timeout, operation: progress.operation() };
            (switch.name.clone(), made.map_err(late).flatten())
        }
    })
    .await
}

/// Plans a switch without a P4Runtime device id, which accepts no controller before its CONFIG_DB is pushed.
async fn from_nothing(member: &Member) -> Result<(Arc<Program>, DevicePlan), Fault> {
    let desired = load(member.target_state.clone()).await?;
    if desired.kept_roles.is_some() {
        let reason = "it has no device id yet (NODE_CFG), so its program is unknown".to_owned();
        return Err(Fault::Tree(Box::new(TreeError::Kept { reason })));
    }
    Ok(plan_device(member, &desired, &State::default(), true))
}

async fn one(
    member: &Member,
    options: &PushOptions,
    progress: &Progress,
) -> Result<(Arc<Program>, DevicePlan), Fault> {
    let desired = load(member.target_state.clone()).await?;
    let client = device::connect(&member.target, options, progress).await?;
    let desired = device::bind(&client, desired, progress).await?;
    let program = &desired.program;
    let set_pipeline = !device::has_pipeline(&client, program, progress).await?;
    let state = if set_pipeline {
        State::default()
    } else {
        let (role, expected) = (&member.target.controller.role, desired.state.len());
        let read = live(&client, role, program.info(), expected, progress).await?;
        read.check_support(program.info(), &desired.state)?;
        read.state
    };
    Ok(plan_device(member, &desired, &state, set_pipeline))
}

/// Plans the updates from the live state of a switch to its wanted state.
fn plan_device(
    member: &Member,
    target: &TargetState,
    state: &State,
    set_pipeline: bool,
) -> (Arc<Program>, DevicePlan) {
    let program = target.program.clone();
    let changes = difference(&target.state, state);
    let ordered = updates(program.info(), program.order(), state, &changes);
    let made = DevicePlan {
        plane: member.target.plane,
        program: program.name().to_owned(),
        set_pipeline,
        live: state.digest(program.info()),
        target_digest: target.state.digest(program.info()),
        omissions: target.omissions.clone(),
        max_entities: state.len() + ordered.updates.len(),
        updates: ordered.updates,
    };
    (program, made)
}

impl Plan {
    fn add(&mut self, device: String, program: Arc<Program>, mut plan: DevicePlan) {
        // Different programs with the same name are distinguished by their cookies.
        let clash = self.programs.get(&plan.program);
        if clash.is_some_and(|known| known.pipeline().cookie() != program.pipeline().cookie()) {
            plan.program = format!("{}-{:016x}", plan.program, program.pipeline().cookie());
        }
        self.programs.entry(plan.program.clone()).or_insert(program);
        self.devices.insert(device, Arc::new(plan));
    }

    /// Returns whether a push would send nothing.
    pub fn is_empty(&self) -> bool {
        self.devices.values().all(|device| !device.changes())
            && self.sonic.values().all(|made| !made.changes())
            && self.carried_plans.values().all(|made| !made.changes())
    }

    /// Returns the switches of the plan, each once, with their planes.
    pub fn switches(&self) -> impl Iterator<Item = (&str, Option<u8>)> {
        let devices = self.devices.iter().map(|(name, made)| (name, made.plane));
        let sonic = self.sonic.iter().filter(|(name, _)| !self.devices.contains_key(*name));
        let sonic = sonic.map(|(name, made)| (name, made.plane));
        let carried = self.carried_plans.iter().map(|(name, made)| (name, made.plane));
        devices.chain(sonic).chain(carried).map(|(name, plane)| (name.as_str(), plane))
    }

    /// Returns whether the plan has switches that keep backups of earlier pushes.
    pub fn has_backups(&self) -> bool {
        !self.carried_plans.is_empty()
    }

    /// Keeps only the selected switches.
    pub fn retain(&mut self, select: impl Fn(&str) -> bool) {
        self.devices.retain(|name, _| select(name));
        self.undelivered_files.retain(|name, _| select(name));
        self.sonic.retain(|name, _| select(name));
        self.carried_plans.retain(|name, _| select(name));
    }

    /// Returns the number of switches.
    pub fn n_switches(&self) -> usize {
        self.switches().count()
    }

    /// Returns the switches whose configuration a push would change.
    pub fn reconfigured_switches(&self) -> impl Iterator<Item = &str> {
        let carried = self.carried_plans.iter().filter(|(_, made)| made.changes()).map(|(name, _)| name);
        let sonic = self.sonic.iter().filter(|(_, made)| made.changes()).map(|(name, _)| name);
        sonic.chain(carried).map(String::as_str)
    }

    /// Returns the files of its switches that no transport carries.
    pub fn unsupported_files(&self) -> Vec<UnsupportedFile> {
        let devices = self.undelivered_files.iter().map(|(name, missed)| (name.as_str(), missed.as_slice()));
        group_unsupported(
            devices.chain(
                self.sonic.iter().map(|(name, made)| (name.as_str(), made.undelivered_files.as_slice())),
            ),
        )
    }

    /// Returns the factory settings that switches lack, and files on switches that undo a push.
    pub fn factory(&self) -> &[FactoryNote] {
        &self.factory
    }

    /// Returns the number of updates that a push would send.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for device in self.devices.values() {
            sum += Counts::of(&device.updates);
        }
        sum
    }

    /// Shows how many switches change, then exactly what will be sent; switches with the same updates are grouped.
    pub fn show(&self) -> String {
        self.verdict() + &show::updates(self) + &self.other_sections()
    }

    /// Like [`Plan::show`]. A long list of entries becomes numbers of entries for each table, and `more` is the line
    /// that follows it.
    pub fn overview(&self, more: &str) -> String {
        let (updates, is_short) = show::overview(self);
        let more = if is_short { more } else { "" };
        self.verdict() + &updates + &self.other_sections() + more
    }

    fn verdict(&self) -> String {
        let uncarried: String =
            self.unsupported_files().iter().map(|uncarried| uncarried.line() + "\n").collect();
        show::verdict(self) + &sonic::verdict(self) + &carried::verdict(self) + &uncarried
    }

    fn other_sections(&self) -> String {
        sonic::show(self) + &carried::show(self) + &show::show_omissions(self)
    }

    /// Returns the same information for programs.
    pub fn preview(&self) -> Preview {
        Preview::of(self)
    }

    /// Writes the plan as a file.
    pub fn to_json(&self) -> String {
        file::write(self)
    }

    /// Reads a plan that [`Plan::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Self, PlanFileError> {
        file::read(text)
    }
}
