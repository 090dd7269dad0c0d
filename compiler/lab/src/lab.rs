//! A lab on this machine: up, down, and what is done with it in between.
//!
//! In: the folder of a compiled tree. Out: namespaces, and reports. Always: what exists is written down before
//! it is made, so that [`down`] finds it even after a crash; what fails or is interrupted half way is taken
//! down again.

mod faults;
mod state;

use std::sync::Arc;
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

pub use faults::{CutReport, MiswireReport};

use crate::LabError;
use crate::backend::Backend as _;
use crate::backend::linux::{self, Files, Linux, Namespace, Plug};
use crate::model::Model;
use crate::probe::{self, ProbeReport};
use crate::progress::Watch;
use crate::test::{self, TestReport};
use crate::tree::Tree;
use state::{Guard, State};

/// A port is silent if its counters stay the same so often at this distance.
const SETTLE: Duration = Duration::from_millis(15);
const SETTLE_SILENT: u32 = 3;
/// After this many readings a lab is taken as it is.
const SETTLE_TRIES: u32 = 200;

/// How a lab is brought up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder that remembers what is up.
    pub runtime: Utf8PathBuf,
    /// Threads.
    pub jobs: usize,
    /// Most devices brought up on one machine.
    pub devices_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            runtime: Utf8PathBuf::from("/run/closc/lab"),
            jobs: available_parallelism().map_or(2, usize::from),
            devices_max: 4096,
        }
    }
}

/// What the link layer does at the ends of cables that were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkLayer {
    /// Neighbours there are learned anew: every frame gets through, and segments alone must stop packets.
    #[default]
    Open,
    /// Neighbours are static, as configured: frames for another MAC address are dropped as well.
    AsConfigured,
}

/// A lab that is up.
#[derive(Debug)]
pub struct Lab {
    tree: Tree,
    model: Arc<Model>,
    namespaces: Vec<Namespace>,
    files: Vec<Files>,
    backend: Linux,
    state: State,
    options: Options,
    /// Held as long as the lab is worked on.
    guard: Guard,
}

/// What came up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpReport {
    /// The fabric.
    pub fabric: String,
    /// Switches.
    pub switches: usize,
    /// Nodes.
    pub nodes: usize,
    /// Cables.
    pub cables: usize,
    /// Time it took.
    pub seconds: f64,
    /// Whether it was up already and was only configured again.
    pub again: bool,
}

/// What went down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DownReport {
    /// The fabric.
    pub fabric: String,
    /// Namespaces that were removed.
    pub namespaces: usize,
    /// Time it took.
    pub seconds: f64,
}

/// What is up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// The fabric.
    pub fabric: String,
    /// The tree it was brought up from.
    pub tree: Utf8PathBuf,
    /// Namespaces that it consists of.
    pub namespaces: usize,
    /// Namespaces that somebody else has removed.
    pub missing: Vec<String>,
    /// Whether the last change was finished.
    pub complete: bool,
    /// What was done to cables, in words.
    pub changes: Vec<String>,
}

impl Lab {
    /// Brings a tree up; where it is up already, moved cables go back and every device is configured again.
    pub fn up(folder: &Utf8Path, options: &Options, watch: &Watch<'_>) -> Result<(Lab, UpReport), LabError> {
        linux::check_features()?;
        let started = Instant::now();
        let (tree, model) = read(folder, options)?;
        let guard = Guard::take(&options.runtime, &tree.fabric)?;
        let old = State::load(&options.runtime, &tree.fabric)?;
        let fresh = State::new(&tree, &model);
        let same = |old: &State| old.is_same(&fresh) && old.is_complete() && old.missing().is_empty();
        let again = old.as_ref().is_some_and(same);
        let mut lab = Lab::assemble(tree, model, old.filter(|_| again).unwrap_or(fresh), options, guard);
        let outcome = if again { lab.up_again(watch) } else { lab.up_fresh(watch) };
        if let Err(error) = outcome {
            if matches!(error, LabError::Foreign(_)) {
                lab.guard.clear();
            } else if !again {
                lab.take_down()?;
            }
            return Err(error);
        }
        let report = lab.report(started, again);
        Ok((lab, report))
    }

    /// Opens a lab that is up.
    pub fn open(folder: &Utf8Path, options: &Options) -> Result<Lab, LabError> {
        linux::check_features()?;
        let (tree, model) = read(folder, options)?;
        let guard = Guard::take(&options.runtime, &tree.fabric)?;
        let state =
            State::load(&options.runtime, &tree.fabric)?.filter(|s| s.missing().is_empty()).ok_or_else(
                || LabError::NotUp { fabric: tree.fabric.clone(), runtime: options.runtime.clone() },
            )?;
        if !state.is_same(&State::new(&tree, &model)) || !state.is_complete() {
            return Err(LabError::Changed { fabric: tree.fabric.clone() });
        }
        Ok(Lab::assemble(tree, model, state, options, guard))
    }

    /// Sends packets over every path of every pair and compares every counter.
    pub fn test(&mut self, watch: &Watch<'_>) -> Result<TestReport, LabError> {
        test::run(&self.tree, &self.model, &mut self.backend, watch)
    }

    /// Sends every self-probe and says what the losses point at.
    pub fn probe(&mut self, watch: &Watch<'_>) -> Result<ProbeReport, LabError> {
        probe::run(&self.tree, &self.model, &mut self.backend, watch)
    }

    /// Tells what is up.
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// Returns the name of the fabric.
    pub fn fabric(&self) -> &str {
        &self.tree.fabric
    }

    /// Returns the fabric as its cable lists have it.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Takes the lab down.
    pub fn down(mut self) -> Result<DownReport, LabError> {
        let started = Instant::now();
        let namespaces = self.take_down()?;
        Ok(DownReport {
            fabric: self.tree.fabric.clone(),
            namespaces,
            seconds: started.elapsed().as_secs_f64(),
        })
    }

