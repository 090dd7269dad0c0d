//! Settings of a node for its NICs and its collective library: `nic-qos.sh`, `delay.json`, `nccl.conf` and `vccl.conf`.
//! Also its agents, by `closc/nicN.env`, and its kernel, by `sysctl.conf` if a program other than `ip` sets up its
//! ports.

use std::collections::BTreeMap;

use closc_artefacts::node_delay::NodeDelay;

use crate::model::cabling::NodeId;
use crate::model::library::{Backups, Pairing};

/// Files of a node.
#[derive(Debug, Clone)]
pub(crate) struct NodeTools {
    /// The node.
    pub(crate) node: NodeId,
    /// Quality of service of its NICs.
    pub(crate) qos: Option<NicQos>,
    /// Data of the longest path.
    pub(crate) delay: Option<NodeDelay>,
    /// The environment of NCCL, by name: value and line.
    pub(crate) nccl: Option<Settings>,
    /// Additional VCCL settings.
    pub(crate) vccl: Option<Settings>,
    /// Whether there is a topology file beside `nccl.conf`.
    pub(crate) has_topology: bool,
    /// GPUs with their NICs, by the topology file.
    pub(crate) topology: Option<Vec<Pairing>>,
    /// Backup ports.
    pub(crate) backups: Option<Backups>,
    /// Settings of the agent of each NIC, by number; `None` if the file does not parse.
    pub(crate) agents: BTreeMap<u8, Option<Settings>>,
    /// Faults of its kernel settings if there is no `ip.batch` beside them: text to search for, and message.
    pub(crate) kernel: Option<Vec<(String, String)>>,
}

/// Variables with their values and lines.
pub(crate) type Settings = BTreeMap<String, (String, usize)>;

/// Quality of service of the NICs of a node. Lists are by priority, or by traffic class of the NIC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NicQos {
    /// Ports: name, metres of cable, line.
    pub(crate) ports: Vec<(String, u64, usize)>,
    /// The priority of each code point.
    pub(crate) code_points: BTreeMap<u8, u8>,
    /// The traffic class of each priority.
    pub(crate) classes: Vec<u8>,
    /// Whether each class is strict.
    pub(crate) strict: Vec<bool>,
    /// The share of each weighted class, in hundredths.
    pub(crate) shares: Vec<u8>,
    /// Whether each priority is paused.
    pub(crate) paused: Vec<bool>,
    /// The receive buffer of each priority.
    pub(crate) buffers: Vec<u8>,
    /// Type of service of connections.
    pub(crate) connection_tos: u8,
    /// Code point and priority of congestion notifications.
    pub(crate) notifications: (Option<u8>, Option<u8>),
    /// Whether DCQCN governs each priority.
    pub(crate) governed: BTreeMap<u8, bool>,
}
