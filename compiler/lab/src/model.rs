//! The fabric according to its cable lists: devices, ports, cables, and the owners of segments.
//!
//! In: a [`Tree`]. Out: [`Model`]. Invariants: the numbers of a cable's two ports differ only in the last bit. Routes
//! are not used, except if parallel cables are absent. So [`Model::walk`](crate::walk) is an independent check of
//! routes.

use std::collections::BTreeMap;
use std::fmt;

use camino::Utf8PathBuf;
use closc_artefacts::Prefix;
use closc_artefacts::cables::Kind;
use closc_artefacts::paths;
use hashbrown::HashMap;
use ipnet::Ipv6Net;

use crate::error::{LabError, TreeFault};
use crate::segment::Segment;
use crate::tree::{DeviceKind, GroupTable, Nic, Software, Tree};

/// A device, by its index in [`Model::devices`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub usize);

/// A cable, by its index in [`Model::cables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableId(pub usize);

/// A port, identified by the end of its cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(usize);

impl PortId {
    /// Returns the port at the other end of the cable.
    #[must_use]
    pub fn peer(self) -> PortId {
        PortId(self.0 ^ 1)
    }

    /// Returns the cable.
    pub fn cable(self) -> CableId {
        CableId(self.0 / 2)
    }

    /// Returns the number of the port, from 0, which depends only on the cable lists.
    pub(crate) fn number(self) -> u32 {
        self.0 as u32
    }

    /// Returns whether the port is at the lower end of its cable.
    pub fn is_lower(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

impl CableId {
    /// Returns the port nearer to the NICs.
    pub fn lower(self) -> PortId {
        PortId(self.0 * 2)
    }

    /// Returns the port farther from the NICs.
    pub fn upper(self) -> PortId {
        PortId(self.0 * 2 + 1)
    }
}

/// A device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Switch or node.
    pub kind: DeviceKind,
    /// Its ports.
    pub ports: Vec<PortId>,
    /// Its segments, in ascending order: a switch shifts them, a node decapsulates them.
    pub segments: Vec<Segment>,
    /// Egress ports of the device's own routes, by segment. Used if cables do not determine the port.
    egress_ports: BTreeMap<Segment, String>,
}

/// A cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cable {
    /// Its name: `p3-t0-017--p3-t1-005#2`, or `su017-n004/nic2.p3` for the cable of a NIC port.
    pub name: String,
    /// The plane it belongs to.
    pub plane: u8,
    /// Devices and ports, lower end first.
    pub ends: [(DeviceId, String); 2],
    /// Number of parallel cables between these two devices.
    parallel: u16,
}

/// A fabric according to its cable lists.
#[derive(Debug, Clone)]
pub struct Model {
    /// Blocks of the segments: a single one, or one per plane.
    pub blocks: Vec<Ipv6Net>,
    /// Devices by name.
    pub devices: Vec<Device>,
    /// Cables in the order of the lists.
    pub cables: Vec<Cable>,
    /// Segment that each NIC port receives.
    nic_segments: HashMap<PortId, Segment>,
    /// Ports by device, in the order of the devices, and by name.
    ports: Vec<BTreeMap<String, PortId>>,
    /// Ports of a device whose cables connect to the owner of a segment, in port order.
    segment_ports: HashMap<(DeviceId, Segment), Vec<PortId>>,
}

impl Model {
    /// Reads a tree.
    pub fn of(tree: &Tree) -> Result<Model, LabError> {
        let blocks = tree.tables.first().map(|table| table.blocks.clone()).unwrap_or_default();
        let devices = tree.devices.iter().map(|(name, device)| read_device(&blocks, name, device));
        let fault = |path: Utf8PathBuf, fault| LabError::Tree { path, fault };
        let mut model = Model {
            devices: devices.collect(),
            blocks,
            cables: Vec::with_capacity(tree.cables.len()),
            nic_segments: HashMap::new(),
            ports: vec![BTreeMap::new(); tree.devices.len()],
            segment_ports: HashMap::new(),
        };
        model.plug(tree).map_err(|f| fault(tree.folder.join(paths::CABLES), f))?;
        for table in &tree.tables {
            model
                .add_nic_segments(tree, table)
                .map_err(|f| fault(tree.folder.join(paths::PATH_TABLES), f))?;
        }
        model.segment_ports = model.lead();
        Ok(model)
    }

