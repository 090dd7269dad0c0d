//! Updates that passed every check, with references resolved to objects.
//!
//! In: an update and a P4Info. Out: a [`CheckedUpdate`]: the table, profile or array, the fields of the key, the action
//! in the form that the table uses, and its arguments by position. Invariants: there is one variant per operation, and
//! it contains everything that the operation needs. So the compiler checks that a target handles every case.

use super::{Fault, Violation, check_update};
use crate::info::{
    Action, ActionProfile, Counter, Digest, ExternInstance, Info, LookupError, MatchField, Meter, ObjectKind,
    Register, Table, ValueSet,
};
use crate::proto::v1;
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::table_action;
use v1::update::Type;

/// A change of an entity that can be inserted, modified and deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<T> {
    /// The entity is new.
    Insert(T),
    /// The entity exists.
    Modify(T),
    /// The entity is removed.
    Delete,
}

/// The value that a field of a key is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchOperand<'c> {
    /// The field equals the value.
    Exact(&'c [u8]),
    /// The field equals the value. Such a field may be omitted from the key.
    Optional(&'c [u8]),
    /// The first bits are equal.
    Lpm {
        /// The value.
        value: &'c [u8],
        /// Number of bits.
        prefix: u32,
    },
    /// The bits under a mask are equal.
    Ternary {
        /// The value.
        value: &'c [u8],
        /// The mask.
        mask: &'c [u8],
    },
    /// The field is between two values.
    Range {
        /// The first.
        low: &'c [u8],
        /// The last.
        high: &'c [u8],
    },
}

/// A field of a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyPart<'c> {
    /// The position among the fields of the table or value set.
    pub place: usize,
    /// The field.
    pub field: &'c MatchField,
    /// The value.
    pub value: MatchOperand<'c>,
}

/// A call of an action.
#[derive(Debug, Clone)]
pub struct Call<'c> {
    /// The action.
    pub action: &'c Action,
    /// Positions of the parameters, and their values.
    pub arguments: Vec<(usize, &'c [u8])>,
}

/// One action of a set.
#[derive(Debug, Clone)]
pub struct SetPart<'c> {
    /// The call.
    pub call: Call<'c>,
    /// Its weight.
    pub weight: i32,
    /// The port that must be up for this action to be used.
    pub watch: Option<&'c v1::action_profile_action::WatchKind>,
}

/// The action of an entry, in the form that its table uses.
#[derive(Debug, Clone)]
pub enum Form<'c> {
    /// A call.
    Call(Call<'c>),
    /// A member of the profile.
    Member(u32),
    /// A group of the profile.
    Group(u32),
    /// A set of actions that belongs to the entry.
    Set(&'c v1::ActionProfileActionSet, Vec<SetPart<'c>>),
}

/// An entry of a table: its key, and the message with everything else.
#[derive(Debug, Clone)]
pub struct EntryPlace<'c> {
    /// The table.
    pub table: &'c Table,
    /// The fields that are given.
    pub key: Vec<KeyPart<'c>>,
    /// The message.
    pub entry: &'c v1::TableEntry,
}

