//! Elements that can fail, their kinds, and everything that fails with them.
//!
//! In: a fabric, and failure domains from its file or from a list. Out: elements by name or by kind, and the
//! [`Losses`] of each. Invariants: an element removes only cables, switches, NICs or planes. Different
//! elements may remove the same ones.

use std::borrow::Cow;
use std::collections::BTreeSet;

use closc_fabric::{Fabric, PortUse};
use closc_topology::{Link, Nic, NicPort, Node, PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An element that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// A cable.
    Link(Link),
    /// A switch.
    Switch(Switch),
    /// The module in a cage of a switch: a transceiver, or the common end of a breakout cable. Cages are
    /// counted from 0.
    Cage(Switch, u16),
    /// A NIC, and so all of its ports.
    Nic(Nic),
    /// A node, and so all of its NICs.
    Node(Node),
    /// A T0 group: the T0 with this index in every plane.
    Group(ZoneId, u16),
    /// A plane.
    Plane(PlaneId),
    /// A zone, and so all of its T0s and T1s.
    Zone(ZoneId),
    /// A site, by its index in the file: all of its zones, and its T2s.
    Site(u16),
    /// A failure domain such as a power feed, given by its index in [`Elements::domains`].
    Domain(u32),
    /// The cables between a site and T2s in another site. Contains the index of the site in the file, and the
    /// percentage of each T1's cables that fail.
    Span(u16, u8),
    /// The module in a cage (counted from 0) of a NIC, or of an adapter, given by its first NIC. The NIC ports of
    /// the planes whose lanes it carries fail with it. Unlike [`Element::Nic`], it can be replaced without
    /// replacing the NIC.
    NicCage(Nic, u8),
    /// An adapter with several NICs, which fail with it. Contains the first of them.
    Adapter(Nic),
}

impl Element {
    /// Returns the sort key of the element in fabric order, compared number by number.
    pub(crate) fn position(self) -> Vec<u32> {
        let switch = |at: Switch| [at.plane.0.into(), at.tier as u32, at.zone.0.into(), at.index.into()];
        let nic = |at: Nic| [at.zone.0.into(), at.group.into(), at.downlink.into()];
        let (number, rest): (u32, Vec<u32>) = match self {
            Element::Link(Link::Host(port)) => (0, [&[0, port.plane.0.into()][..], &nic(port.nic)].concat()),
            Element::Link(Link::Fabric { lower, up }) => {
                (0, [&[1][..], &switch(lower), &[up.into()]].concat())
            }
            Element::Switch(at) => (1, switch(at).to_vec()),
            Element::Cage(at, cage) => (2, [&switch(at)[..], &[cage.into()]].concat()),
            Element::Nic(at) => (3, nic(at).to_vec()),
            Element::Node(at) => (4, vec![at.zone.0.into(), at.unit.into(), at.index.into()]),
            Element::Group(zone, group) => (5, vec![zone.0.into(), group.into()]),
            Element::Plane(plane) => (6, vec![plane.0.into()]),
            Element::Zone(zone) => (7, vec![zone.0.into()]),
            Element::Site(site) => (8, vec![site.into()]),
            Element::Domain(domain) => (9, vec![domain]),
            Element::Span(site, percent) => (10, vec![site.into(), percent.into()]),
            Element::NicCage(at, cage) => (11, [&nic(at)[..], &[cage.into()]].concat()),
            Element::Adapter(at) => (12, nic(at).to_vec()),
        };
        [&[number][..], &rest].concat()
    }
}

/// Kind of element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Cables between NICs and T0s. The loss of a NIC port counts as the loss of its cable.
    NicT0,
    /// Cables between T0s and T1s.
    T0T1,
    /// Cables between T1s and T2s.
    T1T2,
    /// Switches of the first tier.
    T0,
    /// Switches of the second tier.
    T1,
    /// Switches of the third tier.
    T2,
    /// Transceivers and breakout cables at switches.
    Cage,
    /// NICs.
    Nic,
    /// Nodes.
    Node,
    /// T0 groups.
    Group,
    /// Planes.
    Plane,
    /// Zones.
    Zone,
    /// Sites.
    Site,
    /// Failure domains.
    Domain,
    /// Cables between two sites.
    Span,
    /// Transceivers of NICs.
    NicCage,
    /// Adapters with several NICs.
    Adapter,
}

