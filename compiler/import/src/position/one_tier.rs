//! Positions of T0s that are not connected by T1s, as in a rail-only network.
//!
//! In: a network of nodes and T0s. Out: plane and index of each T0. Invariants: T0s that share nodes form one
//! unit. If the ports of nodes are named by NIC and plane (`nic2p3`), the plane of a T0 is that of its
//! cables. Otherwise there is one plane, because cables alone do not show planes. Within a unit, T0s are in
//! the order of NICs, or else of names.

use std::collections::{BTreeMap, HashMap};

use super::nics::parse_nic_port;
use super::sets::Sets;
use crate::network::{ExistingNetwork, Level};

/// Plane and index of each T0, by device number; 0 for nodes.
pub(super) struct OneTier {
    pub(super) planes: Vec<u16>,
    pub(super) indices: Vec<u16>,
}

/// NIC and plane of most cables of a T0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Role {
    nic: u16,
    plane: u16,
}

/// Determines the positions. `t0s` are in the order of names.
pub(super) fn places(network: &ExistingNetwork, levels: &[Level], t0s: &[u32]) -> OneTier {
    let roles = roles(network, levels);
    let mut sets = Sets::new(network.device_count());
    for cable in &network.cables {
        let [a, b] = cable.ends.map(|plug| plug.device);
        sets.join(a, b);
    }
    let mut units: Vec<(u32, BTreeMap<u16, Vec<u32>>)> = Vec::new();
    for t0 in t0s {
        let root = sets.root(*t0);
        let at = units.iter().position(|(own, _)| *own == root).unwrap_or_else(|| {
            units.push((root, BTreeMap::new()));
            units.len() - 1
        });
        units[at].1.entry(roles.get(t0).copied().unwrap_or_default().plane).or_default().push(*t0);
    }
    let rails = units.iter().flat_map(|(_, planes)| planes.values().map(Vec::len)).max().unwrap_or(1);
    let none = vec![0; network.device_count()];
    let mut found = OneTier { planes: none.clone(), indices: none };
    for (unit, (_, planes)) in units.iter_mut().enumerate() {
        for (plane, t0s) in planes {
            // The sort is stable, so T0s of the same NIC stay in the order of names.
            t0s.sort_by_key(|t0| roles.get(t0).copied().unwrap_or_default().nic);
            for (rail, t0) in t0s.iter().enumerate() {
                found.planes[*t0 as usize] = *plane;
                found.indices[*t0 as usize] = u16::try_from(unit * rails + rail).unwrap_or(u16::MAX);
            }
        }
    }
    found
}

/// Returns NIC and plane of each T0 according to port names. The result is empty if a node port has a name in
/// another form.
fn roles(network: &ExistingNetwork, levels: &[Level]) -> HashMap<u32, Role> {
    let mut votes: HashMap<u32, BTreeMap<(u16, u16), u32>> = HashMap::new();
    for cable in &network.cables {
        let [a, b] = cable.ends;
        let (node, t0) = if levels[a.device as usize] == Level::Node { (a, b) } else { (b, a) };
        let Some((nic, plane)) = parse_nic_port(network.ports.name(node.port)) else { return HashMap::new() };
        *votes.entry(t0.device).or_default().entry((plane.into(), nic)).or_default() += 1;
    }
    let role = |votes: BTreeMap<(u16, u16), u32>| {
        let most = votes.into_iter().max_by_key(|(role, count)| (*count, std::cmp::Reverse(*role)));
        most.map(|((plane, nic), _)| Role { nic, plane }).unwrap_or_default()
    };
    votes.into_iter().map(|(t0, votes)| (t0, role(votes))).collect()
}
