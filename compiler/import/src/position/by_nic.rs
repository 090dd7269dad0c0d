//! Planes by NIC: NIC k of a node is in plane k, and no switch connects the planes.
//!
//! In: a two-tier network, and the connected part of each switch in the graph without nodes. Out: the first
//! NIC of each part. Invariants: such planes are recognised from node ports in closc's own form (`nic2p0`).
//! With other names, the same cables are interpreted as one NIC with a port in each plane.

use std::collections::{BTreeMap, BTreeSet};

use super::nics::parse_nic_port;
use crate::network::{ExistingNetwork, Level};

/// Returns the lowest NIC number in each part. Returns `None` unless each NIC is in only one part and a node
/// is in several parts.
pub(super) fn nic_of_plane(
    network: &ExistingNetwork,
    levels: &[Level],
    parts: &[u16],
) -> Option<BTreeMap<u16, u16>> {
    let mut nics: BTreeMap<(u32, u16), BTreeSet<u16>> = BTreeMap::new();
    for cable in &network.cables {
        let [a, b] = cable.ends;
        let (node, other) = if levels[a.device as usize] == Level::Node { (a, b) } else { (b, a) };
        if levels[node.device as usize] == Level::Node {
            let (nic, 0) = parse_nic_port(network.ports.name(node.port))? else { return None };
            nics.entry((node.device, nic)).or_default().insert(parts[other.device as usize]);
        }
    }
    let mut nodes: BTreeMap<u32, BTreeSet<u16>> = BTreeMap::new();
    let mut first: BTreeMap<u16, u16> = BTreeMap::new();
    for ((node, nic), parts) in &nics {
        nodes.entry(*node).or_default().extend(parts);
        for part in parts {
            let first = first.entry(*part).or_insert(*nic);
            *first = (*first).min(*nic);
        }
    }
    let is_by_nic =
        nics.values().all(|parts| parts.len() == 1) && nodes.values().any(|parts| parts.len() > 1);
    is_by_nic.then_some(first)
}
