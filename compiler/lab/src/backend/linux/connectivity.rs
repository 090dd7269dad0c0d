//! Checks that routes connect every pair of NICs.
//!
//! In: NICs, and the routes of every device. Out: a pair of NICs that is not connected for some choice of next hops.
//! Invariants: every choice is tried, so the result holds for every hash.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Address;

use crate::backend::Routes;
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::tree::{DeviceKind, Tree};

/// A NIC of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeNic {
    pub(crate) node: DeviceId,
    pub(crate) address: Address,
}

/// Returns the NICs of all nodes, from their own files.
pub(crate) fn seats(tree: &Tree, model: &Model) -> Vec<NodeNic> {
    let nodes = model.devices.iter().enumerate().filter(|(_, device)| device.kind == DeviceKind::Node);
    nodes
        .flat_map(|(at, device)| {
            let addresses = tree.devices.get(&device.name).map(|device| device.batch.addresses.as_slice());
            addresses
                .unwrap_or_default()
                .iter()
                .map(move |address| NodeNic { node: DeviceId(at), address: *address })
        })
        .collect()
}

/// Connected components of the switches, and the components to which each NIC is cabled. NICs in different components
/// have no path, regardless of routes. With one tier, every T0 group is a component of its own.
pub(crate) struct Components {
    of: BTreeMap<Address, BTreeSet<usize>>,
}

impl Components {
    /// Computes the components.
    pub(crate) fn of(seats: &[NodeNic], model: &Model) -> Components {
        let switches = switch_parts(model);
        let mut of = BTreeMap::new();
        for (at, device) in model.devices.iter().enumerate().filter(|(_, d)| d.kind == DeviceKind::Node) {
            // A node's file lists its NICs in numerical order.
            let mut nics: BTreeMap<u16, BTreeSet<usize>> = BTreeMap::new();
            for port in &device.ports {
                let name = model.end(*port).1.strip_prefix("nic").and_then(|rest| rest.split_once('p'));
                let number = name.and_then(|(nic, _)| nic.parse().ok()).unwrap_or(u16::MAX);
                nics.entry(number).or_default().insert(switches[model.end(port.peer()).0.0]);
            }
            let own: Vec<Address> =
                seats.iter().filter(|seat| seat.node == DeviceId(at)).map(|seat| seat.address).collect();
            if own.len() == nics.len() {
                of.extend(own.into_iter().zip(nics.into_values()));
            }
        }
        Components { of }
    }

    /// Returns whether two NICs share a component. A NIC with unknown ports counts as connected.
    pub(crate) fn join(&self, one: &NodeNic, other: &NodeNic) -> bool {
        match (self.of.get(&one.address), self.of.get(&other.address)) {
            (Some(one), Some(other)) => !one.is_disjoint(other),
            (_, _) => true,
        }
    }
}

/// Returns the component of each switch; `usize::MAX` for nodes.
fn switch_parts(model: &Model) -> Vec<usize> {
    let is_switch = |at: usize| model.devices[at].kind == DeviceKind::Switch;
    let mut parts = vec![usize::MAX; model.devices.len()];
    for first in (0..parts.len()).filter(|at| is_switch(*at)) {
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            if parts[at] == usize::MAX {
                parts[at] = first;
                let beyond = model.devices[at].ports.iter().map(|port| model.end(port.peer()).0.0);
                open.extend(beyond.filter(|next| is_switch(*next) && parts[*next] == usize::MAX));
            }
        }
    }
    parts
}

/// Returns the first pair of NICs that is not connected for some choice of next hops. Paths over dead cables
/// do not count.
pub(crate) fn disconnected_pair(
    seats: &[NodeNic],
    model: &Model,
    routes: &[Routes],
    dead: &BTreeSet<CableId>,
) -> Option<(Address, Address)> {
    let net = Net { model, routes, dead };
    let parts = Components::of(seats, model);
    for to in seats {
        let mut known: BTreeMap<DeviceId, bool> = BTreeMap::from([(to.node, true)]);
        for from in seats.iter().filter(|from| from.node != to.node && parts.join(from, to)) {
            if !joins(from.node, from.address, *to, net, &mut known) {
                return Some((from.address, to.address));
            }
            // The routes of a node may depend on the source address.
            known.remove(&from.node);
        }
    }
    None
}

/// Returns the ports that routes between NICs use.
pub(crate) fn used_ports(model: &Model, seats: &[NodeNic], routes: &[Routes]) -> BTreeSet<PortId> {
    let mut used = BTreeSet::new();
    for (at, device) in model.devices.iter().enumerate() {
        let own = DeviceId(at);
        // The routes of a node apply to its own addresses only.
        let sources: Vec<Address> = match device.kind {
            DeviceKind::Switch => vec![Address::UNSPECIFIED],
            DeviceKind::Node => seats.iter().filter(|s| s.node == own).map(|s| s.address).collect(),
        };
        for to in seats.iter().filter(|to| to.node != own) {
            let routes = sources.iter().filter_map(|from| routes[at].of(*from, to.address));
            let ports = routes.flat_map(|(_, route)| &route.hops).filter_map(|(hop, _)| model.port(own, hop));
            used.extend(ports);
        }
    }
    used
}

/// The forwarding graph.
#[derive(Clone, Copy)]
struct Net<'a> {
    model: &'a Model,
    routes: &'a [Routes],
    dead: &'a BTreeSet<CableId>,
}

impl Net<'_> {
    /// Returns the device at the other end of a port's cable; `None` if the cable is dead.
    fn next(self, at: DeviceId, port: &str) -> Option<DeviceId> {
        let port = self.model.port(at, port).filter(|port| !self.dead.contains(&port.cable()))?;
        Some(self.model.end(port.peer()).0)
    }
}

/// Returns whether every choice of next hops leads to the NIC `to`.
fn joins(
    at: DeviceId,
    from: Address,
    to: NodeNic,
    net: Net<'_>,
    known: &mut BTreeMap<DeviceId, bool>,
) -> bool {
    if let Some(known) = known.get(&at) {
        return *known;
    }
    // A packet that reaches this device again is in a loop.
    known.insert(at, false);
    let joined = net.routes[at.0].of(from, to.address).is_some_and(|(_, route)| {
        let mut hops = route.hops.iter();
        !route.hops.is_empty()
            && hops.all(|(port, _)| net.next(at, port).is_some_and(|next| joins(next, from, to, net, known)))
    });
    known.insert(at, joined);
    joined
}
