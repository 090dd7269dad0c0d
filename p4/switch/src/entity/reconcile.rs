//! Transfers the state of one pipeline to another.

use closc_runtime::proto::v1;
use thiserror::Error;
use v1::entity::Entity;
use v1::p4_data::Data;
use v1::packet_replication_engine_entry::Type as Case;
use v1::update::Type;

use super::{Fault, Store, entity};
use crate::state::Table;

/// An entity that the new pipeline cannot contain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the new pipeline cannot keep the {kind} that the old one has: {fault}")]
pub struct ReconcileError {
    /// Kind of entity.
    pub(crate) kind: &'static str,
    /// The error.
    pub(crate) fault: Fault,
}

impl Store {
    /// Writes the entities of another store into this new one, except those in their initial state.
    pub(crate) fn adopt(&mut self, now_ns: u64, old: &Store) -> Result<(), ReconcileError> {
        self.make_room(old);
        for (kind, update, request) in requests() {
            let fail = |fault| ReconcileError { kind, fault };
            let mut entities = old.read(now_ns, &request).map_err(fail)?;
            entities.retain(|entity| !old.is_initial(entity));
            for found in entities {
                let update = v1::Update { r#type: update.into(), entity: Some(found) };
                self.write(now_ns, &update).map_err(fail)?;
            }
        }
        self.down.clone_from(&old.down);
        for port in &old.down {
            self.engine.set_port(*port, false);
        }
        self.resolve_replicas();
        Ok(())
    }

    /// Removes the program's initial entries from tables that the old state also contains, because the old
    /// entries replace them. Constant entries stay.
    fn make_room(&mut self, old: &Store) {
        for table in self.pipeline.info().tables() {
            let id = table.preamble.id;
            let (Some(binding), Some(_)) = (self.pipeline.table(id), old.pipeline.table(id)) else {
                continue;
            };
            let table = &mut self.engine.tables[binding.index];
            let removable = |handle: &u32| table.get(*handle).is_some_and(|entry| !entry.constant);
            let handles: Vec<u32> = table.handles().filter(removable).collect();
            for handle in handles {
                // Removing a handle in use cannot fail.
                let _ = table.remove(handle);
            }
        }
    }

    /// Returns whether an entity is in its initial state and need not be transferred.
    fn is_initial(&self, found: &v1::Entity) -> bool {
        match found.entity.as_ref() {
            Some(Entity::TableEntry(entry)) if entry.is_default_action => {
                entry.is_const || self.has_initial_default(entry.table_id)
            }
            Some(Entity::TableEntry(entry)) => entry.is_const,
            Some(Entity::CounterEntry(entry)) => entry.data == Some(v1::CounterData::default()),
            Some(Entity::MeterEntry(entry)) => entry.config.is_none(),
            Some(Entity::RegisterEntry(entry)) => {
                match entry.data.as_ref().and_then(|data| data.data.as_ref()) {
                    Some(Data::Bitstring(bytes) | Data::EnumValue(bytes)) => {
                        bytes.iter().all(|byte| *byte == 0)
                    }
                    Some(Data::Bool(value)) => !value,
                    Some(_) | None => false,
                }
            }
            Some(Entity::ValueSetEntry(entry)) => entry.members.is_empty(),
            Some(_) | None => false,
        }
    }

    fn has_initial_default(&self, table_id: u32) -> bool {
        let Some(binding) = self.pipeline.table(table_id) else { return true };
        let now = &self.engine.tables[binding.index].default;
        let first = Table::initial_default(&self.pipeline.program().tables[binding.index]);
        (now.action, &now.args, &now.meta) == (first.action, &first.args, &first.meta)
            && now.counter == first.counter
            && now.meter.is_none()
    }
}

/// Read requests for the old state, in an order in which the results can be written.
fn requests() -> Vec<(&'static str, Type, v1::Entity)> {
    let table_entry = |is_default_action| {
        Entity::TableEntry(v1::TableEntry {
            is_default_action,
            counter_data: Some(v1::CounterData::default()),
            meter_config: Some(v1::MeterConfig::default()),
            ..Default::default()
        })
    };
    let replication =
        |case| Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(case) });
    let (insert, modify) = (Type::Insert, Type::Modify);
    [
        ("action profile members", insert, Entity::ActionProfileMember(v1::ActionProfileMember::default())),
        ("action profile groups", insert, Entity::ActionProfileGroup(v1::ActionProfileGroup::default())),
        (
            "multicast groups",
            insert,
            replication(Case::MulticastGroupEntry(v1::MulticastGroupEntry::default())),
        ),
        ("clone sessions", insert, replication(Case::CloneSessionEntry(v1::CloneSessionEntry::default()))),
        ("table entries", insert, table_entry(false)),
        ("default entries", modify, table_entry(true)),
        ("value sets", modify, Entity::ValueSetEntry(v1::ValueSetEntry::default())),
        ("digests", insert, Entity::DigestEntry(v1::DigestEntry::default())),
        ("counters", modify, Entity::CounterEntry(v1::CounterEntry::default())),
        ("meters", modify, Entity::MeterEntry(v1::MeterEntry::default())),
        ("registers", modify, Entity::RegisterEntry(v1::RegisterEntry::default())),
    ]
    .map(|(kind, update, request)| (kind, update, entity(request)))
    .into()
}
