//! Intents: the final values for one device, with every number and name computed.
//!
//! Plain data, read by renderers, P4 entries and the lab. Invariants: an intent contains final values, so readers
//! only format. Intents are created one at a time and dropped after rendering.

pub(crate) mod bgp;

use std::collections::BTreeSet;
use std::net::IpAddr;

use closc_artefacts::{Address, Prefix, Routing};
use closc_platform::{Balance, Os, PhysicalPort, Platform, Release};
use closc_qos::Nanoseconds;
use closc_qos::profile::Profile;
use closc_qos::units::Speed;
use closc_topology::{
    Cable, HostOs, HostOutput, HostSlot, Island, Link, Nic, NicPort, Node, PciAddress, PlaneId, PortRef,
    Services, Side, Switch, Usid,
};
use ipnet::{IpNet, Ipv6Net};
use smol_str::SmolStr;

use self::bgp::BgpIntent;
use crate::mac::Mac;
use crate::zone_delay::ZoneDelay;

/// All values for one switch.
#[derive(Debug, Clone)]
pub struct DeviceIntent<'a> {
    /// Its coordinate.
    pub switch: Switch,
    /// Its name.
    pub name: SmolStr,
    /// Name of the fabric.
    pub fabric: &'a str,
    /// Hardware.
    pub platform: &'a Platform,
    /// SONiC hwsku, which depends on the split of its cages, or platform id.
    pub hardware: SmolStr,
    /// Operating system.
    pub os: Os,
    /// Its release, if the generated files depend on it.
    pub release: Option<Release>,
    /// Routing mode.
    pub routing: Routing,
    /// Addresses and numbers of the switch itself.
    pub system: System<'a>,
    /// Its segments; absent if the routing mode does not use them.
    pub srv6: Option<Srv6Intent>,
    /// Its eBGP settings; absent if the routing mode does not use BGP.
    pub bgp: Option<BgpIntent>,
    /// Every port, downlinks first. Spare ports are included and shut down.
    pub ports: Vec<PortIntent>,
    /// Static routes in this order: neighbours or NICs by port, farther destinations by zone and group, then the
    /// blackhole.
    pub routes: Vec<Route>,
    /// Load balancing over next hops; absent if the switch hashes flows.
    pub balance: Option<BalanceIntent>,
    /// Whether the switch has the access list of isolated ports.
    pub has_isolation: bool,
    /// Quality of service.
    pub qos: &'a Profile,
    /// Round-trip time without queueing of the longest path that matters for the tier. Computed thresholds are based
    /// on it.
    pub base_rtt: Nanoseconds,
}

/// Load balancing over next hops, other than by hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceIntent {
    /// Its kind.
    pub kind: Balance,
    /// Number of next-hop groups to reserve: the maximum that failures can cause, or that the operating system can
    /// balance.
    pub groups: u64,
}

/// Addresses and numbers of the switch itself.
#[derive(Debug, Clone)]
pub struct System<'a> {
    /// MAC address of the switch, the same on all its ports.
    pub mac: Mac,
    /// Loopback address, /128.
    pub loopback: Address,
    /// Autonomous system number, if switches exchange routes with BGP. It is absent with other routing modes, because
    /// its range is checked only with BGP.
    pub asn: Option<u32>,
    /// Management port, if it is listed or a pool is given.
    pub management: Option<Management>,
    /// Servers that every device receives.
    pub services: &'a Services,
}

/// The management port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Management {
    /// Address with prefix length.
    pub address: IpNet,
    /// Default gateway of the management network.
    pub gateway: IpAddr,
}

/// Segments of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Srv6Intent {
    /// The block of the switch's plane.
    pub block: Ipv6Net,
    /// Own uN segments: a single one, or one per parallel link.
    pub locators: Vec<Locator>,
}

/// One uN segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locator {
    /// The uSID.
    pub usid: Usid,
    /// Block and uSID, /48.
    pub prefix: Ipv6Net,
}

/// One port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortIntent {
    /// The port by its role.
    pub at: PortRef,
    /// Name of the port on the device.
    pub physical: PhysicalPort,
    /// MTU.
    pub mtu: u16,
    /// Connection; without one, the port is shut down.
    pub connection: Option<Connection>,
    /// One line for operators, in the device's own description field.
    pub description: String,
}

