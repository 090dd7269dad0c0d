//! A compiled tree, as a lab reads it: cables, batch files, path tables, and nothing else.
//!
//! In: the folder of a compiled fabric. Out: [`Tree`]. Always: what is not in these files is not known here, so
//! that a lab shows what the artefacts do and not what the compiler meant.

mod batch;
mod cables;
mod table;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

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
    /// Its folder.
    pub folder: Utf8PathBuf,
    /// What its batch file says.
    pub batch: Batch,
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
        let mut devices = BTreeMap::new();
        for name in cables.iter().flat_map(|cable| [&cable.lower.device, &cable.upper.device]) {
            if !devices.contains_key(name) {
                devices.insert(name.clone(), device(folder, name)?);
            }
        }
        Ok(Tree { folder: folder.to_owned(), fabric, devices, cables, tables })
    }
}

fn device(tree: &Utf8Path, name: &str) -> Result<Device, LabError> {
    for (kind, parent) in [(DeviceKind::Switch, "switches"), (DeviceKind::Node, "hosts")] {
        let folder = tree.join(parent).join(name);
        let path = folder.join("ip.batch");
        if path.is_file() {
            let text = std::fs::read_to_string(&path).map_err(LabError::tree(&path))?;
            return Ok(Device { kind, folder, batch: Batch::parse(&text).map_err(LabError::tree(&path))? });
        }
    }
    Err(LabError::Tree { path: tree.to_owned(), fault: TreeFault::NoDevice(name.to_owned()) })
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
