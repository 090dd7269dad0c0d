//! Multicast groups and clone sessions.
//!
//! Invariants: for each replica, the data plane uses the first of its ports that is up. P4Runtime does not
//! define the order of copies, so copies are made in the order of BMv2: instances in reverse order of the
//! list, ports of an instance by number. (In BMv2, that holds for up to 13 instances with different
//! remainders modulo 13, because PI stores them in a hash map.)

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use closc_runtime::check::Change;
use closc_runtime::proto::v1;
use v1::entity::Entity;
use v1::packet_replication_engine_entry::Type as Case;

use super::copies::{Copies, MulticastGroup, Session, copies};
use super::page::Page;
use super::undo::{Undo, set};
use super::{Fault, Store, entity};
use crate::state::{CloneSession, Replica};

/// Maximum id of a multicast group: its field has 16 bits.
const LAST_GROUP: u32 = u16::MAX as u32;

/// Maximum id of a clone session, as in BMv2.
const LAST_SESSION: u32 = 32_767;

impl Store {
    pub(super) fn write_multicast(
        &mut self,
        id: u32,
        change: Change<&v1::MulticastGroupEntry>,
    ) -> Result<(), Fault> {
        check_id(&change, "multicast group", id, LAST_GROUP, self.groups.contains_key(&id))?;
        let new = match change {
            Change::Delete => None,
            Change::Insert(group) | Change::Modify(group) => {
                let metadata = group.metadata.clone();
                Some(MulticastGroup { copies: copies(&group.replicas, self.port_width())?, metadata })
            }
        };
        let old = set(&mut self.groups, id, new);
        self.remember(|| Undo::Group { id, group: old });
        self.resolve_group(id);
        Ok(())
    }

    pub(super) fn write_session(
        &mut self,
        id: u32,
        change: Change<&v1::CloneSessionEntry>,
    ) -> Result<(), Fault> {
        check_id(&change, "clone session", id, LAST_SESSION, self.sessions.contains_key(&id))?;
        let new = match change {
            Change::Delete => None,
            Change::Insert(session) | Change::Modify(session) => {
                self.check_class(session.class_of_service)?;
                Some(Session {
                    copies: copies(&session.replicas, self.port_width())?,
                    class_of_service: session.class_of_service,
                    length: session.packet_length_bytes.max(0).cast_unsigned(),
                })
            }
        };
        let old = set(&mut self.sessions, id, new);
        self.remember(|| Undo::Session { id, session: old });
        self.resolve_session(id);
        Ok(())
    }

    /// Checks the class of service of clones, which selects the queue of their port.
    fn check_class(&self, class: u32) -> Result<(), Fault> {
        let classes = self.engine.classes();
        if class < classes {
            return Ok(());
        }
        if classes == 1 {
            return Err(Fault::unsupported(format!("class of service {class} where ports have one queue")));
        }
        let (what, value, most) = ("`class_of_service`", i64::from(class), i64::from(classes - 1));
        Err(Fault::Range { field: what, value, least: 0, most })
    }

    /// Updates all groups and sessions in the data plane.
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
        let replicas = self.groups.get(&id).map(|group| self.replicas(&group.copies));
        set(&mut self.engine.replication.groups, id, replicas);
    }

    fn resolve_session(&mut self, id: u32) {
        let session = self.sessions.get(&id).map(|session| CloneSession {
            replicas: self.replicas(&session.copies),
            class_of_service: session.class_of_service,
            length: session.length,
        });
        set(&mut self.engine.replication.sessions, id, session);
    }

    /// Returns the copies for the current state of ports.
    fn replicas(&self, given: &[Copies]) -> Vec<Replica> {
        let mut places = BTreeMap::new();
        for copies in given {
            let place = places.len();
            places.entry(copies.first.instance).or_insert(place);
        }
        let chosen = given.iter().map(|copies| (places[&copies.first.instance], self.choose(copies)));
        let mut chosen: Vec<(usize, Replica)> = chosen.collect();
        chosen.sort_unstable_by_key(|(place, replica)| (Reverse(*place), replica.port));
        chosen.into_iter().map(|(_, replica)| replica).collect()
    }

    /// Returns the first port of a replica that is up. If all are down, the packet is sent to the preferred port.
    fn choose(&self, given: &Copies) -> Replica {
        let mut all = std::iter::once(&given.first).chain(&given.backups);
        let up = all.find(|copy| !self.down.contains(&copy.port.number())).unwrap_or(&given.first);
        Replica { instance: up.instance, port: up.port.number() }
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
                    return Err(Fault::NotFound { kind: "multicast group", id });
                }
                for (group_id, group) in self.groups.iter().filter(|(group, _)| id == 0 || **group == id) {
                    let entry = || Some(wrap(Case::MulticastGroupEntry(group.to_entry(*group_id))));
                    if out.put(0, u64::from(*group_id), entry).is_break() {
                        return Ok(());
                    }
                }
            }
            Some(Case::CloneSessionEntry(wanted)) => {
                let id = wanted.session_id;
                if id != 0 && !self.sessions.contains_key(&id) {
                    return Err(Fault::NotFound { kind: "clone session", id });
                }
                for (session_id, session) in self.sessions.iter().filter(|(of, _)| id == 0 || **of == id) {
                    let entry = || Some(wrap(Case::CloneSessionEntry(session.to_entry(*session_id))));
                    if out.put(0, u64::from(*session_id), entry).is_break() {
                        return Ok(());
                    }
                }
            }
            None => {}
        }
        Ok(())
    }
}

fn check_id<T>(change: &Change<T>, what: &'static str, id: u32, most: u32, known: bool) -> Result<(), Fault> {
    if id > most {
        return Err(Fault::Range { field: what, value: i64::from(id), least: 1, most: i64::from(most) });
    }
    match (change, known) {
        (Change::Insert(_), true) => Err(Fault::Exists { kind: what, id }),
        (Change::Modify(_) | Change::Delete, false) => Err(Fault::NotFound { kind: what, id }),
        (Change::Insert(_), false) | (Change::Modify(_) | Change::Delete, true) => Ok(()),
    }
}
