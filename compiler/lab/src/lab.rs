//! A lab on this machine: starting, using and stopping it.
//!
//! In: the folder of a compiled tree. Out: switches, cables, nodes, and reports. Invariants: every object is recorded
//! before it is created, so that [`down`] finds it even after a crash. A start that fails or is interrupted is
//! undone.

pub(crate) mod fault;
mod faults;
mod folder;
mod harm;
mod holder;
pub(crate) mod site;
mod state;
mod target;

use std::sync::Arc;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use schemars::JsonSchema;
use serde::Serialize;

use crate::LabError;
use crate::backend::site::Site;
use crate::model::Model;
use crate::name::FabricName;
use crate::options::Options;
use crate::probe::{self, ProbeReport};
use crate::progress::Watch;
use crate::routed_test;
use crate::sample::Extent;
use crate::target::Target;
use crate::test::{self, TestReport};
use crate::tree::{DeviceKind, Tree};
pub use fault::Fault;
pub use faults::{CutReport, Ends, MiswireReport};
pub use folder::{leave as leave_private, make as make_private};
use site::RemovalCounts;
use state::{Guard, State};

/// A lab that is up.
#[derive(Debug)]
pub struct Lab {
    tree: Arc<Tree>,
    model: Arc<Model>,
    site: Box<dyn Site>,
    state: State,
    options: Options,
    /// Lock of the lab, held while it is open.
    guard: Guard,
}

/// Result of starting a lab.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UpReport {
    /// The fabric.
    pub fabric: String,
    /// Target of the lab.
    pub target: Target,
    /// Switches.
    pub switches: usize,
    /// Nodes.
    pub nodes: usize,
    /// Cables.
    pub cables: usize,
    /// Duration in seconds.
    pub seconds: f64,
    /// Whether the lab was already up and has only been configured again.
    pub again: bool,
    /// Deliberate faults of a lab that was already up. They have been repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<String>,
    /// The inventory of its switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub inventory: Option<Utf8PathBuf>,
}

/// Result of stopping a lab.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DownReport {
    /// The fabric.
    pub fabric: String,
    /// Number of removed namespaces.
    pub namespaces: usize,
    /// Number of ended processes.
    pub processes: usize,
    /// Duration in seconds.
    pub seconds: f64,
}

/// State of a lab.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Status {
    /// The fabric.
    pub fabric: String,
    /// Target of the lab.
    pub target: Target,
    /// The tree from which it was started.
    #[schemars(with = "String")]
    pub tree: Utf8PathBuf,
    /// Switches.
    pub switches: usize,
    /// Missing parts, which have been removed or stopped from outside.
    pub missing: Vec<String>,
    /// Whether the last change was finished.
    pub complete: bool,
    /// Changes to cables, as text.
    pub changes: Vec<String>,
    /// The inventory of its switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub inventory: Option<Utf8PathBuf>,
}

impl Lab {
    /// Starts the lab of a tree. If the lab is up, moved cables are put back and every device is configured again.
    pub fn up(folder: &Utf8Path, options: &Options, watch: &Watch<'_>) -> Result<(Lab, UpReport), LabError> {
        let started = Instant::now();
        let (tree, model) = read(folder, options)?;
        let target = options.target.unwrap_or_else(|| Target::of(&tree));
        target.check(&tree)?;
        if options.listen.is_some() && target != Target::Embedded {
            return Err(LabError::Listen { target });
        }
        site::check(target)?;
        let guard = Guard::take(&options.runtime, &tree.fabric)?;
        let old = State::load(&options.runtime, &tree.fabric)?;
        let fresh = State::new(&tree, &model, target);
        let same = |old: &State| {
            old.is_same(&fresh) && old.complete && site::missing_parts(old, &options.runtime).is_empty()
        };
        let again = old.as_ref().is_some_and(same);
        let mut lab = Lab::assemble(tree, model, old.filter(|_| again).unwrap_or(fresh), options, guard);
        let repaired = lab.state.changes_in_words();
        let outcome = if again { lab.restart(watch) } else { lab.start_new(watch) };
        if let Err(error) = outcome {
            let error = watch.reason(error);
            if matches!(error, LabError::Foreign(_)) {
                lab.guard.clear();
            } else if !again {
                lab.take_down()?;
            }
            return Err(match error {
                LabError::Interrupted if !again => LabError::TakenDown { error: Box::new(error) },
                error => error,
            });
        }
        let report = UpReport { repaired, ..lab.report(started, again) };
        Ok((lab, report))
    }

