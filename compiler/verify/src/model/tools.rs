//! Settings of a node for its NICs and its collective library: `nic-qos.sh`, `delay.json`, `nccl.conf` and `vccl.conf`.
//! Also settings of its agents (`closc/nicN.env`), and of its kernel (`sysctl.conf`) if a program other than `ip`
//! configures its ports.

use std::collections::BTreeMap;

use closc_artefacts::node_delay::NodeDelay;

use crate::model::cabling::NodeId;
use crate::model::library::{Backups, Pairing};

/// Settings of a node, from the files named above.
#[derive(Debug, Clone)]
pub(crate) struct NodeTools {
    /// The node.
    pub(crate) node: NodeId,
    /// QoS settings of its NICs.
    pub(crate) qos: Option<NicQos>,
    /// Delays of the longest path.
    pub(crate) delay: Option<NodeDelay>,
    /// Environment of NCCL.
    pub(crate) nccl: Option<Settings>,
    /// Additional VCCL settings.
    pub(crate) vccl: Option<Settings>,
    /// Whether a topology file exists along with `nccl.conf`.
    pub(crate) has_topology: bool,
    /// GPUs with their NICs, from the topology file.
    pub(crate) topology: Option<Vec<Pairing>>,
    /// Backup ports.
    pub(crate) backups: Option<Backups>,
    /// Settings of the agent of each NIC, by number; `None` if the file does not parse.
    pub(crate) agents: BTreeMap<u8, Option<Settings>>,
    /// Faults of its kernel settings, without `ip.batch`: text that is on the line, and message.
    pub(crate) kernel: Option<Vec<(String, String)>>,
}

/// Variables with their values and lines.
pub(crate) type Settings = BTreeMap<String, (String, usize)>;

/// QoS settings of the NICs of a node. Lists are indexed by priority or by traffic class of the NIC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NicQos {
    /// Ports: name, cable length in metres, line.
    pub(crate) ports: Vec<(String, u64, usize)>,
    /// The priority of each code point.
    pub(crate) code_points: BTreeMap<u8, u8>,
    /// The traffic class of each priority.
    pub(crate) classes: Vec<u8>,
    /// Whether each class is strict.
    pub(crate) strict: Vec<bool>,
    /// The share of each weighted class, in percent.
    pub(crate) shares: Vec<u8>,
    /// Whether each priority uses PFC.
    pub(crate) paused: Vec<bool>,
    /// The receive buffer of each priority.
    pub(crate) buffers: Vec<u8>,
    /// Type of service of connections.
    pub(crate) connection_tos: u8,
    /// Code point and priority of congestion notifications.
    pub(crate) notifications: (Option<u8>, Option<u8>),
    /// Whether DCQCN is enabled for each priority.
    pub(crate) governed: BTreeMap<u8, bool>,
}
