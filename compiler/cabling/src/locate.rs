//! Maps names in reports to devices and ports of the plan.
//!
//! In: a plan, and the names that a neighbour sends. Out: its device and port. Invariants: a domain after the name of a
//! device is ignored. A port is found by name or alias.

use std::collections::HashMap;

use closc_fabric::{End, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, NicPort, Node, PlaneId, Side, Switch};
use smol_str::SmolStr;

use crate::front::Fronts;
use crate::read::packets;
use crate::sighting::Neighbour;

/// A device of the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    /// A switch.
    Switch(Switch),
    /// A node.
    Node(Node),
}

/// Identity of a neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NeighbourIdentity {
    /// A port of the fabric.
    Port(End),
    /// A front-panel port that is not in the plan.
    Front(Switch, SmolStr),
    /// A device of the fabric whose port is unknown.
    Device(Device),
    /// A neighbour without a name, which may be the right one.
    Nameless(String),
    /// A device that is not in the fabric.
    Foreign(String),
}

/// A planned port of a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedPort {
    /// Its end in the plan.
    pub end: End,
    pub used: PortUse,
}

impl Device {
    /// Returns the device with this name, which may include a domain. Case is ignored, as in host names (RFC 4343).
    pub fn find(plan: &Plan, name: &str) -> Option<Self> {
        let naming = &plan.topology().naming;
        // Names in a plan are lower-case.
        let small = name.to_ascii_lowercase();
        let name = small.as_str();
        let short = name.split('.').next().filter(|short| *short != name);
        std::iter::once(name).chain(short).find_map(|name| {
            let switch = naming.parse_switch(name).filter(|switch| plan.fabric().has_switch(*switch));
            let node = || naming.parse_node(name).filter(|node| plan.fabric().has_node(*node));
            switch.map(Device::Switch).or_else(|| node().map(Device::Node))
        })
    }

    /// Returns its name.
    pub fn name(self, plan: &Plan) -> String {
        match self {
            Device::Switch(switch) => plan.switch_name(switch).to_string(),
            Device::Node(node) => plan.node_name(node).to_string(),
        }
    }

    /// Returns the device of an end.
    pub(crate) fn of(plan: &Plan, end: End) -> Self {
        match end {
            End::Switch { switch, .. } => Device::Switch(switch),
            End::Nic(port) => Device::Node(plan.topology().node_of(port.nic).0),
        }
    }

    /// Returns the ports of the device, each with its names.
    pub(crate) fn ports(self, plan: &Plan) -> Vec<(PlannedPort, Vec<String>)> {
        match self {
            Device::Switch(switch) => {
                let ports = plan.fabric().ports(switch);
                let planned = ports
                    .map(|port| PlannedPort { end: End::Switch { switch, port: port.at }, used: port.usage });
                let (platform, topology) = (&plan.topology().hardware(switch).0, plan.topology());
                let numbered = |planned: PlannedPort| {
                    let mut names = names(plan, planned.end);
                    if let End::Switch { port, .. } = planned.end {
                        let physical = platform.port(topology.slot(switch, port));
                        names.push(packets::port_name(physical.device.into()));
                    }
                    (planned, names)
                };
                planned.map(numbered).collect()
            }
            Device::Node(node) => {
                let topology = plan.topology();
                let nics = (0..topology.hosts.nics_per_node).map(|number| topology.nic_of(node, number));
                let ports = nics
                    .filter(|nic| plan.fabric().has_nic(*nic))
                    .flat_map(|nic| plan.planes().map(move |plane| NicPort { plane, nic }));
                ports.map(|port| (planned_nic(plan, port), names(plan, End::Nic(port)))).collect()
            }
        }
    }

    /// Returns the ports of the device by name.
    pub(crate) fn by_name(self, plan: &Plan) -> HashMap<String, PlannedPort> {
        let ports = self.ports(plan);
        // A name takes precedence, because the alias of one port may be the name of another.
        let aliases =
            ports.iter().flat_map(|(port, names)| names.iter().skip(1).map(move |name| (name, port)));
        let first = ports.iter().filter_map(|(port, names)| Some((names.first()?, port)));
        aliases.chain(first).map(|(name, port)| (name.clone(), *port)).collect()
    }
}