impl Kind {
    /// All kinds, in the order of reports: cables and modules, devices, then larger parts of a fabric.
    pub const ALL: [Kind; 17] = [
        Kind::T0T1,
        Kind::T1T2,
        Kind::NicT0,
        Kind::Cage,
        Kind::NicCage,
        Kind::Nic,
        Kind::Adapter,
        Kind::Node,
        Kind::T0,
        Kind::T1,
        Kind::T2,
        Kind::Group,
        Kind::Plane,
        Kind::Zone,
        Kind::Site,
        Kind::Domain,
        Kind::Span,
    ];

    /// Returns the keyword on the command line and in JSON.
    pub fn keyword(self) -> &'static str {
        match self {
            Kind::NicT0 => "nic-t0",
            Kind::T0T1 => "t0-t1",
            Kind::T1T2 => "t1-t2",
            Kind::T0 => "t0",
            Kind::T1 => "t1",
            Kind::T2 => "t2",
            Kind::Cage => "transceiver",
            Kind::Nic => "nic",
            Kind::Node => "node",
            Kind::Group => "group",
            Kind::Plane => "plane",
            Kind::Zone => "zone",
            Kind::Site => "site",
            Kind::Domain => "domain",
            Kind::Span => "span",
            Kind::NicCage => "nic-transceiver",
            Kind::Adapter => "adapter",
        }
    }

    /// Returns the tiers whose switches own elements of the kind, or `None` for kinds that do not belong to a
    /// switch. A NIC's cable belongs to its T0, and a cable between switches to the lower one.
    pub(crate) fn owners(self) -> Option<&'static [TierId]> {
        match self {
            Kind::NicT0 | Kind::T0T1 => Some(&[TierId::T0]),
            Kind::T1T2 => Some(&[TierId::T1]),
            Kind::Cage => Some(&TierId::ALL),
            Kind::T0
            | Kind::T1
            | Kind::T2
            | Kind::Nic
            | Kind::Node
            | Kind::Group
            | Kind::Plane
            | Kind::Zone
            | Kind::Site
            | Kind::Domain
            | Kind::Span
            | Kind::NicCage
            | Kind::Adapter => None,
        }
    }

    /// Returns the kind of a keyword. `breakout` and `cage` are aliases of `transceiver`. `nic-port` and
    /// `nic-cage` are aliases of `nic-t0` and `nic-transceiver`.
    pub fn parse(word: &str) -> Option<Kind> {
        match word {
            "breakout" | "cage" => Some(Kind::Cage),
            "nic-port" => Some(Kind::NicT0),
            "nic-cage" => Some(Kind::NicCage),
            _ => Kind::ALL.into_iter().find(|kind| kind.keyword() == word),
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.keyword())
    }
}

impl JsonSchema for Kind {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = Kind::ALL.map(Kind::keyword);
        json_schema!({ "type": "string", "enum": words, "description": "Kind of element that can fail" })
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Kind::parse(&word).ok_or_else(|| de::Error::custom(unknown(&word)))
    }
}

/// Returns the error for an unknown kind, which lists all valid ones.
pub fn unknown(word: &str) -> String {
    let words: Vec<&str> = Kind::ALL.iter().map(|kind| kind.keyword()).collect();
    format!("unknown kind `{word}`; expected one of {}", words.join(", "))
}

impl Element {
    /// Returns the kind of the element.
    pub fn kind(self) -> Kind {
        match self {
            Element::Link(Link::Host(_)) => Kind::NicT0,
            Element::Link(Link::Fabric { lower, .. }) if lower.tier == TierId::T0 => Kind::T0T1,
            Element::Link(Link::Fabric { .. }) => Kind::T1T2,
            Element::Switch(switch) => match switch.tier {
                TierId::T0 => Kind::T0,
                TierId::T1 => Kind::T1,
                TierId::T2 => Kind::T2,
            },
            Element::Cage(..) => Kind::Cage,
            Element::Nic(_) => Kind::Nic,
            Element::Node(_) => Kind::Node,
            Element::Group(..) => Kind::Group,
            Element::Plane(_) => Kind::Plane,
            Element::Zone(_) => Kind::Zone,
            Element::Site(_) => Kind::Site,
            Element::Domain(_) => Kind::Domain,
            Element::Span(..) => Kind::Span,
            Element::NicCage(..) => Kind::NicCage,
            Element::Adapter(_) => Kind::Adapter,
        }
    }
}

