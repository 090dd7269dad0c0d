//! Units: the pieces of a tree.
//!
//! In: a plan. Out: [`Unit`]s in the order of the tree, each rendered separately.

use std::collections::BTreeMap;

use closc_entries::{Pipeline, entries_file, pipeline_files};
use closc_plan::Plan;
use closc_render::{Artefact, Templates, path_table, targets};
use closc_topology::{HostOs, Node, PlaneId, Switch, ZoneId};

use crate::error::CompileError;
use crate::{Part, cables};

/// A piece of the tree. Each thread renders, writes and drops one unit at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// All files of one switch.
    Switch(Switch),
    /// All files of one node except its path table.
    Host(Node),
    /// The path table of one T0 group.
    Group(ZoneId, u16),
    /// The cable list of one plane.
    Cables(PlaneId),
    /// The cables of one zone of a plane, if a part does not have all of the plane's zones.
    ZoneCables(PlaneId, ZoneId),
    /// The P4 pipelines of the switches in the tree.
    Pipelines,
}

impl Unit {
    /// Returns the units of a part of a plan.
    pub fn all(plan: &Plan, part: &Part) -> Vec<Unit> {
        let mut units: Vec<Unit> = part.switches(plan).map(Unit::Switch).collect();
        // One switch of each kind of hardware is enough. A check of every switch would visit the entire fabric.
        let programmed =
            !units.is_empty() && plan.kinds().into_iter().any(|switch| plan.os(switch).is_programmed());
        units.extend(part.nodes(plan).map(Unit::Host));
        if plan.is_source_routed() {
            units.extend(part.groups(plan).map(|(zone, group)| Unit::Group(zone, group)));
        }
        let lists: Vec<Unit> = part
            .cable_lists(plan)
            .map(|(plane, zone)| match zone {
                None => Unit::Cables(plane),
                Some(zone) => Unit::ZoneCables(plane, zone),
            })
            .collect();
        // A selection of devices contains only their files, without cable lists and pipelines.
        if programmed && !lists.is_empty() {
            units.extend(lists);
            units.push(Unit::Pipelines);
        } else {
            units.extend(lists);
        }
        units
    }

    /// Renders the unit.
    pub fn render(self, plan: &Plan, templates: &Templates) -> Result<Vec<Artefact>, CompileError> {
        match self {
            Unit::Switch(switch) => {
                let intent = plan.device(switch);
                let mut artefacts = match targets::target(intent.os) {
                    Some(target) => target.device(&intent, templates)?,
                    None => Vec::new(),
                };
                if let Some(pipeline) = Pipeline::of(plan, switch) {
                    artefacts.push(artefact(entries_file(pipeline, &intent)?));
                }
                Ok(artefacts)
            }
            Unit::Host(node) => {
                let intent = plan.host(node);
                let mut artefacts = targets::host(&intent, templates)?;
                if intent.os == HostOs::Linux
                    && let Some(routes) = plan.node_routes(node)
                {
                    artefacts.push(targets::linux::host_routes(&routes, templates)?);
                }
                Ok(artefacts)
            }
            Unit::Group(zone, group) => Ok(path_table::render(&plan.path_table(zone, group)).into()),
            Unit::Cables(plane) => Ok(vec![cables::render(plan, plane, None)]),
            Unit::ZoneCables(plane, zone) => Ok(vec![cables::render(plan, plane, Some(zone))]),
            Unit::Pipelines => {
                Ok(Pipeline::all_of(plan).into_iter().flat_map(pipeline_files).map(artefact).collect())
            }
        }
    }

    /// Returns whether two plans render the unit differently. A unit that cannot be rendered counts as
    /// different.
    pub fn differs(self, old: &Plan, new: &Plan, templates: &Templates) -> bool {
        if let Unit::Cables(plane) = self {
            return cables::differs(old, new, plane);
        }
        match (self.render(old, templates), self.render(new, templates)) {
            (Ok(old), Ok(new)) => {
                let files = |artefacts: Vec<Artefact>| -> BTreeMap<_, _> {
                    artefacts.into_iter().map(|artefact| (artefact.path, artefact.bytes)).collect()
                };
                files(old) != files(new)
            }
            (_, _) => true,
        }
    }

    /// Returns the unit's name in the state file and in messages.
    pub fn name(self, plan: &Plan) -> String {
        match self {
            Unit::Switch(switch) => format!("switch {}", plan.switch_name(switch)),
            Unit::Host(node) => format!("host {}", plan.node_name(node)),
            Unit::Group(zone, group) => format!("group {zone}/{}", group + 1),
            Unit::Cables(plane) => format!("cables {plane}"),
            Unit::ZoneCables(plane, zone) => format!("cables {plane}/{zone}"),
            Unit::Pipelines => "pipelines".to_owned(),
        }
    }
}

fn artefact(file: closc_entries::File) -> Artefact {
    Artefact::new(file.path, file.text)
}
