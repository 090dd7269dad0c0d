//! Selects the parts of a lab by target, finds missing ones, and removes them.

use std::sync::Arc;

use camino::Utf8Path;

use super::state::State;
use crate::LabError;
use crate::backend::bmv2::{self, Bmv2};
use crate::backend::embedded::{self, Embedded};
use crate::backend::linux::{self, Linux};
use crate::backend::remove_folder;
use crate::backend::site::Site;
use crate::model::Model;
use crate::options::Options;
use crate::target::Target;
use crate::tree::Tree;

/// Numbers of removed objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RemovalCounts {
    /// Namespaces.
    pub(super) namespaces: usize,
    /// Processes.
    pub(super) processes: usize,
}

/// Checks that this machine can run labs of a target.
pub(super) fn check(target: Target) -> Result<(), LabError> {
    match target {
        Target::Embedded => Ok(()),
        Target::Bmv2 | Target::Linux => linux::check_features(),
    }
}

/// Returns the site of a lab, which need not exist yet.
pub(super) fn of(state: &State, tree: &Arc<Tree>, model: &Arc<Model>, options: &Options) -> Box<dyn Site> {
    let (tree, model) = (Arc::clone(tree), Arc::clone(model));
    match state.target {
        Target::Embedded => {
            let changed = !state.changes.is_empty();
            Box::new(Embedded::new(tree, model, options, changed))
        }
        Target::Bmv2 => {
            let namespaces = state.namespaces(&model);
            let (panel, folder) = (panel(&state.fabric), options.folder(&state.fabric));
            let program = options.switch.clone();
            Box::new(Bmv2::new((tree, model), namespaces, panel, folder, program, options.jobs))
        }
        Target::Linux => {
            let namespaces = state.namespaces(&model);
            Box::new(Linux::new(tree, model, namespaces, nowhere(&state.fabric), options.jobs))
        }
    }
}

/// Returns the name of the namespace for unconnected ends of cut cables. It is unique, because names of devices
/// cannot contain `--`.
fn nowhere(fabric: &str) -> String {
    format!("closc-{fabric}--nowhere")
}

/// Returns the name of the patch panel's namespace.
fn panel(fabric: &str) -> String {
    format!("closc-{fabric}--panel")
}

/// Returns the names of all namespaces that a lab may have.
fn namespaces(state: &State) -> Vec<String> {
    match state.target {
        Target::Embedded => Vec::new(),
        Target::Bmv2 => state.names().into_iter().chain([panel(&state.fabric)]).collect(),
        Target::Linux => state.names().into_iter().chain([nowhere(&state.fabric)]).collect(),
    }
}

/// Returns the missing parts of a lab.
pub(super) fn missing_parts(state: &State, runtime: &Utf8Path) -> Vec<String> {
    let folder = runtime.join(&*state.fabric);
    let gone = |name: &String| !linux::exists(name);
    let namespaces = || state.names().into_iter().filter(gone).map(|name| format!("namespace {name}"));
    match state.target {
        Target::Embedded => embedded::missing(&folder),
        Target::Bmv2 => namespaces().chain(bmv2::missing(&folder, state.switches.iter())).collect(),
        Target::Linux => {
            let routers =
                linux::routers_are_gone(&linux::routers_folder(&state.fabric), state.switches.iter());
            namespaces().chain(routers.then(|| "the routers of its switches".to_owned())).collect()
        }
    }
}

/// Removes all existing parts of a lab.
pub(super) fn remove(state: &State, runtime: &Utf8Path) -> Result<RemovalCounts, LabError> {
    let folder = runtime.join(&*state.fabric);
    let processes = match state.target {
        Target::Embedded => usize::from(embedded::end(&folder)?),
        Target::Bmv2 => bmv2::end(&folder, state.switches.iter())?,
        Target::Linux => linux::end_routers(&linux::routers_folder(&state.fabric), state.switches.iter())?,
    };
    let names = namespaces(state);
    let present = names.iter().filter(|name| linux::exists(name)).count();
    if present > 0 {
        linux::delete(&names)?;
    }
    remove_folder(&folder)?;
    Ok(RemovalCounts { namespaces: present, processes })
}
