//! The files of one switch or node, as `closc compile` writes them.
//!
//! In: a plan and a name. Out: paths and texts. Invariants: the bytes are the same as in the compiled tree.

use closc_compile::Unit;
use closc_plan::Plan;
use closc_render::Templates;
use closc_topology::{Node, Switch};
use serde::Serialize;

/// A file of a device.
#[derive(Debug, Serialize)]
pub(crate) struct File {
    path: String,
    text: String,
}

/// Finds a switch by its name.
pub(crate) fn switch(plan: &Plan, name: &str) -> Result<Switch, String> {
    let naming = &plan.topology().naming;
    let found = naming.parse_switch(name).filter(|switch| plan.fabric().has_switch(*switch));
    found.ok_or_else(|| format!("`{name}` is not a switch of this fabric"))
}

/// Finds a node by its name, if at least one of its NICs exists.
fn node(plan: &Plan, name: &str) -> Option<Node> {
    plan.topology().naming.parse_node(name).filter(|node| plan.fabric().has_node(*node))
}

/// Renders the files of a switch or node.
pub(crate) fn files(plan: &Plan, name: &str) -> Result<Vec<File>, String> {
    let unit = match (switch(plan, name), node(plan, name)) {
        (Ok(switch), _) => Unit::Switch(switch),
        (Err(_), Some(node)) => Unit::Host(node),
        (Err(_), None) => return Err(format!("`{name}` is not a switch or node of this fabric")),
    };
    let artefacts = unit.render(plan, &Templates::builtin()).map_err(|error| error.to_string())?;
    let file = |artefact: closc_render::Artefact| File {
        path: artefact.path.into_string(),
        text: String::from_utf8_lossy(&artefact.bytes).into_owned(),
    };
    Ok(artefacts.into_iter().map(file).collect())
}