    /// Finds the ports that connect to the owner of each segment.
    fn lead(&self) -> HashMap<(DeviceId, Segment), Vec<PortId>> {
        let mut leading: HashMap<_, Vec<PortId>> = HashMap::new();
        for (at, device) in self.devices.iter().enumerate() {
            for port in &device.ports {
                let far = &self.devices[self.end(port.peer()).0.0];
                let segments = match far.kind {
                    DeviceKind::Switch => far.segments.clone(),
                    DeviceKind::Node => self.nic_segment(port.peer()).into_iter().collect(),
                };
                for segment in segments {
                    leading.entry((DeviceId(at), segment)).or_default().push(*port);
                }
            }
        }
        leading
    }

    /// Returns the device with this name.
    pub fn device(&self, name: &str) -> Option<DeviceId> {
        self.devices.binary_search_by(|device| device.name.as_str().cmp(name)).ok().map(DeviceId)
    }

    /// Returns the port of a device with this name.
    pub fn port(&self, device: DeviceId, name: &str) -> Option<PortId> {
        self.ports.get(device.0)?.get(name).copied()
    }

    /// Returns the port of a NIC in a plane; `None` without a cable.
    pub fn nic_port(&self, nic: &Nic, plane: u8) -> Option<PortId> {
        let (node, port) = nic.port(plane)?;
        self.port(self.device(node)?, &port)
    }

    /// Returns the device and the name of a port.
    pub fn end(&self, port: PortId) -> (DeviceId, &str) {
        let (device, name) = &self.cables[port.cable().0].ends[usize::from(!port.is_lower())];
        (*device, name)
    }

    /// Returns `device:port`.
    pub fn port_name(&self, port: PortId) -> String {
        let (device, name) = self.end(port);
        format!("{}:{name}", self.devices[device.0].name)
    }

    /// Returns the port with this number.
    pub(crate) fn port_of(&self, number: u32) -> Option<PortId> {
        let number = number as usize;
        (number < self.cables.len() * 2).then_some(PortId(number))
    }

    /// Returns the name of a cable.
    pub fn cable_name(&self, cable: CableId) -> &str {
        &self.cables[cable.0].name
    }

