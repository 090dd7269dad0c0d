//! The live state of a switch.
//!
//! In: a connection and the program that the switch runs. Out: [`SwitchState`]. Invariants: everything that a
//! controller can write is read. Each table has its own request, so an answer contains at most one table, and
//! a fault names that table.

use std::ops::ControlFlow;

use closc_runtime::client::Client;
use closc_runtime::entry::wildcards;
use closc_runtime::proto::v1;
use closc_runtime::{Info, RoleName};
use v1::entity::Entity;

use crate::fault::{Fault, Operation};
use crate::invalid::InvalidState;
use crate::progress::Progress;
use crate::state::{State, object};

/// State of a switch.
pub(crate) struct SwitchState {
    pub(crate) state: State,
    /// Kinds of entities that the switch cannot read back.
    unsupported_entities: Vec<v1::Entity>,
}

/// Memory limit of an expected entity.
const ENTITY_BYTES: usize = 4 << 10;

/// Reads everything. An unexpectedly large state is read only up to the memory limit.
pub(crate) async fn live(
    client: &Client,
    role: &RoleName,
    info: &Info,
    expected: usize,
    progress: &Progress,
) -> Result<SwitchState, Fault> {
    let mut entities = Vec::new();
    let mut unsupported = Vec::new();
    // One budget for all reads, so that endless entities are rejected even if they are spread over tables.
    let mut budget = client.options().memory_limit.max(expected.saturating_mul(ENTITY_BYTES));
    for wildcard in wildcards(info) {
        let operation = progress.begin(Operation::Reading { object: object(info, &wildcard) });
        let mut stray = None;
        let read = client.read_each(vec![wildcard.clone()], role, &mut budget, |entity| {
            if belongs(&wildcard, &entity) {
                entities.push(entity);
                return ControlFlow::Continue(());
            }
            stray = Some(entity);
            ControlFlow::Break(())
        });
        match read.await {
            Ok(()) => {
                if let Some(stray) = stray {
                    let entity = crate::state::describe_entity(info, &stray);
                    return Err(Fault::InvalidState {
                        operation,
                        invalid: InvalidState::NotAsked { entity },
                    });
                }
            }
            Err(error) if error.is_unimplemented() => unsupported.push(wildcard),
            Err(source) => return Err(Fault::Call { operation, source }),
        }
    }
    let operation = progress.operation();
    let state = State::new(info, entities).map_err(|invalid| Fault::InvalidState { operation, invalid })?;
    Ok(SwitchState { state, unsupported_entities: unsupported })
}

impl SwitchState {
    /// Checks that the switch can read back everything that is wanted.
    pub(crate) fn check_support(&self, info: &Info, wanted: &State) -> Result<(), Fault> {
        for wildcard in &self.unsupported_entities {
            let entities = wanted.entities().filter(|entity| matches(wildcard, entity)).count();
            if entities > 0 {
                return Err(Fault::Unsupported { object: object(info, wildcard), entities: entities as u64 });
            }
        }
        Ok(())
    }
}

/// Returns whether an entity may be in the answer to a wildcard: some targets return default entries together
/// with all others.
fn belongs(wildcard: &v1::Entity, entity: &v1::Entity) -> bool {
    match (wildcard.entity.as_ref(), entity.entity.as_ref()) {
        (Some(Entity::TableEntry(wanted)), Some(Entity::TableEntry(entry))) => {
            wanted.table_id == entry.table_id
        }
        _ => matches(wildcard, entity),
    }
}

/// Returns whether a wildcard asks for an entity.
fn matches(wildcard: &v1::Entity, entity: &v1::Entity) -> bool {
    use v1::packet_replication_engine_entry::Type as Replication;
    match (wildcard.entity.as_ref(), entity.entity.as_ref()) {
        (Some(Entity::TableEntry(wanted)), Some(Entity::TableEntry(entry))) => {
            wanted.table_id == entry.table_id && wanted.is_default_action == entry.is_default_action
        }
        (Some(Entity::ActionProfileMember(wanted)), Some(Entity::ActionProfileMember(member))) => {
            wanted.action_profile_id == member.action_profile_id
        }
        (Some(Entity::ActionProfileGroup(wanted)), Some(Entity::ActionProfileGroup(group))) => {
            wanted.action_profile_id == group.action_profile_id
        }
        (
            Some(Entity::PacketReplicationEngineEntry(wanted)),
            Some(Entity::PacketReplicationEngineEntry(entry)),
        ) => matches!(
            (&wanted.r#type, &entry.r#type),
            (Some(Replication::MulticastGroupEntry(_)), Some(Replication::MulticastGroupEntry(_)))
                | (Some(Replication::CloneSessionEntry(_)), Some(Replication::CloneSessionEntry(_)))
        ),
        (Some(Entity::ValueSetEntry(wanted)), Some(Entity::ValueSetEntry(entry))) => {
            wanted.value_set_id == entry.value_set_id
        }
        (Some(Entity::DigestEntry(wanted)), Some(Entity::DigestEntry(entry))) => {
            wanted.digest_id == entry.digest_id
        }
        (Some(Entity::MeterEntry(wanted)), Some(Entity::MeterEntry(entry))) => {
            wanted.meter_id == entry.meter_id
        }
        _ => false,
    }
}
