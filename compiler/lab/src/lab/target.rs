//! Checks whether a target can run the switches and nodes of a tree.
//!
//! In: a tree. Out: the target that fits the tree, or the reason why a target does not.

use crate::LabError;
use crate::target::Target;
use crate::tree::{DeviceKind, Software, Tree};

impl Target {
    /// Returns the target that fits a tree: embedded switches for P4, the kernel for Linux.
    pub(crate) fn of(tree: &Tree) -> Target {
        match tree.switch_of(Software::P4) {
            Some(_) => Target::Embedded,
            None => Target::Linux,
        }
    }

    fn software(self) -> Software {
        match self {
            Target::Embedded | Target::Bmv2 => Software::P4,
            Target::Linux => Software::Linux,
        }
    }

    /// Rejects a tree with devices that the target cannot run.
    pub(crate) fn check(self, tree: &Tree) -> Result<(), LabError> {
        let other = match self.software() {
            Software::P4 => Software::Linux,
            Software::Linux | Software::Unconfigured => Software::P4,
        };
        if let Some(switch) = tree.switch_of(other) {
            return Err(LabError::WrongTarget { target: self, switch: switch.to_owned() });
        }
        let mut nodes = tree.devices.iter().filter(|(_, device)| device.kind == DeviceKind::Node);
        match nodes.find(|(_, device)| device.software == Software::Unconfigured) {
            Some((node, _)) if self != Target::Embedded => {
                Err(LabError::NoNodes { target: self, node: node.clone() })
            }
            Some((node, _)) if !tree.is_source_routed() => Err(LabError::NoAddresses { node: node.clone() }),
            Some(_) | None => Ok(()),
        }
    }
}
