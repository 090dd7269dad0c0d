//! Multicast groups and clone sessions. Programs identify them by number, so they have no names.

use crate::check::{Violation, check_replication};
use crate::proto::v1;
use crate::value::encode_number;
use v1::packet_replication_engine_entry::Type as Case;
use v1::replica::PortKind;
use v1::update::Type;

/// One copy of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Copy {
    /// The egress port.
    pub port: u32,
    /// The replica id that the egress pipeline sees; it distinguishes copies to the same port.
    pub instance: u32,
}

fn replicas(copies: &[Copy]) -> Vec<v1::Replica> {
    let replica = |copy: &Copy| v1::Replica {
        instance: copy.instance,
        backup_replicas: Vec::new(),
        port_kind: Some(PortKind::Port(encode_number(copy.port.into()))),
    };
    copies.iter().map(replica).collect()
}

fn checked_entry(case: Case) -> Result<v1::PacketReplicationEngineEntry, Violation> {
    let entry = v1::PacketReplicationEngineEntry { r#type: Some(case) };
    check_replication(false, Type::Insert, &entry)?;
    Ok(entry)
}

/// Returns a multicast group.
pub fn multicast_group(id: u32, copies: &[Copy]) -> Result<v1::PacketReplicationEngineEntry, Violation> {
    let replicas = replicas(copies);
    let group = v1::MulticastGroupEntry { multicast_group_id: id, replicas, metadata: Vec::new() };
    checked_entry(Case::MulticastGroupEntry(group))
}

/// Returns a clone session; copies are truncated to `packet_length` bytes unless that is 0.
pub fn clone_session(
    id: u32,
    copies: &[Copy],
    class_of_service: u32,
    packet_length: u16,
) -> Result<v1::PacketReplicationEngineEntry, Violation> {
    let session = v1::CloneSessionEntry {
        session_id: id,
        replicas: replicas(copies),
        class_of_service,
        packet_length_bytes: i32::from(packet_length),
    };
    checked_entry(Case::CloneSessionEntry(session))
}
