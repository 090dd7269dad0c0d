//! Changes of a switch, and their updates.
//!
//! In: the wanted state and the live state. Out: changes in the order of keys, and the updates that make them, ordered
//! so that no entity refers to a missing one. Invariants: equal states give no updates; applying the updates to the
//! live state gives the wanted one.

use std::collections::BTreeMap;

use closc_runtime::Info;
use closc_runtime::order::{Order, OrderedUpdates, Phase, Wave};
use closc_runtime::proto::v1;
use v1::entity::Entity;

use crate::state::{State, describe_entity, initial_default, object};

/// One difference between the wanted and the live state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change<'s> {
    /// It is wanted and missing.
    Missing(&'s v1::Entity),
    /// It exists with other contents.
    Changed {
        /// The wanted entity.
        target: &'s v1::Entity,
        /// The live entity.
        live: &'s v1::Entity,
    },
    /// It exists and is not wanted.
    Unexpected(&'s v1::Entity),
}

impl<'s> Change<'s> {
    /// Returns the entity with the key that differs.
    pub fn entity(&self) -> &'s v1::Entity {
        match self {
            Change::Missing(entity) | Change::Unexpected(entity) | Change::Changed { target: entity, .. } => {
                entity
            }
        }
    }

    /// Describes the difference, by names.
    pub fn describe(&self, info: &Info) -> String {
        match self {
            Change::Missing(entity) => format!("missing: {}", describe_entity(info, entity)),
            Change::Unexpected(entity) => format!("unexpected: {}", describe_entity(info, entity)),
            Change::Changed { target: wanted, live } => {
                format!(
                    "different: {}, wanted: {}",
                    describe_entity(info, live),
                    describe_entity(info, wanted)
                )
            }
        }
    }
}

/// Returns all differences, in the order of keys.
pub fn difference<'s>(wanted: &'s State, live: &'s State) -> Vec<Change<'s>> {
    let change = |pair: (Option<&'s v1::Entity>, Option<&'s v1::Entity>)| match pair {
        (Some(wanted), None) => Some(Change::Missing(wanted)),
        (None, Some(live)) => Some(Change::Unexpected(live)),
        (Some(wanted), Some(live)) if wanted != live => Some(Change::Changed { target: wanted, live }),
        (Some(_), Some(_)) | (None, None) => None,
    };
    wanted.merge(live).filter_map(change).collect()
}

/// Number of updates of each kind.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Counts {
    /// Entities that are added.
    pub insert: u64,
    /// Entities that are changed.
    pub modify: u64,
    /// Entities that are removed.
    pub delete: u64,
}

impl Counts {
    /// Counts updates.
    pub fn of(updates: &[v1::Update]) -> Self {
        let mut counts = Counts::default();
        for update in updates {
            match update.r#type() {
                v1::update::Type::Insert | v1::update::Type::Unspecified => counts.insert += 1,
                v1::update::Type::Modify => counts.modify += 1,
                v1::update::Type::Delete => counts.delete += 1,
            }
        }
        counts
    }

    /// Returns their total.
    pub fn total(&self) -> u64 {
        self.insert + self.modify + self.delete
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.insert += other.insert;
        self.modify += other.modify;
        self.delete += other.delete;
    }
}

