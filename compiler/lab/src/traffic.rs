//! The packets of a test: one for every path of every ordered pair of NICs, or for a sample of them.
//!
//! In: path tables and a model. Out: [`PathRef`]s, sender by sender, each with its expected path. Invariants: paths
//! that the table denies as absent are counted but not sent; drained ones are sent.

use std::net::Ipv6Addr;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Model, PortId};
use crate::packet::{InnerPacket, Packet, Tag};
use crate::tree::{GroupTable, Nic, TablePath, Tree};
use crate::walk::PacketPath;

/// One path of one pair.
#[derive(Debug, Clone)]
pub struct PathRef<'a> {
    /// Sending NIC.
    pub from: &'a Nic,
    /// Receiving NIC.
    pub to: &'a Nic,
    /// The path.
    pub table_path: TablePath,
    /// UDP destination port of inner packets.
    pub udp_port: u16,
    /// Number of parallel cables from T0 to T1, and from T1 to T2.
    pub parallel: (u16, u16),
    /// The sender's port.
    pub port: PortId,
    /// Expected path; an error if the address is invalid.
    pub route: Result<PacketPath, String>,
}

/// A path in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathName {
    /// Sending NIC.
    pub from: String,
    /// Receiving NIC.
    pub to: String,
    /// Plane.
    pub plane: u8,
    /// Uplink of the T0.
    pub t0_uplink: u16,
    /// Uplink of the T1.
    pub t1_uplink: u16,
    /// Outer destination address.
    pub destination: Ipv6Addr,
    /// The fault.
    pub what: String,
}

impl PathRef<'_> {
    /// Creates the packet of a path.
    pub fn packet(&self, tag: Tag) -> Packet {
        self.packet_from(self.from.address, tag)
    }

    /// Creates a packet that is never answered, so counters show only the packet. ICMP errors are not sent for
    /// packets with an unspecified source (RFC 4443 section 2.4).
    pub fn silent_packet(&self, tag: Tag) -> Packet {
        self.packet_from(Ipv6Addr::UNSPECIFIED, tag)
    }

    fn packet_from(&self, source: Ipv6Addr, tag: Tag) -> Packet {
        let inner = InnerPacket {
            source,
            destination: self.to.address,
            entropy: self.table_path.entropy,
            port: self.udp_port,
            tag,
        };
        Packet {
            from: self.port,
            source: self.from.address,
            destination: self.table_path.destination,
            inner: inner.bytes(),
        }
    }

    /// Returns the expected egress ports.
    pub fn crossings(&self) -> impl Iterator<Item = PortId> + '_ {
        self.route.iter().flat_map(|route| &route.crossings).copied()
    }

    /// Returns the number of packets to send over the path. The number differs between parallel cables, so
    /// that counters reveal a swap of two of them.
    pub fn copies(&self) -> u32 {
        let (k0, k1) = self.parallel;
        1 + u32::from(self.table_path.t0_uplink % k0.max(1))
            + u32::from(self.table_path.t1_uplink % k1.max(1))
    }

    /// Returns its name for a report.
    pub fn name(&self, what: impl Into<String>) -> PathName {
        PathName {
            from: self.from.name.clone(),
            to: self.to.name.clone(),
            plane: self.table_path.plane,
            t0_uplink: self.table_path.t0_uplink,
            t1_uplink: self.table_path.t1_uplink,
            destination: self.table_path.destination,
            what: what.into(),
        }
    }
}

/// The paths that start at one NIC.
#[derive(Debug, Default)]
pub struct NicPaths<'a> {
    /// Paths to send packets over.
    pub paths: Vec<PathRef<'a>>,
    /// Number of paths that the table denies as absent.
    pub absent: u64,
}

/// Returns every NIC with its table, in the order of the tables.
pub fn nics(tree: &Tree) -> impl Iterator<Item = (&GroupTable, &Nic)> {
    tree.tables.iter().flat_map(|table| table.nics.iter().map(move |nic| (table, nic)))
}

/// Returns every path from a NIC to all other NICs.
pub fn outgoing<'a>(tree: &'a Tree, model: &Model, table: &'a GroupTable, from: &'a Nic) -> NicPaths<'a> {
    let mut out = NicPaths::default();
    for (_, to) in nics(tree).filter(|(_, to)| to.address != from.address) {
        for named in table.paths(from, to.address).unwrap_or_default() {
            out.take(path(model, table, (from, to), named));
        }
    }
    out
}

impl<'a> NicPaths<'a> {
    /// Adds a path, or counts it as absent if it is `None`.
    pub(crate) fn take(&mut self, path: Option<PathRef<'a>>) {
        match path {
            Some(path) => self.paths.push(path),
            None => self.absent += 1,
        }
    }

    /// Adds the paths of another sender.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.paths.extend(other.paths);
        self.absent += other.absent;
        self
    }
}

/// Returns a path of a table; `None` if the table denies it as absent, or if its first cable does not exist.
pub(crate) fn path<'a>(
    model: &Model,
    table: &'a GroupTable,
    (from, to): (&'a Nic, &'a Nic),
    named: TablePath,
) -> Option<PathRef<'a>> {
    let port = model.nic_port(from, named.plane).filter(|_| !named.absent)?;
    let route = model.walk(port, named.destination).map_err(|fault| fault.to_string());
    let route = route.and_then(|route| reaches(model, route, to, named.plane));
    let (udp_port, parallel) = (table.udp_port(), table.parallel);
    Some(PathRef { from, to, table_path: named, udp_port, parallel, port, route })
}

/// Rejects a path that does not end at the receiver's port of the plane.
fn reaches(model: &Model, route: PacketPath, to: &Nic, plane: u8) -> Result<PacketPath, String> {
    let end = route.end();
    if model.nic_port(to, plane) == Some(end) {
        return Ok(route);
    }
    Err(format!("the address leads to {} and not to {} in plane {plane}", model.port_name(end), to.name))
}
