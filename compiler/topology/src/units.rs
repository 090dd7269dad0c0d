//! Nodes and NICs: which NIC of which node hangs on which downlink.
//!
//! In: a NIC by group and downlink, or by node and number. Out: the other. Always: the two undo each other. A
//! unit is as many consecutive T0 groups as there are rails; NIC `k` of node `n` in unit `u` hangs on group
//! `u * rails + k % rails`, at downlink `n * share + k / rails`, where `share` is the number of NICs of a node
//! that one group takes. Neither depends on how many units or nodes there are.

use crate::coordinate::{Nic, Node};
use crate::model::Topology;

impl Topology {
    /// Returns the number of units in a zone.
    pub fn units(&self) -> u16 {
        self.t0.count / self.rails()
    }

    /// Returns the number of nodes in a unit.
    pub fn nodes_per_unit(&self) -> u16 {
        self.hosts.per_group / self.share()
    }

    /// Returns the node of a NIC and the NIC's number on it, from 0.
    pub fn node_of(&self, nic: Nic) -> (Node, u8) {
        let node =
            Node { zone: nic.zone, unit: nic.group / self.rails(), index: nic.downlink / self.share() };
        let rail = nic.group % self.rails();
        (node, (nic.downlink % self.share() * self.rails() + rail) as u8)
    }

    /// Returns the NIC of a node by its number, from 0.
    pub fn nic_of(&self, node: Node, nic_in_node: u8) -> Nic {
        let number = u16::from(nic_in_node);
        Nic {
            zone: node.zone,
            group: node.unit * self.rails() + number % self.rails(),
            downlink: node.index * self.share() + number / self.rails(),
        }
    }

    fn rails(&self) -> u16 {
        u16::from(self.hosts.rails)
    }

    /// NICs of a node on one T0 group.
    fn share(&self) -> u16 {
        u16::from(self.hosts.nics_per_node / self.hosts.rails)
    }
}
