//! The path tables: `path-tables/*.json`, each with a `.bin` next to it.
//!
//! In: both forms of a table. Out: [`GroupTable`]. Names and NIC addresses are read from the JSON. Outer destination
//! addresses are computed from the binary, with the same code as on hosts.

use std::net::Ipv6Addr;

use camino::Utf8Path;
use closc_artefacts::path_table::{self, AgentCodes, Document, Qos, Segments};
use closc_artefacts::paths;
use closc_nic::agent::Dscp;
use closc_paths::{Destination, Header, Kind, Reason, Table};
use ipnet::Ipv6Net;

use super::contents::Contents;
use super::ip::Mac;
use crate::error::{LabError, TreeFault};
use crate::segment::Segment;

/// The path table of a T0 group.
#[derive(Debug)]
pub struct GroupTable {
    /// The fabric it belongs to.
    pub fabric: String,
    /// Blocks of the segments: a single one, or one per plane.
    pub blocks: Vec<Ipv6Net>,
    /// The NICs of the group.
    pub nics: Vec<Nic>,
    /// Number of planes.
    pub planes: u8,
    /// MAC address of the group's T0 in each plane.
    pub t0_macs: Vec<Mac>,
    /// Number of parallel cables between a T0 and a T1, and between a T1 and a T2.
    pub parallel: (u16, u16),
    /// DSCP of packets from hosts.
    pub(crate) dscp: Dscp,
    segments: Segments,
    binary: Vec<u8>,
    header: Header,
}

/// A NIC of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// Name, for example `su001-n004/nic2`.
    pub name: String,
    /// Its downlink on the T0s of the group, from 0.
    pub downlink: u16,
    /// Inner address.
    pub address: Ipv6Addr,
}

impl Nic {
    /// Returns the node and the interface of a plane: `su001-n004`, `nic2p3`.
    pub fn port(&self, plane: u8) -> Option<(&str, String)> {
        let (node, nic) = self.name.split_once('/')?;
        Some((node, format!("{nic}p{plane}")))
    }
}

/// Reads all path tables.
pub(super) fn read_all(contents: &Contents) -> Result<Vec<GroupTable>, LabError> {
    let mut tables = Vec::new();
    for path in super::files(contents, paths::PATH_TABLES, "json", "path table")? {
        let table = read(contents, path)?;
        if table.fabric != **contents.fabric() {
            let fault =
                TreeFault::OtherFabric { actual: table.fabric, expected: contents.fabric().to_string() };
            return Err(LabError::Tree { path: contents.folder().join(path), fault });
        }
        tables.push(table);
    }
    Ok(tables)
}

fn read(contents: &Contents, path: &Utf8Path) -> Result<GroupTable, LabError> {
    let at = contents.folder().join(path);
    let json = contents.read(path)?;
    let document: Document = Document::parse(&json).map_err(LabError::tree(&at))?;
    let beside = path.with_extension("bin");
    let binary = contents.read(&beside)?;
    let header = match Table::open(&binary) {
        Ok(table) => *table.header(),
        Err(fault) => {
            let path = contents.folder().join(beside);
            return Err(LabError::Tree { path, fault: TreeFault::Table(fault) });
        }
    };
    let Segments { plane_bits, zone_bits, index_bits, roles, .. } = &document.segments;
    let bits = u32::from(*plane_bits) + u32::from(*zone_bits) + u32::from(*index_bits);
    // A uSID has 16 bits. The bits above all other fields contain the role.
    if bits >= u16::BITS || roles.nic >> (u16::BITS - bits) != 0 {
        return Err(LabError::tree(&at)(TreeFault::Fields));
    }
    let mac = |entry: &path_table::Plane| entry.t0_mac.parse::<Mac>().map_err(LabError::tree(&at));
    let t0_macs = document.planes.iter().map(mac).collect::<Result<_, _>>()?;
    let nic = |entry: path_table::Nic| Nic {
        name: entry.name.into(),
        downlink: entry.downlink.saturating_sub(1),
        address: entry.address,
    };
    let planes = u8::try_from(document.planes.len()).unwrap_or(u8::MAX).min(header.planes);
    let mut blocks: Vec<Ipv6Net> = (0..planes).map(|plane| document.segments.block_of(plane)).collect();
    blocks.dedup();
    Ok(GroupTable {
        fabric: document.fabric.into(),
        blocks,
        nics: document.nics.into_iter().map(nic).collect(),
        planes,
        t0_macs,
        parallel: (header.parallel0, header.parallel1),
        dscp: dscp(&document.qos),
        segments: document.segments,
        binary,
        header,
    })
}

/// Returns the DSCP values of packets from hosts.
fn dscp(qos: &Qos) -> Dscp {
    let AgentCodes { data, retransmit: again, control, cut_at_last_hop } = qos.agent_codes();
    Dscp { data, retransmit: again, control, cut_at_last_hop }
}

