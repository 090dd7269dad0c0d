//! A compiled tree, as a lab reads it: cables, batch files, P4 entries, path tables, and nothing else.
//!
//! In: the folder of a compiled fabric. Out: [`Tree`]. Always: what is not in these files is not known here, so
//! that a lab shows what the artefacts do and not what the compiler meant.

mod batch;
mod cables;
mod entries;
mod table;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

pub(crate) use entries::{exact, p4info};

pub use batch::{Batch, Neighbour, Segment};
pub use cables::{CableEnd, CableRow};
pub use table::{GroupTable, Named, Nic};

use crate::error::{LabError, TreeFault};

/// A compiled tree.
#[derive(Debug)]
pub struct Tree {
    /// Where it is.
    pub folder: Utf8PathBuf,
    /// Name of the fabric.
    pub fabric: String,
    /// Its devices by name.
    pub devices: BTreeMap<String, Device>,
    /// Its cables, plane by plane.
    pub cables: Vec<CableRow>,
    /// Its path tables, one for each T0 group.
    pub tables: Vec<GroupTable>,
}

/// A device of a tree.
#[derive(Debug)]
pub struct Device {
    /// Switch or node.
    pub kind: DeviceKind,
    /// What its files are for.
    pub software: Software,
    /// Its folder.
    pub folder: Utf8PathBuf,
    /// What its batch file says, or its entries.
    pub batch: Batch,
    /// Number of each port with a cable, of a P4 switch.
    pub numbers: BTreeMap<String, u16>,
}

/// What the files of a device are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Software {
    /// The Linux kernel.
    Linux,
    /// A P4Runtime target.
    P4,
    /// There are none: a node whose fabric file says `os: none`. It answers to what its path table says.
    Unconfigured,
}

/// Switch or node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// A switch.
    Switch,
    /// A node.
    Node,
}

impl Tree {
    /// Reads a tree.
    pub fn read(folder: &Utf8Path) -> Result<Tree, LabError> {
        let tables = table::read_all(&folder.join("path-tables"))?;
        let cables = cables::read_all(&folder.join("cables"))?;
        let fabric = tables.first().map(|table| table.fabric.clone()).unwrap_or_default();
        let mut ports: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for end in cables.iter().flat_map(|cable| [&cable.lower, &cable.upper]) {
            ports.entry(&end.device).or_default().push(&end.port);
        }
        let reader = entries::Reader::open(folder)?;
        // A P4 switch without cables is pushed to all the same.
        let p4 = if reader.is_some() { entries::switches(folder)? } else { Vec::new() };
        for name in &p4 {
            ports.entry(name).or_default();
        }
        let read = |(name, ports): (&&str, &Vec<&str>)| {
            Ok(((*name).to_owned(), device(folder, reader.as_ref(), name, ports)?))
        };
        let mut devices =
            ports.par_iter().map(read).collect::<Result<BTreeMap<String, Device>, LabError>>()?;
        for row in cables.iter().filter(|row| row.kind == "nic-t0") {
            if let Some(device) = devices.get_mut(&row.lower.device) {
                device.kind = DeviceKind::Node;
            }
        }
        let lost =
            |device: &Device| device.software == Software::Unconfigured && device.kind == DeviceKind::Switch;
        if let Some((name, _)) = devices.iter().find(|(_, device)| lost(device)) {
            return Err(LabError::Tree { path: folder.to_owned(), fault: TreeFault::NoDevice(name.clone()) });
        }
        Ok(Tree { folder: folder.to_owned(), fabric, devices, cables, tables })
    }

    /// Returns the first switch whose files are for something, if there is one.
    pub fn switch_of(&self, software: Software) -> Option<&str> {
        let mut devices = self.devices.iter();
        let found = devices.find(|(_, d)| d.kind == DeviceKind::Switch && d.software == software);
        found.map(|(name, _)| name.as_str())
    }
}

fn device(
    tree: &Utf8Path,
    reader: Option<&entries::Reader>,
    name: &str,
    ports: &[&str],
) -> Result<Device, LabError> {
    for (kind, parent) in [(DeviceKind::Switch, "switches"), (DeviceKind::Node, "hosts")] {
        let folder = tree.join(parent).join(name);
        let path = folder.join("ip.batch");
        if path.is_file() {
            let text = std::fs::read_to_string(&path).map_err(LabError::tree(&path))?;
            let batch = Batch::parse(&text).map_err(LabError::tree(&path))?;
            return Ok(Device { kind, software: Software::Linux, folder, batch, numbers: BTreeMap::new() });
        }
    }
    let folder = tree.join("switches").join(name);
    let path = folder.join(entries::FILE);
    if let (Some(reader), true) = (reader, path.is_file()) {
        let (batch, numbers) = reader.read(&path, ports)?;
        return Ok(Device { kind: DeviceKind::Switch, software: Software::P4, folder, batch, numbers });
    }
    Ok(Device {
        kind: DeviceKind::Switch,
        software: Software::Unconfigured,
        folder,
        batch: Batch::default(),
        numbers: BTreeMap::new(),
    })
}

/// Reads a MAC address.
pub(crate) fn mac(text: &str) -> Option<[u8; 6]> {
    let mut bytes = text.split(':').map(|byte| u8::from_str_radix(byte, 16));
    let mut mac = [0; 6];
    for byte in &mut mac {
        *byte = bytes.next()?.ok()?;
    }
    bytes.next().is_none().then_some(mac)
}

/// Lists the files of a folder with an ending, in order.
fn files(folder: &Utf8Path, ending: &str, what: &'static str) -> Result<Vec<Utf8PathBuf>, LabError> {
    let entries = folder.read_dir_utf8().map_err(LabError::tree(folder))?;
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(LabError::tree(folder))?;
        if entry.path().extension() == Some(ending) {
            paths.push(entry.into_path());
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(LabError::Tree { path: folder.to_owned(), fault: TreeFault::Nothing(what) });
    }
    Ok(paths)
}