/// Returns a NIC port as a planned port.
fn planned_nic(plan: &Plan, port: NicPort) -> PlannedPort {
    let (fabric, link) = (plan.fabric(), Link::Host(port));
    let far = fabric.upper_end(link).filter(|_| fabric.has_link(link));
    let used = match far {
        Some((switch, at)) => PortUse::Link { link, peer: End::Switch { switch, port: at } },
        None => PortUse::Absent { link },
    };
    PlannedPort { end: End::Nic(port), used }
}

/// Returns the names of a port: the device's own name, then the alias.
fn names(plan: &Plan, end: End) -> Vec<String> {
    let topology = plan.topology();
    match end {
        End::Switch { switch, port } => {
            let physical = topology.hardware(switch).0.port(topology.slot(switch, port));
            let mut names = vec![physical.name.to_string()];
            if physical.alias != physical.name {
                names.push(physical.alias.to_string());
            }
            names
        }
        End::Nic(port) => vec![plan.cable_ends(Link::Host(port)).lower.1.to_string()],
    }
}

/// Returns the name of a port in the naming of its device.
pub(crate) fn port_name(plan: &Plan, end: End) -> String {
    names(plan, end).swap_remove(0)
}

/// Returns the cable that the wiring rule assigns to a port, whether or not it exists.
pub(crate) fn cable_of(plan: &Plan, end: End) -> Option<Link> {
    match end {
        End::Nic(port) => Some(Link::Host(port)),
        End::Switch { switch, port } => match plan.fabric().port_use(switch, port) {
            PortUse::Link { link, .. } | PortUse::Absent { link } => Some(link),
            PortUse::Spare => None,
        },
    }
}

/// Returns whether an end is the end of its cable nearer to the NICs.
pub(crate) fn is_lower(end: End) -> bool {
    match end {
        End::Nic(_) => true,
        End::Switch { port, .. } => port.side == Side::Up,
    }
}

/// Returns the plane of an end.
pub(crate) fn plane(end: End) -> PlaneId {
    match end {
        End::Nic(port) => port.plane,
        End::Switch { switch, .. } => switch.plane,
    }
}

/// Returns whether a text is a MAC address, in one of the usual notations.
fn is_mac(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_hexdigit).count();
    digits == 12 && text.chars().all(|sign| sign.is_ascii_hexdigit() || matches!(sign, ':' | '-' | '.'))
}

/// Identifies a neighbour. `expected` is the planned neighbour.
pub(crate) fn locate(
    plan: &Plan,
    fronts: &mut Fronts,
    neighbour: &Neighbour,
    expected: Option<End>,
) -> NeighbourIdentity {
    let named = neighbour.system.as_deref().or(neighbour.chassis.as_deref().filter(|id| !is_mac(id)));
    let Some(name) = named.filter(|name| !name.is_empty()) else {
        return NeighbourIdentity::Nameless(neighbour.label());
    };
    let Some(device) = Device::find(plan, name) else {
        return NeighbourIdentity::Foreign(neighbour.label());
    };
    if let Some(expected) = expected.filter(|expected| Device::of(plan, *expected) == device)
        && names(plan, expected).iter().any(|name| neighbour.ports.contains(name))
    {
        return NeighbourIdentity::Port(expected);
    }
    let ports = device.by_name(plan);
    let port = neighbour.ports.iter().find_map(|word| ports.get(word));
    if let Some(port) = port {
        return NeighbourIdentity::Port(port.end);
    }
    if let Device::Switch(switch) = device
        && let Some(port) = neighbour.ports.iter().find_map(|word| fronts.find(plan, switch, word))
    {
        return NeighbourIdentity::Front(switch, port);
    }
    NeighbourIdentity::Device(device)
}
