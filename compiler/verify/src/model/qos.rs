//! QoS settings of a port, with all references resolved.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::place::Fact;

/// QoS settings of a switch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct QosConfig {
    /// Port settings. Ports with equal settings share one entry.
    pub(crate) ports: Vec<PortQos>,
    /// The buffer, if the language divides it.
    pub(crate) pools: Option<Pools>,
}

/// Resolved QoS tables, by port name, for all switches whose tables have the same text.
#[derive(Debug)]
pub(crate) struct NamedQos {
    /// Ports in the order of the file, each with its index in the configuration.
    pub(crate) ports: Vec<(String, Option<u16>)>,
    /// The configuration.
    pub(crate) config: Arc<QosConfig>,
    /// Dangling references: facts, the main one first, and a message.
    pub(crate) faults: Vec<(Vec<Fact>, String)>,
}

/// Division of a switch's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pools {
    /// Bytes of all ingress pools, including their headroom.
    pub(crate) ingress: u64,
    /// Bytes of headroom, if pools have any.
    pub(crate) headroom: Option<u64>,
}

/// Settings of one port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct PortQos {
    /// Traffic class of each code point.
    pub(crate) dscp_to_class: BTreeMap<u8, u8>,
    /// Queue of each traffic class.
    pub(crate) class_to_queue: BTreeMap<u8, u8>,
    /// Priority group of each traffic class.
    pub(crate) class_to_group: BTreeMap<u8, u8>,
    /// Queue that a PFC pause of each priority stops.
    pub(crate) pause_queues: BTreeMap<u8, u8>,
    /// Priorities with PFC.
    pub(crate) pauses: Vec<u8>,
    /// DSCP of packets trimmed at the egress of this port.
    pub(crate) trimmed_dscp: Option<u8>,
    /// Traffic classes whose overflow is trimmed.
    pub(crate) trims: Vec<u8>,
    /// Priority groups with headroom.
    pub(crate) headroom: Vec<u8>,
    /// Bytes of headroom of each priority group that has any.
    pub(crate) xoff: BTreeMap<u8, u64>,
    /// Maximum bytes in each queue, if queues have their own lengths.
    pub(crate) lengths: BTreeMap<u8, u64>,
    /// Bytes reserved for each group with headroom.
    pub(crate) reserved: BTreeMap<u8, u64>,
    /// Priority group of each PFC priority, if their numbers differ.
    pub(crate) pause_groups: BTreeMap<u8, u8>,
    /// ECN thresholds by traffic class: minimum, maximum, probability.
    pub(crate) marks: BTreeMap<u8, (u64, u64, u64)>,
    /// Policers of NIC classes: rate in bytes per second and burst, then code point, class and queue of excess packets.
    pub(crate) nic_classes: BTreeMap<u8, [u64; 5]>,
    /// Rate limit of packets to the controller: packets per second and burst.
    pub(crate) punts: Option<(u64, u64)>,
    /// All settings, including those above, by the name used in messages.
    pub(crate) settings: BTreeMap<String, String>,
    /// Settings that depend on the buffer that other ports leave free: buffer pools, and thresholds limited by them.
    pub(crate) buffer_settings: BTreeMap<String, String>,
}

/// Returns the first setting that differs between two ports: the name and both values.
pub(crate) fn difference<'a>(
    own: &BTreeMap<&'a str, &'a str>,
    other: &BTreeMap<&'a str, &'a str>,
) -> Option<(&'a str, &'a str, &'a str)> {
    let value = |of: &BTreeMap<&'a str, &'a str>, name: &str| of.get(name).copied().unwrap_or("nothing");
    own.keys()
        .chain(other.keys())
        .map(|name| (*name, value(own, name), value(other, name)))
        .filter(|(_, own, others)| own != others)
        .min()
}
