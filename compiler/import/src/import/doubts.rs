//! Notes on what an import had to assume, and on what it cannot recognise.

use std::collections::BTreeMap;

use closc_diagnostics::figures::counted;
use closc_plan::Plan;
use closc_topology::Node;

use super::Candidate;
use crate::pattern::natural;
use crate::plant::{Level, Plant};
use crate::position::{Place, Positions};

/// The most nodes that a note names.
const SHOWN: usize = 8;

/// Notes on assumed platforms, and on lists of devices that contradict them.
pub(super) fn doubts(
    plant: &Plant,
    positions: &Positions,
    plan: &Plan,
    found: &Candidate,
    is_alone: bool,
) -> Vec<String> {
    const HINT: &str = "`--platform t0=NAME` (and `t1`, `t2`) sets their platform";
    let (absent, there) = (found.compared.missing.len(), plant.cables());
    let mut doubts = Vec::new();
    if !is_alone {
        doubts.push(format!("ports can be numbered in another way with {absent} absent cables too: {HINT}"));
    } else if !positions.by_name && absent > there {
        doubts.push(format!("{absent} cables are absent and {there} are there: {HINT}"));
    }
    let mut others: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for device in 0..plant.device_count() as u32 {
        let Some(switch) = positions.switch(device) else { continue };
        let Some(model) = plant.models.get(plant.devices.name(device)) else { continue };
        let platform = &plan.topology().hardware(switch).0.id;
        if model != platform {
            *others.entry((model, platform)).or_default() += 1;
        }
    }
    doubts.extend(others.into_iter().map(|((model, platform), count)| {
        format!("{count} switches are `{model}` in the list of devices, and `{platform}` in the file: no platform of that name has these ports")
    }));
    doubts.extend(unreported(plant, positions));
    doubts.extend(irregular(&found.compared.shared.irregular));
    if !positions.by_name {
        doubts.extend(out_of_order(plant, positions));
    }
    doubts
}

/// Devices that sent no report, in a network that is read by LLDP.
fn unreported(plant: &Plant, positions: &Positions) -> Vec<String> {
    if plant.reporters.is_empty() {
        return Vec::new();
    }
    let silent = |is_node: bool| -> Vec<String> {
        (0..)
            .zip(&positions.levels)
            .filter(|(_, level)| (**level == Level::Node) == is_node)
            .map(|(device, _)| plant.devices.name(device))
            .filter(|name| !plant.reporters.contains(*name))
            .map(|name| format!("`{name}`"))
            .collect()
    };
    let note = |names: &[String], one: &str, effect: &str| {
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        let shown = names[..names.len().min(SHOWN)].join(", ");
        format!("{} sent no report ({shown}{more}): {effect}", counted(names.len() as u64, one))
    };
    let (nodes, switches) = (silent(true), silent(false));
    let mut notes = Vec::new();
    if !nodes.is_empty() {
        let effect = format!(
            "their cables are those that switches report, and NICs are assumed to be {} per node on {} by the ports of T0s",
            positions.nics.per_node,
            counted(u64::from(positions.nics.rails), "rail")
        );
        notes.push(note(&nodes, "node", &effect));
    }
    if !switches.is_empty() {
        notes.push(note(
            &switches,
            "switch",
            "cables that their neighbours do not report either are missing",
        ));
    }
    notes
}

/// The tiers where a swapped cable looks like another order of ports.
fn irregular(levels: &[Level]) -> Option<String> {
    let tiers: Vec<_> = levels.iter().map(|level| level.label().trim_start_matches("a ")).collect();
    (!tiers.is_empty()).then(|| {
        format!(
            "ports of each {} are in an order of their own: swapped cables cannot be recognised there, and the map \
             gives the ports new names",
            tiers.join(" and ")
        )
    })
}

/// Names the few nodes whose names are not in the order of their ports. With one cable per node, a swap shows in
/// nothing else.
fn out_of_order(plant: &Plant, positions: &Positions) -> Option<String> {
    let mut nodes: Vec<(Node, u32)> = (0..)
        .zip(&positions.places)
        .filter_map(|(device, place)| match place {
            Place::Node(node) => Some((*node, device)),
            Place::Switch(_) => None,
        })
        .collect();
    nodes.sort_by_key(|(node, _)| (node.zone, node.unit, node.index));
    let mut names: Vec<u32> = nodes.iter().map(|(_, device)| *device).collect();
    names.sort_by_key(|device| natural(plant.devices.name(*device)));
    let moved: Vec<u32> =
        nodes.iter().zip(&names).filter(|((_, own), name)| own != *name).map(|((_, own), _)| *own).collect();
    if moved.is_empty() || moved.len() > 2.max(nodes.len() / 4) {
        return None;
    }
    let cable = |device: &u32| {
        let at = plant.cables.iter().find(|cable| cable.ends.iter().any(|plug| plug.device == *device));
        let place = at.map(|cable| format!(" ({})", plant.place(cable.at))).unwrap_or_default();
        format!("`{}`{place}", plant.devices.name(*device))
    };
    let shown: Vec<String> = moved.iter().take(SHOWN).map(cable).collect();
    let more = if moved.len() > SHOWN { ", ..." } else { "" };
    Some(format!(
        "the names of {} nodes are not in the order of their ports, as the others are: {}{more}; check whether their \
         cables are swapped",
        moved.len(),
        shown.join(", ")
    ))
}
