//! Checks counters, meters, registers, value sets, digests and externs.

use super::data::{check_colour_counters, check_config, check_data};
use super::matches::check_key;
use super::{Fault, Violation, at, table};
use crate::info::{Info, LookupError, ObjectKind};
use crate::proto::v1;
use v1::update::Type;

fn require_modify(kind: Type) -> Result<(), Fault> {
    if kind == Type::Modify { Ok(()) } else { Err(Fault::OnlyModify) }
}

fn check_index(index: Option<&v1::Index>, size: u64) -> Result<(), Fault> {
    match index.map(|index| index.index) {
        None => Ok(()),
        Some(index) => match u64::try_from(index) {
            Err(_) => Err(Fault::NegativeIndex { index }),
            Ok(place) if place >= size => Err(Fault::IndexRange { index, size }),
            Ok(_) => Ok(()),
        },
    }
}

pub(crate) fn check_counter(info: &Info, kind: Type, entry: &v1::CounterEntry) -> Result<(), Violation> {
    let counter = info.require_counter(entry.counter_id)?;
    let checked = require_modify(kind).and_then(|()| check_index(entry.index.as_ref(), counter.size));
    checked.map_err(|fault| at(ObjectKind::Counter, &counter.preamble, fault))
}

pub(super) fn check_counter_read(info: &Info, entry: &v1::CounterEntry) -> Result<(), Violation> {
    match entry.counter_id {
        0 => Ok(()),
        _ => check_counter(info, Type::Modify, entry),
    }
}

pub(crate) fn check_meter(info: &Info, kind: Type, entry: &v1::MeterEntry) -> Result<(), Violation> {
    let meter = info.require_meter(entry.meter_id)?;
    let checked = require_modify(kind)
        .and_then(|()| check_index(entry.index.as_ref(), meter.size))
        .and_then(|()| check_config(entry.config.as_ref()))
        .and_then(|()| check_colour_counters(entry.counter_data.as_ref()));
    checked.map_err(|fault| at(ObjectKind::Meter, &meter.preamble, fault))
}

pub(super) fn check_meter_read(info: &Info, entry: &v1::MeterEntry) -> Result<(), Violation> {
    if entry.meter_id == 0 {
        return Ok(());
    }
    let meter = info.require_meter(entry.meter_id)?;
    check_index(entry.index.as_ref(), meter.size)
        .map_err(|fault| at(ObjectKind::Meter, &meter.preamble, fault))
}

pub(super) fn check_direct_counter(
    info: &Info,
    kind: Type,
    entry: &v1::DirectCounterEntry,
) -> Result<(), Violation> {
    require_modify(kind)?;
    let key = entry.table_entry.as_ref().ok_or(Fault::NoEntity)?;
    let owner = info.require_table(key.table_id)?;
    if owner.direct_counter.is_none() {
        return Err(at(ObjectKind::Table, &owner.preamble, Fault::NoDirectCounter));
    }
    table::check_table_key(owner, key)
}

pub(super) fn check_direct_meter(
    info: &Info,
    kind: Type,
    entry: &v1::DirectMeterEntry,
) -> Result<(), Violation> {
    require_modify(kind)?;
    let key = entry.table_entry.as_ref().ok_or(Fault::NoEntity)?;
    let owner = info.require_table(key.table_id)?;
    let err = |fault| at(ObjectKind::Table, &owner.preamble, fault);
    if owner.direct_meter.is_none() {
        return Err(err(Fault::NoDirectMeter));
    }
    check_config(entry.config.as_ref()).map_err(err)?;
    check_colour_counters(entry.counter_data.as_ref()).map_err(err)?;
    table::check_table_key(owner, key)
}

pub(crate) fn check_register(info: &Info, kind: Type, entry: &v1::RegisterEntry) -> Result<(), Violation> {
    let register = info.require_register(entry.register_id)?;
    let checked = require_modify(kind)
        .and_then(|()| check_index(entry.index.as_ref(), register.size))
        .and_then(|()| entry.data.as_ref().ok_or(Fault::NoEntity))
        .and_then(|data| check_data(info.types(), &register.spec, data));
    checked.map_err(|fault| at(ObjectKind::Register, &register.preamble, fault))
}

pub(super) fn check_register_read(info: &Info, entry: &v1::RegisterEntry) -> Result<(), Violation> {
    if entry.register_id == 0 {
        return Ok(());
    }
    let register = info.require_register(entry.register_id)?;
    check_index(entry.index.as_ref(), register.size)
        .map_err(|fault| at(ObjectKind::Register, &register.preamble, fault))
}

pub(crate) fn check_value_set(info: &Info, kind: Type, entry: &v1::ValueSetEntry) -> Result<(), Violation> {
    let set = info.require_value_set(entry.value_set_id)?;
    let err = |fault| at(ObjectKind::ValueSet, &set.preamble, fault);
    require_modify(kind).map_err(err)?;
    if entry.members.len() as u64 > set.size {
        return Err(err(Fault::ValueSetSize { count: entry.members.len(), size: set.size }));
    }
    for (position, member) in entry.members.iter().enumerate() {
        check_key(ObjectKind::ValueSet, &set.preamble.name, &set.fields, &member.r#match)?;
        if entry.members[..position].contains(member) {
            return Err(err(Fault::ValueTwice));
        }
    }
    Ok(())
}

pub(crate) fn check_digest(info: &Info, kind: Type, entry: &v1::DigestEntry) -> Result<(), Violation> {
    let digest = info.require_digest(entry.digest_id)?;
    if kind == Type::Delete {
        return Ok(());
    }
    let config = entry.config.unwrap_or_default();
    let numbers = [
        ("`max_timeout_ns`", config.max_timeout_ns),
        ("`max_list_size`", i64::from(config.max_list_size)),
        ("`ack_timeout_ns`", config.ack_timeout_ns),
    ];
    match numbers.into_iter().find(|(_, value)| *value < 0) {
        Some((what, value)) => {
            Err(at(ObjectKind::Digest, &digest.preamble, Fault::Negative { name: what, value }))
        }
        None => Ok(()),
    }
}

pub(super) fn check_extern(info: &Info, entry: &v1::ExternEntry) -> Result<(), Violation> {
    let (type_id, id) = (entry.extern_type_id, entry.extern_id);
    let instance =
        info.extern_by_id(id).ok_or(LookupError::UnknownId { kind: ObjectKind::Extern, scope: None, id })?;
    if instance.type_id == type_id { Ok(()) } else { Err(Fault::ExternType { type_id, id }.into()) }
}
