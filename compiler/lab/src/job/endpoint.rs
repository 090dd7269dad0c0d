//! The NICs of a job.

use crate::model::{DeviceId, Model, PortId};
use crate::tree::Tree;

/// A NIC of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEndpoint {
    /// Its name: `su001-n001/nic0`.
    pub name: String,
    /// The node it is in.
    pub node: DeviceId,
    /// Its address.
    pub address: std::net::Ipv6Addr,
    /// Its port in each plane; `None` without a cable.
    pub ports: Vec<Option<PortId>>,
    /// The path table of its group, by index in the tree.
    pub table: usize,
}

/// Returns the NICs of a tree, by name.
pub fn seats(tree: &Tree, model: &Model) -> Vec<JobEndpoint> {
    let mut seats = Vec::new();
    for (at, table) in tree.tables.iter().enumerate() {
        for nic in &table.nics {
            let Some(node) = nic.port(0).and_then(|(node, _)| model.device(node)) else { continue };
            let ports = (0..table.planes).map(|plane| model.nic_port(nic, plane)).collect();
            seats.push(JobEndpoint { name: nic.name.clone(), node, address: nic.address, ports, table: at });
        }
    }
    seats.sort_by(|a, b| a.name.cmp(&b.name));
    seats
}
