//! Multicast groups and clone sessions.
//!
//! Invariants: the data plane sees for each replica the first of its ports that is up. P4Runtime leaves the order of copies
//! open; here it is that of BMv2: instances in the reverse of the order in which they are listed, the ports of one by number.
//! (BMv2 does so for as many as 13 instances with different remainders by 13: PI keeps them in a hash map.)

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use closc_runtime::proto::v1;
use closc_runtime::value::Width;
use v1::entity::Entity;
use v1::packet_replication_engine_entry::Type as Case;
use v1::replica::PortKind;
use v1::update::Type;

use super::page::Page;
use super::undo::{Undo, set};
use super::{Fault, Store, entity};
use crate::state::{CloneSession, Replica};

/// Greatest id of a multicast group: the field that names one has 16 bits.
const LAST_GROUP: u32 = u16::MAX as u32;

/// Greatest id of a clone session, as in BMv2.
const LAST_SESSION: u32 = 32_767;

impl Store {
    pub(super) fn write_replication(
        &mut self,
        kind: Type,
        entry: &v1::PacketReplicationEngineEntry,
    ) -> Result<(), Fault> {
        match &entry.r#type {
            Some(Case::MulticastGroupEntry(group)) => self.write_multicast(kind, group),
            Some(Case::CloneSessionEntry(session)) => self.write_session(kind, session),
            None => Ok(()),
        }
    }

    fn write_multicast(&mut self, kind: Type, group: &v1::MulticastGroupEntry) -> Result<(), Fault> {
        let id = group.multicast_group_id;
        check(kind, "multicast group", id, LAST_GROUP, self.groups.contains_key(&id))?;
        check_replicas(&group.replicas)?;
        let new = (kind != Type::Delete).then(|| group.clone());
        let old = set(&mut self.groups, id, new);
        self.remember(|| Undo::Group { id, group: old });
        self.resolve_group(id);
        Ok(())
    }

    fn write_session(&mut self, kind: Type, session: &v1::CloneSessionEntry) -> Result<(), Fault> {
        let id = session.session_id;
        check(kind, "clone session", id, LAST_SESSION, self.sessions.contains_key(&id))?;
        check_replicas(&session.replicas)?;
        let new = (kind != Type::Delete).then(|| session.clone());
        let old = set(&mut self.sessions, id, new);
        self.remember(|| Undo::Session { id, session: old });
        self.resolve_session(id);
        Ok(())
    }

    /// Tells the data plane all groups and sessions again.
    pub(super) fn resolve_replicas(&mut self) {
        let known = &self.engine.replication;
        let groups: BTreeSet<u32> = self.groups.keys().chain(known.groups.keys()).copied().collect();
        let sessions: BTreeSet<u32> = self.sessions.keys().chain(known.sessions.keys()).copied().collect();
        for id in groups {
            self.resolve_group(id);
        }
        for id in sessions {
            self.resolve_session(id);
        }
    }

    fn resolve_group(&mut self, id: u32) {
        let replicas = self.groups.get(&id).map(|group| self.replicas(&group.replicas));
        set(&mut self.engine.replication.groups, id, replicas);
    }

    fn resolve_session(&mut self, id: u32) {
        let session = self.sessions.get(&id).map(|session| CloneSession {
            replicas: self.replicas(&session.replicas),
            class_of_service: session.class_of_service,
            length: session.packet_length_bytes.max(0).cast_unsigned(),
        });
        set(&mut self.engine.replication.sessions, id, session);
    }

    /// Returns the copies to make with the ports as they are now.
    fn replicas(&self, given: &[v1::Replica]) -> Vec<Replica> {
        let mut places = BTreeMap::new();
        for replica in given {
            let place = places.len();
            places.entry(replica.instance).or_insert(place);
        }
        let mut chosen: Vec<(usize, Replica)> = given
            .iter()
            .filter_map(|replica| Some((places[&replica.instance], self.choose(replica)?)))
            .collect();
        chosen.sort_unstable_by_key(|(place, replica)| (Reverse(*place), replica.port));
        chosen.into_iter().map(|(_, replica)| replica).collect()
    }

    /// Returns the first port of a replica that is up; where all are down, the packet goes where it was meant to go.
    fn choose(&self, given: &v1::Replica) -> Option<Replica> {
        let first = Replica { instance: given.instance, port: number(given.port_kind.as_ref())? };
        let backups = given.backup_replicas.iter().filter_map(|backup| {
            let port = Width::Bits(32).decode(&backup.port).ok()? as u32;
            Some(Replica { instance: backup.instance, port })
        });
        let mut all = std::iter::once(first).chain(backups);
        all.find(|replica| !self.down.contains(&replica.port)).or(Some(first))
    }

    pub(super) fn read_replication(
        &self,
        request: &v1::PacketReplicationEngineEntry,
        out: &mut Page,
    ) -> Result<(), Fault> {
        let wrap = |case| {
            entity(Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry {
                r#type: Some(case),
            }))
        };
        match &request.r#type {
            Some(Case::MulticastGroupEntry(wanted)) => {
                let id = wanted.multicast_group_id;
                if id != 0 && !self.groups.contains_key(&id) {
                    return Err(Fault::NotFound { what: "multicast group", id });
                }
                let groups = self.groups.values().filter(|group| id == 0 || group.multicast_group_id == id);
                for group in groups {
                    let at = u64::from(group.multicast_group_id);
                    if out.put(0, at, || Some(wrap(Case::MulticastGroupEntry(group.clone())))).is_break() {
                        return Ok(());
                    }
                }
            }
            Some(Case::CloneSessionEntry(wanted)) => {
                let id = wanted.session_id;
                if id != 0 && !self.sessions.contains_key(&id) {
                    return Err(Fault::NotFound { what: "clone session", id });
                }
                let sessions = self.sessions.values().filter(|session| id == 0 || session.session_id == id);
                for session in sessions {
                    let at = u64::from(session.session_id);
                    if out.put(0, at, || Some(wrap(Case::CloneSessionEntry(session.clone())))).is_break() {
                        return Ok(());
                    }
                }
            }
            None => {}
        }
        Ok(())
    }
}

fn check(kind: Type, what: &'static str, id: u32, most: u32, known: bool) -> Result<(), Fault> {
    if id > most {
        return Err(Fault::Range { what, value: i64::from(id), least: 1, most: i64::from(most) });
    }
    match kind {
        Type::Insert if known => Err(Fault::Exists { what, id }),
        Type::Modify | Type::Delete if !known => Err(Fault::NotFound { what, id }),
        Type::Insert | Type::Modify | Type::Delete | Type::Unspecified => Ok(()),
    }
}

/// The field that carries an instance has 16 bits.
fn check_replicas(replicas: &[v1::Replica]) -> Result<(), Fault> {
    let backups = replicas.iter().flat_map(|replica| &replica.backup_replicas).map(|backup| backup.instance);
    let mut instances = replicas.iter().map(|replica| replica.instance).chain(backups);
    match instances.find(|instance| *instance > u32::from(u16::MAX)) {
        Some(instance) => {
            let what = "the instance of a replica";
            Err(Fault::Range { what, value: i64::from(instance), least: 0, most: i64::from(u16::MAX) })
        }
        None => Ok(()),
    }
}

#[expect(deprecated, reason = "older clients still name ports by number")]
fn number(port: Option<&PortKind>) -> Option<u32> {
    match port? {
        PortKind::EgressPort(port) => Some(*port),
        PortKind::Port(bytes) => Width::Bits(32).decode(bytes).ok().map(|port| port as u32),
    }
}