    /// Returns every port.
    pub fn all_ports(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.cables.len() * 2).map(PortId)
    }

    /// Returns a cable by its name, or by one of its ends in the form `device:port`.
    pub fn cable(&self, name: &str) -> Result<CableId, LabError> {
        if let Some(at) = self.cables.iter().position(|cable| cable.name == name) {
            return Ok(CableId(at));
        }
        let end = name.split_once(':').and_then(|(device, port)| self.port(self.device(device)?, port));
        end.map(PortId::cable)
            .ok_or_else(|| LabError::NoCable { name: name.to_owned(), like: self.like(name) })
    }

    /// Returns the error for an unknown name of a switch or cable.
    pub(crate) fn no_part(&self, name: &str) -> LabError {
        let switches = self.devices.iter().filter(|device| device.kind == DeviceKind::Switch);
        let cables = self.cables.iter().map(|cable| cable.name.as_str());
        let like = like(name, switches.map(|device| device.name.as_str()).chain(cables));
        LabError::NoPart { name: name.to_owned(), like }
    }

    /// Returns the most similar cable names.
    fn like(&self, name: &str) -> Vec<String> {
        like(name, self.cables.iter().map(|cable| cable.name.as_str()))
    }

    fn plug(&mut self, tree: &Tree) -> Result<(), TreeFault> {
        let parallel = tree.tables.first().map_or((1, 1), |table| table.parallel);
        let mut seen: BTreeMap<(DeviceId, DeviceId), u16> = BTreeMap::new();
        for row in &tree.cables {
            let find = |name: &str| self.device(name).ok_or_else(|| TreeFault::NoDevice(name.to_owned()));
            let (lower, upper) = (find(&row.lower.device)?, find(&row.upper.device)?);
            let number = seen.entry((lower, upper)).or_default();
            *number += 1;
            let name = match row.lower.port.strip_prefix("nic").and_then(|rest| rest.split_once('p')) {
                Some((nic, plane)) if self.devices[lower.0].kind == DeviceKind::Node => {
                    format!("{}/nic{nic}.p{plane}", row.lower.device)
                }
                Some(_) | None if *number == 1 => format!("{}--{}", row.lower.device, row.upper.device),
                Some(_) | None => format!("{}--{}#{number}", row.lower.device, row.upper.device),
            };
            let at = CableId(self.cables.len());
            self.cables.push(Cable {
                name,
                plane: row.plane,
                ends: [(lower, row.lower.port.clone()), (upper, row.upper.port.clone())],
                parallel: match row.kind {
                    Kind::T0T1 => parallel.0,
                    Kind::T1T2 => parallel.1,
                    Kind::NicT0 => 1,
                },
            });
            for (device, port, id) in
                [(lower, &row.lower.port, at.lower()), (upper, &row.upper.port, at.upper())]
            {
                self.devices[device.0].ports.push(id);
                if self.ports[device.0].insert(port.clone(), id).is_some() {
                    return Err(TreeFault::TwoCables(self.port_name(id)));
                }
            }
        }
        Ok(())
    }

    /// Adds the segments of the NICs of a group to their nodes.
    fn add_nic_segments(&mut self, tree: &Tree, table: &GroupTable) -> Result<(), TreeFault> {
        for nic in &table.nics {
            let mut ports = 0;
            for plane in 0..table.planes {
                let Some(port) = self.nic_port(nic, plane) else { continue };
                let segment = table.nic_segment(nic, plane);
                let node = &mut self.devices[self.cables[port.cable().0].ends[0].0.0];
                let software = tree.devices.get(&node.name).map(|device| device.software);
                match node.segments.binary_search(&segment) {
                    Ok(_) => {}
                    // The segments of a node without configuration are not in other files.
                    Err(place) if software == Some(Software::Unconfigured) => {
                        node.segments.insert(place, segment);
                    }
                    Err(_) => {
                        let segment = segment.prefix().to_string();
                        return Err(TreeFault::NoDecapsulation { port: self.port_name(port), segment });
                    }
                }
                self.nic_segments.insert(port, segment);
                ports += 1;
            }
            if ports == 0 {
                return Err(TreeFault::NoNic(nic.name.clone()));
            }
        }
        Ok(())
    }

    /// Returns the number of planes.
    pub(crate) fn planes(&self) -> usize {
        self.cables.iter().map(|cable| usize::from(cable.plane) + 1).max().unwrap_or(0)
    }

    /// Returns whether an address is in one of the blocks.
    pub(crate) fn is_inside(&self, address: std::net::Ipv6Addr) -> bool {
        self.blocks.iter().any(|block| block.contains(&address))
    }

    /// Returns the segment that a NIC port receives.
    pub fn nic_segment(&self, port: PortId) -> Option<Segment> {
        self.nic_segments.get(&port).copied()
    }

    /// Returns the port of a device whose cable connects to the owner of a segment. If there are several, the segment
    /// selects the cable.
    pub fn towards(&self, from: DeviceId, segment: Segment) -> Option<PortId> {
        let cables = self.segment_ports.get(&(from, segment))?;
        let first = *cables.first()?;
        if self.nic_segment(first.peer()) == Some(segment) {
            return Some(first);
        }
        let far = &self.devices[self.end(first.peer()).0.0];
        let number = far.segments.binary_search(&segment).ok()?;
        if cables.len() == usize::from(self.cables[first.cable().0].parallel) {
            return cables.get(number).copied();
        }
        // If some parallel cables are absent, the lists do not determine the cable, so the switch's route is used.
        let way = self.devices[from.0].egress_ports.get(&segment)?;
        cables.iter().copied().find(|port| self.end(*port).1 == way)
    }
}

/// Returns the most similar names.
fn like<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let shared = |other: &str| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let mut names: Vec<&str> = names.collect();
    names.sort_by_key(|other| (std::cmp::Reverse(shared(other)), other.len().abs_diff(name.len())));
    names.into_iter().take(3).map(str::to_owned).collect()
}

fn read_device(blocks: &[Ipv6Net], name: &str, device: &crate::tree::Device) -> Device {
    let of = |prefix: &Prefix| Segment::of(prefix.network().to_ipv6());
    let inside = |prefix: &Prefix| {
        prefix.prefix_len() == 48 && blocks.iter().any(|block| block.contains(&prefix.to_ipv6()))
    };
    let mut segments: Vec<Segment> = device
        .batch
        .segments
        .iter()
        .filter(|segment| inside(&segment.prefix))
        .map(|segment| of(&segment.prefix))
        .collect();
    segments.sort_unstable();
    segments.dedup();
    let ways = device.batch.egress_ports.iter().filter(|(prefix, _)| inside(prefix));
    Device {
        name: name.to_owned(),
        kind: device.kind,
        ports: Vec::new(),
        segments,
        egress_ports: ways.map(|(prefix, port)| (of(prefix), port.clone())).collect(),
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} devices, {} cables", self.devices.len(), self.cables.len())
    }
}
