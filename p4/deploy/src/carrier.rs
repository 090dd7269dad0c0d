//! Switches that are configured by files over `ssh`: EOS, Cumulus Linux, FRRouting and Linux.
//!
//! In: the files of a tree for a switch, an address. Out: the switch has the configuration of the files, confirmed and
//! saved, or is unchanged. Invariants: a switch is read before anything changes and read back over a new connection.
//! Until the read-back succeeds, the switch rolls back automatically. Every file of the tree is compared, or reported.

mod eos;
mod facts;
mod frr;
mod guard;
mod kernel;
mod nvue;
mod plan;
mod queues;
mod saved_files;
mod system;
mod unix;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use closc_artefacts::carriers::{SwitchFile, Transport};
use closc_platform::{FactorySetting, Os};
pub(crate) use plan::CarriedPlan;
pub(crate) use system::Texts;

use facts::Finding;
use system::{ChangeParameters, System, SystemState};

use crate::device_drift::{DeviceDrift, Difference};
use crate::difference::Counts;
use crate::event::EventKind;
use crate::factory::FactoryState;
use crate::fault::{Fault, Operation};
use crate::folders::Place;
use crate::inventory::{InventoryError, KnownPlane};
use crate::links::Links;
use crate::options::PushOptions;
use crate::progress::Progress;
use crate::report::{PipelineStep, PushSummary};
use crate::sonic::Ssh;
use crate::state::{ObjectDigest, StateDigest};
use crate::switch::{Switch, Work};
use crate::tree::Tree;

/// Time limit for reading, staging or confirming.
const READ_LIMIT: Duration = Duration::from_mins(2);

/// Time limit of a rollback.
const ROLL_BACK_LIMIT: Duration = Duration::from_mins(15);

/// Every operating system, by its keyword in fabric files.
static SYSTEMS: [(&str, &dyn System); 4] = [
    ("nvue", &nvue::Nvue),
    ("eos", &eos::Eos),
    ("frr", &unix::Unix { has_frr: true }),
    ("linux", &unix::Unix { has_frr: false }),
];

/// The options of a push, and its progress.
type PushContext<'a> = (&'a PushOptions, &'a Progress);

/// Common options of all these switches.
#[derive(Debug, Clone)]
pub struct CarrierOptions {
    /// Time that a switch waits for a confirmation before it rolls a change back.
    pub confirm: Duration,
    /// An `ssh` configuration file to use instead of the user's.
    pub ssh_config: Option<String>,
    /// The name of the push, under which a switch keeps a backup of its earlier state.
    pub run: String,
    /// The push to undo, for a rollback.
    pub undo: Option<String>,
}

impl Default for CarrierOptions {
    fn default() -> Self {
        CarrierOptions {
            confirm: Duration::from_mins(15),
            ssh_config: None,
            run: "unnamed".to_owned(),
            undo: None,
        }
    }
}

/// A switch that is reached over `ssh`.
#[derive(Clone)]
pub(crate) struct CarriedSwitch {
    pub(crate) name: String,
    pub(crate) plane: Option<u8>,
    /// The keyword of its operating system.
    pub(crate) os: &'static str,
    pub(crate) ssh: Ssh,
    pub(crate) place: Place,
    pub(crate) goal: CarriedGoal,
    /// Its wave in a push.
    pub(crate) wave: usize,
    pub(crate) options: Arc<CarrierOptions>,
}

/// Target state of a switch.
#[derive(Clone)]
pub(crate) enum CarriedGoal {
    /// The files of the tree.
    Tree(Arc<Tree>),
    /// The files and changes of a plan.
    Plan(Arc<CarriedPlan>),
}

/// Returns whether switches that run `os` are reached over `ssh`.
pub fn has_carrier(os: &str) -> bool {
    system(os).is_some()
}

/// Returns whether switches of an operating system read scripts with a shell.
pub(crate) fn has_shell(os: &str) -> bool {
    system(os).is_none_or(|system| system.shell().is_some())
}

/// Returns whether switches of an operating system have folders for closc.
pub(crate) fn has_folders(os: &str) -> bool {
    system(os).is_some_and(System::has_folders)
}

fn system(os: &str) -> Option<&'static dyn System> {
    SYSTEMS.iter().find(|(word, _)| *word == os).map(|(_, system)| *system)
}

impl Switch for CarriedSwitch {
    fn name(&self) -> &str {
        &self.name
    }

    fn plane(&self) -> Option<u8> {
        self.plane
    }

    fn wave(&self) -> usize {
        self.wave
    }

    fn push<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, PushSummary> {
        Box::pin(self.until_good(options, progress))
    }

    fn drift<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, DeviceDrift> {
        Box::pin(self.differences((options, progress)))
    }
}

