//! The entities of a fake target.

use std::collections::BTreeMap;

use tonic::Code;

use crate::check::check_update;
use crate::info::Info;
use crate::key::EntityKey;
use crate::proto::v1;
use crate::status::Outcome;
use v1::entity::Entity;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::table_action::Type as ActionForm;
use v1::update::Type;

/// Entities by their identity.
#[derive(Debug, Clone, Default)]
pub(super) struct Store {
    entities: BTreeMap<EntityKey, v1::Entity>,
}

/// Optional rules that a store enforces.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rules {
    pub(super) table_limit: Option<usize>,
    pub(super) check_references: bool,
}

impl Store {
    pub(super) fn entities(&self) -> impl Iterator<Item = &v1::Entity> {
        self.entities.values()
    }

    /// Adds an entity without checks.
    pub(super) fn plant(&mut self, entity: v1::Entity) {
        if let Some(key) = EntityKey::of(&entity) {
            self.entities.insert(key, entity);
        }
    }

    /// Applies one update, unless it is rejected. Returns its outcome.
    pub(super) fn apply(&mut self, info: &Info, update: &v1::Update, rules: Rules) -> Outcome {
        if let Err(violation) = check_update(info, update) {
            return Outcome::failure(violation.code(), violation.to_string());
        }
        let entity = update.entity.as_ref().expect("checked");
        let key = EntityKey::of(entity).expect("checked");
        let there = self.entities.contains_key(&key);
        if rules.check_references
            && let Err(outcome) = self.check_references(entity, update.r#type())
        {
            return outcome;
        }
        match update.r#type() {
            Type::Insert if there => Outcome::failure(Code::AlreadyExists, "the entity exists"),
            Type::Insert if self.is_full(entity, rules.table_limit) => {
                Outcome::failure(Code::ResourceExhausted, "the table is full")
            }
            Type::Modify | Type::Delete if !there && !is_always_there(entity) => {
                Outcome::failure(Code::NotFound, "the entity does not exist")
            }
            Type::Delete => {
                self.entities.remove(&key);
                Outcome::ok()
            }
            Type::Insert | Type::Modify | Type::Unspecified => {
                self.entities.insert(key, entity.clone());
                Outcome::ok()
            }
        }
    }

    /// Returns the entities that match a read request.
    pub(super) fn read(&self, wanted: &v1::Entity) -> Vec<v1::Entity> {
        self.entities.values().filter(|entity| matches(wanted, entity)).cloned().collect()
    }

    fn is_full(&self, entity: &v1::Entity, limit: Option<usize>) -> bool {
        let (Some(limit), Some(Entity::TableEntry(entry))) = (limit, &entity.entity) else { return false };
        let all = v1::TableEntry { table_id: entry.table_id, ..Default::default() };
        self.read(&all.into()).len() >= limit
    }

