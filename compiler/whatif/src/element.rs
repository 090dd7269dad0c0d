//! What can fail: elements, their kinds, and what each takes with it.
//!
//! In: a fabric, and domains that its owner lists. Out: elements by name or by kind, and the [`Losses`] of each. Invariants:
//! an element takes cables, switches, NICs or planes away and nothing else; two elements may take the same.

use std::collections::BTreeSet;

use closc_fabric::{Fabric, PortUse};
use closc_topology::{Link, Nic, NicPort, Node, PlaneId, PortRef, Side, Switch, TierId, Topology, ZoneId};
use serde::{Serialize, Serializer};

/// Something that fails as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// A cable.
    Link(Link),
    /// A switch.
    Switch(Switch),
    /// What is plugged into a cage of a switch (from 0): a transceiver, or the common end of a breakout cable.
    Cage(Switch, u16),
    /// A NIC with its own transceiver: all its ports.
    Nic(Nic),
    /// A node: all its NICs.
    Node(Node),
    /// A T0 group: the T0 of this index in every plane.
    Group(ZoneId, u16),
    /// A plane.
    Plane(PlaneId),
    /// A zone: all its T0s and T1s.
    Zone(ZoneId),
    /// A site, by its place in the file: all its zones.
    Site(u16),
    /// A domain of a list such as power feeds, by its place in the list.
    Domain(u32),
}

/// Elements that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Cables between NICs and T0s, which are also NIC ports.
    NicT0,
    /// Cables between T0s and T1s.
    T0T1,
    /// Cables between T1s and T2s.
    T1T2,
    /// First tier.
    T0,
    /// Second tier.
    T1,
    /// Third tier.
    T2,
    /// Transceivers and breakout cables.
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
    /// Domains that are listed.
    Domain,
}

impl Kind {
    /// Every kind, small ones first.
    pub const ALL: [Kind; 14] = [
        Kind::T0T1,
        Kind::T1T2,
        Kind::NicT0,
        Kind::Cage,
        Kind::Nic,
        Kind::Node,
        Kind::T0,
        Kind::T1,
        Kind::T2,
        Kind::Group,
        Kind::Plane,
        Kind::Zone,
        Kind::Site,
        Kind::Domain,
    ];

    /// Returns the word on the command line and in JSON.
    pub fn word(self) -> &'static str {
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
        }
    }

    /// Returns the kind of a word. A breakout cable and a transceiver are both what is plugged into a cage.
    pub fn parse(word: &str) -> Option<Kind> {
        match word {
            "breakout" | "cage" => Some(Kind::Cage),
            "nic-port" => Some(Kind::NicT0),
            _ => Kind::ALL.into_iter().find(|kind| kind.word() == word),
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl Element {
    /// Returns the kind.
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
        }
    }
}

/// Everything that failed, taken apart.
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
    /// Returns what the file of a fabric calls absent or drained.
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

    /// Tells whether nothing failed.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty() && self.switches.is_empty() && self.nics.is_empty() && self.links.is_empty()
    }
}

/// Elements that fail together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// What fails with it.
    pub members: Vec<Element>,
}

/// The elements of a fabric.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Domains that its owner lists.
    pub domains: &'a [Domain],
}

impl<'a> Elements<'a> {
    /// Takes a fabric without domains of its owner.
    pub fn of(fabric: &'a Fabric) -> Self {
        Elements { fabric, domains: &[] }
    }

