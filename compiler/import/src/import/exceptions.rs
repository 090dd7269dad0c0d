//! Differences of an existing network from the counts of its fabric file: exceptions, findings, and other names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use closc_cabling::{Device, Judge, Neighbour, Sighting};
use closc_plan::Plan;
use closc_topology::{Link, Nic, Switch};
use smol_str::SmolStr;

use super::NameMapping;
use super::drain_exceptions;
use super::hardware::Hardware;
use super::ranges::ranges;
use crate::compare::NetworkComparison;
use crate::network::{CableSpec, ExistingNetwork, Plug};
use crate::ports::{Kind, ends};
use crate::position::{Place, Positions};
use crate::text::Exceptions;

/// Returns the exceptions of a plan: absent or drained elements, cables of other lengths or media, and
/// switches with other hardware.
pub(crate) fn exceptions(
    network: &ExistingNetwork,
    positions: &Positions,
    plan: &Plan,
    compared: &NetworkComparison,
    hardware: &Hardware,
) -> Exceptions {
    let mut cables = Vec::new();
    for (cable, link) in network.cables.iter().zip(&compared.matches) {
        let Some(link) = link else { continue };
        let own: &CableSpec = &network.specs[cable.spec as usize];
        let usual = plan.fabric().cable(*link);
        let length = own.0.filter(|length| *length != usual.length);
        let medium = own.1.clone().filter(|medium| *medium != usual.medium);
        if length.is_some() || medium.is_some() {
            // Length and medium are written together, even if only one of them differs.
            cables.push((plan.link_name(*link), own.clone()));
        }
    }
    Exceptions {
        absent: absent(positions, plan, compared),
        drained: drain_exceptions::drained_names(network, plan, compared),
        isolated: drain_exceptions::isolated_names(network, plan, compared),
        cables,
        devices: hardware.devices(network, positions),
    }
}

/// Returns the names of absent elements: complete devices, then complete NICs and single cables.
fn absent(positions: &Positions, plan: &Plan, compared: &NetworkComparison) -> Vec<String> {
    let devices = positions.devices();
    let fabric = plan.fabric();
    let has = |place| devices.contains_key(&place);
    let switches = fabric.switches().filter(|switch| !has(Place::Switch(*switch)));
    let mut names: Vec<String> = switches.map(|switch| plan.switch_name(switch).to_string()).collect();
    let nodes = fabric.nodes().filter(|node| !has(Place::Node(*node)));
    names.extend(nodes.map(|node| plan.node_name(node).to_string()));
    let plugged: BTreeSet<Nic> = compared.matches.iter().flatten().filter_map(|link| nic(*link)).collect();
    let occupied: BTreeSet<Nic> = compared.occupied_cables.iter().filter_map(|link| nic(*link)).collect();
    let mut gone: BTreeSet<Nic> = BTreeSet::new();
    let is_there = |switch: Switch| has(Place::Switch(switch));
    for link in &compared.missing {
        let upper = fabric.upper_end(*link).is_some_and(|(switch, _)| is_there(switch));
        match *link {
            Link::Host(port) => {
                let (node, number) = plan.topology().node_of(port.nic);
                if !has(Place::Node(node)) {
                    continue;
                }
                if !plugged.contains(&port.nic) && !occupied.contains(&port.nic) {
                    if gone.insert(port.nic) {
                        names.push(plan.topology().naming.nic(node, number));
                    }
                } else if upper {
                    names.push(plan.link_name(*link));
                }
            }
            Link::Fabric { lower, .. } => {
                if upper && is_there(lower) {
                    names.push(plan.link_name(*link));
                }
            }
        }
    }
    ranges(&names)
}

fn nic(link: Link) -> Option<Nic> {
    match link {
        Link::Host(port) => Some(port.nic),
        Link::Fabric { .. } => None,
    }
}

/// Returns the name of a device in the plan.
fn name(plan: &Plan, place: Place) -> String {
    match place {
        Place::Switch(switch) => plan.switch_name(switch).to_string(),
        Place::Node(node) => plan.node_name(node).to_string(),
    }
}

