//! Whether the routes of kernels join every pair of NICs.
//!
//! In: the tree's NICs and the routes of every device. Out: a pair that some choice of next hops does not join.
//! Invariants: every choice is tried, so what is joined is joined whatever kernels choose.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Address;

use crate::backend::Routes;
use crate::model::{CableId, DeviceId, Model, PortId};
use crate::tree::{DeviceKind, Tree};

/// A NIC of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    pub(crate) node: DeviceId,
    pub(crate) address: Address,
}

/// Returns the NICs of all nodes, as their own files have them.
pub(crate) fn seats(tree: &Tree, model: &Model) -> Vec<Seat> {
    let nodes = model.devices.iter().enumerate().filter(|(_, device)| device.kind == DeviceKind::Node);
    nodes
        .flat_map(|(at, device)| {
            let addresses = tree.devices.get(&device.name).map(|device| device.batch.addresses.as_slice());
            addresses
                .unwrap_or_default()
                .iter()
                .map(move |address| Seat { node: DeviceId(at), address: *address })
        })
        .collect()
}

/// Returns the first pair of NICs that some choice of next hops does not join, or joins over a cable that is not where it
/// belongs, if there is one.
pub(crate) fn unjoined(
    seats: &[Seat],
    model: &Model,
    routes: &[Routes],
    dead: &BTreeSet<CableId>,
) -> Option<(Address, Address)> {
    let net = Net { model, routes, dead };
    for to in seats {
        let mut known: BTreeMap<DeviceId, bool> = BTreeMap::from([(to.node, true)]);
        for from in seats.iter().filter(|from| from.node != to.node) {
            if !joins(from.node, from.address, *to, net, &mut known) {
                return Some((from.address, to.address));
            }
            // Rules of a node apply to its own source alone.
            known.remove(&from.node);
        }
    }
    None
}

/// Returns the ports that routes between NICs leave by.
pub(crate) fn used(model: &Model, seats: &[Seat], routes: &[Routes]) -> BTreeSet<PortId> {
    let mut used = BTreeSet::new();
    for (at, device) in model.devices.iter().enumerate() {
        let own = DeviceId(at);
        // Routes of nodes hold for their own sources.
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

/// Where packets can go.
#[derive(Clone, Copy)]
struct Net<'a> {
    model: &'a Model,
    routes: &'a [Routes],
    dead: &'a BTreeSet<CableId>,
}

impl Net<'_> {
    /// The device behind a port.
    fn next(self, at: DeviceId, port: &str) -> Option<DeviceId> {
        let port = self.model.port(at, port).filter(|port| !self.dead.contains(&port.cable()))?;
        Some(self.model.end(port.far()).0)
    }
}

/// Tells whether every choice from a device leads to a NIC.
fn joins(at: DeviceId, from: Address, to: Seat, net: Net<'_>, known: &mut BTreeMap<DeviceId, bool>) -> bool {
    if let Some(known) = known.get(&at) {
        return *known;
    }
    // A packet that returns here loops.
    known.insert(at, false);
    let joined = net.routes[at.0].of(from, to.address).is_some_and(|(_, route)| {
        let mut hops = route.hops.iter();
        !route.hops.is_empty()
            && hops.all(|(port, _)| net.next(at, port).is_some_and(|next| joins(next, from, to, net, known)))
    });
    known.insert(at, joined);
    joined
}
