//! Recognizes planes by NIC: NIC k of a node is in plane k, and no switch joins the planes.
//!
//! In: an existing network, and the places of its devices. Out: whether it has such planes. Invariants: ports of nodes in
//! closc's own form (`nic2p0`) or names of devices with several zones show it. Without them, planes by NIC are the same
//! cables as one NIC with a port in each plane.

use std::collections::{BTreeMap, BTreeSet};

use closc_topology::PlaneId;

use crate::network::{ExistingNetwork, Fault, Level};
use crate::position::{Place, Positions, nic_and_plane};

/// Returns the fault of a network with planes by NIC, which no candidate file describes.
pub(super) fn fault(network: &ExistingNetwork, positions: &Positions) -> Option<Fault> {
    let zones = zones(positions);
    let (reason, help) = if zones > 1 {
        (format!("the names belong to {zones} zones that no T2 connects"), "import one zone at a time")
    } else if is_by_port(network, positions) {
        let reason = "each NIC is in one plane, and no switch connects the planes";
        (reason.to_owned(), "import the cables of one NIC of the nodes at a time, such as those of `nic0p0`")
    } else {
        return None;
    };
    let text = format!("{reason}: `closc import` does not support planes by NIC; help: {help}");
    Some(Fault { place: None, text })
}

/// Counts zones that no T2 joins; 1 if T2s join them.
fn zones(positions: &Positions) -> usize {
    if positions.levels.contains(&Level::T2) {
        return 1;
    }
    let zone = |place: &Place| match place {
        Place::Switch(switch) => Some(switch.zone),
        Place::Node(_) => None,
    };
    positions.places.iter().filter_map(zone).collect::<BTreeSet<_>>().len()
}

/// Returns whether ports of nodes show that each NIC is in one plane and nodes are in several.
fn is_by_port(network: &ExistingNetwork, positions: &Positions) -> bool {
    let mut nics: BTreeMap<(u32, u16), BTreeSet<PlaneId>> = BTreeMap::new();
    for cable in &network.cables {
        let [a, b] = cable.ends;
        let (node, other) = if positions.switch(a.device).is_none() { (a, b) } else { (b, a) };
        let (None, Some(switch)) = (positions.switch(node.device), positions.switch(other.device)) else {
            continue;
        };
        let Some((nic, 0)) = nic_and_plane(network.ports.name(node.port)) else { return false };
        nics.entry((node.device, nic)).or_default().insert(switch.plane);
    }
    let mut nodes: BTreeMap<u32, BTreeSet<PlaneId>> = BTreeMap::new();
    for ((node, _), planes) in &nics {
        nodes.entry(*node).or_default().extend(planes);
    }
    nics.values().all(|planes| planes.len() == 1) && nodes.values().any(|planes| planes.len() > 1)
}