impl PortIntent {
    /// Returns whether a NIC is at the other end.
    pub fn faces_nic(&self) -> bool {
        matches!(self.connection, Some(Connection { peer: Peer::Nic(_), .. }))
    }

    /// Returns whether a switch is at the other end.
    pub fn faces_switch(&self) -> bool {
        matches!(self.connection, Some(Connection { peer: Peer::Switch(_), .. }))
    }

    /// Returns whether the port is a downlink.
    pub fn is_down(&self) -> bool {
        self.at.side == Side::Down
    }
}

/// Connection of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The cable.
    pub link: Link,
    /// Length and medium.
    pub cable: Cable,
    /// Whether the cable must not carry new traffic.
    pub drained: bool,
    /// Whether the port drops all received IPv6 packets except ICMPv6.
    pub isolated: bool,
    /// Own address, /127.
    pub address: Prefix,
    /// Whether the addresses of the cable are omitted, because its ends discover each other's link-local addresses.
    pub unnumbered: bool,
    /// The other end.
    pub peer: Peer,
}

/// The other end of a cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// A switch.
    Switch(SwitchPeer),
    /// A NIC.
    Nic(NicPeer),
}

/// A switch at the other end of a cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchPeer {
    /// Its coordinate.
    pub switch: Switch,
    /// Its name.
    pub name: SmolStr,
    /// Name of its port.
    pub port: SmolStr,
    /// SONiC hwsku or platform id, for neighbour metadata.
    pub hardware: SmolStr,
    /// Its address on the cable.
    pub address: Address,
    /// Its MAC address; absent if it keeps its factory address.
    pub mac: Option<Mac>,
    /// Its loopback.
    pub loopback: Address,
    /// Its management address.
    pub management: Option<IpAddr>,
}

/// A NIC at the other end of a cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicPeer {
    /// The NIC port.
    pub port: NicPort,
    /// Name of the node.
    pub node: SmolStr,
    /// Name of the port, for example `su001-n004/nic2.p3`.
    pub name: SmolStr,
    /// Interface name on the node, for example `nic2p3`.
    pub interface: SmolStr,
    /// Its address on the cable.
    pub address: Address,
    /// Its MAC address in labs and on targets that set it; real NICs keep their factory address.
    pub mac: Mac,
    /// The NIC's inner address.
    pub inner: Address,
    /// Outer source address of the node: the address of its first NIC, which Linux uses for all NICs.
    pub node_source: Address,
}

impl Peer {
    /// Returns the address at the other end.
    pub fn address(&self) -> Address {
        match self {
            Peer::Switch(peer) => peer.address,
            Peer::Nic(peer) => peer.address,
        }
    }

    /// Returns the MAC address at the other end, if it is known without discovery.
    pub fn mac(&self) -> Option<Mac> {
        match self {
            Peer::Switch(peer) => peer.mac,
            Peer::Nic(peer) => Some(peer.mac),
        }
    }

    /// Returns the name of the device at the other end.
    pub fn device(&self) -> &str {
        match self {
            Peer::Switch(peer) => &peer.name,
            Peer::Nic(peer) => &peer.node,
        }
    }
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Destination.
    pub prefix: Prefix,
    /// Action.
    pub target: Target,
}

/// Action of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Forwards over ports, by index in [`DeviceIntent::ports`]. All weights are 1 for equal load.
    Ports(Vec<Hop>),
    /// Drops packets. Packets to an unknown segment or address are dropped at the first switch.
    Blackhole,
}

/// One next hop of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// Index in [`DeviceIntent::ports`].
    pub port: usize,
    /// Share of the traffic.
    pub weight: u16,
}

