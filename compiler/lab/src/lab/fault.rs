//! Faults that can be injected while packets flow.
//!
//! In: names of switches, cables, planes. Out: the affected ports and cables. Invariants: names are resolved only
//! from the cable lists. This module does not change the lab.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::model::{CableId, Model, PortId};
use crate::tree::DeviceKind;

/// A fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The links of a switch, or of a cable, are down.
    Cut(String),
    /// A NIC port, named after its cable, is down.
    NicPort(String),
    /// The links of all switches of a plane are down.
    Plane(u8),
    /// A cable loses packets in both directions.
    Loss {
        /// The cable.
        cable: String,
        /// Loss rate per million.
        ppm: u32,
    },
    /// A cable drops packets above a length, in both directions.
    Mtu {
        /// The cable.
        cable: String,
        /// Maximum size of an IP packet.
        bytes: u16,
    },
    /// Two cables have exchanged their upper ends.
    Miswire(String, String),
}

/// Effect of a fault on ports and cables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Harm {
    /// These ports are down.
    Down(Vec<PortId>),
    /// This cable loses this number of packets per million.
    Lossy(CableId, u32),
    /// This cable drops IP packets longer than this number of bytes.
    Narrow(CableId, u16),
    /// These cables have exchanged their upper ends.
    Swapped(CableId, CableId),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Cut(name) => write!(f, "{name} cut"),
            Fault::NicPort(name) => write!(f, "NIC port {name} down"),
            Fault::Plane(plane) => write!(f, "plane {plane} down"),
            Fault::Loss { cable, ppm } => write!(f, "{cable} loses {} %", f64::from(*ppm) / 1e4),
            Fault::Mtu { cable, bytes } => write!(f, "{cable} loses packets above {bytes} bytes"),
            Fault::Miswire(a, b) => write!(f, "{a} and {b} swapped"),
        }
    }
}

impl Fault {
    /// Returns the names by which `restore` refers to the fault.
    pub fn names(&self) -> Vec<String> {
        match self {
            Fault::Cut(name)
            | Fault::NicPort(name)
            | Fault::Loss { cable: name, .. }
            | Fault::Mtu { cable: name, .. } => vec![name.clone()],
            Fault::Plane(plane) => vec![format!("plane {plane}")],
            Fault::Miswire(a, b) => vec![a.clone(), b.clone()],
        }
    }

    /// Finds the affected ports and cables.
    pub(crate) fn harm(&self, model: &Model) -> Result<Harm, LabError> {
        match self {
            Fault::Cut(name) => match model.device(name) {
                Some(device) if model.devices[device.0].kind == DeviceKind::Switch => {
                    Ok(Harm::Down(model.devices[device.0].ports.clone()))
                }
                Some(_) | None => {
                    let cable = model.cable(name).map_err(|_| model.no_part(name))?;
                    Ok(Harm::Down(vec![cable.lower(), cable.upper()]))
                }
            },
            Fault::NicPort(name) => {
                let port = model.cable(name)?.lower();
                if model.devices[model.end(port).0.0].kind != DeviceKind::Node {
                    return Err(LabError::NoNicPort { name: name.clone() });
                }
                Ok(Harm::Down(vec![port]))
            }
            Fault::Plane(plane) => {
                let is_switch =
                    |port: &PortId| model.devices[model.end(*port).0.0].kind == DeviceKind::Switch;
                let of_plane = |port: &PortId| model.cables[port.cable().0].plane == *plane;
                let ports: Vec<PortId> =
                    model.all_ports().filter(|port| of_plane(port) && is_switch(port)).collect();
                if ports.is_empty() {
                    let planes = model.cables.iter().map(|cable| cable.plane).max().unwrap_or(0);
                    return Err(LabError::NoPlane { plane: *plane, last: planes });
                }
                Ok(Harm::Down(ports))
            }
            Fault::Loss { cable, ppm } => Ok(Harm::Lossy(model.cable(cable)?, *ppm)),
            Fault::Mtu { cable, bytes } => Ok(Harm::Narrow(model.cable(cable)?, *bytes)),
            Fault::Miswire(a, b) => Ok(Harm::Swapped(model.cable(a)?, model.cable(b)?)),
        }
    }
}

impl Harm {
    /// Returns the affected cables.
    pub(crate) fn cables(&self) -> Vec<CableId> {
        match self {
            Harm::Down(ports) => ports.iter().map(|port| port.cable()).collect(),
            Harm::Lossy(cable, _) | Harm::Narrow(cable, _) => vec![*cable],
            Harm::Swapped(a, b) => vec![*a, *b],
        }
    }

    /// Returns the ports that are down.
    pub(crate) fn down(&self) -> &[PortId] {
        match self {
            Harm::Down(ports) => ports,
            Harm::Lossy(..) | Harm::Narrow(..) | Harm::Swapped(..) => &[],
        }
    }

    /// Returns whether two faults exclude each other. Moving a cable creates it anew, so it loses earlier faults.
    pub(crate) fn excludes(&self, other: &Harm) -> bool {
        let moves = |harm: &Harm| matches!(harm, Harm::Swapped(..));
        let filtered = |harm: &Harm| match harm {
            Harm::Lossy(cable, _) | Harm::Narrow(cable, _) => Some(*cable),
            Harm::Down(_) | Harm::Swapped(..) => None,
        };
        // A port has only one filter.
        let same = filtered(self).is_some() && filtered(self) == filtered(other);
        let met = || self.cables().iter().any(|cable| other.cables().contains(cable));
        same || ((moves(self) || moves(other)) && met())
    }
}