impl CarriedSwitch {
    /// Returns the switch with a plan as its target.
    pub(crate) fn of_plan(&self, plan: CarriedPlan) -> Self {
        CarriedSwitch { goal: CarriedGoal::Plan(Arc::new(plan)), ..self.clone() }
    }

    /// Returns a switch of a saved plan; `None` if the inventory has no connection for it.
    pub(crate) fn from_plan(
        name: &str,
        plan: &CarriedPlan,
        links: &Links<'_>,
        options: Arc<CarrierOptions>,
    ) -> Result<Option<Self>, InventoryError> {
        let known = KnownPlane { of_switch: plan.plane, n_planes: 0 };
        let found = links.ssh_connection((name, &plan.os), has_folders(&plan.os), known)?;
        let Some((ssh, place, plane)) = found else { return Ok(None) };
        let known = SYSTEMS.iter().map(|(word, _)| *word).find(|word| *word == plan.os);
        let os = known.ok_or_else(|| InventoryError::Device {
            device: name.to_owned(),
            reason: format!(
                "the plan names operating system `{}`, to which closc does not push over `ssh`",
                plan.os
            ),
        })?;
        let goal = CarriedGoal::Plan(Arc::new(plan.clone()));
        Ok(Some(CarriedSwitch { name: name.to_owned(), plane, os, ssh, place, goal, wave: 0, options }))
    }

