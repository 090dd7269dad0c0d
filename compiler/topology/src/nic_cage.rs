//! The cages of NICs, and adapters with several NICs.
//!
//! In: a topology. Out: the cage of each port of a NIC, and the NICs of an adapter. Invariants: ports of an adapter are
//! in the order of its NICs, then planes. A cage has consecutive ports, and all cages have the same number of ports. An
//! adapter is identified by its first NIC, even if that NIC is absent. The NICs of an adapter have the same downlink
//! number, on consecutive T0 groups.

use crate::coordinate::{Nic, NicPort, ZoneId};
use crate::model::Topology;

/// Text between the node and the number in the name of an adapter.
const ADAPTER: &str = "/adapter";

impl Topology {
    /// Returns the number of cages of a NIC, or of its adapter.
    pub fn nic_cages(&self, zone: ZoneId) -> u8 {
        self.hosts.nic_by_zone.get(&zone).map_or(self.hosts.nic_cages, |own| own.cages)
    }

    /// Returns the lanes of a NIC, over all of its cages.
    pub fn nic_lanes(&self, zone: ZoneId) -> u8 {
        self.hosts.nic_by_zone.get(&zone).map_or(self.hosts.nic_lanes, |own| own.lanes)
    }

    /// Returns the number of ports of an adapter, over all planes.
    pub fn adapter_ports(&self) -> u16 {
        u16::from(self.planes.max(1)) * self.per_adapter()
    }

    /// Returns the number of a port on its adapter, from 0.
    pub fn adapter_port(&self, port: NicPort) -> u16 {
        port.nic.group % self.per_adapter() * u16::from(self.planes) + u16::from(port.plane.0)
    }

    /// Returns the cage of a port of a NIC, from 0; on an adapter with several NICs, the cage of the adapter.
    pub fn nic_cage(&self, port: NicPort) -> u8 {
        let cages = u16::from(self.nic_cages(port.nic.zone));
        let cage = self.adapter_port(port) * cages / self.adapter_ports();
        u8::try_from(cage).unwrap_or(u8::MAX)
    }

    /// Returns the ports in a cage of a NIC or its adapter.
    pub fn nic_cage_ports(&self, nic: Nic, cage: u8) -> impl Iterator<Item = NicPort> + use<'_> {
        let ports = |nic| self.plane_ids().map(move |plane| NicPort { plane, nic });
        self.adapter_nics(nic).flat_map(ports).filter(move |port| self.nic_cage(*port) == cage)
    }

    /// Returns whether adapters have several NICs.
    pub fn has_adapters(&self) -> bool {
        self.per_adapter() > 1
    }

    fn per_adapter(&self) -> u16 {
        u16::from(self.hosts.nics_per_adapter).max(1)
    }

    /// Returns the first NIC of an adapter, which identifies the adapter.
    pub fn adapter(&self, nic: Nic) -> Nic {
        Nic { group: nic.group - nic.group % self.per_adapter(), ..nic }
    }

    /// Returns the NICs of the adapter that a NIC belongs to.
    pub fn adapter_nics(&self, nic: Nic) -> impl Iterator<Item = Nic> + use<> {
        let (first, count) = (self.adapter(nic), self.per_adapter());
        (0..count).map(move |at| Nic { group: first.group + at, ..first })
    }

    /// Returns the name of the adapter of a NIC, for example `su017-n004/adapter2`.
    pub fn adapter_name(&self, nic: Nic) -> String {
        let (node, number) = self.node_of(nic);
        format!("{}{ADAPTER}{}", self.naming.node(node), u16::from(number) / self.per_adapter())
    }

    /// Returns the first NIC of the adapter with a name; `None` if there is none, or if adapters have a single NIC.
    pub fn parse_adapter(&self, name: &str) -> Option<Nic> {
        let (node, text) = name.split_once(ADAPTER).filter(|_| self.has_adapters())?;
        let number = text.parse::<u8>().ok().filter(|number| number.to_string() == text)?;
        let first = number.checked_mul(self.hosts.nics_per_adapter)?;
        self.find_nic(self.naming.parse_node(node)?, first)
    }
}
