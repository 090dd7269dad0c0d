//! The NICs of a fabric whose switches choose the path, with their cables and addresses.
//!
//! In: cables with ports `nicNpP` of nodes at their lower ends, the settings of nodes, and the /128 routes of T0s over
//! NIC cables. Out: [`Destinations`]. Invariants: the address of a NIC comes from the files of its node. If the node
//! has no files, it is the address that most of its T0s route to the NIC. T0s with a different address are recorded.

use std::collections::{BTreeMap, HashMap};

use closc_artefacts::Address;

use crate::model::cabling::{CableId, DeviceId, Kind, NodeId, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::names::Name;
use crate::model::switch::RouteView;

/// A NIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    pub(crate) node: NodeId,
    /// Number of the NIC in the node.
    pub(crate) number: u16,
    /// Its cables, plane by plane.
    pub(crate) cables: Vec<CableId>,
    /// Its address, if known.
    pub(crate) address: Option<Address>,
    /// T0s that route a different address to the NIC, each with that address.
    pub(crate) contradictions: Vec<(SwitchId, Address)>,
}

/// All NICs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Destinations {
    /// NICs by node and number.
    pub(crate) nics: Vec<Destination>,
    /// Index of the NIC at the lower end of each cable.
    of_cable: Vec<u32>,
}

/// Marks a cable without a NIC.
const NO_NIC: u32 = u32::MAX;

impl Destinations {
    /// Finds all NICs and their addresses.
    pub(crate) fn find(fabric: &Fabric) -> Self {
        let mut this =
            Destinations { nics: Vec::new(), of_cable: vec![NO_NIC; fabric.cabling.cables().len()] };
        this.cables(fabric);
        let mut claims: Vec<(u32, SwitchId, Address)> = Vec::with_capacity(this.nics.len());
        for id in fabric.cabling.switch_ids() {
            let Some(switch) = fabric.switch(id) else { continue };
            for route in switch.other_routes.iter().filter(|route| route.prefix.prefix_len() == 128) {
                if let Some(nic) = this.over(fabric, id, route) {
                    claims.push((nic, id, route.prefix.addr()));
                }
            }
        }
        claims.sort_by_key(|(nic, ..)| *nic);
        let mut claims = claims.chunk_by(|a, b| a.0 == b.0).peekable();
        let mut own: Vec<(SwitchId, Address)> = Vec::new();
        for (number, nic) in (0..).zip(&mut this.nics) {
            own.clear();
            let claimed = claims.next_if(|claims| claims[0].0 == number).unwrap_or_default();
            own.extend(claimed.iter().map(|(_, id, address)| (*id, *address)));
            let stated = fabric.node(nic.node).and_then(|node| node.address(nic.number));
            nic.address = stated.or_else(|| majority_address(&own));
            nic.contradictions =
                own.iter().filter(|(_, address)| Some(*address) != nic.address).copied().collect();
        }
        this
    }

    fn cables(&mut self, fabric: &Fabric) {
        let cabling = &fabric.cabling;
        let mut numbers: HashMap<Name, u16> = HashMap::new();
        let mut by_nic: BTreeMap<(NodeId, u16), Vec<CableId>> = BTreeMap::new();
        for (at, cable) in cabling.cables().enumerate().filter(|(_, cable)| cable.kind == Kind::NicT0) {
            let DeviceId::Node(node) = cable.lower.party else { continue };
            let port = cable.lower.port;
            let number = *numbers.entry(port).or_insert_with(|| number(cabling.names.text(port)));
            by_nic.entry((node, number)).or_default().push(CableId(at as u32));
        }
        for ((node, number), mut cables) in by_nic {
            cables.sort_unstable_by_key(|id| (cabling.cable(*id).plane, *id));
            for id in &cables {
                self.of_cable[id.0 as usize] = self.nics.len() as u32;
            }
            self.nics.push(Destination { node, number, cables, address: None, contradictions: Vec::new() });
        }
    }

    /// Returns the NIC at the lower end of a cable.
    pub(crate) fn at(&self, cable: CableId) -> Option<u32> {
        self.of_cable.get(cable.0 as usize).copied().filter(|nic| *nic != NO_NIC)
    }

    /// Returns the NIC whose cables are the only next hops of a route.
    pub(crate) fn over(&self, fabric: &Fabric, id: SwitchId, route: RouteView<'_>) -> Option<u32> {
        let nic = |slot: Option<u16>| self.at(fabric.slot_cable(id, slot?).0);
        let mut ways = route.next_hops.iter().map(|way| nic(way.slot));
        let first = ways.next()??;
        ways.all(|other| other == Some(first)).then_some(first)
    }

    /// Returns the name of a NIC for messages.
    pub(crate) fn name(&self, fabric: &Fabric, nic: u32) -> String {
        let nic = &self.nics[nic as usize];
        format!("{}/nic{}", fabric.cabling.party(DeviceId::Node(nic.node)), nic.number)
    }
}

/// Returns the NIC number in the port name `nicNpP`. All ports of a node with other names count as one additional NIC.
fn number(port: &str) -> u16 {
    let found = port.strip_prefix("nic").and_then(|rest| rest.split_once('p')?.0.parse().ok());
    found.unwrap_or(u16::MAX)
}

/// Returns the address that most switches claim. If several are equally frequent, that of the first switch counts.
fn majority_address(claims: &[(SwitchId, Address)]) -> Option<Address> {
    let votes = |address: Address| claims.iter().filter(|(_, other)| *other == address).count();
    let best = claims.iter().map(|(_, address)| votes(*address)).max()?;
    claims.iter().map(|(_, address)| *address).find(|address| votes(*address) == best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_have_a_say() {
        let claim = |(at, text): (usize, &&str)| (SwitchId(at as u32), text.parse().unwrap());
        let claims: Vec<(SwitchId, Address)> =
            ["fd::1", "fd::2", "fd::2"].iter().enumerate().map(claim).collect();
        assert_eq!(majority_address(&claims), Some("fd::2".parse().unwrap()));
        assert_eq!(majority_address(&claims[..2]), Some("fd::1".parse().unwrap()));
        assert_eq!(majority_address(&[]), None);
    }

    #[test]
    fn ports_name_their_nic() {
        assert_eq!([number("nic0p7"), number("nic12p0"), number("eth0")], [0, 12, u16::MAX]);
    }
}
