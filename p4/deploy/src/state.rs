//! The part of a switch's state that a controller sets, in one form for both sides of a comparison.
//!
//! In: entities as compiled, or as a target returned them. Out: [`State`]. Invariants: sorted by key, each key once, in
//! the canonical form. The initial state of the program (constant entries, unchanged default actions, empty value sets)
//! is not part of it. So "missing" means the same on both sides.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use closc_runtime::proto::v1;
use closc_runtime::{EntityKey, Info, canonical, render};
use prost::Message as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use v1::entity::Entity;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::table_action::Type as ActionForm;

use crate::invalid::InvalidState;

/// The entities of a switch by key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// Sorted by key; no key twice.
    entities: Vec<(EntityKey, v1::Entity)>,
}

impl State {
    /// Accepts entities in any order and form.
    pub fn new(info: &Info, entities: Vec<v1::Entity>) -> Result<Self, InvalidState> {
        let mut keyed = Vec::with_capacity(entities.len());
        for mut entity in entities {
            canonical::normalise(info, &mut entity);
            if is_initial(info, &entity) {
                continue;
            }
            let key = EntityKey::of(&entity)
                .ok_or_else(|| InvalidState::NoKey { entity: describe_entity(info, &entity) })?;
            keyed.push((key, entity));
        }
        // Entities mostly arrive in some order already, which makes a stable sort fast.
        keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
        // Identical entities count once.
        keyed.dedup();
        match keyed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(InvalidState::Twice { entity: describe_entity(info, &pair[1].1) }),
            None => Ok(State { entities: keyed }),
        }
    }

    /// Returns the number of entities.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Returns whether the state is empty.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Returns the entities in the order of their keys.
    pub fn entities(&self) -> impl ExactSizeIterator<Item = &v1::Entity> {
        self.entities.iter().map(|(_, entity)| entity)
    }

    /// Returns the entities of both sides for each key, in the order of keys.
    pub(crate) fn merge<'s>(&'s self, other: &'s State) -> Merge<'s> {
        Merge { one: &self.entities, other: &other.entities }
    }

    /// Returns the state after updates. An update replaces the entity that has the same key.
    pub(crate) fn apply_updates(&self, info: &Info, updates: &[v1::Update]) -> Result<State, InvalidState> {
        let mut by_key: BTreeMap<EntityKey, v1::Entity> = self.entities.iter().cloned().collect();
        for update in updates {
            let mut entity = update.entity.clone().unwrap_or_default();
            canonical::normalise(info, &mut entity);
            let key = EntityKey::of(&entity)
                .ok_or_else(|| InvalidState::NoKey { entity: describe_entity(info, &entity) })?;
            if update.r#type() == v1::update::Type::Delete || is_initial(info, &entity) {
                by_key.remove(&key);
            } else {
                by_key.insert(key, entity);
            }
        }
        Ok(State { entities: by_key.into_iter().collect() })
    }

    /// Returns the digest of each object, such as a table.
    pub fn digest(&self, info: &Info) -> StateDigest {
        let mut hashers: BTreeMap<String, (u64, blake3::Hasher)> = BTreeMap::new();
        let mut encoded = Vec::new();
        for (_, entity) in &self.entities {
            encoded.clear();
            entity.encode(&mut encoded).expect("a vector takes everything");
            let (count, hasher) = hashers.entry(object(info, entity)).or_default();
            *count += 1;
            hasher.update(&(encoded.len() as u64).to_be_bytes());
            hasher.update(&encoded);
        }
        let objects = hashers.into_iter().map(|(name, (count, hasher))| {
            (name, ObjectDigest { entities: count, blake3: hasher.finalize().to_string() })
        });
        StateDigest { objects: objects.collect() }
    }
}

/// The digest of a state, object by object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct StateDigest {
    /// Tables, action profiles and other objects, by name. Objects without entities are omitted.
    pub objects: BTreeMap<String, ObjectDigest>,
}

impl StateDigest {
    /// Returns the names of objects that differ.
    pub(crate) fn changed_objects(&self, found: &StateDigest) -> Vec<String> {
        let names: BTreeSet<&String> = self.objects.keys().chain(found.objects.keys()).collect();
        let differs = |name: &&&String| self.objects.get(**name) != found.objects.get(**name);
        let entities =
            |digest: &StateDigest, name: &str| digest.objects.get(name).map_or(0, |object| object.entities);
        let say = |name: &String| {
            let (before, now) = (entities(self, name), entities(found, name));
            if before == now {
                format!("other entries in `{name}`")
            } else {
                format!("`{name}` had {before} entries and has {now}")
            }
        };
        names.iter().filter(differs).map(|name| say(name)).collect()
    }
}

/// The digest of the entities of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectDigest {
    /// Number of entities.
    pub entities: u64,
    /// BLAKE3 over their canonical encodings, in the order of their keys.
    pub blake3: String,
}

/// Two states side by side.
pub(crate) struct Merge<'s> {
    one: &'s [(EntityKey, v1::Entity)],
    other: &'s [(EntityKey, v1::Entity)],
}

impl<'s> Iterator for Merge<'s> {
    type Item = (Option<&'s v1::Entity>, Option<&'s v1::Entity>);