impl<'c> EntryPlace<'c> {
    /// Resolves the key of an entry.
    pub fn of(table: &'c Table, entry: &'c v1::TableEntry) -> Result<Self, Violation> {
        Ok(EntryPlace { table, key: key(table.fields(), &entry.r#match)?, entry })
    }
}

/// The default entry of a table, or one with a key.
#[derive(Debug, Clone)]
pub enum DirectPlace<'c> {
    /// The default entry.
    Default(&'c Table),
    /// An entry with a key.
    Entry(EntryPlace<'c>),
}

/// An update that complies with every rule.
#[derive(Debug, Clone)]
pub enum CheckedUpdate<'c> {
    /// An entry that is inserted.
    InsertEntry(EntryPlace<'c>, Form<'c>),
    /// An entry that is changed; without an action it keeps its current one.
    ModifyEntry(EntryPlace<'c>, Option<Form<'c>>),
    /// An entry that is deleted.
    DeleteEntry(EntryPlace<'c>),
    /// A default entry that is changed; without an action it is reset to the default of the program.
    DefaultEntry(&'c Table, &'c v1::TableEntry, Option<Call<'c>>),
    /// A member.
    Member(&'c ActionProfile, u32, Change<Call<'c>>),
    /// A group.
    Group(&'c ActionProfile, u32, Change<&'c v1::ActionProfileGroup>),
    /// Counters of an array: one or all. Without data they keep their values.
    Counter(&'c Counter, Option<u32>, Option<v1::CounterData>),
    /// Meters of an array: one or all.
    Meter(&'c Meter, Option<u32>, &'c v1::MeterEntry),
    /// Registers of an array: one or all.
    Register(&'c Register, Option<u32>, &'c v1::P4Data),
    /// The counter of an entry. Without data it keeps its value.
    DirectCounter(DirectPlace<'c>, Option<v1::CounterData>),
    /// The meter of an entry.
    DirectMeter(DirectPlace<'c>, &'c v1::DirectMeterEntry),
    /// A multicast group.
    Multicast(u32, Change<&'c v1::MulticastGroupEntry>),
    /// A clone session.
    Session(u32, Change<&'c v1::CloneSessionEntry>),
    /// The members of a value set.
    ValueSet(&'c ValueSet, Vec<Vec<KeyPart<'c>>>),
    /// The configuration of a digest.
    Digest(&'c Digest, Change<v1::digest_entry::Config>),
    /// An extern that is specific to the architecture.
    Extern(&'c ExternInstance),
}

/// Checks an update as a target does before it consults its state, and resolves it.
pub fn update<'c>(info: &'c Info, update: &'c v1::Update) -> Result<CheckedUpdate<'c>, Violation> {
    check_update(info, update)?;
    resolve(info, update)
}

/// Resolves an update whose text was translated to numbers after it was checked. A required part that is missing is a
/// violation here too.
pub fn resolve<'c>(info: &'c Info, update: &'c v1::Update) -> Result<CheckedUpdate<'c>, Violation> {
    let kind = match update.r#type() {
        Type::Unspecified => return Err(Fault::NoUpdateType.into()),
        Type::Insert => Change::Insert(()),
        Type::Modify => Change::Modify(()),
        Type::Delete => Change::Delete,
    };
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    let resolver = Resolver { info };
    match entity.ok_or(Fault::NoEntity)? {
        Entity::TableEntry(entry) => resolver.entry(kind, entry),
        Entity::ActionProfileMember(member) => resolver.member(kind, member),
        Entity::ActionProfileGroup(group) => {
            let profile = info.require_profile(group.action_profile_id)?;
            Ok(CheckedUpdate::Group(profile, group.group_id, kind.with(|| Ok(group))?))
        }
        Entity::CounterEntry(entry) => {
            let counter = info.require_counter(entry.counter_id)?;
            Ok(CheckedUpdate::Counter(counter, index(entry.index, counter.size)?, entry.data))
        }
        Entity::MeterEntry(entry) => {
            let meter = info.require_meter(entry.meter_id)?;
            Ok(CheckedUpdate::Meter(meter, index(entry.index, meter.size)?, entry))
        }
        Entity::RegisterEntry(entry) => {
            let register = info.require_register(entry.register_id)?;
            let data = entry.data.as_ref().ok_or(Fault::NoEntity)?;
            Ok(CheckedUpdate::Register(register, index(entry.index, register.size)?, data))
        }
        Entity::DirectCounterEntry(given) => {
            Ok(CheckedUpdate::DirectCounter(resolver.direct(given.table_entry.as_ref())?, given.data))
        }
        Entity::DirectMeterEntry(given) => {
            Ok(CheckedUpdate::DirectMeter(resolver.direct(given.table_entry.as_ref())?, given))
        }
        Entity::PacketReplicationEngineEntry(entry) => match entry.r#type.as_ref().ok_or(Fault::NoEntity)? {
            Replication::MulticastGroupEntry(group) => {
                Ok(CheckedUpdate::Multicast(group.multicast_group_id, kind.with(|| Ok(group))?))
            }
            Replication::CloneSessionEntry(session) => {
                Ok(CheckedUpdate::Session(session.session_id, kind.with(|| Ok(session))?))
            }
        },
        Entity::ValueSetEntry(entry) => {
            let set = info.require_value_set(entry.value_set_id)?;
            let members = entry.members.iter().map(|member| key(&set.fields, &member.r#match));
            Ok(CheckedUpdate::ValueSet(set, members.collect::<Result<_, _>>()?))
        }
        Entity::DigestEntry(entry) => {
            let digest = info.require_digest(entry.digest_id)?;
            Ok(CheckedUpdate::Digest(digest, kind.with(|| Ok(entry.config.unwrap_or_default()))?))
        }
        Entity::ExternEntry(entry) => Ok(CheckedUpdate::Extern(info.require_extern(entry.extern_id)?)),
    }
}

impl Change<()> {
    /// Adds a value to an insert or modify. A delete has no value.
    fn with<T>(self, value: impl FnOnce() -> Result<T, Violation>) -> Result<Change<T>, Violation> {
        Ok(match self {
            Change::Insert(()) => Change::Insert(value()?),
            Change::Modify(()) => Change::Modify(value()?),
            Change::Delete => Change::Delete,
        })
    }
}

struct Resolver<'c> {
    info: &'c Info,
}

impl<'c> Resolver<'c> {
    fn entry(&self, kind: Change<()>, entry: &'c v1::TableEntry) -> Result<CheckedUpdate<'c>, Violation> {
        let table = self.info.require_table(entry.table_id)?.as_ref();
        let given = entry.action.as_ref();
        if entry.is_default_action {
            let call = match given.map(|action| self.form(action)).transpose()? {
                Some(Form::Call(call)) => Some(call),
                None => None,
                Some(Form::Member(_) | Form::Group(_) | Form::Set(..)) => {
                    return Err(Fault::ConstDefault.into());
                }
            };
            return match kind {
                Change::Modify(()) => Ok(CheckedUpdate::DefaultEntry(table, entry, call)),
                Change::Insert(()) | Change::Delete => Err(Fault::DefaultOnlyModify.into()),
            };
        }
        let place = EntryPlace::of(table, entry)?;
        match kind {
            Change::Insert(()) => {
                let form = self.form(given.ok_or(Fault::NoAction)?)?;
                Ok(CheckedUpdate::InsertEntry(place, form))
            }
            Change::Modify(()) => {
                let form = given.map(|action| self.form(action)).transpose()?;
                Ok(CheckedUpdate::ModifyEntry(place, form))
            }
            Change::Delete => Ok(CheckedUpdate::DeleteEntry(place)),
        }
    }

    fn direct(&self, entry: Option<&'c v1::TableEntry>) -> Result<DirectPlace<'c>, Violation> {
        let entry = entry.ok_or(Fault::NoEntity)?;
        let table = self.info.require_table(entry.table_id)?.as_ref();
        if entry.is_default_action {
            return Ok(DirectPlace::Default(table));
        }
        Ok(DirectPlace::Entry(EntryPlace::of(table, entry)?))
    }

    fn member(
        &self,
        kind: Change<()>,
        member: &'c v1::ActionProfileMember,
    ) -> Result<CheckedUpdate<'c>, Violation> {
        let profile = self.info.require_profile(member.action_profile_id)?;
        let call = || self.call(member.action.as_ref().ok_or(Fault::NoAction)?);
        Ok(CheckedUpdate::Member(profile, member.member_id, kind.with(call)?))
    }

    fn form(&self, action: &'c v1::TableAction) -> Result<Form<'c>, Violation> {
        Ok(match action.r#type.as_ref().ok_or(Fault::NoAction)? {
            table_action::Type::Action(call) => Form::Call(self.call(call)?),
            table_action::Type::ActionProfileMemberId(id) => Form::Member(*id),
            table_action::Type::ActionProfileGroupId(id) => Form::Group(*id),
            table_action::Type::ActionProfileActionSet(set) => {
                let part = |part: &'c v1::ActionProfileAction| {
                    let call = self.call(part.action.as_ref().ok_or(Fault::NoAction)?)?;
                    let watch = part.watch_kind.as_ref();
                    Ok::<_, Violation>(SetPart { call, weight: part.weight, watch })
                };
                let parts = set.action_profile_actions.iter().map(part);
                Form::Set(set, parts.collect::<Result<_, _>>()?)
            }
        })
    }

    fn call(&self, call: &'c v1::Action) -> Result<Call<'c>, Violation> {
        let action = self.info.require_action(call.action_id)?.as_ref();
        let argument = |given: &'c v1::action::Param| {
            let found = action.param_by_id(given.param_id);
            let unknown = || LookupError::UnknownId {
                kind: ObjectKind::Param,
                scope: Some(action.preamble.name.clone()),
                id: given.param_id,
            };
            let (place, _) = found.ok_or_else(unknown)?;
            Ok::<_, LookupError>((place, given.value.as_slice()))
        };
        let arguments = call.params.iter().map(argument).collect::<Result<_, _>>()?;
        Ok(Call { action, arguments })
    }
}

fn key<'c>(fields: &'c [MatchField], given: &'c [v1::FieldMatch]) -> Result<Vec<KeyPart<'c>>, Violation> {
    let part = |given: &'c v1::FieldMatch| {
        let found = fields.iter().enumerate().find(|(_, field)| field.id == given.field_id);
        let unknown =
            || LookupError::UnknownId { kind: ObjectKind::MatchField, scope: None, id: given.field_id };
        let (place, field) = found.ok_or_else(unknown)?;
        let wrong = |given| Fault::WrongMatch { actual: given, expected: field.kind.to_string() };
        let value = match given.field_match_type.as_ref() {
            Some(FieldMatchType::Exact(exact)) => MatchOperand::Exact(&exact.value),
            Some(FieldMatchType::Optional(optional)) => MatchOperand::Optional(&optional.value),
            Some(FieldMatchType::Lpm(lpm)) => {
                MatchOperand::Lpm { value: &lpm.value, prefix: lpm.prefix_len.unsigned_abs() }
            }
            Some(FieldMatchType::Ternary(ternary)) => {
                MatchOperand::Ternary { value: &ternary.value, mask: &ternary.mask }
            }
            Some(FieldMatchType::Range(range)) => MatchOperand::Range { low: &range.low, high: &range.high },
            Some(FieldMatchType::Other(_)) => return Err(wrong("other").into()),
            None => return Err(wrong("nothing").into()),
        };
        Ok::<_, Violation>(KeyPart { place, field, value })
    };
    given.iter().map(part).collect()
}

fn index(index: Option<v1::Index>, size: u64) -> Result<Option<u32>, Violation> {
    let Some(v1::Index { index }) = index else { return Ok(None) };
    Ok(Some(u32::try_from(index).map_err(|_| Fault::IndexRange { index, size })?))
}
