//! Forwarding state of a fabric whose switches choose the next hop.

use closc_artefacts::{Address, Prefix};
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::forward::carry::carries;
use crate::model::cabling::{Cable, CableId, DeviceId, Kind, Side, SwitchId};
use crate::model::choice::{Atoms, Choice, ClassId, Classes, Row};
use crate::model::destinations::Destinations;
use crate::model::fabric::Fabric;
use crate::model::segment::Tier;
use crate::model::stated::StatedWiring;
use crate::model::switch::{Gateway, NextHop, OtherRoute, RouteView};
use crate::proof::bits::Bits;

/// Forwarding state of a fabric.
pub(crate) struct Network<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) destinations: Destinations,
    pub(crate) classes: Classes,
    /// Treatment of each class by each switch.
    pub(crate) choices: Vec<Choice>,
    /// For each cable, whether it carries frames upwards and downwards.
    carries: Vec<[bool; 2]>,
    /// Classes of NICs.
    pub(crate) accepted: Bits,
    /// Zone index of each switch, from the addresses of T0s and T1s.
    pub(crate) zones: Vec<u32>,
    /// Tier and plane of each switch that has a cable.
    pub(crate) positions: HashMap<SwitchId, (Tier, u8)>,
    /// Neighbours and cables of switches, as stated in the manifest.
    pub(crate) wiring: Option<StatedWiring>,
}

/// Returns the number and address of each NIC, with a mark. NICs have the same mark if they are connected to the same
/// switches and the same cables are drained. A result for one NIC of a class therefore holds for all of them, in a part
/// and in the complete fabric.
fn marked_nics(fabric: &Fabric, destinations: &Destinations) -> Vec<(u32, Address, u64)> {
    let mut marks: HashMap<Vec<(DeviceId, bool)>, u64> = HashMap::new();
    let mut named = Vec::with_capacity(destinations.nics.len());
    for (number, nic) in destinations.nics.iter().enumerate() {
        let Some(address) = nic.address else { continue };
        let cables = nic.cables.iter().map(|id| fabric.cabling.cable(*id));
        let above: Vec<(DeviceId, bool)> = cables.map(|cable| (cable.upper.party, cable.drained)).collect();
        let next = marks.len() as u64;
        named.push((number as u32, address, *marks.entry(above).or_insert(next)));
    }
    named
}

/// The next step of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The frame is lost: there is no cable, or the cable does not carry it.
    Lost(Option<CableId>),
    /// The frame reaches a NIC.
    Nic(u32, CableId),
    /// The frame goes up or down to a switch.
    Switch { id: SwitchId, up: bool },
}

impl<'a> Network<'a> {
    /// Returns the prefix of the route in a row that applies to a class.
    pub(crate) fn prefix(&self, id: SwitchId, row: &Row, class: ClassId) -> Prefix {
        let address = self.classes.address(class);
        let odd = self.fabric.switch(id).into_iter().flat_map(|switch| switch.other_routes.iter());
        let prefixes = odd.map(|route| route.prefix).filter(|prefix| prefix.contains(&address));
        prefixes.max_by_key(Prefix::prefix_len).unwrap_or(row.prefix)
    }