/// All values for one node.
#[derive(Debug, Clone)]
pub struct HostIntent<'a> {
    /// Its coordinate.
    pub node: Node,
    /// Its name.
    pub name: SmolStr,
    /// Name of the fabric.
    pub fabric: &'a str,
    /// Routing mode.
    pub routing: Routing,
    /// Blocks of the segments: a single one, or one per plane; empty if the routing mode does not use them.
    pub blocks: Vec<Ipv6Net>,
    /// Its NICs, in order.
    pub nics: Vec<NicIntent>,
    /// The NIC that sends packets of unbound sockets, if switches choose the path.
    pub unbound: usize,
    /// Prefix of all NICs of the fabric.
    pub reach: Prefix,
    /// Largest set of NICs that are joined by switches.
    pub island: Island,
    /// Whether there are T2s, so that names of groups have zones.
    pub has_t2: bool,
    /// Whether NIC k and NIC k + 1 of a node are connected to different T0 groups.
    pub is_rail_optimised: bool,
    /// Queue pairs per connection: enough to spread over the uplinks, if switches choose paths by hash.
    pub queue_pairs: u16,
    /// Whether switches reorder packets, and NICs accept them in any order.
    pub reorders: bool,
    /// Operating system for which files are generated, besides the path table.
    pub os: HostOs,
    /// Further files that are generated for it.
    pub outputs: &'a BTreeSet<HostOutput>,
    /// MTU of the cable.
    pub mtu: u16,
    /// Maximum size of the inner packet.
    pub payload_mtu: u16,
    /// Quality of service.
    pub qos: &'a Profile,
    /// Data of the longest path for its senders.
    pub delay: &'a ZoneDelay,
}

/// One NIC of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicIntent {
    /// Its coordinate.
    pub nic: Nic,
    /// Number in the node, from 0.
    pub number: u8,
    /// Name, for example `su001-n004/nic2`.
    pub name: SmolStr,
    /// Inner address, the same in every plane.
    pub address: Address,
    /// Prefix of its T0 group.
    pub group: Prefix,
    /// Number of its adapter in the node, from 0; its own number if adapters have one NIC.
    pub adapter: u8,
    /// Number on its adapter, from 0.
    pub in_adapter: u8,
    /// Its slot, or that of its adapter, if the fabric file states it.
    pub slot: Option<HostSlot>,
    /// Its ports, in the order of planes; those without a cable are omitted.
    pub ports: Vec<NicPortIntent>,
    /// Routes from this NIC to others, the longest prefixes first; empty if it writes paths into packets.
    pub routes: Vec<NicRoute>,
}

/// A route of a NIC: the planes that reach a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicRoute {
    /// Destination: a NIC, a T0 group, a zone, or all NICs of the fabric.
    pub prefix: Prefix,
    /// Ports that share the traffic equally, by index in [`NicIntent::ports`]; empty if no port reaches the
    /// destination.
    pub ports: Vec<usize>,
}

/// One port of a NIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicPortIntent {
    /// The plane.
    pub plane: PlaneId,
    /// Interface name on Linux, for example `nic0p3`.
    pub interface: SmolStr,
    /// MAC address in labs, and where the T0 has a static neighbour.
    pub mac: Mac,
    /// Whether the T0 has a static neighbour entry with that MAC address, so the port must use it.
    pub is_static: bool,
    /// PCI address, if the fabric file names the slot of the NIC.
    pub pci: Option<PciAddress>,
    /// Speed.
    pub speed: Speed,
    /// Number of its routing table, unique within the node.
    pub table: u16,
    /// Own address on the cable, /127.
    pub address: Prefix,
    /// Name of the T0.
    pub t0: SmolStr,
    /// Port of the T0.
    pub t0_port: SmolStr,
    /// The T0's address on the cable.
    pub gateway: Address,
    /// The T0's MAC address; absent if it keeps its factory address.
    pub gateway_mac: Option<Mac>,
    /// Segment that the NIC decapsulates: block and NIC uSID, /48; absent without SRv6.
    pub decapsulate: Option<Ipv6Net>,
    /// First segment of every path over this port: block and local T0 uSID, /48; absent without SRv6.
    pub first_segment: Option<Ipv6Net>,
    /// Whether the cable, the T0 or the plane is drained.
    pub drained: bool,
    /// Declared domains of its NIC, cable, T0 or plane, by name.
    pub domains: BTreeSet<SmolStr>,
    /// The cable.
    pub cable: Cable,
    /// Whether the T0 negotiates speed and trains the link; absent if its driver decides, and over optical cables.
    pub negotiates: Option<bool>,
}
