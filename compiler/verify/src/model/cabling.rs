//! Connections, as in the cable lists.
//!
//! In: rows. Out: [`Cabling`]: cables, and for each device its cables in a fixed order. The index of a cable in that
//! order is its *slot*, by which all port data is stored. Invariants: memory use grows with the number of cables, not
//! with the length of names. `cables` stores the cables, and `plugs` the cables of each device.

pub(crate) mod cables;
mod plugs;

use camino::Utf8PathBuf;
use closc_artefacts::paths;
use hashbrown::HashMap;
use smol_str::SmolStr;

use crate::model::names::{Name, Names};
use crate::model::place::Place;
use crate::model::segment::Tier;
use cables::Cables;
pub(crate) use plugs::Plug;
use plugs::Plugs;

/// A switch, by its index in the order of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SwitchId(pub(crate) u32);

/// A node, by its index in the order of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

/// A cable, by its index in the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CableId(pub(crate) u32);

/// The device at one end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DeviceId {
    Switch(SwitchId),
    Node(NodeId),
}

/// Kinds of cables, by the devices that they connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// A NIC and a T0.
    NicT0,
    /// A T0 and a T1.
    T0T1,
    /// A T1 and a T2.
    T1T2,
}

impl Kind {
    /// Returns the tier at the lower end; `None` for a NIC.
    pub(crate) fn lower(self) -> Option<Tier> {
        match self {
            Kind::NicT0 => None,
            Kind::T0T1 => Some(Tier::T0),
            Kind::T1T2 => Some(Tier::T1),
        }
    }

    /// Returns the tier at the upper end.
    pub(crate) fn upper(self) -> Tier {
        match self {
            Kind::NicT0 => Tier::T0,
            Kind::T0T1 => Tier::T1,
            Kind::T1T2 => Tier::T2,
        }
    }
}

/// One end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) party: DeviceId,
    /// Name of the port on the device.
    pub(crate) port: Name,
    /// Index of the cable among those of the device.
    pub(crate) slot: u16,
}

/// A cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and files state them apart")]
pub(crate) struct Cable {
    /// Length in whole metres, rounded up.
    pub(crate) meters: u32,
    pub(crate) plane: u8,
    pub(crate) kind: Kind,
    /// Whether the cable must not carry new traffic.
    pub(crate) drained: bool,
    /// Whether its switch ports drop all IPv6 packets except ICMPv6. Such a cable is also drained.
    pub(crate) isolated: bool,
    /// Whether the cable is copper from end to end.
    pub(crate) copper: bool,
    /// Whether its transceivers run 100G over four lanes without error correction.
    pub(crate) uncoded: bool,
    /// The end nearer to the NICs.
    pub(crate) lower: End,
    /// The end farther from the NICs.
    pub(crate) upper: End,
}

impl Cable {
    /// Returns both ends, the one on the given side first.
    #[inline]
    pub(crate) fn ends(&self, side: Side) -> (End, End) {
        match side {
            Side::Lower => (self.lower, self.upper),
            Side::Upper => (self.upper, self.lower),
        }
    }
}

/// An end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Side {
    /// Nearer to the NICs.
    Lower,
    /// Farther from the NICs.
    Upper,
}

/// A cable list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) file: Utf8PathBuf,
    /// Index of its first cable.
    pub(crate) first: u32,
}

/// Contents of all cable lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cabling {
    /// Names of devices and ports.
    pub(crate) names: Names,
    /// Names of the switches, sorted.
    pub(crate) switches: Vec<SmolStr>,
    /// Names of the nodes, sorted.
    pub(crate) nodes: Vec<SmolStr>,
    /// All cables, list by list.
    cables: Cables,
    /// The lists, in the order of their cables.
    pub(crate) lists: Vec<List>,
    switch_plugs: Plugs,
    node_plugs: Plugs,
}

impl Cabling {
    /// Stores all cables and assigns slots to their ends.
    pub(crate) fn new(
        names: Names,
        (switches, nodes): (Vec<SmolStr>, Vec<SmolStr>),
        mut cables: Cables,
        lists: Vec<List>,
    ) -> Self {
        let at_switch = |party| match party {
            DeviceId::Switch(switch) => Some(switch.0),
            DeviceId::Node(_) => None,
        };
        let at_node = |party| match party {
            DeviceId::Node(node) => Some(node.0),
            DeviceId::Switch(_) => None,
        };
        let switch_plugs = Plugs::new(switches.len(), &mut cables, at_switch);
        let node_plugs = Plugs::new(nodes.len(), &mut cables, at_node);
        Cabling { names, switches, nodes, cables, lists, switch_plugs, node_plugs }
    }

