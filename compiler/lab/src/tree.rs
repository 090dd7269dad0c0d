//! The files of a compiled tree that a lab uses: cables, batch files, P4 entries and path tables.
//!
//! In: the folder of a compiled fabric. Out: [`Tree`]. Invariants: a lab does not have other sources of data, so it
//! tests the artefacts themselves.

mod batch;
mod cables;
mod contents;
mod entries;
mod frr;
pub(crate) mod ip;
mod kernel;
mod sysctl;
mod table;
mod tc;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::cables::Kind;
use closc_artefacts::{Routing, paths};
use rayon::prelude::*;

pub(crate) use contents::Contents;
pub(crate) use entries::{call, exact, exact_bytes, lpm, number_of, p4info, param, port_bits};
pub(crate) use frr::Router;
pub(crate) use ip::Command;
pub(crate) use kernel::KernelFiles;
pub(crate) use sysctl::Sysctl;
pub(crate) use tc::Queueing;

pub use batch::{Batch, Neighbour, Segment};
pub use cables::{CableEnd, CableRow};
pub use contents::Digests;
pub use entries::Program;
pub use ip::Mac;
pub use table::{GroupTable, Nic, TablePath};

use crate::error::{LabError, TreeFault};
use crate::name::{DeviceName, FabricName};

/// A compiled tree.
#[derive(Debug)]
pub struct Tree {
    /// Folder of the tree.
    pub folder: Utf8PathBuf,
    /// Name of the fabric.
    pub fabric: FabricName,
    /// Its devices by name.
    pub devices: BTreeMap<String, Device>,
    /// Its cables, plane by plane.
    pub cables: Vec<CableRow>,
    /// Its path tables, one for each T0 group.
    pub tables: Vec<GroupTable>,
    /// Its files.
    pub(crate) contents: Contents,
}

/// A device of a tree.
#[derive(Debug)]
pub struct Device {
    /// Switch or node.
    pub kind: DeviceKind,
    /// System of its files.
    pub software: Software,
    /// P4 program of its entries, for a P4 switch.
    pub program: Option<Program>,
    /// Its folder, in the tree.
    pub folder: Utf8PathBuf,
    /// Contents of its batch file, or its entries.
    pub batch: Batch,
    /// For a P4 switch, the number of each port with a cable.
    pub numbers: BTreeMap<String, u16>,
}

