//! Multicast groups and clone sessions.

use std::collections::BTreeMap;

/// A copy of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Replica {
    /// Replica number.
    pub(crate) instance: u32,
    /// Egress port.
    pub(crate) port: u32,
}

/// Treatment of a clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CloneSession {
    /// Copies to make, in order.
    pub(crate) replicas: Vec<Replica>,
    pub(crate) class_of_service: u32,
    /// Maximum length in bytes, 0 for no limit.
    pub(crate) length: u32,
}

/// Groups and sessions of a switch.
#[derive(Debug, Default)]
pub(crate) struct Replication {
    /// Replicas by group, in order.
    pub(crate) groups: BTreeMap<u32, Vec<Replica>>,
    pub(crate) sessions: BTreeMap<u32, CloneSession>,
}

impl Replication {
    /// Returns the copies of a group; none if it does not exist.
    pub(crate) fn replicas(&self, group: u32) -> &[Replica] {
        self.groups.get(&group).map_or(&[], Vec::as_slice)
    }
}