/// Returns the connections that differ from the plan: exchanged or wrong cables, with file and line.
pub(crate) fn findings(
    network: &ExistingNetwork,
    positions: &Positions,
    plan: &Plan,
    compared: &NetworkComparison,
) -> Vec<String> {
    if compared.unplanned_cables.is_empty() && compared.occupied_cables.is_empty() {
        return Vec::new();
    }
    let own = |device: u32| name(plan, positions.places[device as usize]);
    let other: HashMap<(u32, &str), &SmolStr> =
        compared.ports.iter().map(|port| ((port.device, port.old.as_str()), &port.new)).collect();
    let port = |plug: Plug| {
        let old = network.ports.name(plug.port);
        other.get(&(plug.device, old.as_str())).copied().unwrap_or(old).to_string()
    };
    let touched: BTreeSet<u32> = compared
        .unplanned_cables
        .iter()
        .flat_map(|cable| network.cables[*cable as usize].ends.map(|plug| plug.device))
        .collect();
    let mut sightings: BTreeMap<u32, Vec<Sighting>> = BTreeMap::new();
    for cable in &network.cables {
        for (near, far) in [(0, 1), (1, 0)] {
            let (near, far) = (cable.ends[near], cable.ends[far]);
            if touched.contains(&near.device) {
                let neighbour =
                    Neighbour { system: Some(own(far.device)), chassis: None, ports: vec![port(far)] };
                sightings.entry(near.device).or_default().push(Sighting {
                    port: port(near),
                    neighbours: vec![neighbour],
                    ..Sighting::default()
                });
            }
        }
    }
    let devices: BTreeMap<u32, Device> =
        touched.iter().filter_map(|device| Some((*device, Device::find(plan, &own(*device))?))).collect();
    let mut judge = Judge::new(plan);
    for (device, seen) in &sightings {
        if let Some(at) = devices.get(device) {
            judge.device(*at, seen);
        }
    }
    let mut found: Vec<String> = judge.finish().findings.iter().map(ToString::to_string).collect();
    found.extend(rows(network, compared, &planned_far_ends(network, positions, plan, compared), port));
    found
}

/// Lists the cables that do not match any planned cable: file and line, both ends, and the expected far ends.
fn rows(
    network: &ExistingNetwork,
    compared: &NetworkComparison,
    far: &HashMap<(u32, String), String>,
    port: impl Fn(Plug) -> String,
) -> Vec<String> {
    let row = |number: &u32| {
        let cable = &network.cables[*number as usize];
        let label =
            |plug: Plug| format!("{} {}", network.devices.name(plug.device), network.ports.name(plug.port));
        let [a, b] = cable.ends.map(label);
        let expected: Vec<String> = cable
            .ends
            .iter()
            .filter_map(|plug| Some(format!("{} -- {}", label(*plug), far.get(&(plug.device, port(*plug)))?)))
            .collect();
        let expected = match expected.join(" and ") {
            none if none.is_empty() => none,
            some => format!(": expected {some}"),
        };
        format!("{}: {a} -- {b} does not match a cable of the fabric{expected}", network.place(cable.at))
    };
    compared.unplanned_cables.iter().map(row).collect()
}

/// Returns the far ends of planned cables that are not plugged, with names of the network. The key is the
/// near end: device, and port name in the plan.
fn planned_far_ends(
    network: &ExistingNetwork,
    positions: &Positions,
    plan: &Plan,
    compared: &NetworkComparison,
) -> HashMap<(u32, String), String> {
    let devices = positions.devices();
    let mut found = HashMap::new();
    for link in compared.occupied_cables.iter().chain(&compared.missing) {
        let (at, names) = (ends(plan, &devices, *link), plan.cable_ends(*link));
        let ports = [names.lower.1, names.upper.1];
        for (near, far) in [(0, 1), (1, 0)] {
            if let (Some(near_device), Some(far_device)) = (at[near], at[far]) {
                let kind = Kind::of(plan, positions, far_device);
                let old = compared.shared_names.old(&kind, &ports[far]);
                let label = format!("{} {old}", network.devices.name(far_device));
                found.insert((near_device, ports[near].to_string()), label);
            }
        }
    }
    found
}

/// Returns the devices and ports with another name in the plan.
pub(crate) fn name_mappings(
    network: &ExistingNetwork,
    positions: &Positions,
    plan: &Plan,
    compared: &NetworkComparison,
) -> Vec<NameMapping> {
    let new = |device: u32| name(plan, positions.places[device as usize]);
    let mut found = Vec::new();
    for device in 0..network.device_count() as u32 {
        let (old, new) = (network.devices.name(device).to_string(), new(device));
        if old != new {
            found.push(NameMapping {
                old_device: old,
                old_port: String::new(),
                new_device: new,
                new_port: String::new(),
            });
        }
    }
    for port in &compared.ports {
        found.push(NameMapping {
            old_device: network.devices.name(port.device).to_string(),
            old_port: port.old.to_string(),
            new_device: new(port.device),
            new_port: port.new.to_string(),
        });
    }
    found.sort();
    found
}
