//! `delay.json` of a node: properties of the longest path, for congestion control on the node.
//!
//! In: the bytes of the file, or its values. Out: the other of the two. Invariants: the values do not depend on the
//! routing mode. Path tables contain the same [`Delay`].

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::path_table::Delay;

/// Version of the format.
pub const FORMAT: &str = "closc-node-delay/1";

/// Properties of the longest path that a node needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeDelay {
    /// Version of the format.
    pub format: SmolStr,
    /// Name of the node.
    pub node: SmolStr,
    /// Speed of a NIC port in Mb/s; the bandwidth-delay product is based on it.
    pub port_mbps: u32,
    /// Delays of the longest path, per NIC port.
    pub delay: Delay,
    /// ECN marking of the data class on uplinks of the node's T0s; absent if the T0s do not mark, or count packets
    /// instead of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
}

/// ECN thresholds of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marks {
    /// Queue length in bytes above which packets begin to be marked.
    pub least_bytes: u64,
    /// Queue length in bytes above which all packets are marked.
    pub most_bytes: u64,
    /// Percentage of packets marked just below `most_bytes`.
    pub percent: u64,
}
