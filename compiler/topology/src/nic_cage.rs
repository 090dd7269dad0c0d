//! The cages of NICs.
//!
//! In: a topology. Out: the cage of each port of a NIC. Invariants: the ports of a cage belong to consecutive planes,
//! and all cages have the same number of ports.

use crate::coordinate::{Nic, NicPort, ZoneId};
use crate::model::Topology;

impl Topology {
    /// Returns the number of cages of a NIC.
    pub fn nic_cages(&self, zone: ZoneId) -> u8 {
        self.hosts.nic_by_zone.get(&zone).map_or(self.hosts.nic_cages, |own| own.cages)
    }

    /// Returns the lanes of a NIC, over all of its cages.
    pub fn nic_lanes(&self, zone: ZoneId) -> u8 {
        self.hosts.nic_by_zone.get(&zone).map_or(self.hosts.nic_lanes, |own| own.lanes)
    }

    /// Returns the cage of a port of a NIC, from 0.
    pub fn nic_cage(&self, port: NicPort) -> u8 {
        let cages = u16::from(self.nic_cages(port.nic.zone));
        let cage = u16::from(port.plane.0) * cages / u16::from(self.planes).max(1);
        u8::try_from(cage).unwrap_or(u8::MAX)
    }

    /// Returns the ports in a cage of a NIC.
    pub fn nic_cage_ports(&self, nic: Nic, cage: u8) -> impl Iterator<Item = NicPort> + use<'_> {
        let ports = self.plane_ids().map(move |plane| NicPort { plane, nic });
        ports.filter(move |port| self.nic_cage(*port) == cage)
    }
}