    /// Splits the destinations into classes and computes the treatment of each by each switch.
    pub(crate) fn new(fabric: &'a Fabric, said: &[Option<u8>], wiring: Option<StatedWiring>) -> Self {
        let destinations = Destinations::find(fabric);
        let carries = carried_directions(fabric);
        let named = marked_nics(fabric, &destinations);
        let prefixes: hashbrown::HashSet<closc_artefacts::Prefix> = fabric
            .switches
            .iter()
            .flatten()
            .flat_map(|switch| switch.other_routes.iter().map(|route| route.prefix.trunc()))
            .collect();
        let nodes = || fabric.nodes.iter().flatten().filter(|node| !node.routes.is_empty());
        let of_nodes = nodes().flat_map(|node| node.routes.iter().map(|(_, route)| route.prefix));
        let of_tables = fabric.tables.iter().flat_map(|nic| nic.routes.iter().map(|route| route.prefix));
        let mut atoms = Atoms::new(prefixes.into_iter().chain(of_nodes).chain(of_tables), &named);
        let delivers = |id: SwitchId| {
            let (destinations, carries) = (&destinations, &carries);
            move |nic: u32, route: RouteView<'_>| {
                let own = destinations.over(fabric, id, route) == Some(nic);
                own && route.next_hops.iter().all(|way| {
                    let cable = way.slot.map(|slot| fabric.slot_cable(id, slot).0);
                    way.gateway != Gateway::Other && cable.is_some_and(|cable| carries[cable.0 as usize][1])
                })
            }
        };
        for id in fabric.cabling.switch_ids() {
            if let Some(switch) = fabric.switch(id) {
                let routes: Vec<RouteView<'_>> = switch.other_routes.iter().collect();
                atoms.cut(&routes, &delivers(id));
            }
        }
        let never = |_: u32, _: RouteView<'_>| false;
        for node in nodes() {
            let routes: Vec<RouteView<'_>> = node.routes.iter().map(|(_, route)| route.view()).collect();
            atoms.cut(&routes, &never);
        }
        for nic in &fabric.tables {
            let routes: Vec<RouteView<'_>> = nic.routes.iter().map(OtherRoute::view).collect();
            atoms.cut(&routes, &never);
        }
        let classes = atoms.classes();
        let choices = (0..fabric.switches.len() as u32)
            .into_par_iter()
            .map(|id| {
                let id = SwitchId(id);
                let switch = fabric.switch(id);
                switch.map_or_else(Choice::default, |switch| {
                    let routes: Vec<RouteView<'_>> = switch.other_routes.iter().collect();
                    classes.choice(&routes, &delivers(id))
                })
            })
            .collect();
        let mut accepted = Bits::new(classes.len());
        for (class, _) in classes.nics.iter().enumerate().filter(|(_, nics)| !nics.is_empty()) {
            accepted.set(class);
        }
        let zones = zones(fabric, said);
        let positions = fabric.cabling.positions();
        Network { fabric, destinations, classes, choices, carries, accepted, zones, positions, wiring }
    }

    /// Returns the step that a next hop leads to.
    pub(crate) fn step(&self, id: SwitchId, way: &NextHop) -> Step {
        let Some(slot) = way.slot else { return Step::Lost(None) };
        let (cable_id, cable, side) = self.fabric.slot_cable(id, slot);
        let carried = self.carries[cable_id.0 as usize][usize::from(side == Side::Upper)];
        if way.gateway == Gateway::Other || !carried {
            return Step::Lost(Some(cable_id));
        }
        match cable.ends(side).1.party {
            DeviceId::Node(_) => {
                self.destinations.at(cable_id).map_or(Step::Lost(None), |nic| Step::Nic(nic, cable_id))
            }
            DeviceId::Switch(id) => Step::Switch { id, up: side == Side::Lower },
        }
    }

    /// Returns the class of a NIC; `None` if the NIC has no address, or an earlier NIC has the same address.
    pub(crate) fn class_of(&self, nic: u32) -> Option<ClassId> {
        let address = self.destinations.nics[nic as usize].address?;
        let class = self.classes.prefix_classes(address.into()).start;
        // If NICs share an address, only the first of them is in the class.
        self.classes.nics[class as usize].contains(&nic).then_some(class)
    }

    /// Returns whether a next hop to a NIC is correct for every address of a class.
    pub(crate) fn serves(&self, nic: u32, class: ClassId) -> bool {
        self.classes.nics[class as usize] == [nic]
    }

    /// Returns the NICs that send to a T0, each with its cable.
    pub(crate) fn senders(&self, id: SwitchId) -> impl Iterator<Item = (u32, CableId)> + '_ {
        let plugs = self.fabric.cabling.at_switch(id).iter().map(|plug| plug.cable());
        plugs.filter_map(|cable| {
            let nic = self.destinations.at(cable)?;
            self.carries[cable.0 as usize][0].then_some((nic, cable))
        })
    }

    /// Returns the T0 of a class in a plane, if the NICs of the class have a cable there.
    pub(crate) fn t0(&self, class: ClassId, plane: u8) -> Option<SwitchId> {
        let nic = *self.classes.nics[class as usize].first()?;
        let cables =
            self.destinations.nics[nic as usize].cables.iter().map(|id| self.fabric.cabling.cable(*id));
        let mut here = cables.filter(|cable| cable.plane == plane);
        match here.next()?.upper.party {
            DeviceId::Switch(id) => Some(id),
            DeviceId::Node(_) => None,
        }
    }

    /// Returns whether any cable of a class's NICs is drained in a plane.
    pub(crate) fn is_drained(&self, class: ClassId, plane: u8) -> bool {
        let cabling = &self.fabric.cabling;
        let nics = self.classes.nics[class as usize].iter();
        let cables = nics.flat_map(|nic| &self.destinations.nics[*nic as usize].cables);
        cables.map(|id| cabling.cable(*id)).any(|cable| cable.plane == plane && cable.drained)
    }

    /// Returns the planes, each with its switches by tier.
    pub(crate) fn planes(&self) -> Vec<(u8, [Vec<SwitchId>; 3])> {
        let mut planes: std::collections::BTreeMap<u8, [Vec<SwitchId>; 3]> =
            std::collections::BTreeMap::new();
        for id in self.fabric.cabling.switch_ids() {
            if let Some((tier, plane)) = self.positions.get(&id) {
                planes.entry(*plane).or_default()[*tier as usize].push(id);
            }
        }
        planes.into_iter().collect()
    }
}

