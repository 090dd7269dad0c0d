//! The network of a node, as files for netplan or systemd-networkd say it: interfaces with addresses, routes and rules.
//!
//! An unknown statement is an error of a reader, and a forbidden one a fault.

use closc_artefacts::{Address, Family, Prefix};

use crate::model::cabling::NodeId;
use crate::model::device::Mac;
use crate::model::switch::OtherRoute;

/// The table that routes are in where nothing is said.
pub(crate) const MAIN: u32 = 254;

/// The network of a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeNetwork {
    /// Its interfaces, apart from the loopback.
    pub(crate) interfaces: Vec<Interface>,
    /// Routes of the loopback, which drop.
    pub(crate) dropped: Vec<TableRoute>,
    /// The file that says what the loopback drops, or where it would be.
    pub(crate) loopback: String,
    /// Names that interfaces are given by where their NIC is plugged in.
    pub(crate) names: Vec<GivenName>,
    /// Names of RDMA devices by PCI address.
    pub(crate) devices: Vec<(String, String)>,
    /// The file that says so, or where it would be.
    pub(crate) devices_file: String,
    /// Whether rules can be by outgoing interface.
    pub(crate) binds: bool,
    /// Errors of single lines: file, text to look for, message.
    pub(crate) faults: Vec<(String, String, String)>,
}

/// An interface.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interface {
    /// Its name.
    pub(crate) name: String,
    /// The file in the folder of the node.
    pub(crate) file: String,
    /// Bytes before all of it in the file.
    pub(crate) anchor: String,
    /// Largest packet.
    pub(crate) mtu: Option<u32>,
    /// MAC address that it takes.
    pub(crate) mac: Option<Mac>,
    /// Parts that others may change: by DHCP, router advertisements, or addresses of their own making.
    pub(crate) open: Vec<&'static str>,
    /// Own addresses.
    pub(crate) addresses: Vec<Prefix>,
    /// Routes.
    pub(crate) routes: Vec<TableRoute>,
    /// Rules that say which table is asked.
    pub(crate) rules: Vec<TableRule>,
}

/// A route of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRoute {
    /// Where to.
    pub(crate) to: Prefix,
    /// Event.
    pub(crate) does: Does,
    /// Which of several comes first.
    pub(crate) metric: u32,
    /// The table.
    pub(crate) table: u32,
}

/// Effect of a table's route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// Sends to a next hop.
    Via(Address),
    /// Drops.
    Drops,
    /// Lets the next rule decide.
    Throws,
}

/// A rule that says which table is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRule {
    /// Packets from where; absent: from anywhere.
    pub(crate) from: Option<Prefix>,
    /// The family of packets; absent: both.
    pub(crate) family: Option<Family>,
    /// Packets of sockets that are bound to this interface; absent: of all.
    pub(crate) out: Option<String>,
    /// The table.
    pub(crate) table: u32,
    /// Lower ones come first.
    pub(crate) priority: u32,
}

/// The name that an interface is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenName {
    /// The file in the folder of the node.
    pub(crate) file: String,
    /// PCI address.
    pub(crate) pci: String,
    /// The name.
    pub(crate) name: String,
    /// Largest packet, where the file says so.
    pub(crate) mtu: Option<u32>,
}

/// Treatment of packets from a NIC's address by a node, by the tables of its ports.
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
