//! Finds the cables of NICs by their names in the cable lists, and compares them with the path tables.
//!
//! A NIC `NODE/nicN` of a path table is the node's interface `nicNpP` in plane P.

use std::collections::{BTreeSet, HashMap};

use closc_artefacts::Address;
use closc_paths::Table;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, DeviceId, Kind, NodeId};
use crate::model::fabric::Fabric;
use crate::model::group::{Group, GroupNic, destination};
use crate::model::names::Name;
use crate::model::segment::Usid;
use crate::rules::tables::NICS;

/// Marks a NIC port without a cable: no list has this many cables.
const NONE: CableId = CableId(u32::MAX);

/// The cables of all NICs.
#[derive(Debug, Default)]
pub(crate) struct NicCables {
    /// Cables of each group, at index `nic * planes + plane`; [`NONE`] without a cable.
    of_group: Vec<Box<[CableId]>>,
    /// For each cable, the uSID of the NIC at its lower end.
    pub(crate) usids: Vec<Option<Usid>>,
    /// The inner address of the NIC at the lower end of each cable; empty if no switch checks source addresses.
    inner: HashMap<CableId, Address>,
    /// The node of each inner address.
    nodes: HashMap<Address, NodeId>,
}

impl NicCables {
    /// Returns the inner address of the NIC at the lower end of a cable.
    pub(crate) fn inner(&self, cable: CableId) -> Option<Address> {
        self.inner.get(&cable).copied()
    }

    /// Returns the node that an inner address belongs to.
    pub(crate) fn node(&self, inner: Address) -> Option<NodeId> {
        self.nodes.get(&inner).copied()
    }

    /// Returns the cable of a NIC in a plane.
    pub(crate) fn cable(&self, group: usize, planes: usize, nic: usize, plane: usize) -> Option<CableId> {
        Some(self.of_group[group][nic * planes + plane]).filter(|cable| *cable != NONE)
    }
}

/// Finds the cables of all NICs. `sources` states whether some switch checks source addresses.
pub(crate) fn find(fabric: &Fabric, sources: bool, findings: &mut Findings) -> NicCables {
    let mut cables = NicCables { usids: vec![None; fabric.cabling.cables().len()], ..NicCables::default() };
    let mut interfaces = Interfaces { fabric, names: HashMap::new() };
    let mut addresses: HashMap<Address, &str> = HashMap::new();
    for group in &fabric.groups {
        let table = group.table();
        let mut downlinks = BTreeSet::new();
        let mut own = Vec::with_capacity(group.nics.len() * group.planes.len());
        let judged = fabric.slice.has_group(group.zone, group.group);
        for nic in &group.nics {
            let twice = addresses.insert(nic.address, &nic.name).is_some() || !downlinks.insert(nic.downlink);
            if judged {
                one(&table, group, nic, findings);
                findings.expect(!twice, &NICS, || {
                    let message = format!("`{}` shares its downlink or address with another NIC", nic.name);
                    Violation::new(&NICS, group.nic_place(nic), message)
                });
            }
            if let Some(node) = nic.node.filter(|_| sources) {
                cables.nodes.insert(nic.address, node);
            }
            for plane in 0..group.planes.len() as u8 {
                let cable = nic.node.and_then(|node| interfaces.cable(node, nic.number, plane));
                if let Some(id) = cable {
                    cables.usids[id.0 as usize] = group.layout.nic(plane, nic.downlink);
                    if sources {
                        cables.inner.insert(id, nic.address);
                    }
                    check_attachment(fabric, group, nic, plane, id, findings);
                }
                own.push(cable.unwrap_or(NONE));
            }
        }
        cables.of_group.push(own.into());
    }
    if fabric.layout.is_some() {
        strangers(fabric, &cables, findings);
    }
    cables
}

/// Checks that the path table resolves the address of a NIC to the NIC's own group and downlink.
fn one(table: &Table<'_>, group: &Group, nic: &GroupNic, findings: &mut Findings) {
    let known = destination(table, group.zone, group.group, nic.downlink).is_some();
    let found = table.destination(nic.address.octets());
    let fits = known
        && found.is_some_and(|found| {
            (found.zone, found.group, found.downlink) == (group.zone, group.group, nic.downlink)
        });
    findings.expect(fits, &NICS, || {
        let message = match found {
            Some(found) => format!(
                "`{}` is on downlink {} of group {}, but its address {} leads to downlink {} of group {}",
                nic.name,
                nic.downlink + 1,
                group.group + 1,
                nic.address,
                found.downlink + 1,
                found.group + 1
            ),
            None => format!("the address {} of `{}` leads nowhere", nic.address, nic.name),
        };
        Violation::new(&NICS, group.nic_place(nic), message)
    });
}

/// Checks that the NIC's cable ends at the T0 of its group.
fn check_attachment(
    fabric: &Fabric,
    group: &Group,
    nic: &GroupNic,
    plane: u8,
    id: CableId,
    findings: &mut Findings,
) {
    let cable = fabric.cabling.cable(id);
    let stated = &group.planes[usize::from(plane)];
    let here = cable.plane == plane && stated.t0.map(DeviceId::Switch) == Some(cable.upper.party);
    findings.expect(here, &NICS, || {
        let message = format!(
            "`{}` is cabled to `{}` in plane {}, but the table has `{}` in plane {plane}",
            nic.name,
            fabric.cabling.end(cable.upper),
            cable.plane,
            stated.name
        );
        let needles = ["\"planes\":", &format!("\"plane\": {plane},")];
        Violation::new(&NICS, group.place(&needles), message).and(fabric.cabling.place(id))
    });
}

/// Checks that every cable to a NIC belongs to a listed NIC.
fn strangers(fabric: &Fabric, cables: &NicCables, findings: &mut Findings) {
    for (at, cable) in fabric.cabling.cables().enumerate() {
        if cable.kind != Kind::NicT0 {
            continue;
        }
        findings.expect(cables.usids[at].is_some(), &NICS, || {
            let message =
                format!("`{}` leads to a NIC that no path table lists", fabric.cabling.describe(&cable));
            let violation = Violation::new(&NICS, fabric.cabling.place(CableId(at as u32)), message);
            fabric.nics_place(cable.upper.party).into_iter().fold(violation, Violation::and)
        });
    }
}

/// Finds interfaces by number and plane; their names are the same on every node.
struct Interfaces<'a> {
    fabric: &'a Fabric,
    names: HashMap<(u8, u8), Option<Name>>,
}

impl Interfaces<'_> {
    fn cable(&mut self, node: NodeId, number: u8, plane: u8) -> Option<CableId> {
        let cabling = &self.fabric.cabling;
        let name = self
            .names
            .entry((number, plane))
            .or_insert_with(|| cabling.names.get(&format!("nic{number}p{plane}")));
        let name = (*name)?;
        let plugs = cabling.at_node(node).iter();
        plugs.map(|plug| plug.cable()).find(|id| cabling.cable(*id).lower.port == name)
    }
}
