//! Orchestrator settings for all nodes: the ports that every node has, and their address pools.
//!
//! In: a plan. Out: [`ClusterIntent`], and the addresses of each node on request. Invariants: a port is identified by
//! NIC and plane only, so a single object describes all nodes.

use closc_artefacts::{Address, Prefix};
use closc_topology::{Island, NicPort, Node, PlaneId, Topology, ZoneId};
use smol_str::SmolStr;

use crate::address::{AddressPlan, CableEnd};
use crate::plan::Plan;
use crate::port_name;

/// Common properties of all nodes.
#[derive(Debug, Clone)]
pub struct ClusterIntent<'a> {
    /// Name of the fabric.
    pub fabric: &'a str,
    /// MTU of the cable.
    pub mtu: u16,
    /// Prefix of all NICs of the fabric.
    pub reach: Prefix,
    /// The NICs of a node, in order.
    pub nics: Vec<ClusterNic>,
}

/// A NIC that every node has.
#[derive(Debug, Clone)]
pub struct ClusterNic {
    /// Number in the node, from 0.
    pub number: u8,
    /// Its ports, one per plane.
    pub ports: Vec<ClusterPort>,
}

/// A port that every node has.
#[derive(Debug, Clone)]
pub struct ClusterPort {
    /// The plane.
    pub plane: PlaneId,
    /// Name of the interface, of its RDMA device and of its Kubernetes resource.
    pub interface: SmolStr,
    /// Prefix of the NIC ports of all nodes in this plane.
    pub pool: Prefix,
    /// Prefix of the NICs that are reachable over the port.
    pub reach: Prefix,
}

/// The addresses of a NIC, or of one of its ports, on one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// Name of the node.
    pub node: SmolStr,
    /// Prefix of the node: a /127 with the T0 for a port, a /128 for a NIC.
    pub prefix: Prefix,
    /// The T0's address, for a port.
    pub gateway: Option<Address>,
}

impl Plan {
    /// Returns the common settings of all nodes.
    pub fn cluster(&self) -> ClusterIntent<'_> {
        let topology = self.topology();
        let port = |number: u8, plane: PlaneId| ClusterPort {
            plane,
            interface: port_name::interface(number, plane),
            pool: self.addresses().nic_ports(plane),
            reach: self.reach_of(number),
        };
        let nic = |number: u8| ClusterNic {
            number,
            ports: self.planes().map(|plane| port(number, plane)).collect(),
        };
        ClusterIntent {
            fabric: &topology.name,
            mtu: topology.mtu.link,
            reach: topology.addresses.hosts,
            nics: (0..topology.hosts.nics_per_node).map(nic).collect(),
        }
    }

    /// Returns a prefix that contains all NICs that a NIC with this number has paths to. With planes by NIC,
    /// it is the prefix of the NIC's zone, otherwise that of the fabric.
    fn reach_of(&self, number: u8) -> Prefix {
        let topology = self.topology();
        let first = Node { zone: ZoneId(0), unit: 0, index: 0 };
        match topology.island() {
            // A zone is a plane by NIC, so the number of a NIC determines its zone on every node.
            Island::Zone => self.addresses().zone(topology.nic_of(first, number).zone),
            // NICs with the same number are in different groups on different nodes. Only the prefix of the
            // fabric contains them all.
            Island::Group | Island::Fabric => topology.addresses.hosts,
        }
    }

    /// Returns the interfaces of a NIC, those of all planes in order.
    pub fn nic_interfaces(&self, number: u8) -> impl Iterator<Item = SmolStr> + '_ {
        self.topology().plane_ids().map(move |plane| port_name::interface(number, plane))
    }

    /// Returns the address of a NIC on every node that contains it.
    pub fn nic_allocations(&self, number: u8) -> impl Iterator<Item = Allocation> + '_ {
        self.nodes_with(number).map(move |(topology, node)| Allocation {
            node: topology.naming.node(node),
            prefix: Prefix::new_assert(self.addresses().nic(topology.nic_of(node, number)), 128),
            gateway: None,
        })
    }

    /// Returns the addresses of a NIC port in a plane, on every node with a cable there.
    pub fn port_allocations(&self, number: u8, plane: PlaneId) -> impl Iterator<Item = Allocation> + '_ {
        self.nodes_with(number).filter_map(move |(topology, node)| {
            let port = NicPort { plane, nic: topology.nic_of(node, number) };
            let link = closc_topology::Link::Host(port);
            let addresses = self.addresses();
            self.fabric().has_link(link).then(|| Allocation {
                node: topology.naming.node(node),
                prefix: Prefix::new_assert(addresses.link(link, CableEnd::Lower), AddressPlan::LINK_PREFIX)
                    .trunc(),
                gateway: Some(addresses.link(link, CableEnd::Upper)),
            })
        })
    }

    fn nodes_with(&self, number: u8) -> impl Iterator<Item = (&Topology, Node)> + '_ {
        let topology = self.topology();
        let has = move |node: &Node| self.fabric().has_nic(topology.nic_of(*node, number));
        self.nodes().filter(has).map(move |node| (topology, node))
    }
}
