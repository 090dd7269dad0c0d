//! The network of a node, from files for netplan or systemd-networkd: interfaces with addresses, routes and rules.
//!
//! An unknown statement is an error of the reader; a forbidden one is a fault.

use closc_artefacts::{Address, Family, Prefix};

use crate::model::cabling::NodeId;
use crate::model::device::Mac;
use crate::model::switch::OtherRoute;

/// The default routing table.
pub(crate) const MAIN: u32 = 254;

/// The network of a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeNetwork {
    /// Interfaces, without the loopback.
    pub(crate) interfaces: Vec<Interface>,
    /// Drop routes of the loopback.
    pub(crate) dropped: Vec<TableRoute>,
    /// The file with the drop routes, or the one that should contain them.
    pub(crate) loopback: String,
    /// Names of interfaces by slot.
    pub(crate) names: Vec<GivenName>,
    /// Names of RDMA devices by PCI address.
    pub(crate) devices: Vec<(String, String)>,
    /// The file with these names, or the one that should contain them.
    pub(crate) devices_file: String,
    /// Whether rules by outgoing interface are supported.
    pub(crate) binds: bool,
    /// Faults of single lines: file, text that is on the line, message.
    pub(crate) faults: Vec<(String, String, String)>,
}

/// An interface.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interface {
    pub(crate) name: String,
    /// The file in the folder of the node.
    pub(crate) file: String,
    /// Text that precedes the interface in the file, by which its lines are found.
    pub(crate) anchor: String,
    /// MTU in bytes.
    pub(crate) mtu: Option<u32>,
    /// MAC address that the file sets.
    pub(crate) mac: Option<Mac>,
    /// Enabled mechanisms that can change the interface: DHCP, router advertisements, or autoconfigured addresses.
    pub(crate) open: Vec<&'static str>,
    /// Configured addresses.
    pub(crate) addresses: Vec<Prefix>,
    pub(crate) routes: Vec<TableRoute>,
    /// Rules that select a routing table.
    pub(crate) rules: Vec<TableRule>,
}

/// A route in a routing table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRoute {
    /// Destination.
    pub(crate) to: Prefix,
    pub(crate) action: NodeRouteAction,
    /// Metric; the route with the lowest is used.
    pub(crate) metric: u32,
    /// Number of the routing table.
    pub(crate) table: u32,
}

/// Action of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeRouteAction {
    /// Sends packets to a next hop.
    Via(Address),
    /// Drops packets.
    Drops,
    /// Continues with the next rule.
    Throws,
}

/// A rule that selects a routing table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRule {
    /// Source of packets; `None` matches any.
    pub(crate) from: Option<Prefix>,
    /// Address family of packets; `None` matches both.
    pub(crate) family: Option<Family>,
    /// Interface to which the socket is bound; `None` matches any.
    pub(crate) out: Option<String>,
    /// Number of the routing table.
    pub(crate) table: u32,
    /// Priority; lower values are matched first.
    pub(crate) priority: u32,
}

/// A configured interface name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GivenName {
    /// The file in the folder of the node.
    pub(crate) file: String,
    /// PCI address.
    pub(crate) pci: String,
    pub(crate) name: String,
    /// MTU in bytes, if the file states it.
    pub(crate) mtu: Option<u32>,
    /// Whether the port negotiates, if the file states this.
    pub(crate) negotiates: Option<bool>,
    /// Speed in Mb/s, if the file states it.
    pub(crate) speed: Option<u32>,
}

/// Treatment of packets from the address of a NIC, by the routing tables of its ports.
#[derive(Debug, Clone)]
pub(crate) struct NicTables {
    /// The file in the folder of the node.
    pub(crate) file: String,
    /// The node.
    pub(crate) node: NodeId,
    /// Number of the NIC.
    pub(crate) number: u16,
    /// Address of the NIC.
    pub(crate) address: Address,
    /// Routes through all ports of the NIC.
    pub(crate) routes: Vec<OtherRoute>,
}