/// Everything that failed, as planes, switches, NICs and cables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    /// Planes.
    pub planes: BTreeSet<PlaneId>,
    /// Switches.
    pub switches: BTreeSet<Switch>,
    /// NICs.
    pub nics: BTreeSet<Nic>,
    /// Cables.
    pub links: BTreeSet<Link>,
}

impl Losses {
    /// Returns the elements that the fabric file declares absent or drained.
    pub(crate) fn of(topology: &Topology) -> Losses {
        let exceptions = &topology.exceptions;
        Losses {
            planes: exceptions.drained_planes.clone(),
            switches: exceptions.absent_switches.union(&exceptions.drained_switches).copied().collect(),
            nics: exceptions.absent_nics.clone(),
            links: exceptions.absent_links.union(&exceptions.drained_links).copied().collect(),
        }
    }

    /// Adds other losses.
    pub fn extend(&mut self, other: &Losses) {
        self.planes.extend(&other.planes);
        self.switches.extend(&other.switches);
        self.nics.extend(&other.nics);
        self.links.extend(&other.links);
    }

    /// Returns whether the set of losses is empty.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty() && self.switches.is_empty() && self.nics.is_empty() && self.links.is_empty()
    }
}

/// Elements that fail together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Name.
    pub name: String,
    /// Elements that fail with it.
    pub members: Vec<Element>,
}

/// The elements of a fabric.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Failure domains: those of the fabric file, followed by those of a list.
    pub domains: &'a [Domain],
}

impl<'a> Elements<'a> {
    /// Returns the elements of a fabric, with no failure domains.
    pub fn of(fabric: &'a Fabric) -> Self {
        Elements { fabric, domains: &[] }
    }

    /// Returns the existing elements of a kind, in order.
    pub fn all(&self, kind: Kind) -> Vec<Element> {
        let (fabric, topology) = (self.fabric, self.fabric.topology());
        let switches = |id| fabric.switches().filter(move |switch| switch.tier == id);
        if let Some(tiers) = kind.owners() {
            let owners = fabric.switches().filter(|switch| tiers.contains(&switch.tier));
            return owners.flat_map(|switch| self.of_switch(kind, switch)).collect();
        }
        match kind {
            Kind::NicT0 | Kind::T0T1 | Kind::T1T2 | Kind::Cage => Vec::new(),
            Kind::T0 => switches(TierId::T0).map(Element::Switch).collect(),
            Kind::T1 => switches(TierId::T1).map(Element::Switch).collect(),
            Kind::T2 => switches(TierId::T2).map(Element::Switch).collect(),
            Kind::Nic => fabric.nics().map(Element::Nic).collect(),
            Kind::NicCage => {
                let cages = |nic: Nic| (0..topology.nic_cages(nic.zone)).map(move |cage| (nic, cage));
                let plugged = self
                    .adapters()
                    .into_iter()
                    .flat_map(cages)
                    .filter(|(nic, cage)| self.is_plugged(*nic, *cage));
                plugged.map(|(nic, cage)| Element::NicCage(nic, cage)).collect()
            }
            Kind::Adapter if !topology.has_adapters() => Vec::new(),
            Kind::Adapter => self.adapters().into_iter().map(Element::Adapter).collect(),
            Kind::Node => fabric.nodes().map(Element::Node).collect(),
            Kind::Group => {
                let zones = topology.zone_ids();
                let all = zones.flat_map(|zone| (0..topology.hosts.groups).map(move |group| (zone, group)));
                let there = all.filter(|(zone, group)| self.has_group(*zone, *group));
                there.map(|(zone, group)| Element::Group(zone, group)).collect()
            }
            Kind::Plane => {
                let absent = topology.absent_planes();
                topology.plane_ids().filter(|plane| !absent.contains(plane)).map(Element::Plane).collect()
            }
            // A single zone is the complete fabric, so its failure is not of interest.
            Kind::Zone if topology.zones == 1 => Vec::new(),
            Kind::Zone => topology.zone_ids().map(Element::Zone).collect(),
            Kind::Site => (0..topology.sites.len() as u16).map(Element::Site).collect(),
            Kind::Domain => (0..self.domains.len() as u32).map(Element::Domain).collect(),
            Kind::Span => {
                let t2s = topology.t2_site();
                let others = (0..topology.sites.len()).filter(|site| t2s.is_some_and(|t2s| t2s != *site));
                others.map(|site| Element::Span(site as u16, 100)).collect()
            }
        }
    }

