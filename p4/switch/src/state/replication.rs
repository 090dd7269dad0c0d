//! Multicast groups and clone sessions.

use std::collections::BTreeMap;

/// A copy of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replica {
    /// Replica number.
    pub instance: u32,
    /// Port it leaves by.
    pub port: u32,
}

/// What becomes of a clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// Copies to make, in order.
    pub replicas: Vec<Replica>,
    /// Class of service.
    pub class_of_service: u32,
    /// Bytes to keep of it, 0 for all.
    pub length: u32,
}

/// Groups and sessions of a switch.
#[derive(Debug, Default)]
pub struct Replication {
    /// Replicas by group, in order.
    pub groups: BTreeMap<u32, Vec<Replica>>,
    /// Sessions by number.
    pub sessions: BTreeMap<u32, CloneSession>,
}

impl Replication {
    /// Returns the copies of a group; none where it is unknown.
    pub fn replicas(&self, group: u32) -> &[Replica] {
        self.groups.get(&group).map_or(&[], Vec::as_slice)
    }
}
