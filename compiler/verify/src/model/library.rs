//! Files of a node for collective libraries, in addition to their settings: backup ports, and the positions of GPUs and
//! NICs.

use serde::Deserialize;

/// The backup ports of a node.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backups {
    /// Format of the file.
    pub(crate) format: String,
    /// Name of the node.
    pub(crate) node: String,
    /// Ports with their backups.
    pub(crate) pairs: Vec<BackupPair>,
}

/// A port, and the port that takes over when it fails.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackupPair {
    /// The port in use.
    pub(crate) primary: PairedPort,
    /// Its backup.
    pub(crate) backup: PairedPort,
    /// Components that both ports depend on.
    pub(crate) shares: Vec<SharedComponent>,
}

/// A port with its position.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairedPort {
    /// Name of the interface.
    pub(crate) name: String,
    /// Number of the NIC.
    pub(crate) nic: u8,
    /// Plane.
    pub(crate) plane: u8,
    /// The T0 at the other end.
    pub(crate) t0: String,
    /// Power domain of the NIC. The key is required, but its value may be null.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) power: Option<String>,
}

/// A component that two ports can share.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SharedComponent {
    T0,
    Plane,
    /// The cage of a NIC.
    Transceiver,
    Power,
    /// A failure domain of the fabric file.
    Domain(String),
}

/// A PCI switch of the topology, with a GPU and the NICs that it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Number of the NUMA node.
    pub(crate) numa: u8,
    /// Line of the PCI switch.
    pub(crate) line: usize,
    /// Address of the PCI switch.
    pub(crate) switch: String,
    /// Rate per lane of its links.
    pub(crate) link_speed: String,
    /// Address of the GPU.
    pub(crate) gpu: String,
    /// Addresses of NICs.
    pub(crate) nics: Vec<String>,
}