    /// Returns the planes with a list, in the order of the lists.
    pub(crate) fn planes(&self) -> impl Iterator<Item = u8> + '_ {
        let plane = |at: usize| paths::plane_of(&self.lists[at].file);
        let first = move |at: &usize| (0..*at).all(|other| plane(other) != plane(*at));
        (0..self.lists.len()).filter(first).filter_map(plane)
    }

    /// Returns the cables of a plane, which are exactly those of its lists.
    pub(crate) fn in_plane(&self, plane: u8) -> impl Iterator<Item = CableId> + '_ {
        let ends = self.lists.iter().skip(1).map(|list| list.first).chain([self.cables.len() as u32]);
        let own =
            self.lists.iter().zip(ends).filter(move |(list, _)| paths::plane_of(&list.file) == Some(plane));
        own.flat_map(|(list, end)| list.first..end).map(CableId)
    }

    pub(crate) fn switch_ids(&self) -> impl Iterator<Item = SwitchId> + use<> {
        (0..self.switches.len() as u32).map(SwitchId)
    }

    #[inline]
    pub(crate) fn cable(&self, id: CableId) -> Cable {
        self.cables.get(id)
    }

    /// Returns all cables, list by list.
    pub(crate) fn cables(&self) -> impl ExactSizeIterator<Item = Cable> + '_ {
        self.cable_ids().map(|id| self.cable(id))
    }

    pub(crate) fn cable_ids(&self) -> impl ExactSizeIterator<Item = CableId> + use<> {
        (0..self.cables.len() as u32).map(CableId)
    }

    /// Returns the cables of a switch, by slot.
    #[inline]
    pub(crate) fn at_switch(&self, switch: SwitchId) -> &[Plug] {
        self.switch_plugs.of(switch.0 as usize)
    }

    /// Returns the cables of a node, by slot.
    #[inline]
    pub(crate) fn at_node(&self, node: NodeId) -> &[Plug] {
        self.node_plugs.of(node.0 as usize)
    }

    /// Returns the cable in a slot of a switch, and which of its ends is at the switch.
    #[inline]
    pub(crate) fn slot_cable(&self, switch: SwitchId, slot: u16) -> (CableId, Cable, Side) {
        let plug = self.at_switch(switch)[usize::from(slot)];
        (plug.cable(), self.cable(plug.cable()), plug.side())
    }

    /// Returns the name of a device.
    pub(crate) fn party(&self, party: DeviceId) -> &str {
        match party {
            DeviceId::Switch(switch) => self.switch(switch),
            DeviceId::Node(node) => &self.nodes[node.0 as usize],
        }
    }

    /// Returns the name of a switch.
    pub(crate) fn switch(&self, switch: SwitchId) -> &str {
        &self.switches[switch.0 as usize]
    }

    /// Returns the switch with a name.
    pub(crate) fn switch_named(&self, name: &str) -> Option<SwitchId> {
        self.switches.binary_search_by(|probe| probe.as_str().cmp(name)).ok().map(|at| SwitchId(at as u32))
    }

    /// Returns the node with a name.
    pub(crate) fn node_named(&self, name: &str) -> Option<NodeId> {
        self.nodes.binary_search_by(|probe| probe.as_str().cmp(name)).ok().map(|at| NodeId(at as u32))
    }

    /// Formats an end of a cable for messages: `p3-t0-017:Ethernet8`.
    pub(crate) fn end(&self, end: End) -> String {
        format!("{}:{}", self.party(end.party), self.names.text(end.port))
    }

    /// Formats both ends of a cable for messages.
    pub(crate) fn describe(&self, cable: &Cable) -> String {
        format!("{} -- {}", self.end(cable.lower), self.end(cable.upper))
    }

    /// Returns the line of a cable in its list.
    pub(crate) fn place(&self, id: CableId) -> Place {
        let at = self.lists.partition_point(|list| list.first <= id.0).saturating_sub(1);
        Place::line(self.lists[at].file.clone(), self.cables.line(id) as usize)
    }

    /// Returns the cable list of a plane, or that of plane 0 if the plane is unknown.
    pub(crate) fn list_of(&self, plane: Option<u8>) -> Option<Place> {
        let name = format!("plane-{}", plane.unwrap_or(0));
        let list = self.lists.iter().find(|list| list.file.file_stem() == Some(&name));
        list.map(|list| Place::file(list.file.clone()))
    }

    /// Returns the tier and plane of each switch, from its first cable.
    pub(crate) fn positions(&self) -> HashMap<SwitchId, (Tier, u8)> {
        let position = |switch: SwitchId| {
            let plug = self.at_switch(switch).first()?;
            let cable = self.cable(plug.cable());
            let tier = match plug.side() {
                Side::Lower => cable.kind.lower()?,
                Side::Upper => cable.kind.upper(),
            };
            Some((switch, (tier, cable.plane)))
        };
        self.switch_ids().filter_map(position).collect()
    }
}
