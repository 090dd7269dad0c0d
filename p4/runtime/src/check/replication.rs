//! Checks multicast groups and clone sessions.

use std::collections::BTreeSet;

use super::{Fault, Violation};
use crate::proto::v1;
use crate::value::{Width, bits};
use v1::packet_replication_engine_entry::Type as Case;
use v1::replica::PortKind;
use v1::update::Type;

/// A port in the canonical form and an instance.
type Copy = (Vec<u8>, u32);

/// Checks the group or session of an insert, modify or delete. `text` is set if ports are text.
pub(crate) fn check(
    text: bool,
    kind: Type,
    entry: &v1::PacketReplicationEngineEntry,
) -> Result<(), Violation> {
    let (id, what, replicas) = match entry.r#type.as_ref().ok_or(Fault::NoEntity)? {
        Case::MulticastGroupEntry(group) => {
            (group.multicast_group_id, "the multicast group id", &group.replicas)
        }
        Case::CloneSessionEntry(session) => {
            if session.packet_length_bytes < 0 {
                let value = i64::from(session.packet_length_bytes);
                return Err(Fault::Negative { name: "`packet_length_bytes`", value }.into());
            }
            (session.session_id, "the session id", &session.replicas)
        }
    };
    if id == 0 {
        return Err(Fault::ZeroId { name: what }.into());
    }
    if kind == Type::Delete {
        return Ok(());
    }
    let mut copies = BTreeSet::new();
    for replica in replicas {
        let first = port(text, replica.port_kind.as_ref())?;
        for backup in &replica.backup_replicas {
            let second = canonical(text, &backup.port)?;
            if second == first {
                return Err(Fault::BackupOnSamePort { instance: replica.instance }.into());
            }
            add(&mut copies, second, backup.instance)?;
        }
        add(&mut copies, first, replica.instance)?;
    }
    Ok(())
}

fn add(copies: &mut BTreeSet<Copy>, port: Vec<u8>, instance: u32) -> Result<(), Fault> {
    if copies.insert((port, instance)) { Ok(()) } else { Err(Fault::ReplicaTwice { instance }) }
}

#[expect(deprecated, reason = "older clients still name ports by number")]
fn port(text: bool, kind: Option<&PortKind>) -> Result<Vec<u8>, Fault> {
    match kind {
        None => Err(Fault::NoPort),
        Some(PortKind::EgressPort(0)) => Err(Fault::ZeroPort),
        Some(PortKind::EgressPort(number)) => Ok(bits::strip(&number.to_be_bytes()).to_vec()),
        Some(PortKind::Port(bytes)) => canonical(text, bytes),
    }
}

fn canonical(text: bool, port: &[u8]) -> Result<Vec<u8>, Fault> {
    if port.is_empty() {
        return Err(Fault::NoPort);
    }
    if text {
        return Ok(port.to_vec());
    }
    let port = Width::Bits(32).canonical(port).map_err(|_| Fault::WidePort)?;
    // P4Runtime 1.4, translation of port numbers: "An SDN port number of 0 is invalid". BMv2 rejects it as well.
    if port == [0] { Err(Fault::ZeroPort) } else { Ok(port.to_vec()) }
}
