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
    /// Its interfaces, without the loopback.
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
    /// Faults of single lines: file, text to search for, message.
    pub(crate) faults: Vec<(String, String, String)>,
}

/// An interface.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interface {
    /// Its name.
    pub(crate) name: String,
    /// The file in the folder of the node.
    pub(crate) file: String,
    /// Text that precedes the interface in the file, by which its lines are found.
    pub(crate) anchor: String,
    /// Largest packet.
    pub(crate) mtu: Option<u32>,
    /// MAC address to set.
    pub(crate) mac: Option<Mac>,
    /// Mechanisms that can change it: DHCP, router advertisements, or autoconfigured addresses.
    pub(crate) open: Vec<&'static str>,
    /// Own addresses.
    pub(crate) addresses: Vec<Prefix>,
    /// Routes.
    pub(crate) routes: Vec<TableRoute>,
    /// Rules that select a routing table.
    pub(crate) rules: Vec<TableRule>,
}

/// A route of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRoute {
    /// Destination.
    pub(crate) to: Prefix,
    /// Its action.
    pub(crate) action: NodeRouteAction,
    /// Metric; the lowest is used.
    pub(crate) metric: u32,
    /// The table.
    pub(crate) table: u32,
}

/// Action of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeRouteAction {
    /// Sends to a next hop.
    Via(Address),
    /// Drops.
    Drops,
    /// Continues with the next rule.
    Throws,
}

/// A rule that selects a routing table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRule {
    /// Source of packets; absent: any.
    pub(crate) from: Option<Prefix>,
    /// The family of packets; absent: both.
    pub(crate) family: Option<Family>,
    /// Outgoing interface to which the socket is bound; absent: any.
    pub(crate) out: Option<String>,
    /// The table.
    pub(crate) table: u32,
    /// Priority; lower ones are first.
    pub(crate) priority: u32,
}

/// A configured interface name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GivenName {
    /// The file in the folder of the node.
    pub(crate) file: String,
    /// PCI address.
    pub(crate) pci: String,
    /// The name.
    pub(crate) name: String,
    /// Largest packet, if the file states it.
    pub(crate) mtu: Option<u32>,
    /// Whether it negotiates, if the file states it.
    pub(crate) negotiates: Option<bool>,
    /// Speed in Mb/s, if the file states it.
    pub(crate) speed: Option<u32>,
}

/// Treatment of packets from a NIC's address, by the tables of its ports.
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
    /// Routes over all of its ports.
    pub(crate) routes: Vec<OtherRoute>,
}
