//! `delay.json` of a node: what congestion control on it needs to know of the longest path.
//!
//! In: bytes of the file, or its values. Out: the other. Invariants: the same whatever chooses the path: hosts with path tables find the
//! same figures there.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::path_table::Delay;

/// Form of the file.
pub const FORMAT: &str = "closc-node-delay/1";

/// Properties of the longest path that a node needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeDelay {
    /// Form of this file.
    pub format: SmolStr,
    /// Name of the node.
    pub node: SmolStr,
    /// Speed of a NIC port in Mb/s, which the bytes under way are of.
    pub port_mbps: u32,
    /// The longest path, for each NIC port.
    pub delay: Delay,
    /// When uplinks of the node's T0s mark the class of data; absent where they do not, or count packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
}

/// When a queue is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marks {
    /// Bytes from which some packets are marked.
    pub least_bytes: u64,
    /// Bytes from which all are.
    pub most_bytes: u64,
    /// Percent that are marked just below the most.
    pub percent: u64,
}