    /// Opens a lab that is up.
    pub fn open(folder: &Utf8Path, options: &Options) -> Result<Lab, LabError> {
        let (tree, model) = read(folder, options)?;
        let guard = Guard::take(&options.runtime, &tree.fabric)?;
        let state = State::load(&options.runtime, &tree.fabric)?;
        if state.as_ref().is_some_and(|state| !state.complete) {
            return Err(LabError::HalfBuilt { fabric: tree.fabric.to_string() });
        }
        let state =
            state.filter(|state| site::missing_parts(state, &options.runtime).is_empty()).ok_or_else(
                || LabError::NotUp { fabric: tree.fabric.to_string(), runtime: options.runtime.clone() },
            )?;
        site::check(state.target)?;
        if !state.is_same(&State::new(&tree, &model, state.target)) {
            return Err(LabError::Changed { fabric: tree.fabric.to_string() });
        }
        Ok(Lab::assemble(tree, model, state, options, guard))
    }

    /// Sends packets over every path of every pair and compares every counter.
    pub fn test(&mut self, watch: &Watch<'_>) -> Result<TestReport, LabError> {
        self.walk(Extent::Everything, watch)
    }

    /// Sends packets over every path, or over a sample of paths, and compares every counter.
    pub fn walk(&mut self, extent: Extent, watch: &Watch<'_>) -> Result<TestReport, LabError> {
        let faults = self.state.changes_in_words();
        if !self.tree.is_source_routed()
            && let Some(routed) = self.site.routed_backend()
        {
            let report = routed_test::run(&self.tree, &self.model, routed, extent, watch)?;
            return Ok(TestReport { faults, ..report });
        }
        let report = test::run(&self.tree, &self.model, &mut *self.site, extent, watch)?;
        Ok(TestReport { faults, ..report })
    }

    /// Sends every self-probe, and returns the suspected cables and switches.
    pub fn probe(&mut self, watch: &Watch<'_>) -> Result<ProbeReport, LabError> {
        self.tree.needs_paths("a probe")?;
        probe::run(&self.tree, &self.model, &mut *self.site, watch)
    }

    /// Returns the state of the lab.
    pub fn status(&self) -> Status {
        status(&self.state, &self.options)
    }

    /// Returns the name of the fabric.
    pub fn fabric(&self) -> &str {
        &self.tree.fabric
    }

    /// Returns the target.
    pub fn target(&self) -> Target {
        self.state.target
    }

    /// Returns the fabric according to its cable lists.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Stops the lab.
    pub fn down(mut self) -> Result<DownReport, LabError> {
        let started = Instant::now();
        let removed = self.take_down()?;
        Ok(down_report(&self.tree.fabric, removed, started))
    }

    fn assemble(tree: Tree, model: Model, state: State, options: &Options, guard: Guard) -> Lab {
        let (tree, model) = (Arc::new(tree), Arc::new(model));
        let site = site::of(&state, &tree, &model, options);
        Lab { tree, model, site, state, options: options.clone(), guard }
    }

    fn start_new(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        // Remove the leftovers of a crashed lab of this fabric.
        if let Some(old) = State::load(&self.options.runtime, &self.tree.fabric)? {
            site::remove(&old, &self.options.runtime)?;
            State::forget(&self.options.runtime, &self.tree.fabric)?;
        }
        let foreign = self.site.foreign();
        if !foreign.is_empty() {
            return Err(LabError::Foreign(foreign));
        }
        self.state.save(&self.options.runtime)?;
        self.site.make(watch)?;
        // Some steps do not check for interruption.
        watch.check()?;
        self.state.complete = true;
        self.state.save(&self.options.runtime)
    }