    fn system(&self) -> Result<&'static dyn System, Fault> {
        system(self.os).ok_or_else(|| Fault::Site {
            reason: format!("closc does not push to switches that run `{}`", self.os),
        })
    }

    async fn until_good(&self, options: &PushOptions, progress: &Progress) -> Result<PushSummary, Fault> {
        let mut sent = Counts::default();
        let mut attempt = 1;
        loop {
            match self.attempt_push(options, progress, &mut sent).await {
                Ok(entities) => {
                    return Ok(PushSummary {
                        pipeline: PipelineStep::Unchanged,
                        updates: sent,
                        entities,
                        attempts: attempt,
                        left_out: Vec::new(),
                    });
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

    /// One attempt, from reading to confirming.
    async fn attempt_push(
        &self,
        options: &PushOptions,
        progress: &Progress,
        sent: &mut Counts,
    ) -> Result<usize, Fault> {
        let with = (options, progress);
        let Some(wanted) = self.target_files(with).await? else {
            progress.report(EventKind::Verified { entities: 0 });
            return Ok(0);
        };
        let lines = wanted.values().map(|text| text.lines().count()).sum();
        let (mut held, mut found) = self.compare_state(&wanted, with).await?;
        if let (Some(pending), false) = (&held.pending_change, found.is_empty()) {
            // An unconfirmed change of an earlier push differs from the target: roll it back, and start from the state
            // before it.
            self.roll_back(pending, with).await?;
            (held, found) = self.compare_state(&wanted, with).await?;
        }
        self.as_planned(&found)?;
        progress.report(EventKind::Compared { updates: counts(&found) });
        if !found.is_empty() {
            self.apply(&wanted, &held, with).await?;
            let (after, left) = self.read_back(&wanted, with).await?;
            if !left.is_empty() {
                if let Some(pending) = &after.pending_change {
                    self.roll_back(pending, with).await?;
                }
                return Err(Fault::Differs { changes: left.iter().map(line).collect() });
            }
            held = after;
            if held.pending_change.is_none() {
                let reason = "the switch rolled the change back before it was confirmed".to_owned();
                return Err(Fault::Remote { operation: Operation::Confirming, reason, is_transient: true });
            }
        }
        if let Some(pending) = &held.pending_change {
            let script = self.system()?.confirm(&self.place, pending, &held);
            self.run(Operation::Confirming, script, READ_LIMIT, with).await?;
        }
        *sent += counts(&found);
        progress.report(EventKind::Verified { entities: lines });
        Ok(lines)
    }

    /// Reads and compares. Settings that seem to be missing may be defaults that the switch does not print, so they are
    /// read separately.
    async fn compare_state(
        &self,
        wanted: &Texts,
        with: PushContext<'_>,
    ) -> Result<(SystemState, Vec<Finding>), Fault> {
        let system = self.system()?;
        let mut held = self.read_state(wanted, with).await?;
        let compare =
            |held: &SystemState| system.compare(wanted, held).map_err(|reason| Fault::Site { reason });
        let mut found = compare(&held)?;
        let is_missing = |found: &Finding| !matches!(found.difference, Difference::Unexpected { .. });
        if let Some(script) = system.read_more().filter(|_| found.iter().any(is_missing)) {
            let operation = Operation::Reading { object: "configuration with defaults".to_owned() };
            let more = self.run(operation, script, read_limit(with.0), with).await?;
            held.sections.insert("more".to_owned(), more);
            found = compare(&held)?;
        }
        self.compare_with_factory(wanted, &held, with.1)?;
        Ok((held, found))
    }

    /// Reports the settings of the factory configuration that the switch lacks after a push.
    fn compare_with_factory(
        &self,
        wanted: &Texts,
        held: &SystemState,
        progress: &Progress,
    ) -> Result<(), Fault> {
        let places = self.system()?.places(wanted, held).map_err(|reason| Fault::Site { reason })?;
        let os = Os::ALL.into_iter().find(|os| os.keyword() == self.os);
        if let (Some(places), Some(os)) = (places, os) {
            for setting in FactorySetting::absent(os, None, &places) {
                progress.factory(setting, FactoryState::Absent);
            }
        }
        Ok(())
    }

    async fn read_state(&self, wanted: &Texts, with: PushContext<'_>) -> Result<SystemState, Fault> {
        let system = self.system()?;
        let operation = Operation::Reading { object: "configuration".to_owned() };
        let script = system.read(&self.place, wanted);
        let output = self.run(operation.clone(), script, read_limit(with.0), with).await?;
        system.parse_state(&output).map_err(|reason| Fault::Remote { operation, reason, is_transient: false })
    }

    /// Rejects a switch with changes that the plan does not show.
    fn as_planned(&self, found: &[Finding]) -> Result<(), Fault> {
        let CarriedGoal::Plan(plan) = &self.goal else { return Ok(()) };
        let moved: Vec<String> = found.iter().map(line).filter(|line| !plan.changes.contains(line)).collect();
        if moved.is_empty() { Ok(()) } else { Err(Fault::Moved { changes: moved }) }
    }

    async fn apply(&self, wanted: &Texts, held: &SystemState, with: PushContext<'_>) -> Result<(), Fault> {
        let system = self.system()?;
        let making =
            ChangeParameters { place: &self.place, run: &self.options.run, confirm: self.options.confirm };
        let steps = system.apply(wanted, held, &making).map_err(|reason| Fault::Site { reason })?;
        let limit = READ_LIMIT.max(self.options.confirm);
        for step in steps {
            let output = self.run(Operation::Writing, step.script, limit, with).await?;
            let moved =
                step.rereads && system.parse_state(&output).is_ok_and(|now| now.digest != held.digest);
            let refused = system.complaint(&output);
            if !moved && refused.is_none() {
                continue;
            }
            if let Some(script) = system.abandon(&making) {
                self.run(Operation::RollingBack, script, READ_LIMIT, with).await?;
            }
            let reason = refused.unwrap_or_else(|| "the configuration changed after it was read".to_owned());
            return Err(Fault::Remote { operation: Operation::Writing, reason, is_transient: moved });
        }
        Ok(())
    }

    /// Reads back over a new connection, with retries for half of the confirmation time.
    async fn read_back(
        &self,
        wanted: &Texts,
        with: PushContext<'_>,
    ) -> Result<(SystemState, Vec<Finding>), Fault> {
        let start = Instant::now();
        loop {
            let is_early = start.elapsed() < self.options.confirm / 2;
            match self.compare_state(wanted, with).await {
                Err(Fault::Remote { is_transient: true, .. }) if is_early => {
                    tokio::time::sleep(with.0.pause.wait(3)).await;
                }
                Ok((held, mut found)) => {
                    // The startup configuration is written when the change is confirmed.
                    found.retain(|found| !is_of_start(found));
                    return Ok((held, found));
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    async fn roll_back(&self, pending: &str, with: PushContext<'_>) -> Result<(), Fault> {
        let script = self.system()?.roll_back(&self.place, pending);
        self.run(Operation::RollingBack, script, ROLL_BACK_LIMIT, with).await.map(drop)
    }

    async fn differences(&self, with: PushContext<'_>) -> Result<DeviceDrift, Fault> {
        let Some(wanted) = self.target_files(with).await? else { return Ok(DeviceDrift::None) };
        let (_, found) = self.compare_state(&wanted, with).await?;
        if found.is_empty() {
            return Ok(DeviceDrift::None);
        }
        let mut objects = BTreeMap::new();
        for finding in &found {
            *objects.entry(finding.file.clone()).or_default() += 1;
        }
        Ok(DeviceDrift::Entries {
            objects,
            differences: found.into_iter().map(|found| found.difference).collect(),
        })
    }

    /// Computes what a push would do.
    pub(crate) async fn plan(
        &self,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<CarriedPlan, Fault> {
        let with = (options, progress);
        let made = CarriedPlan { plane: self.plane, os: self.os.to_owned(), ..CarriedPlan::default() };
        let Some(files) = self.target_files(with).await? else { return Ok(made) };
        let (_, found) = self.compare_state(&files, with).await?;
        Ok(CarriedPlan { changes: found.iter().map(line).collect(), files, ..made })
    }

    /// Reads the configuration of the switch, as a digest.
    pub(crate) async fn digest(
        &self,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<StateDigest, Fault> {
        let with = (options, progress);
        let Some(wanted) = self.target_files(with).await? else { return Ok(StateDigest::default()) };
        let held = self.read_state(&wanted, with).await?;
        let digest = ObjectDigest { entities: held.sections.len() as u64, blake3: held.digest };
        Ok(StateDigest { objects: BTreeMap::from([(self.os.to_owned(), digest)]) })
    }

    /// Returns the target files of the switch; `None` if the push to undo did not change it.
    async fn target_files(&self, with: PushContext<'_>) -> Result<Option<Texts>, Fault> {
        let system = self.system()?;
        let tree = match &self.goal {
            CarriedGoal::Plan(plan) => return Ok(Some(plan.files.clone())),
            CarriedGoal::Tree(tree) => tree.clone(),
        };
        if let Some(undone) = &self.options.undo {
            let operation = Operation::Reading { object: format!("state before {undone}") };
            let script = system.backup(&self.place, undone);
            let output = self.run(operation.clone(), script, read_limit(with.0), with).await?;
            let failed = |reason| Fault::Remote { operation, reason, is_transient: false };
            return system.parse_backup(&output).map_err(failed);
        }
        let name = self.name.clone();
        let texts = match tokio::task::spawn_blocking(move || tree.texts(&name)).await {
            Ok(texts) => texts.map_err(|error| Fault::Tree(Box::new(error)))?,
            Err(error) => return Err(Fault::Ended { reason: error.to_string() }),
        };
        if let Some(file) = texts.keys().find(|file| !system.files().contains(&file.as_str())) {
            return Err(Fault::Site { reason: self.unsupported_message(file) });
        }
        Ok(Some(texts))
    }

    /// Returns the message for a file that is not pushed over `ssh` to this operating system.
    fn unsupported_message(&self, file: &str) -> String {
        let instead = SwitchFile::of_name(file).filter(|file| !Transport::Ssh.carries(*file));
        let instead =
            instead.map_or_else(|| "this version of closc does not push it".to_owned(), SwitchFile::instead);
        format!("`{file}` of the tree is not pushed over `ssh` to switches that run `{}`: {instead}", self.os)
    }

    async fn run(
        &self,
        operation: Operation,
        script: String,
        limit: Duration,
        (options, progress): PushContext<'_>,
    ) -> Result<String, Fault> {
        let bounds = (limit, options.client.memory_limit);
        progress.begin(operation.clone());
        let shell = self.system()?.shell();
        let (ssh, config) = (self.ssh.clone(), self.options.ssh_config.clone());
        let done =
            tokio::task::spawn_blocking(move || ssh.run_in(shell, config.as_deref(), &script, bounds)).await;
        match done {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(failed)) => {
                Err(Fault::Remote { operation, reason: failed.reason, is_transient: failed.is_transient })
            }
            Err(error) => Err(Fault::Ended { reason: error.to_string() }),
        }
    }
}

/// Returns the time limit for reading: at most the timeout of a switch, because a process that reads cannot be
/// cancelled.
fn read_limit(options: &PushOptions) -> Duration {
    READ_LIMIT.max(options.client.deadlines.read).min(options.timeout)
}

/// Returns whether a difference is in the startup configuration, and not in the running one.
fn is_of_start(found: &Finding) -> bool {
    let lines = match &found.difference {
        Difference::Missing { wanted } => [wanted, wanted],
        Difference::Changed { wanted, live } => [wanted, live],
        Difference::Unexpected { live } => [live, live],
    };
    lines.iter().all(|line| {
        let rest = line.strip_prefix(found.file.as_str()).unwrap_or(line);
        facts::STARTS.iter().any(|words| rest.trim_start().starts_with(words))
    })
}

/// Shows a difference in one line.
fn line(found: &Finding) -> String {
    match &found.difference {
        Difference::Missing { wanted } => format!("+ {wanted}"),
        Difference::Changed { wanted, live } => format!("~ {live} -> {wanted}"),
        Difference::Unexpected { live } => format!("- {live}"),
    }
}

fn counts(found: &[Finding]) -> Counts {
    let mut sum = Counts::default();
    for finding in found {
        match finding.difference {
            Difference::Missing { .. } => sum.insert += 1,
            Difference::Changed { .. } => sum.modify += 1,
            Difference::Unexpected { .. } => sum.delete += 1,
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_carriers_has_the_files_of_every_system() {
        let mut known: Vec<&str> = SYSTEMS.iter().flat_map(|(_, system)| system.files()).copied().collect();
        let carried = SwitchFile::ALL.iter().filter(|file| Transport::Ssh.carries(**file));
        let mut carried: Vec<&str> = carried.map(|file| file.name()).collect();
        known.sort_unstable();
        known.dedup();
        carried.sort_unstable();
        assert_eq!(known, carried);
    }
}
