//! The routes of a node to the NICs of all other nodes: the active paths, as segment lists with their shares.
//!
//! In: a plan and a node. Out: [`NodeRoutes`], or `None` if hosts do not choose paths or the fabric is too
//! large for [`HostRoutes`]. Invariants: denied paths are replaced by backup ones of the same plane. Every
//! plane gets the same share, unless a plane has too few usable backup paths.
//!
//! A node sends to a NIC of another node from its own NIC with the same number, as rail-based collectives do.
//! If that NIC is absent, the first NIC of the node sends.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use closc_artefacts::Address;
use closc_topology::{Nic, Node, PlaneId};
use smol_str::SmolStr;

use super::route_counts::HostRoutes;
use crate::intent::{NicIntent, NicPortIntent};
use crate::path::PathKind;
use crate::plan::Plan;
use crate::segment::UplinkChoice;
use crate::table::PathTable;

/// The routes of a node to the NICs of all other nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRoutes {
    /// Name of the node.
    pub name: SmolStr,
    /// Number of planes of the fabric.
    pub planes: u8,
    /// Maximum size of the inner packet.
    pub mtu: u16,
    /// The NICs of other nodes, in order.
    pub destinations: Vec<NodeDestination>,
}

/// A NIC of another node, and the paths to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeDestination {
    /// The NIC.
    pub nic: Nic,
    /// Its name, for display.
    pub name: String,
    /// Its address.
    pub address: Address,
    /// Source address: that of the node's own NIC.
    pub source: Address,
    /// The paths over each port.
    pub ports: Vec<PortPaths>,
}

/// The paths to a NIC over one port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortPaths {
    /// Plane of the port.
    pub plane: PlaneId,
    /// Interface of the port.
    pub interface: SmolStr,
    /// Address of the T0.
    pub gateway: Address,
    /// Outer destination addresses, each with the number of active entropy values that lead to it.
    pub lists: Vec<(Ipv6Addr, u16)>,
}

impl Plan {
    /// Creates the routes of a node; `None` if hosts do not choose paths, or if the fabric is too large for such
    /// routes.
    pub fn node_routes(&self, node: Node) -> Option<NodeRoutes> {
        routes(self, node)
    }
}

fn routes(plan: &Plan, node: Node) -> Option<NodeRoutes> {
    let topology = plan.topology();
    if !plan.is_source_routed() || !HostRoutes::new(topology).are_written() {
        return None;
    }
    let nics = plan.host(node).nics;
    let table = |nic: &NicIntent| {
        let group = (nic.nic.zone, nic.nic.group);
        (group, plan.path_table(group.0, group.1))
    };
    let tables: BTreeMap<_, _> = nics.iter().map(table).collect();
    let others = plan.fabric().nics().filter_map(|to| {
        let (far, number) = topology.node_of(to);
        let from = nics.iter().find(|nic| nic.number == number).or(nics.first())?;
        let table = tables.get(&(from.nic.zone, from.nic.group))?;
        (far != node).then(|| destination(plan, table, from, to))
    });
    Some(NodeRoutes {
        name: topology.naming.node(node),
        planes: topology.planes,
        mtu: topology.mtu.payload,
        destinations: others.filter(|to| !to.ports.is_empty()).collect(),
    })
}

fn destination(plan: &Plan, table: &PathTable<'_>, from: &NicIntent, to: Nic) -> NodeDestination {
    let (node, number) = plan.topology().node_of(to);
    let over = |port: &NicPortIntent| PortPaths {
        plane: port.plane,
        interface: port.interface.clone(),
        gateway: port.gateway,
        lists: lists(plan, table, from.nic, port.plane, to),
    };
    NodeDestination {
        nic: to,
        name: plan.topology().naming.nic(node, number),
        address: plan.addresses().nic(to),
        source: from.address,
        ports: from.ports.iter().map(over).filter(|port| !port.lists.is_empty()).collect(),
    }
}

/// Returns the outer destination addresses over one port, each with the number of active entropy values that
/// lead to it.
fn lists(plan: &Plan, table: &PathTable<'_>, from: Nic, plane: PlaneId, to: Nic) -> Vec<(Ipv6Addr, u16)> {
    let mut out: Vec<(Ipv6Addr, u16)> = Vec::new();
    for choice in choices(table, from, plane, to) {
        let list = plan.segments().list(plane, (from.zone, from.group), to, choice);
        let address = plan.segments().address(plane, &list);
        match out.iter().position(|(known, _)| *known == address) {
            Some(at) => out[at].1 += 1,
            None => out.push((address, 1)),
        }
    }
    out
}

/// Returns the choices in use in a plane: the active ones, with denied ones replaced by backup choices.
fn choices(table: &PathTable<'_>, from: Nic, plane: PlaneId, to: Nic) -> Vec<UplinkChoice> {
    let sets = table.sets;
    let Some(order) = table.orders.get(usize::from(plane.0)) else { return Vec::new() };
    let local = PathKind::classify(from, to) == PathKind::Local;
    let fine = |choice: &UplinkChoice| table.denies(plane, from, to, *choice).is_none();
    let active = sets.active(order, from);
    let backup = if local { Vec::new() } else { sets.backup(order, from) };
    active.into_iter().chain(backup).filter(fine).take(usize::from(sets.active_per_plane())).collect()
}