    fn assemble(tree: Tree, model: Model, state: State, options: &Options, guard: Guard) -> Lab {
        let model = Arc::new(model);
        let namespaces = state.namespaces(&model);
        let files =
            model.devices.iter().map(|d| Files { folder: tree.devices[&d.name].folder.clone() }).collect();
        let udp_port = tree.tables.first().map_or(0, crate::tree::GroupTable::udp_port);
        let backend = Linux::new(Arc::clone(&model), namespaces.clone(), udp_port, options.jobs);
        Lab { tree, model, namespaces, files, backend, state, options: options.clone(), guard }
    }

    fn up_fresh(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        // What a crash has left of an earlier lab of this fabric is ours, and in the way.
        if let Some(old) = State::load(&self.options.runtime, &self.tree.fabric)? {
            linux::delete(&old.names())?;
            State::forget(&self.options.runtime, &self.tree.fabric)?;
        }
        let names = self.state.names();
        let foreign: Vec<String> = names.iter().filter(|name| linux::exists(name)).cloned().collect();
        if !foreign.is_empty() {
            return Err(LabError::Foreign(foreign));
        }
        self.state.save(&self.options.runtime)?;
        watch.step("make namespaces", 0, names.len() as u64);
        for some in names.chunks(256) {
            watch.check()?;
            linux::create(some)?;
        }
        self.plug_all(watch)?;
        linux::configure(&self.namespaces, &self.files, self.options.jobs, watch)?;
        watch.check()?;
        linux::spread_routes(&self.namespaces, &self.files, self.options.jobs)?;
        self.settle(watch)?;
        self.state.complete();
        self.state.save(&self.options.runtime)
    }

    fn up_again(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        self.restore(watch)?;
        linux::configure(&self.namespaces, &self.files, self.options.jobs, watch)?;
        linux::spread_routes(&self.namespaces, &self.files, self.options.jobs)?;
        self.settle(watch)
    }

    /// Waits until no port speaks on its own any more: a new address is reported to a group or two, and such
    /// packets must not be counted as traffic.
    fn settle(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        let mut silent = 0;
        let mut last = self.backend.port_counters()?;
        for _ in 0..SETTLE_TRIES {
            watch.check()?;
            sleep(SETTLE);
            let now = self.backend.port_counters()?;
            silent = if now == last { silent + 1 } else { 0 };
            if silent == SETTLE_SILENT {
                return Ok(());
            }
            last = now;
        }
        tracing::warn!(
            "ports of `{}` do not fall silent: counters may show more than traffic",
            self.tree.fabric
        );
        Ok(())
    }

    fn plug_all(&self, watch: &Watch<'_>) -> Result<(), LabError> {
        let cables: Vec<(Plug, Plug)> = (0..self.model.cables.len())
            .map(|at| {
                let cable = crate::model::CableId(at);
                (self.plug_of(cable.lower()), self.plug_of(cable.upper()))
            })
            .collect();
        let mut done = 0;
        for some in cables.chunks(512) {
            watch.check()?;
            watch.step("plug cables", done, cables.len() as u64);
            linux::plug(some)?;
            done += some.len() as u64;
        }
        Ok(())
    }

    fn plug_of(&self, port: crate::model::PortId) -> Plug {
        let (device, name) = self.model.end(port);
        Plug { namespace: self.namespaces[device.0].name.clone(), interface: name.to_owned() }
    }

    fn take_down(&mut self) -> Result<usize, LabError> {
        remove(&self.state, &self.options.runtime, &self.guard)
    }

    fn report(&self, started: Instant, again: bool) -> UpReport {
        let is_switch = |d: &&crate::model::Device| d.kind == crate::tree::DeviceKind::Switch;
        let switches = self.model.devices.iter().filter(is_switch).count();
        UpReport {
            fabric: self.tree.fabric.clone(),
            switches,
            nodes: self.model.devices.len() - switches,
            cables: self.model.cables.len(),
            seconds: started.elapsed().as_secs_f64(),
            again,
        }
    }
}

fn read(folder: &Utf8Path, options: &Options) -> Result<(Tree, Model), LabError> {
    let tree = Tree::read(folder)?;
    if tree.devices.len() > options.devices_max {
        return Err(LabError::TooLarge { devices: tree.devices.len(), limit: options.devices_max });
    }
    let model = Model::of(&tree)?;
    Ok((tree, model))
}

/// Takes the lab of a fabric down, whether or not its tree still exists.
pub fn down(fabric: &str, options: &Options) -> Result<DownReport, LabError> {
    if !nix::unistd::geteuid().is_root() {
        return Err(LabError::NotRoot);
    }
    let started = Instant::now();
    let guard = Guard::take(&options.runtime, fabric)?;
    let Some(state) = State::load(&options.runtime, fabric)? else {
        guard.clear();
        return Err(LabError::NotUp { fabric: fabric.to_owned(), runtime: options.runtime.clone() });
    };
    let namespaces = remove(&state, &options.runtime, &guard)?;
    Ok(DownReport { fabric: fabric.to_owned(), namespaces, seconds: started.elapsed().as_secs_f64() })
}

/// Lists every lab that is up.
pub fn list(options: &Options) -> Result<Vec<Status>, LabError> {
    Ok(State::load_all(&options.runtime)?.iter().map(State::status).collect())
}

fn remove(state: &State, runtime: &Utf8Path, guard: &Guard) -> Result<usize, LabError> {
    let names = state.names();
    let present = names.iter().filter(|name| linux::exists(name)).count();
    linux::delete(&names)?;
    State::forget(runtime, &state.fabric)?;
    guard.clear();
    Ok(present)
}