/// Returns the updates that make the changes, in an order in which they can be sent.
///
/// Additions come first and removals last, so that a change of path interrupts no traffic. If the tables
/// cannot hold the old and the new entries at once, removals come first.
pub(crate) fn updates(info: &Info, order: &Order, live: &State, changes: &[Change<'_>]) -> OrderedUpdates {
    let updates = changes.iter().map(|change| update(info, change)).collect();
    let ordered = order.arrange_distinct(updates);
    if fits(info, live, changes) { ordered } else { make_room(ordered) }
}

fn update(info: &Info, change: &Change<'_>) -> v1::Update {
    match change {
        Change::Missing(entity) if is_always_there(entity) => v1::Update::modify((*entity).clone()),
        Change::Missing(entity) => v1::Update::insert((*entity).clone()),
        Change::Changed { target: wanted, .. } => v1::Update::modify((*wanted).clone()),
        Change::Unexpected(entity) => removal(info, entity),
    }
}

/// Returns whether an entity can only be modified, because it exists in every state of the program.
fn is_always_there(entity: &v1::Entity) -> bool {
    match entity.entity.as_ref() {
        Some(Entity::TableEntry(entry)) => entry.is_default_action,
        Some(
            Entity::ValueSetEntry(_)
            | Entity::MeterEntry(_)
            | Entity::DirectMeterEntry(_)
            | Entity::CounterEntry(_)
            | Entity::DirectCounterEntry(_)
            | Entity::RegisterEntry(_),
        ) => true,
        Some(
            Entity::ActionProfileMember(_)
            | Entity::ActionProfileGroup(_)
            | Entity::PacketReplicationEngineEntry(_)
            | Entity::DigestEntry(_)
            | Entity::ExternEntry(_),
        )
        | None => false,
    }
}

/// Returns the update that removes an entity, or restores its initial contents.
fn removal(info: &Info, entity: &v1::Entity) -> v1::Update {
    if !is_always_there(entity) {
        return v1::Update::delete(entity.clone());
    }
    let mut initial = entity.clone();
    match initial.entity.as_mut() {
        Some(Entity::TableEntry(entry)) => match initial_default(info, entry.table_id) {
            Some(default) => initial = default,
            None => entry.action = None,
        },
        Some(Entity::ValueSetEntry(entry)) => entry.members.clear(),
        Some(Entity::MeterEntry(entry)) => entry.config = None,
        Some(Entity::DirectMeterEntry(entry)) => entry.config = None,
        Some(
            Entity::ActionProfileMember(_)
            | Entity::ActionProfileGroup(_)
            | Entity::PacketReplicationEngineEntry(_)
            | Entity::DigestEntry(_)
            | Entity::ExternEntry(_)
            | Entity::CounterEntry(_)
            | Entity::DirectCounterEntry(_)
            | Entity::RegisterEntry(_),
        )
        | None => {}
    }
    v1::Update::modify(initial)
}

/// Returns whether every table can hold its live and its added entries at the same time.
fn fits(info: &Info, live: &State, changes: &[Change<'_>]) -> bool {
    let limited: BTreeMap<u32, u64> = info
        .tables()
        .iter()
        .filter(|table| table.size > 0)
        .map(|table| (table.preamble.id, table.size))
        .collect();
    let mut held: BTreeMap<u32, u64> = BTreeMap::new();
    let added = changes.iter().filter_map(|change| match change {
        Change::Missing(entity) => Some(*entity),
        Change::Changed { .. } | Change::Unexpected(_) => None,
    });
    for entity in live.entities().chain(added) {
        if let Some(Entity::TableEntry(entry)) = &entity.entity
            && !entry.is_default_action
        {
            *held.entry(entry.table_id).or_default() += 1;
        }
    }
    held.iter().all(|(table, held)| limited.get(table).is_none_or(|size| held <= size))
}

/// Puts deletes before all other updates; deletes keep their order.
fn make_room(ordered: OrderedUpdates) -> OrderedUpdates {
    let mut waves = ordered.waves;
    waves.sort_by_key(|wave| wave.phase != Phase::Delete);
    let mut made = OrderedUpdates::default();
    for Wave { phase, range } in waves {
        let start = made.updates.len();
        made.updates.extend_from_slice(&ordered.updates[range]);
        made.waves.push(Wave { phase, range: start..made.updates.len() });
    }
    made
}

/// Returns the number of differences of each object, for messages.
pub(crate) fn by_object(info: &Info, changes: &[Change<'_>]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for change in changes {
        *counts.entry(object(info, change.entity())).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests;
