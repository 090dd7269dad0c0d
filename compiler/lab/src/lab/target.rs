//! What runs the switches of a lab.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::tree::{DeviceKind, Software, Tree};

/// What runs the switches of a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Embedded switches, all in one process; nodes are played.
    Embedded,
    /// A process for each switch, in network namespaces: BMv2, or the embedded switch with its command line.
    Bmv2,
    /// The kernel, in network namespaces.
    Linux,
}

impl Target {
    /// Returns what fits a tree: embedded switches for P4, the kernel for Linux.
    pub fn of(tree: &Tree) -> Target {
        match tree.switch_of(Software::P4) {
            Some(_) => Target::Embedded,
            None => Target::Linux,
        }
    }

    /// Tells whether switches are programmed over P4Runtime.
    pub fn is_p4(self) -> bool {
        self.software() == Software::P4
    }

    fn software(self) -> Software {
        match self {
            Target::Embedded | Target::Bmv2 => Software::P4,
            Target::Linux => Software::Linux,
        }
    }

    /// Refuses a tree whose devices the target cannot run.
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
            Some(_) | None => Ok(()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Target::Embedded => "embedded",
            Target::Bmv2 => "bmv2",
            Target::Linux => "linux",
        })
    }
}
