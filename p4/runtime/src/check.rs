//! Checks entities and updates against a P4Info. A broken rule is returned as a [`Violation`] with its place and the
//! canonical code.
//!
//! The builder runs these checks before a message is sent, the server before a message is applied. They ignore state:
//! only a target can check whether an entry, or a member that it names, exists.

mod action;
mod data;
mod fault;
mod matches;
mod profile;
mod replication;
mod resource;
mod table;
mod update;

pub(crate) use action::check_action;
pub(crate) use data::check_data;
pub use fault::{Fault, Place, Violation};
pub(crate) use profile::{check_group, check_member};
pub(crate) use replication::check as check_replication;
pub(crate) use resource::{check_counter, check_digest, check_meter, check_register, check_value_set};
pub(crate) use table::{check_table_entry, check_table_key};
pub use update::{
    Call, Change, CheckedUpdate, DirectPlace, EntryPlace, Form, KeyPart, MatchOperand, SetPart, resolve,
    update,
};

use crate::info::{Info, ObjectKind, Preamble};
use crate::proto::v1;
use v1::update::Type;

/// Checks one update as a target does before it consults its state.
pub fn check_update(info: &Info, update: &v1::Update) -> Result<(), Violation> {
    let entity = update.entity.as_ref().ok_or(Fault::NoEntity)?;
    let kind = match update.r#type() {
        Type::Unspecified => return Err(Fault::NoUpdateType.into()),
        kind @ (Type::Insert | Type::Modify | Type::Delete) => kind,
    };
    check_entity(info, kind, entity)
}

/// Checks the entity of an insert, modify or delete.
pub(crate) fn check_entity(info: &Info, kind: Type, entity: &v1::Entity) -> Result<(), Violation> {
    use v1::entity::Entity;
    match entity.entity.as_ref().ok_or(Fault::NoEntity)? {
        Entity::TableEntry(entry) => table::check(info, kind, entry),
        Entity::ActionProfileMember(member) => profile::check_member(info, kind, member),
        Entity::ActionProfileGroup(group) => profile::check_group(info, kind, group),
        Entity::MeterEntry(entry) => resource::check_meter(info, kind, entry),
        Entity::DirectMeterEntry(entry) => resource::check_direct_meter(info, kind, entry),
        Entity::CounterEntry(entry) => resource::check_counter(info, kind, entry),
        Entity::DirectCounterEntry(entry) => resource::check_direct_counter(info, kind, entry),
        Entity::RegisterEntry(entry) => resource::check_register(info, kind, entry),
        Entity::PacketReplicationEngineEntry(entry) => {
            replication::check(info.text_ports().is_some(), kind, entry)
        }
        Entity::ValueSetEntry(entry) => resource::check_value_set(info, kind, entry),
        Entity::DigestEntry(entry) => resource::check_digest(info, kind, entry),
        Entity::ExternEntry(entry) => resource::check_extern(info, entry),
    }
}

/// Checks an entity of a read request: each id that is set must be known, and a key that is given must be valid.
pub fn check_read(info: &Info, entity: &v1::Entity) -> Result<(), Violation> {
    use v1::entity::Entity;
    let known = |id: u32, found: Result<(), crate::info::LookupError>| match id {
        0 => Ok(()),
        _ => found.map_err(Violation::from),
    };
    match entity.entity.as_ref().ok_or(Fault::NoEntity)? {
        Entity::TableEntry(entry) => table::check_read(info, entry),
        Entity::ActionProfileMember(member) => {
            let id = member.action_profile_id;
            known(id, info.require_profile(id).map(drop))
        }
        Entity::ActionProfileGroup(group) => {
            let id = group.action_profile_id;
            known(id, info.require_profile(id).map(drop))
        }
        Entity::MeterEntry(entry) => resource::check_meter_read(info, entry),
        Entity::CounterEntry(entry) => resource::check_counter_read(info, entry),
        Entity::RegisterEntry(entry) => resource::check_register_read(info, entry),
        Entity::DirectMeterEntry(entry) => {
            entry.table_entry.as_ref().map_or(Ok(()), |entry| table::check_read(info, entry))
        }
        Entity::DirectCounterEntry(entry) => {
            entry.table_entry.as_ref().map_or(Ok(()), |entry| table::check_read(info, entry))
        }
        Entity::PacketReplicationEngineEntry(entry) => match entry.r#type {
            Some(_) => Ok(()),
            None => Err(Fault::NoEntity.into()),
        },
        Entity::ValueSetEntry(entry) => {
            known(entry.value_set_id, info.require_value_set(entry.value_set_id).map(drop))
        }
        Entity::DigestEntry(entry) => known(entry.digest_id, info.require_digest(entry.digest_id).map(drop)),
        Entity::ExternEntry(entry) => known(entry.extern_id, info.require_extern(entry.extern_id).map(drop)),
    }
}

/// Adds the name of an object to a fault.
fn at(kind: ObjectKind, preamble: &Preamble, fault: impl Into<Fault>) -> Violation {
    let place = Place { kind, name: preamble.name.clone(), part: None };
    Violation { place: Some(Box::new(place)), fault: fault.into() }
}

/// Adds the names of an object and of one of its parts to a fault.
fn part_violation(
    kind: ObjectKind,
    name: &str,
    part: ObjectKind,
    part_name: &str,
    fault: impl Into<Fault>,
) -> Violation {
    let part = Some((part, part_name.to_owned()));
    let place = Place { kind, name: name.to_owned(), part };
    Violation { place: Some(Box::new(place)), fault: fault.into() }
}