    fn restart(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        self.restore(watch)?;
        self.site.configure(watch)
    }

    fn take_down(&mut self) -> Result<RemovalCounts, LabError> {
        self.site.leave();
        remove(&self.state, &self.options.runtime, &self.guard)
    }

    fn report(&self, started: Instant, again: bool) -> UpReport {
        let is_switch = |d: &&crate::model::Device| d.kind == DeviceKind::Switch;
        let switches = self.model.devices.iter().filter(is_switch).count();
        UpReport {
            fabric: self.tree.fabric.to_string(),
            target: self.state.target,
            switches,
            nodes: self.model.devices.len() - switches,
            cables: self.model.cables.len(),
            seconds: started.elapsed().as_secs_f64(),
            again,
            repaired: Vec::new(),
            inventory: self.status().inventory,
        }
    }
}

fn read(folder: &Utf8Path, options: &Options) -> Result<(Tree, Model), LabError> {
    let tree = Tree::read_with(folder, options.digests)?;
    if tree.devices.len() > options.devices_max {
        return Err(LabError::TooLarge { devices: tree.devices.len(), limit: options.devices_max });
    }
    let model = Model::of(&tree)?;
    Ok((tree, model))
}

/// Lock of the compiled tree of one fabric, in a folder for the trees of several fabrics; released when dropped.
#[derive(Debug)]
pub struct TreeGuard(Guard);

impl TreeGuard {
    /// Locks the tree of a fabric in the folder `trees`.
    pub fn take(trees: &Utf8Path, fabric: &str) -> Result<TreeGuard, LabError> {
        Guard::take(trees, &fabric.parse::<FabricName>()?).map(TreeGuard)
    }
}

impl Drop for TreeGuard {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// Stops the lab of a fabric, even if its tree no longer exists.
pub fn down(fabric: &str, options: &Options) -> Result<DownReport, LabError> {
    let started = Instant::now();
    let fabric = &fabric.parse::<FabricName>()?;
    let guard = Guard::take(&options.runtime, fabric)?;
    let Some(state) = State::load(&options.runtime, fabric)? else {
        guard.clear();
        return Err(LabError::NotUp { fabric: fabric.to_string(), runtime: options.runtime.clone() });
    };
    if state.target != Target::Embedded && !nix::unistd::geteuid().is_root() {
        return Err(LabError::NotRoot);
    }
    let removed = remove(&state, &options.runtime, &guard)?;
    Ok(down_report(fabric, removed, started))
}

fn down_report(fabric: &str, removed: RemovalCounts, started: Instant) -> DownReport {
    let RemovalCounts { namespaces, processes } = removed;
    DownReport { fabric: fabric.to_owned(), namespaces, processes, seconds: started.elapsed().as_secs_f64() }
}

/// Lists every lab that is up.
pub fn list(options: &Options) -> Result<Vec<Status>, LabError> {
    Ok(State::load_all(&options.runtime)?.iter().map(|state| status(state, options)).collect())
}

/// Returns the inventory of a fabric's lab, if the lab is up.
pub fn inventory(fabric: &str, options: &Options) -> Option<Utf8PathBuf> {
    let fabric: FabricName = fabric.parse().ok()?;
    let path = options.folder(&fabric).join(crate::backend::p4::INVENTORY);
    path.is_file().then_some(path)
}

fn status(state: &State, options: &Options) -> Status {
    Status {
        fabric: state.fabric.to_string(),
        target: state.target,
        tree: state.tree.clone(),
        switches: state.switches.len(),
        missing: site::missing_parts(state, &options.runtime),
        complete: state.complete,
        changes: state.changes_in_words(),
        inventory: inventory(&state.fabric, options),
    }
}

fn remove(state: &State, runtime: &Utf8Path, guard: &Guard) -> Result<RemovalCounts, LabError> {
    let removed = site::remove(state, runtime)?;
    State::forget(runtime, &state.fabric)?;
    guard.clear();
    Ok(removed)
}
