//! Converts multicast groups and clone sessions between P4Runtime and data plane.
//!
//! In: messages. Out: copies with valid ports, and the messages in canonical form.

#![expect(deprecated, reason = "older clients still name ports by number")]

use closc_runtime::check::{self, Violation};
use closc_runtime::proto::v1;
use v1::replica::PortKind;

use super::Fault;
use super::port::PortWidth;
use crate::state::Port;

/// A copy to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) port: Port,
    pub(super) instance: u32,
}

/// A replica: its copy, and the alternatives if the port is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copies {
    pub(super) first: Copy,
    pub(super) backups: Vec<Copy>,
}

/// A multicast group as written; its backup replicas depend on ports.
#[derive(Clone, Debug)]
pub(super) struct MulticastGroup {
    pub(super) copies: Vec<Copies>,
    pub(super) metadata: Vec<u8>,
}

impl MulticastGroup {
    pub(super) fn to_entry(&self, multicast_group_id: u32) -> v1::MulticastGroupEntry {
        let (replicas, metadata) = (replicas(&self.copies), self.metadata.clone());
        v1::MulticastGroupEntry { multicast_group_id, replicas, metadata }
    }
}

/// A clone session as written.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) copies: Vec<Copies>,
    pub(super) class_of_service: u32,
    pub(super) length: u32,
}

impl Session {
    pub(super) fn to_entry(&self, session_id: u32) -> v1::CloneSessionEntry {
        v1::CloneSessionEntry {
            session_id,
            replicas: replicas(&self.copies),
            class_of_service: self.class_of_service,
            packet_length_bytes: self.length.cast_signed(),
        }
    }
}

/// Converts replicas from P4Runtime. The instance field has 16 bits.
pub(super) fn copies(replicas: &[v1::Replica], ports: PortWidth) -> Result<Vec<Copies>, Fault> {
    let place = "the port of a replica";
    let copy = |instance: u32, port: Port| {
        if instance > u32::from(u16::MAX) {
            let (what, most) = ("the instance of a replica", i64::from(u16::MAX));
            return Err(Fault::Range { field: what, value: i64::from(instance), least: 0, most });
        }
        Ok(Copy { port, instance })
    };
    let read = |replica: &v1::Replica| {
        let port = match &replica.port_kind {
            Some(PortKind::Port(bytes)) => ports.bytes(place, bytes)?,
            Some(PortKind::EgressPort(number)) => ports.number(place, i64::from(*number))?,
            None => return Err(Violation::from(check::Fault::NoPort).into()),
        };
        let backup = |backup: &v1::BackupReplica| copy(backup.instance, ports.bytes(place, &backup.port)?);
        let backups: Result<Vec<Copy>, Fault> = replica.backup_replicas.iter().map(backup).collect();
        Ok(Copies { first: copy(replica.instance, port)?, backups: backups? })
    };
    replicas.iter().map(read).collect()
}

/// Converts replicas to P4Runtime.
fn replicas(copies: &[Copies]) -> Vec<v1::Replica> {
    let replica = |copies: &Copies| {
        let port = copies.first.port;
        let kind = if port.is_numeric() {
            PortKind::EgressPort(port.number())
        } else {
            PortKind::Port(port.bytes())
        };
        let backup = |copy: &Copy| v1::BackupReplica { port: copy.port.bytes(), instance: copy.instance };
        v1::Replica {
            instance: copies.first.instance,
            backup_replicas: copies.backups.iter().map(backup).collect(),
            port_kind: Some(kind),
        }
    };
    copies.iter().map(replica).collect()
}