    fn check_references(&self, entity: &v1::Entity, kind: Type) -> Result<(), Outcome> {
        let missing = |what: &str| Err(Outcome::failure(Code::NotFound, format!("{what} does not exist")));
        let used = |what: &str| Err(Outcome::failure(Code::FailedPrecondition, format!("{what} is in use")));
        match (entity.entity.as_ref(), kind) {
            (Some(Entity::ActionProfileGroup(group)), Type::Delete) => {
                if self.uses_of(ActionForm::ActionProfileGroupId(group.group_id)) {
                    used("the group")
                } else {
                    Ok(())
                }
            }
            (Some(Entity::ActionProfileMember(member)), Type::Delete) => {
                let in_group = self.groups().any(|group| {
                    group.action_profile_id == member.action_profile_id
                        && group.members.iter().any(|other| other.member_id == member.member_id)
                });
                let in_entry = self.uses_of(ActionForm::ActionProfileMemberId(member.member_id));
                if in_group || in_entry { used("the member") } else { Ok(()) }
            }
            (Some(Entity::ActionProfileGroup(group)), _) => {
                let profile = group.action_profile_id;
                let known = |id| {
                    self.has(
                        &v1::ActionProfileMember { action_profile_id: profile, member_id: id, action: None }
                            .into(),
                    )
                };
                if group.members.iter().all(|member| known(member.member_id)) {
                    Ok(())
                } else {
                    missing("a member")
                }
            }
            (Some(Entity::TableEntry(entry)), Type::Insert | Type::Modify) => {
                match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
                    Some(ActionForm::ActionProfileGroupId(id)) => {
                        if self.groups().any(|group| group.group_id == *id) {
                            Ok(())
                        } else {
                            missing("the group")
                        }
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn has(&self, entity: &v1::Entity) -> bool {
        EntityKey::of(entity).is_some_and(|key| self.entities.contains_key(&key))
    }

    fn groups(&self) -> impl Iterator<Item = &v1::ActionProfileGroup> {
        self.entities().filter_map(|entity| match &entity.entity {
            Some(Entity::ActionProfileGroup(group)) => Some(group),
            _ => None,
        })
    }

    fn uses_of(&self, form: ActionForm) -> bool {
        let action = Some(v1::TableAction { r#type: Some(form) });
        self.entities().any(|entity| match &entity.entity {
            Some(Entity::TableEntry(entry)) => entry.action == action,
            _ => false,
        })
    }
}

/// Returns whether an entity always exists, so that it is never inserted.
fn is_always_there(entity: &v1::Entity) -> bool {
    match &entity.entity {
        Some(Entity::TableEntry(entry)) => entry.is_default_action,
        Some(
            Entity::MeterEntry(_)
            | Entity::CounterEntry(_)
            | Entity::RegisterEntry(_)
            | Entity::ValueSetEntry(_)
            | Entity::DirectCounterEntry(_)
            | Entity::DirectMeterEntry(_),
        ) => true,
        _ => false,
    }
}

/// Returns whether a read request matches an entity.
fn matches(wanted: &v1::Entity, entity: &v1::Entity) -> bool {
    let id = |wanted: u32, id: u32| wanted == 0 || wanted == id;
    match (wanted.entity.as_ref(), entity.entity.as_ref()) {
        (Some(Entity::TableEntry(wanted)), Some(Entity::TableEntry(entry))) => {
            id(wanted.table_id, entry.table_id)
                && wanted.is_default_action == entry.is_default_action
                && (wanted.r#match.is_empty()
                    || EntityKey::of_table_entry(wanted) == EntityKey::of_table_entry(entry))
        }
        (Some(Entity::ActionProfileMember(wanted)), Some(Entity::ActionProfileMember(member))) => {
            id(wanted.action_profile_id, member.action_profile_id) && id(wanted.member_id, member.member_id)
        }
        (Some(Entity::ActionProfileGroup(wanted)), Some(Entity::ActionProfileGroup(group))) => {
            id(wanted.action_profile_id, group.action_profile_id) && id(wanted.group_id, group.group_id)
        }
        (
            Some(Entity::PacketReplicationEngineEntry(wanted)),
            Some(Entity::PacketReplicationEngineEntry(entry)),
        ) => match (wanted.r#type.as_ref(), entry.r#type.as_ref()) {
            (
                Some(Replication::MulticastGroupEntry(wanted)),
                Some(Replication::MulticastGroupEntry(group)),
            ) => id(wanted.multicast_group_id, group.multicast_group_id),
            (Some(Replication::CloneSessionEntry(wanted)), Some(Replication::CloneSessionEntry(session))) => {
                id(wanted.session_id, session.session_id)
            }
            _ => false,
        },
        (Some(Entity::ValueSetEntry(wanted)), Some(Entity::ValueSetEntry(entry))) => {
            id(wanted.value_set_id, entry.value_set_id)
        }
        (Some(Entity::DigestEntry(wanted)), Some(Entity::DigestEntry(entry))) => {
            id(wanted.digest_id, entry.digest_id)
        }
        (Some(Entity::MeterEntry(wanted)), Some(Entity::MeterEntry(entry))) => {
            id(wanted.meter_id, entry.meter_id)
        }
        (Some(Entity::CounterEntry(wanted)), Some(Entity::CounterEntry(entry))) => {
            id(wanted.counter_id, entry.counter_id)
        }
        (Some(Entity::RegisterEntry(wanted)), Some(Entity::RegisterEntry(entry))) => {
            id(wanted.register_id, entry.register_id)
        }
        _ => false,
    }
}
