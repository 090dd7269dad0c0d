//! The tables and their columns.

/// Contents of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// Whole numbers.
    Integer,
}

use Kind::{Integer, Text};

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Switches and nodes.
    Devices,
    /// Cables with both ends.
    Links,
    /// Ports of switches, used or not, and ports of NICs with a cable.
    Ports,
    /// Addresses of devices, cables and NICs.
    Addresses,
    /// uSIDs of switches and NICs.
    Sids,
    /// Routes in the configurations of switches.
    Routes,
    /// Paths between the NICs of the selected pairs.
    Paths,
}

impl Table {
    /// All tables.
    pub const ALL: [Table; 7] = [
        Table::Devices,
        Table::Links,
        Table::Ports,
        Table::Addresses,
        Table::Sids,
        Table::Routes,
        Table::Paths,
    ];

    /// Returns the name, which is also the file name without extension.
    pub fn name(self) -> &'static str {
        match self {
            Table::Devices => "devices",
            Table::Links => "links",
            Table::Ports => "ports",
            Table::Addresses => "addresses",
            Table::Sids => "sids",
            Table::Routes => "routes",
            Table::Paths => "paths",
        }
    }

    /// Returns the names and kinds of the columns.
    pub(crate) fn columns(self) -> &'static [Column] {
        match self {
            Table::Devices => DEVICES,
            Table::Links => LINKS,
            Table::Ports => PORTS,
            Table::Addresses => ADDRESSES,
            Table::Sids => SIDS,
            Table::Routes => ROUTES,
            Table::Paths => PATHS,
        }
    }
}

/// Name and kind of a column.
pub(crate) type Column = (&'static str, Kind);

const DEVICES: &[Column] = &[
    ("device", Text),
    ("kind", Text),
    ("plane", Integer),
    ("zone", Integer),
    ("number", Integer),
    ("platform", Text),
    ("os", Text),
    ("asn", Integer),
    ("mac", Text),
    ("loopback", Text),
    ("management", Text),
    ("state", Text),
    ("rack", Text),
    ("unit", Integer),
    ("units", Integer),
    ("face", Text),
];

const LINKS: &[Column] = &[
    ("link", Text),
    ("kind", Text),
    ("plane", Integer),
    ("zone", Integer),
    ("lower_device", Text),
    ("lower_port", Text),
    ("lower_address", Text),
    ("upper_device", Text),
    ("upper_port", Text),
    ("upper_address", Text),
    ("speed_mbps", Integer),
    ("length_mm", Integer),
    ("medium", Text),
    ("state", Text),
];

const PORTS: &[Column] = &[
    ("device", Text),
    ("port", Text),
    ("plane", Integer),
    ("side", Text),
    ("number", Integer),
    ("cage", Integer),
    ("part", Integer),
    ("speed_mbps", Integer),
    ("mtu", Integer),
    ("state", Text),
    ("far_device", Text),
    ("far_port", Text),
];

const ADDRESSES: &[Column] = &[
    ("device", Text),
    ("interface", Text),
    ("kind", Text),
    ("plane", Integer),
    ("address", Text),
    ("prefix_length", Integer),
];

const SIDS: &[Column] =
    &[("device", Text), ("kind", Text), ("plane", Integer), ("usid", Text), ("prefix", Text)];

const ROUTES: &[Column] = &[
    ("device", Text),
    ("plane", Integer),
    ("prefix", Text),
    ("kind", Text),
    ("next_hops", Integer),
    ("ports", Text),
    ("weights", Text),
];

const PATHS: &[Column] = &[
    ("from_nic", Text),
    ("to_nic", Text),
    ("plane", Integer),
    ("entropy", Integer),
    ("destination", Text),
    ("switches", Text),
    ("links", Text),
    ("denied_by", Text),
];