/// A path of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablePath {
    /// The entropy value.
    pub entropy: u32,
    /// The plane, which is also the NIC port.
    pub plane: u8,
    /// Uplink of the T0, from 0.
    pub t0_uplink: u16,
    /// Uplink of the T1, from 0.
    pub t1_uplink: u16,
    /// Outer destination address.
    pub destination: Ipv6Addr,
    /// Whether the table denies it as absent.
    pub absent: bool,
}

impl GroupTable {
    /// Returns the table for lookups.
    pub fn table(&self) -> Table<'_> {
        // `Table::open` would validate all bytes again, although this function is called for every path.
        Table::reopen(&self.binary, self.header)
    }

    /// Returns the binary form.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.binary
    }

    /// Returns the segment that a NIC decapsulates in a plane.
    pub fn nic_segment(&self, nic: &Nic, plane: u8) -> Segment {
        let s = &self.segments;
        // If each plane has its own block, uSIDs do not have bits for the plane.
        let in_usid = u16::from(plane) & ((1 << s.plane_bits) - 1);
        let role = s.roles.nic << s.plane_bits | in_usid;
        let usid = role << (s.zone_bits + s.index_bits) | (nic.downlink + 1);
        Segment::from_usid(s.block_of(plane), usid)
    }

    /// Returns the UDP destination port of inner packets.
    pub fn udp_port(&self) -> u16 {
        self.table().header().udp_port
    }

    /// Returns every path from a NIC of the group to an inner address; `None` if the table does not contain it.
    pub fn paths(&self, from: &Nic, to: Ipv6Addr) -> Option<Vec<TablePath>> {
        let table = self.table();
        let ways = PathSet::to(&table, to)?;
        let choices = (0..self.planes).flat_map(|plane| ways.choices(plane));
        Some(choices.map(|choice| ways.table_path(&table, from, choice)).collect())
    }

    /// Returns the number of paths from a NIC of the group to an inner address; 0 if the table does not contain it.
    pub fn count(&self, to: Ipv6Addr) -> u64 {
        let per_plane = |ways: PathSet| u64::from(ways.t0_uplinks) * u64::from(ways.t1_uplinks);
        PathSet::to(&self.table(), to).map_or(0, per_plane) * u64::from(self.planes)
    }

    /// Returns one path, by its index in [`Self::paths`].
    pub fn path(&self, from: &Nic, to: Ipv6Addr, number: u64) -> Option<TablePath> {
        let table = self.table();
        let ways = PathSet::to(&table, to)?;
        let (t0, t1) = (u64::from(ways.t0_uplinks), u64::from(ways.t1_uplinks));
        let choice = ((number / t1 / t0) as u8, (number / t1 % t0) as u16, (number % t1) as u16);
        (choice.0 < self.planes).then(|| ways.table_path(&table, from, choice))
    }
}

/// The paths to a destination: one per plane and choice of uplinks.
struct PathSet {
    destination: Destination,
    t0_uplinks: u16,
    t1_uplinks: u16,
}

impl PathSet {
    fn to(table: &Table<'_>, to: Ipv6Addr) -> Option<PathSet> {
        let header = *table.header();
        let destination = table.destination(to.octets())?;
        let (t0_uplinks, t1_uplinks) = match destination.kind {
            Kind::Local => (1, 1),
            Kind::Zone => (header.t0_uplinks, 1),
            Kind::Far => (header.t0_uplinks, header.t1_uplinks.max(1)),
        };
        Some(PathSet { destination, t0_uplinks, t1_uplinks })
    }

    /// Returns plane and uplinks of every path of a plane.
    fn choices(&self, plane: u8) -> impl Iterator<Item = (u8, u16, u16)> + use<> {
        let (t0_uplinks, t1_uplinks) = (self.t0_uplinks, self.t1_uplinks);
        (0..t0_uplinks).flat_map(move |t0| (0..t1_uplinks).map(move |t1| (plane, t0, t1)))
    }

    fn table_path(
        &self,
        table: &Table<'_>,
        from: &Nic,
        (plane, t0_uplink, t1_uplink): (u8, u16, u16),
    ) -> TablePath {
        let header = table.header();
        let destination = &self.destination;
        let high = u64::from(t1_uplink) << header.plane_bits | u64::from(plane);
        let entropy = (high << header.uplink_bits | u64::from(t0_uplink)) as u32;
        let place = (destination.zone, destination.group, destination.downlink);
        let choice = table.choice(entropy);
        let absent = table
            .denials()
            .any(|d| d.reason == Reason::Absent && d.covers(destination.kind, from.downlink, place, choice));
        TablePath {
            entropy,
            plane,
            t0_uplink,
            t1_uplink,
            destination: Ipv6Addr::from(table.outer(destination, entropy).address),
            absent,
        }
    }
}
