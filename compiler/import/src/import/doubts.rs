//! Notes on assumptions of an import, and on errors that it cannot recognise.

use std::collections::BTreeMap;

use closc_diagnostics::figures::format_count;
use closc_plan::Plan;
use closc_topology::Node;

use super::Candidate;
use crate::level::is_one_tier;
use crate::network::{ExistingNetwork, Level};
use crate::pattern::natural;
use crate::position::{Place, Positions};

/// Maximum number of nodes that a note names.
const SHOWN: usize = 8;

/// Returns notes on ambiguous or contradicted platforms, missing LLDP reports, irregular ports, and names out
/// of order.
pub(super) fn doubts(
    network: &ExistingNetwork,
    positions: &Positions,
    plan: &Plan,
    found: &Candidate,
    is_unique: bool,
) -> Vec<String> {
    const HINT: &str = "`--platform t0=NAME` (and `t1`, `t2`) sets their platform";
    let (absent, there) = (found.comparison.missing.len(), network.cable_count());
    let mut doubts = Vec::new();
    if !is_unique {
        doubts.push(format!(
            "another numbering of the ports fits equally well, also with {absent} absent cables: {HINT}"
        ));
    } else if !positions.by_name && absent > there {
        doubts.push(format!("{absent} cables of the fabric are absent, and {there} exist: {HINT}"));
    }
    let mut others: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for device in 0..network.device_count() as u32 {
        let Some(switch) = positions.switch(device) else { continue };
        let Some(model) = network.models.get(network.devices.name(device)) else { continue };
        let platform = &plan.topology().hardware(switch).0.id;
        if model != platform {
            *others.entry((model, platform)).or_default() += 1;
        }
    }
    doubts.extend(others.into_iter().map(|((model, platform), count)| {
        format!(
            "the list of devices has `{model}` for {}, but the file has `{platform}`: the catalogue has no \
             `{model}` with these ports",
            format_count(count, "switch")
        )
    }));
    doubts.extend(silent_devices(network, positions));
    doubts.extend(irregular(&found.comparison.shared_names.irregular));
    doubts.extend(irregular_cages(positions));
    if is_one_tier(&positions.levels) {
        let planes = if positions.nics.is_named {
            ""
        } else {
            "; one plane is assumed, because cables alone do not show planes"
        };
        doubts.push(format!("no list has a cable between switches, so the file has one tier of T0s{planes}"));
    }
    if !positions.by_name {
        doubts.extend(misordered_nodes(network, positions));
    }
    doubts
}

/// Returns notes on devices without an LLDP report, if the network is read from LLDP.
fn silent_devices(network: &ExistingNetwork, positions: &Positions) -> Vec<String> {
    if network.reporters.is_empty() {
        return Vec::new();
    }
    let silent = |is_node: bool| -> Vec<String> {
        (0..)
            .zip(&positions.levels)
            .filter(|(_, level)| (**level == Level::Node) == is_node)
            .map(|(device, _)| network.devices.name(device))
            .filter(|name| !network.reporters.contains(*name))
            .map(|name| format!("`{name}`"))
            .collect()
    };
    let note = |names: &[String], one: &str, effect: &str| {
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        let shown = names[..names.len().min(SHOWN)].join(", ");
        format!("{} sent no LLDP report: {shown}{more}; {effect}", format_count(names.len() as u64, one))
    };
    let (nodes, switches) = (silent(true), silent(false));
    let mut notes = Vec::new();
    if !nodes.is_empty() {
        let effect = format!(
            "their cables are those that switches report; assumed from the ports of T0s: {} per node on {}",
            format_count(u64::from(positions.nics.per_node), "NIC"),
            format_count(u64::from(positions.nics.rails), "rail")
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

/// Returns a note on the tiers where a swapped cable looks like another port order.
fn irregular(levels: &[Level]) -> Option<String> {
    let tiers: Vec<_> = levels.iter().map(|level| level.label().trim_start_matches("a ")).collect();
    (!tiers.is_empty()).then(|| {
        format!(
            "each {} has its own port order, so swapped cables cannot be recognised there, and the map gives \
             the ports new names",
            tiers.join(" and ")
        )
    })
}

/// Returns a note on NICs whose cages cannot be described by `hosts.nic.cages`.
fn irregular_cages(positions: &Positions) -> Option<String> {
    let count = positions.nics.cages.irregular;
    (count > 0).then(|| {
        format!(
            "`hosts.nic.cages` is omitted: in the lists, cages of {} do not hold ports of consecutive \
             planes, the same number in each cage",
            format_count(count, "NIC")
        )
    })
}

/// Returns a note on nodes whose names are not in the order of their ports, if they are few. With one cable
/// per node, this is the only sign of a swap.
fn misordered_nodes(network: &ExistingNetwork, positions: &Positions) -> Option<String> {
    let mut nodes: Vec<(Node, u32)> = (0..)
        .zip(&positions.places)
        .filter_map(|(device, place)| match place {
            Place::Node(node) => Some((*node, device)),
            Place::Switch(_) => None,
        })
        .collect();
    nodes.sort_by_key(|(node, _)| (node.zone, node.unit, node.index));
    let mut names: Vec<u32> = nodes.iter().map(|(_, device)| *device).collect();
    names.sort_by_key(|device| natural(network.devices.name(*device)));
    let moved: Vec<u32> =
        nodes.iter().zip(&names).filter(|((_, own), name)| own != *name).map(|((_, own), _)| *own).collect();
    if moved.is_empty() || moved.len() > 2.max(nodes.len() / 4) {
        return None;
    }
    let cable = |device: &u32| {
        let at = network.cables.iter().find(|cable| cable.ends.iter().any(|plug| plug.device == *device));
        let place = at.map(|cable| format!(" ({})", network.place(cable.at))).unwrap_or_default();
        format!("`{}`{place}", network.devices.name(*device))
    };
    let shown: Vec<String> = moved.iter().take(SHOWN).map(cable).collect();
    let more = if moved.len() > SHOWN { ", ..." } else { "" };
    Some(format!(
        "the names of {} nodes are not in port order: {}{more}; help: check whether their cables are swapped",
        moved.len(),
        shown.join(", ")
    ))
}
