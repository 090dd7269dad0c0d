//! Everything that was read, ready for the proof.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::finding::Place;
use crate::model::cabling::{Cable, CableId, Cabling, End, NodeId, Party, Side, SwitchId};
use crate::model::device::Os;
use crate::model::group::Group;
use crate::model::segment::{Layout, Usid};
use crate::model::switch::{EndState, Facts, Node, Switch};
use crate::read::{frr, linux, sonic};

/// Everything that was read.
#[derive(Debug)]
pub(crate) struct Fabric {
    /// Who is connected with whom.
    pub(crate) cabling: Cabling,
    /// How uSIDs are cut up; absent where hosts do not write the path.
    pub(crate) layout: Option<Layout>,
    /// Switches by number; absent where the files do not parse.
    pub(crate) switches: Vec<Option<Switch>>,
    /// Nodes by number; absent where the tree does not describe them.
    pub(crate) nodes: Vec<Option<Node>>,
    /// Whether each node has routes to other nodes.
    pub(crate) sprays: Vec<bool>,
    /// Path tables, zone by zone.
    pub(crate) groups: Vec<Group>,
    /// What many ports share.
    pub(crate) facts: Vec<Arc<Facts>>,
}

/// What a violation on a switch is about, so that its line can be found in whatever language it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About<'a> {
    /// The device as a whole.
    Device,
    /// A port.
    Port(&'a str),
    /// The address of a port.
    Address(&'a str),
    /// The device that a port is told to expect.
    Peer(&'a str),
    /// The description of a port.
    Description(&'a str),
    /// A static neighbour of a port.
    Neighbour(&'a str),
    /// The MAC address of a port, or of the whole switch.
    Mac(&'a str),
    /// The length of a port's cable.
    Length(&'a str),
    /// A route, as it is written.
    Route(&'a str),
    /// A route that drops, as it is written.
    Blackhole(&'a str),
    /// The list of routes.
    Routes,
    /// Which destinations NICs may send to.
    Admission,
    /// Which sources a port lets in.
    Source(&'a str),
    /// An own segment, as it is written.
    Segment(&'a str),
    /// The list of own segments.
    Segments,
    /// Buffer pools.
    Pools,
    /// Headroom of a port.
    Headroom(&'a str),
    /// Settings of the whole device that have nothing to do with a port.
    Settings,
    /// Quality of service of a port.
    Qos(&'a str),
    /// The loopback.
    Loopback,
    /// The management address.
    Management,
    /// BGP as a whole.
    Bgp,
    /// How soon silence is noticed.
    Timers,
    /// The session over a port.
    Session(&'a str),
    /// A prefix that is announced.
    Network(&'a str),
    /// What is taken and announced.
    Filters,
}

/// Returns the place of something on a switch.
///
/// With BGP the routes of SONiC stand in `frr.conf`, and so does everything about BGP itself.
pub(crate) fn place(name: &str, os: Os, routed_by_frr: bool, about: About<'_>) -> Place {
    let folder = Utf8PathBuf::from("switches").join(name);
    let routing = match about {
        About::Bgp | About::Timers | About::Session(_) | About::Network(_) | About::Filters => true,
        About::Route(_) | About::Routes => routed_by_frr,
        _ => false,
    };
    let (file, needles) = match os {
        Os::Sonic if routing => frr_needles(about),
        Os::Sonic => (sonic::FILE, sonic_needles(about)),
        Os::Frr => frr_needles(about),
        Os::Linux => (linux::FILE, batch_needles(about)),
        Os::P4 => (crate::read::p4::FILE, crate::read::p4::needles(about)),
    };
    Place::text(folder.join(file), needles)
}

fn sonic_needles(about: About<'_>) -> Vec<String> {
    let row = |table: &str, key: String| vec![format!("\"{table}\":"), key];
    match about {
        About::Device | About::Settings | About::Admission | About::Source(_) => {
            row("DEVICE_METADATA", "\"localhost\"".to_owned())
        }
        About::Mac(_) => row("DEVICE_METADATA", "\"mac\":".to_owned()),
        About::Port(name) | About::Description(name) => row("PORT", format!("\"{name}\"")),
        About::Address(name) => row("INTERFACE", format!("\"{name}|")),
        About::Peer(name) => row("DEVICE_NEIGHBOR", format!("\"{name}\"")),
        About::Neighbour(name) => row("NEIGH", format!("\"{name}|")),
        About::Length(name) => row("CABLE_LENGTH", format!("\"{name}\"")),
        About::Route(prefix) | About::Blackhole(prefix) => {
            row("STATIC_ROUTE", format!("\"default|{prefix}\""))
        }
        About::Routes => vec!["\"STATIC_ROUTE\":".to_owned()],
        About::Pools => vec!["\"BUFFER_POOL\":".to_owned()],
        About::Headroom(name) => row("BUFFER_PG", format!("\"{name}|")),
        About::Segments => vec!["\"SRV6_MY_SIDS\":".to_owned()],
        About::Segment(prefix) => row("SRV6_MY_SIDS", format!("|{prefix}\"")),
        About::Qos(name) => row("PORT_QOS_MAP", format!("\"{name}\"")),
        About::Loopback => row("LOOPBACK_INTERFACE", "|".to_owned()),
        About::Management => row("MGMT_INTERFACE", "|".to_owned()),
        About::Bgp | About::Timers | About::Session(_) | About::Network(_) | About::Filters => Vec::new(),
    }
}

fn frr_needles(about: About<'_>) -> (&'static str, Vec<String>) {
    let interface = |name: &str, what: &str| {
        (frr::FILE, vec![format!("\ninterface {name}\n"), format!("interface {name}\n"), what.to_owned()])
    };
    match about {
        About::Device
        | About::Management
        | About::Settings
        | About::Pools
        | About::Admission
        | About::Source(_) => (frr::FILE, vec!["hostname".to_owned()]),
        About::Peer(name) | About::Description(name) => interface(name, "description"),
        About::Address(name) => interface(name, "ipv6 address"),
        About::Loopback => interface("lo", "ipv6 address"),
        About::Route(prefix) | About::Blackhole(prefix) => (frr::FILE, vec![format!("ipv6 route {prefix} ")]),
        About::Routes => (frr::FILE, vec!["ipv6 route".to_owned()]),
        About::Segment(prefix) => (frr::FILE, vec!["static-sids".to_owned(), format!("sid {prefix} ")]),
        About::Segments => (frr::FILE, vec!["static-sids".to_owned()]),
        About::Bgp => (frr::FILE, vec!["router bgp".to_owned()]),
        About::Timers => (frr::FILE, vec!["router bgp".to_owned(), "timers bgp".to_owned()]),
        About::Session(name) => {
            (frr::FILE, vec!["router bgp".to_owned(), format!("neighbor {name} interface")])
        }
        About::Network(prefix) => (frr::FILE, vec!["router bgp".to_owned(), format!("network {prefix}")]),
        About::Filters => (frr::FILE, vec!["route-map".to_owned()]),
        About::Port(_)
        | About::Neighbour(_)
        | About::Length(_)
        | About::Qos(_)
        | About::Headroom(_)
        | About::Mac(_) => (linux::FILE, batch_needles(about)),
    }
}

fn batch_needles(about: About<'_>) -> Vec<String> {
    match about {
        About::Device
        | About::Management
        | About::Settings
        | About::Pools
        | About::Bgp
        | About::Timers
        | About::Session(_)
        | About::Network(_)
        | About::Filters
        | About::Admission
        | About::Source(_) => Vec::new(),
        About::Port(name)
        | About::Length(name)
        | About::Qos(name)
        | About::Headroom(name)
        | About::Mac(name) => {
            vec![format!("link set dev {name} ")]
        }
        About::Peer(name) | About::Description(name) => vec![format!("# {name} -- ")],
        About::Address(name) => vec!["address replace".to_owned(), format!(" dev {name} ")],
        About::Neighbour(name) => vec!["neighbour replace".to_owned(), format!(" dev {name} ")],
        About::Loopback => vec!["address replace".to_owned(), format!(" dev {} ", linux::SEGMENT_DEVICE)],
        About::Route(prefix) => vec![format!("route replace {prefix} ")],
        About::Blackhole(prefix) => vec![format!("route replace blackhole {prefix}")],
        About::Routes => vec!["# One route for each neighbour".to_owned()],
        About::Segment(prefix) => vec![format!("route replace {prefix} encap")],
        About::Segments => vec!["encap seg6local".to_owned()],
    }
}

impl Fabric {
    /// Returns a switch, if its files parsed.
    pub(crate) fn switch(&self, id: SwitchId) -> Option<&Switch> {
        self.switches[id.0 as usize].as_ref()
    }

    /// Returns a node, if the tree describes it.
    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes[id.0 as usize].as_ref()
    }

    /// Returns the place of something on a switch.
    pub(crate) fn place(&self, id: SwitchId, about: About<'_>) -> Place {
        let (os, by_frr) =
            self.switch(id).map_or((Os::Sonic, false), |switch| (switch.os, switch.speaker.is_some()));
        place(self.cabling.switch(id), os, by_frr, about)
    }

    /// Returns the place of the route of a uSID on a switch.
    pub(crate) fn route_place(&self, id: SwitchId, usid: Usid) -> Place {
        match &self.layout {
            Some(layout) => self.place(id, About::Route(&layout.prefix(usid).to_string())),
            None => self.place(id, About::Routes),
        }
    }

    /// Returns the place where a path table lists the NICs of a T0.
    pub(crate) fn nics_place(&self, t0: Party) -> Option<Place> {
        let Party::Switch(t0) = t0 else { return None };
        let own = |group: &&Group| group.planes.iter().any(|plane| plane.t0 == Some(t0));
        self.groups.iter().find(own).map(|group| group.place(&["\"nics\":"]))
    }

    /// Returns how the device at one end of a cable is configured; nothing where the tree does not say.
    pub(crate) fn end_state(&self, end: End) -> Option<&EndState> {
        let ends = match end.party {
            Party::Switch(switch) => &self.switch(switch)?.ends,
            Party::Node(node) => &self.node(node)?.ends,
        };
        ends.get(usize::from(end.slot))
    }

    /// Returns what many ports share, for one end of a cable.
    pub(crate) fn facts(&self, end: End) -> Option<&Facts> {
        Some(self.end_state(end)?.facts.of(&self.facts))
    }

    /// Returns the cable in a slot of a switch, and its own and far end.
    pub(crate) fn plugged(&self, switch: SwitchId, slot: u16) -> (CableId, &Cable, Side) {
        self.cabling.plugged(switch, slot)
    }
}