    /// Returns the elements of a kind that are there, in order.
    pub fn all(&self, kind: Kind) -> Vec<Element> {
        let (fabric, topology) = (self.fabric, self.fabric.topology());
        let tier = |tier| fabric.switches().filter(move |switch| switch.tier == tier);
        let above = |lower: TierId| {
            let count = topology.tier(lower).map_or(0, |tier| tier.up.count);
            tier(lower)
                .flat_map(move |lower| (0..count).map(move |up| Link::Fabric { lower, up }))
                .filter(|link| fabric.has_link(*link))
                .map(Element::Link)
                .collect()
        };
        let switches = |id| tier(id).map(Element::Switch).collect();
        match kind {
            Kind::NicT0 => {
                let ports = |plane| fabric.nics().map(move |nic| Link::Host(NicPort { plane, nic }));
                let links = topology.plane_ids().flat_map(ports);
                links.filter(|link| fabric.has_link(*link)).map(Element::Link).collect()
            }
            Kind::T0T1 => above(TierId::T0),
            Kind::T1T2 => above(TierId::T1),
            Kind::T0 => switches(TierId::T0),
            Kind::T1 => switches(TierId::T1),
            Kind::T2 => switches(TierId::T2),
            Kind::Cage => fabric.switches().flat_map(|switch| self.cages(switch)).collect(),
            Kind::Nic => fabric.nics().map(Element::Nic).collect(),
            Kind::Node => fabric.nodes().map(Element::Node).collect(),
            Kind::Group => {
                let zones = topology.zone_ids();
                zones.flat_map(|z| (0..topology.hosts.groups).map(move |g| Element::Group(z, g))).collect()
            }
            Kind::Plane => topology.plane_ids().map(Element::Plane).collect(),
            // A fabric of two tiers is one zone, and its loss says nothing.
            Kind::Zone if topology.zones == 1 => Vec::new(),
            Kind::Zone => topology.zone_ids().map(Element::Zone).collect(),
            Kind::Site => (0..topology.sites.len() as u16).map(Element::Site).collect(),
            Kind::Domain => (0..self.domains.len() as u32).map(Element::Domain).collect(),
        }
    }

    /// The cages of a switch with a cable in them.
    fn cages(&self, switch: Switch) -> Vec<Element> {
        let used = self.fabric.ports(switch).filter(|port| matches!(port.used, PortUse::Link { .. }));
        let cages: BTreeSet<u16> =
            used.map(|port| self.fabric.topology().slot(switch, port.at).cage).collect();
        cages.into_iter().map(|cage| Element::Cage(switch, cage)).collect()
    }

    /// Returns the cables in a cage.
    pub fn in_cage(&self, switch: Switch, cage: u16) -> impl Iterator<Item = Link> + use<'a> {
        let fabric = self.fabric;
        let [down, up] = fabric.topology().blocks(switch);
        let blocks = [(Side::Down, down), (Side::Up, up)].into_iter();
        let within = blocks.flat_map(move |(side, block)| {
            let parts = u16::from(block.breakout.ports);
            let range = cage
                .checked_sub(block.first_cage)
                .map_or(0..0, |at| at * parts..(at * parts + parts).min(block.count));
            range.map(move |index| PortRef { side, index })
        });
        within.filter_map(move |port| match fabric.port_use(switch, port) {
            PortUse::Link { link, .. } => Some(link),
            PortUse::Absent { .. } | PortUse::Spare => None,
        })
    }

    /// Returns what an element takes with it.
    pub fn losses(&self, element: Element) -> Losses {
        let mut losses = Losses::default();
        self.add(element, &mut losses);
        losses
    }

    /// Returns what elements take with them together.
    pub fn losses_of<'e>(&self, elements: impl IntoIterator<Item = &'e Element>) -> Losses {
        let mut losses = Losses::default();
        for element in elements {
            self.add(*element, &mut losses);
        }
        losses
    }

    fn add(&self, element: Element, losses: &mut Losses) {
        let topology = self.fabric.topology();
        match element {
            Element::Link(link) => drop(losses.links.insert(link)),
            Element::Switch(switch) => drop(losses.switches.insert(switch)),
            Element::Cage(switch, cage) => losses.links.extend(self.in_cage(switch, cage)),
            Element::Nic(nic) => drop(losses.nics.insert(nic)),
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
            }
            Element::Domain(domain) => {
                for member in self.domains.get(domain as usize).into_iter().flat_map(|d| &d.members) {
                    self.add(*member, losses);
                }
            }
        }
    }
}