    /// Returns the first NIC of each adapter with a NIC, in order. Without adapters, these are all NICs.
    pub(crate) fn adapters(&self) -> BTreeSet<Nic> {
        let topology = self.fabric.topology();
        self.fabric.nics().map(|nic| topology.adapter(nic)).collect()
    }

    /// Returns the existing NICs of an adapter.
    pub(crate) fn nics_of_adapter(&self, first: Nic) -> impl Iterator<Item = Nic> + use<'a> {
        let fabric = self.fabric;
        fabric.topology().adapter_nics(first).filter(|nic| fabric.has_nic(*nic))
    }

    /// Returns whether a cage of a NIC has a cable of any plane.
    pub(crate) fn is_plugged(&self, nic: Nic, cage: u8) -> bool {
        self.in_nic_cage(nic, cage).next().is_some()
    }

    /// Returns the cables in a cage of a NIC.
    fn in_nic_cage(&self, nic: Nic, cage: u8) -> impl Iterator<Item = Link> + use<'a> {
        let fabric = self.fabric;
        let links = fabric.topology().nic_cage_ports(nic, cage).map(Link::Host);
        links.filter(move |link| fabric.has_link(*link))
    }

    /// Returns whether a group has a T0 in any plane.
    pub(crate) fn has_group(&self, zone: ZoneId, index: u16) -> bool {
        let t0 = |plane| Switch { plane, tier: TierId::T0, zone, index };
        self.fabric.topology().plane_ids().any(|plane| self.fabric.has_switch(t0(plane)))
    }

    /// Returns the number of T0 groups of a zone up to the last one that exists. Absent groups before it are counted.
    pub(crate) fn groups_of(&self, zone: ZoneId) -> u16 {
        let groups = self.fabric.topology().hosts.groups;
        (0..groups).rev().find(|group| self.has_group(zone, *group)).map_or(0, |last| last + 1)
    }

    /// Returns the elements of a kind that belong to a switch: cables or cages. The result is empty for kinds
    /// that do not belong to switches of its tier.
    pub(crate) fn of_switch(&self, kind: Kind, switch: Switch) -> Vec<Element> {
        let fabric = self.fabric;
        let links: Vec<Link> = match (kind, switch.tier) {
            (Kind::NicT0, TierId::T0) => {
                let nics = fabric.group_nics(switch.zone, switch.index);
                nics.map(|nic| Link::Host(NicPort { plane: switch.plane, nic })).collect()
            }
            (Kind::T0T1, TierId::T0) | (Kind::T1T2, TierId::T1) => {
                let count = fabric.topology().tier(switch.tier).map_or(0, |tier| tier.up.count);
                (0..count).map(|up| Link::Fabric { lower: switch, up }).collect()
            }
            (Kind::Cage, _) => return self.cages(switch),
            _ => return Vec::new(),
        };
        links.into_iter().filter(|link| fabric.has_link(*link)).map(Element::Link).collect()
    }

    /// Returns the cages of a switch that have a cable.
    fn cages(&self, switch: Switch) -> Vec<Element> {
        let used = self.fabric.ports(switch).filter(|port| matches!(port.usage, PortUse::Link { .. }));
        let cages: BTreeSet<u16> =
            used.map(|port| self.fabric.topology().slot(switch, port.at).cage).collect();
        cages.into_iter().map(|cage| Element::Cage(switch, cage)).collect()
    }

    /// Returns the cables in a cage.
    pub fn in_cage(&self, switch: Switch, cage: u16) -> impl Iterator<Item = Link> + use<'a> {
        let fabric = self.fabric;
        let [down, up] = fabric.topology().blocks(switch);
        let blocks = [(Side::Down, down), (Side::Up, up)].into_iter();
        let within = blocks
            .flat_map(move |(side, block)| block.in_cage(cage).map(move |place| (side, place)))
            .map(move |(side, place)| PortRef {
                side,
                index: fabric.topology().port_at(switch.tier, side, place),
            });
        within.filter_map(move |port| match fabric.port_use(switch, port) {
            PortUse::Link { link, .. } => Some(link),
            PortUse::Absent { .. } | PortUse::Spare => None,
        })
    }

    /// Returns everything that fails with an element.
    pub fn losses(&self, element: Element) -> Losses {
        let mut losses = Losses::default();
        self.add(element, &mut losses);
        losses
    }

    /// Returns everything that fails with these elements.
    pub fn losses_of<'e>(&self, elements: impl IntoIterator<Item = &'e Element>) -> Losses {
        let mut losses = Losses::default();
        for element in elements {
            self.add(*element, &mut losses);
        }
        losses
    }

    /// Returns the failing cables between a site and T2s in another site: `lost` percent of the cables of
    /// each T1. The failing uplinks shift by one from each T1 to the next, so that all T2s lose about the
    /// same number of cables.
    fn span(&self, site: u16, lost: u8) -> impl Iterator<Item = Link> + use<'a> {
        let (fabric, topology) = (self.fabric, self.fabric.topology());
        let zones = topology.sites.get(usize::from(site)).map_or(&[][..], |site| &site.zones);
        let count = u32::from(topology.t1.up.count);
        let is_lost = move |lower: Switch, up: u16| {
            let at = (u32::from(up) + u32::from(lower.index)) % count.max(1);
            at * 100 < u32::from(lost) * count
        };
        let t1s = topology.plane_ids().flat_map(move |plane| fabric.tier_switches(plane, TierId::T1));
        let links = t1s.filter(move |t1| zones.contains(&t1.zone)).flat_map(move |lower| {
            let ups = (0..count as u16).filter(move |up| is_lost(lower, *up));
            ups.map(move |up| Link::Fabric { lower, up })
        });
        links.filter(move |link| fabric.has_link(*link))
    }

    fn add(&self, element: Element, losses: &mut Losses) {
        let topology = self.fabric.topology();
        match element {
            Element::Link(link) => drop(losses.links.insert(link)),
            Element::Switch(switch) => drop(losses.switches.insert(switch)),
            Element::Cage(switch, cage) => losses.links.extend(self.in_cage(switch, cage)),
            Element::Nic(nic) => drop(losses.nics.insert(nic)),
            // A NIC with a single cage loses all ports, as if it failed.
            Element::NicCage(nic, _) if topology.nic_cages(nic.zone) == 1 => {
                losses.nics.extend(self.nics_of_adapter(nic));
            }
            Element::Adapter(nic) => losses.nics.extend(self.nics_of_adapter(nic)),
            Element::NicCage(nic, cage) => losses.links.extend(self.in_nic_cage(nic, cage)),
            Element::Node(node) => {
                let nics = (0..topology.hosts.nics_per_node).map(|number| topology.nic_of(node, number));
                losses.nics.extend(nics.filter(|nic| self.fabric.has_nic(*nic)));
            }
            Element::Group(zone, index) => {
                let t0 = |plane| Switch { plane, tier: TierId::T0, zone, index };
                losses.switches.extend(topology.plane_ids().map(t0));
            }
            Element::Plane(plane) => drop(losses.planes.insert(plane)),
            Element::Zone(zone) => losses.switches.extend(
                self.fabric.switches().filter(|switch| switch.tier != TierId::T2 && switch.zone == zone),
            ),
            Element::Site(site) => {
                for zone in topology.sites.get(usize::from(site)).into_iter().flat_map(|site| &site.zones) {
                    self.add(Element::Zone(*zone), losses);
                }
                if topology.t2_site() == Some(usize::from(site)) {
                    let is_t2 = |switch: &Switch| switch.tier == TierId::T2;
                    losses.switches.extend(self.fabric.switches().filter(is_t2));
                }
            }
            Element::Span(site, lost) => losses.links.extend(self.span(site, lost)),
            Element::Domain(domain) => {
                for member in self.domains.get(domain as usize).into_iter().flat_map(|d| &d.members) {
                    self.add(*member, losses);
                }
            }
        }
    }
}