/// System that the files of a device are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Software {
    /// The Linux kernel.
    Linux,
    /// A P4Runtime target.
    P4,
    /// None: a node with `os: none` in the fabric file. Its path table determines its expected behaviour.
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
    /// Reads a tree and checks its files against the manifest.
    pub fn read(folder: &Utf8Path) -> Result<Tree, LabError> {
        Tree::read_with(folder, Digests::Compared)
    }

    /// Reads a tree.
    pub fn read_with(folder: &Utf8Path, digests: Digests) -> Result<Tree, LabError> {
        let contents = Contents::open(folder, digests)?;
        let source_routed = contents.routing().is_source_routed();
        let tables = if source_routed { table::read_all(&contents)? } else { Vec::new() };
        let cables = cables::read_all(&contents)?;
        let fabric = contents.fabric().clone();
        let mut ports: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for end in cables.iter().flat_map(|cable| [&cable.lower, &cable.upper]) {
            ports.entry(&end.device).or_default().push(&end.port);
        }
        let readers = entries::Readers::open(&contents)?;
        // P4 switches without cables are included, because a push also programs them.
        for program in readers.programs() {
            for name in contents.holders(paths::SWITCHES, program.file()) {
                let known = name.parse::<DeviceName>().map_err(|fault| TreeFault::Name(fault.to_string()));
                known.map_err(LabError::tree(folder.join(paths::SWITCHES)))?;
                ports.entry(name).or_default();
            }
        }
        let read = |(name, ports): (&&str, &Vec<&str>)| {
            Ok(((*name).to_owned(), device(&contents, &readers, name, ports)?))
        };
        let mut devices =
            ports.par_iter().map(read).collect::<Result<BTreeMap<String, Device>, LabError>>()?;
        for row in cables.iter().filter(|row| row.kind == Kind::NicT0) {
            if let Some(device) = devices.get_mut(&row.lower.device) {
                device.kind = DeviceKind::Node;
            }
        }
        let lost =
            |device: &Device| device.software == Software::Unconfigured && device.kind == DeviceKind::Switch;
        if let Some((name, _)) = devices.iter().find(|(_, device)| lost(device)) {
            let is_for_chip = contents.has(paths::switch(name, paths::TNA_ENTRIES));
            let fault = if is_for_chip { TreeFault::Chip } else { TreeFault::NoDevice };
            return Err(LabError::Tree { path: folder.to_owned(), fault: fault(name.clone()) });
        }
        let split = |device: &Device| source_routed && device.program == Some(Program::Sai);
        if let Some((name, _)) = devices.iter().find(|(_, device)| split(device)) {
            return Err(LabError::Tree { path: folder.to_owned(), fault: TreeFault::Segments(name.clone()) });
        }
        Ok(Tree { folder: folder.to_owned(), fabric, devices, cables, tables, contents })
    }

    /// Returns whether hosts write the path into packets. Otherwise, switches choose it.
    pub fn is_source_routed(&self) -> bool {
        self.contents.routing().is_source_routed()
    }

    /// Returns the routing mode.
    pub(crate) fn routing(&self) -> Routing {
        self.contents.routing()
    }

    /// Returns whether switches use BGP.
    pub(crate) fn speaks_bgp(&self) -> bool {
        self.contents.routing().speaks_bgp()
    }

    /// Rejects a tree whose switches choose the path, for operations that need hosts to choose it.
    pub(crate) fn needs_paths(&self, what: &'static str) -> Result<(), LabError> {
        if self.is_source_routed() {
            return Ok(());
        }
        let routing = self.contents.routing();
        Err(LabError::Routing { fabric: self.fabric.clone(), routing, operation: what })
    }

    /// Returns the programs that its switches run, without duplicates.
    pub(crate) fn programs(&self) -> Vec<Program> {
        let runs = |program: &Program| self.devices.values().any(|d| d.program == Some(*program));
        Program::ALL.into_iter().filter(runs).collect()
    }

    /// Returns the first switch whose files are for this system, if there is one.
    pub fn switch_of(&self, software: Software) -> Option<&str> {
        let mut devices = self.devices.iter();
        let found = devices.find(|(_, d)| d.kind == DeviceKind::Switch && d.software == software);
        found.map(|(name, _)| name.as_str())
    }
}

fn device(
    contents: &Contents,
    readers: &entries::Readers,
    name: &str,
    ports: &[&str],
) -> Result<Device, LabError> {
    for (kind, parent) in [(DeviceKind::Switch, paths::SWITCHES), (DeviceKind::Node, paths::HOSTS)] {
        let folder = Utf8Path::new(parent).join(name);
        let path = folder.join(paths::IP_BATCH);
        if contents.has(&path) {
            let text = contents.text(&path)?;
            let commands = Command::read_all(&text).map_err(LabError::tree(contents.folder().join(path)))?;
            let batch = Batch::of(&commands);
            // Unsupported contents must be rejected before anything is created.
            KernelFiles::new(contents, &folder).check()?;
            let (software, numbers) = (Software::Linux, BTreeMap::new());
            return Ok(Device { kind, software, program: None, folder, batch, numbers });
        }
    }
    let folder = Utf8Path::new(paths::SWITCHES).join(name);
    let kind = DeviceKind::Switch;
    for program in readers.programs() {
        let path = folder.join(program.file());
        if contents.has(&path) {
            let (batch, numbers) = readers.read(program, contents, &path, ports)?;
            let (software, program) = (Software::P4, Some(program));
            return Ok(Device { kind, software, program, folder, batch, numbers });
        }
    }
    Ok(Device {
        kind,
        software: Software::Unconfigured,
        program: None,
        folder,
        batch: Batch::default(),
        numbers: BTreeMap::new(),
    })
}

/// Lists the files with an extension in a folder, in order. A folder without such files is an error.
fn files<'a>(
    contents: &'a Contents,
    folder: &str,
    ending: &str,
    what: &'static str,
) -> Result<Vec<&'a Utf8Path>, LabError> {
    let found = contents.list(folder, ending);
    if found.is_empty() {
        let path = contents.folder().join(folder);
        return Err(LabError::Tree { path, fault: TreeFault::Nothing(what) });
    }
    Ok(found)
}