    fn next(&mut self) -> Option<Self::Item> {
        let order = match (self.one.first(), self.other.first()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((one, _)), Some((other, _))) => one.cmp(other),
        };
        let one = if order == Ordering::Greater { None } else { self.one.split_off_first() };
        let other = if order == Ordering::Less { None } else { self.other.split_off_first() };
        Some((one.map(|(_, entity)| entity), other.map(|(_, entity)| entity)))
    }
}

/// Returns whether an entity only restates the initial state of a switch.
fn is_initial(info: &Info, entity: &v1::Entity) -> bool {
    match entity.entity.as_ref() {
        Some(Entity::TableEntry(entry)) => {
            if entry.is_default_action {
                return entry.action.is_none()
                    || initial_default(info, entry.table_id).as_ref() == Some(entity);
            }
            entry.is_const || info.table_by_id(entry.table_id).is_some_and(|table| table.is_const)
        }
        Some(Entity::ValueSetEntry(entry)) => entry.members.is_empty(),
        Some(Entity::MeterEntry(entry)) => entry.config.is_none(),
        Some(Entity::DirectMeterEntry(entry)) => entry.config.is_none(),
        Some(
            Entity::ActionProfileMember(_)
            | Entity::ActionProfileGroup(_)
            | Entity::PacketReplicationEngineEntry(_)
            | Entity::DigestEntry(_)
            | Entity::CounterEntry(_)
            | Entity::DirectCounterEntry(_)
            | Entity::RegisterEntry(_)
            | Entity::ExternEntry(_),
        )
        | None => false,
    }
}

/// Returns the initial default entry of a table, in the canonical form; `None` if the P4Info does not contain it.
pub(crate) fn initial_default(info: &Info, table_id: u32) -> Option<v1::Entity> {
    let initial = info.table_by_id(table_id)?.initial_default_action.as_ref()?;
    let params = initial
        .arguments
        .iter()
        .map(|argument| v1::action::Param { param_id: argument.param_id, value: argument.value.clone() });
    let call = v1::Action { action_id: initial.action_id, params: params.collect() };
    let action = v1::TableAction { r#type: Some(ActionForm::Action(call)) };
    let entry =
        v1::TableEntry { table_id, is_default_action: true, action: Some(action), ..Default::default() };
    let mut entity = v1::Entity::from(entry);
    canonical::normalise(info, &mut entity);
    Some(entity)
}

/// Returns the name of the object that an entity belongs to.
pub(crate) fn object(info: &Info, entity: &v1::Entity) -> String {
    let named = |name: Option<&str>, kind: &str, id: u32| match name {
        Some(name) => name.to_owned(),
        None => format!("{kind} 0x{id:08x}"),
    };
    let table = |entry: Option<&v1::TableEntry>| {
        let id = entry.map_or(0, |entry| entry.table_id);
        named(info.table_by_id(id).map(|table| table.preamble.name.as_str()), "table", id)
    };
    let profile = |id: u32, part: &str| {
        let name = info.profile_by_id(id).map(|profile| profile.preamble.name.as_str());
        format!("{} {part}", named(name, "action profile", id))
    };
    match entity.entity.as_ref() {
        None => "nothing".to_owned(),
        Some(Entity::TableEntry(entry)) => table(Some(entry)),
        Some(Entity::DirectMeterEntry(entry)) => format!("meters of {}", table(entry.table_entry.as_ref())),
        Some(Entity::DirectCounterEntry(entry)) => {
            format!("counters of {}", table(entry.table_entry.as_ref()))
        }
        Some(Entity::ActionProfileMember(member)) => profile(member.action_profile_id, "members"),
        Some(Entity::ActionProfileGroup(group)) => profile(group.action_profile_id, "groups"),
        Some(Entity::PacketReplicationEngineEntry(entry)) => match &entry.r#type {
            Some(Replication::CloneSessionEntry(_)) => "clone sessions".to_owned(),
            Some(Replication::MulticastGroupEntry(_)) | None => "multicast groups".to_owned(),
        },
        Some(Entity::ValueSetEntry(entry)) => {
            let id = entry.value_set_id;
            named(info.value_set_by_id(id).map(|set| set.preamble.name.as_str()), "value set", id)
        }
        Some(Entity::MeterEntry(entry)) => {
            let id = entry.meter_id;
            named(info.meter_by_id(id).map(|meter| meter.preamble.name.as_str()), "meter", id)
        }
        Some(Entity::CounterEntry(entry)) => {
            let id = entry.counter_id;
            named(info.counter_by_id(id).map(|counter| counter.preamble.name.as_str()), "counter", id)
        }
        Some(Entity::RegisterEntry(entry)) => {
            let id = entry.register_id;
            named(info.register_by_id(id).map(|register| register.preamble.name.as_str()), "register", id)
        }
        Some(Entity::DigestEntry(entry)) => {
            let id = entry.digest_id;
            named(info.digest_by_id(id).map(|digest| digest.preamble.name.as_str()), "digest", id)
        }
        Some(Entity::ExternEntry(entry)) => named(None, "extern", entry.extern_id),
    }
}

/// Shows an entity by names.
pub(crate) fn describe_entity(info: &Info, entity: &v1::Entity) -> String {
    render::entity(info, entity).to_string()
}