/// Returns for each cable whether it carries frames upwards and downwards.
fn carried_directions(fabric: &Fabric) -> Vec<[bool; 2]> {
    let over = |cable: &Cable, side: Side| match cable.ends(side).0.party {
        DeviceId::Node(node) if fabric.node(node).is_none() => {
            let port = fabric.end_state(cable.upper);
            let facts = fabric.facts(cable.upper);
            port.is_some_and(|port| port.configured)
                && facts.is_some_and(|facts| facts.up && facts.faces_nic != Some(false))
        }
        DeviceId::Switch(id) if fabric.switch(id).is_some_and(|switch| !switch.language.addresses) => {
            carries(fabric, cable, side, Gateway::Unneeded)
        }
        DeviceId::Node(_) | DeviceId::Switch(_) => carries(fabric, cable, side, Gateway::Peer),
    };
    let both = |at| {
        let cable = fabric.cabling.cable(CableId(at));
        [Side::Lower, Side::Upper].map(|side| over(&cable, side))
    };
    (0..fabric.cabling.cables().len() as u32).into_par_iter().map(both).collect()
}

/// Computes zone indices from the addresses of switches. A switch without such addresses belongs to the zone of
/// switches that can be reached from it through nodes, T0s and T1s, in any plane.
fn zones(fabric: &Fabric, said: &[Option<u8>]) -> Vec<u32> {
    let switches = fabric.switches.len();
    let mut parent: Vec<u32> = (0..(switches + fabric.cabling.nodes.len()) as u32).collect();
    let number = |party: DeviceId| match party {
        DeviceId::Switch(id) => id.0,
        DeviceId::Node(id) => switches as u32 + id.0,
    };
    for cable in fabric.cabling.cables().filter(|cable| cable.kind != Kind::T1T2) {
        let (a, b) =
            (root(&mut parent, number(cable.lower.party)), root(&mut parent, number(cable.upper.party)));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut around: HashMap<u32, u8> = HashMap::new();
    for (at, zone) in (0..).zip(said) {
        if let Some(zone) = zone {
            around.entry(root(&mut parent, at)).or_insert(*zone);
        }
    }
    let number = |(at, zone): (u32, &Option<u8>)| {
        let root = root(&mut parent, at);
        let zone = zone.or_else(|| around.get(&root).copied());
        // Zones without a known number are numbered after all others.
        zone.map_or(1 + u32::from(u8::MAX) + root, u32::from)
    };
    (0..).zip(said).map(number).collect()
}

fn root(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        let above = parent[parent[at as usize] as usize];
        parent[at as usize] = above;
        at = above;
    }
    at
}

/// The classes that cables lead to from a T0: cables in use, and all cables.
pub(crate) type Reach = [Bits; 2];
