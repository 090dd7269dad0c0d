//! Quality of service of a port, with every name replaced by what it stands for.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Quality of service of a switch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct QosConfig {
    /// Settings of ports; ports with equal settings share one.
    pub(crate) ports: Vec<PortQos>,
    /// The buffer, where the language shares it out.
    pub(crate) pools: Option<Pools>,
}

/// Meaning of tables of quality of service, for any switch.
#[derive(Debug)]
pub(crate) struct NamedQos {
    /// Ports in the order in which they are named, each with its index in the configuration.
    pub(crate) ports: Vec<(String, Option<u16>)>,
    /// The configuration.
    pub(crate) config: Arc<QosConfig>,
    /// Dangling references: needles and message.
    pub(crate) faults: Vec<(Vec<String>, String)>,
}

/// Division of a switch's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pools {
    /// Bytes of all ingress pools, and of the headroom beside them.
    pub(crate) ingress: u64,
    /// Bytes of headroom, where pools have any.
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
    /// Queue that each pause stops.
    pub(crate) pause_queues: BTreeMap<u8, u8>,
    /// Priorities that are paused.
    pub(crate) pauses: Vec<u8>,
    /// DSCP of packets that were trimmed on the way out of this port.
    pub(crate) trimmed: Option<u8>,
    /// Traffic classes whose overflow is trimmed.
    pub(crate) trims: Vec<u8>,
    /// Priority groups that have room for what arrives after a pause was sent.
    pub(crate) headroom: Vec<u8>,
    /// Bytes of headroom of each priority group that has any.
    pub(crate) xoff: BTreeMap<u8, u64>,
    /// Bytes that wait in each queue at most, where queues have lengths of their own.
    pub(crate) lengths: BTreeMap<u8, u64>,
    /// Bytes that each group with headroom has of its own.
    pub(crate) reserved: BTreeMap<u8, u64>,
    /// Group that each pause stops, where it is not the one of the same number.
    pub(crate) pause_groups: BTreeMap<u8, u8>,
    /// Thresholds of the traffic classes whose packets are marked: least, most, probability.
    pub(crate) marks: BTreeMap<u8, (u64, u64, u64)>,
    /// Limits of the traffic classes that a NIC does not choose freely: bytes per second and at once, then code point, class and
    /// queue of the rest.
    pub(crate) nic_classes: BTreeMap<u8, [u64; 5]>,
    /// Packets per second and at once for the controller.
    pub(crate) punts: Option<(u64, u64)>,
    /// Everything it is given, the above included, by a name for people.
    pub(crate) settings: BTreeMap<String, String>,
    /// Checks that depend on the room that the other ports of the switch leave: buffer pools, and thresholds below them.
    pub(crate) sized: BTreeMap<String, String>,
}

/// Returns the first setting in which two ports differ: its name and both values.
pub(crate) fn difference<'a>(
    own: &'a BTreeMap<String, String>,
    other: &'a BTreeMap<String, String>,
) -> Option<(&'a str, &'a str, &'a str)> {
    let value = |of: &'a BTreeMap<String, String>, name: &str| of.get(name).map_or("nothing", String::as_str);
    own.keys()
        .chain(other.keys())
        .map(|name| (name.as_str(), value(own, name), value(other, name)))
        .filter(|(_, own, others)| own != others)
        .min()
}
