//! Converts entities between names, which controllers use, and numbers of the data plane.

use std::sync::Arc;

use closc_runtime::check;
use closc_runtime::info::{Info, MatchField};
use closc_runtime::proto::v1;
use v1::action_profile_action::WatchKind;
use v1::action_profile_group::member::WatchKind as GroupWatch;
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::replica::PortKind;
use v1::table_action;
use v1::update::Type;

use super::names::{Names, Use, number};
use super::page::Page;
use super::undo::Undo;
use super::{Fault, Spot, Store};

/// Called for each value of a type that is translated from text; may replace the value.
type ValueTranslator<'s> = dyn FnMut(&Arc<str>, &mut Vec<u8>) -> Result<(), Fault> + 's;

/// Visits every value of an entity that is translated from text.
struct Walk<'w> {
    info: &'w Info,
    ports: Option<Arc<str>>,
}

impl<'w> Walk<'w> {
    fn new(info: &'w Info) -> Self {
        Walk { info, ports: info.text_ports().map(Into::into) }
    }

    fn entity(&self, entity: &mut v1::Entity, see: &mut ValueTranslator) -> Result<(), Fault> {
        match &mut entity.entity {
            Some(Entity::TableEntry(entry)) => self.entry(entry, see),
            Some(Entity::ActionProfileMember(member)) => {
                member.action.as_mut().map_or(Ok(()), |call| self.call(call, see))
            }
            Some(Entity::ActionProfileGroup(group)) => group.members.iter_mut().try_for_each(|member| {
                if let Some(GroupWatch::WatchPort(port)) = &mut member.watch_kind {
                    return self.port(port, see);
                }
                Ok(())
            }),
            Some(Entity::DirectCounterEntry(direct)) => {
                direct.table_entry.as_mut().map_or(Ok(()), |entry| self.entry(entry, see))
            }
            Some(Entity::DirectMeterEntry(direct)) => {
                direct.table_entry.as_mut().map_or(Ok(()), |entry| self.entry(entry, see))
            }
            Some(Entity::PacketReplicationEngineEntry(entry)) => match &mut entry.r#type {
                Some(Replication::MulticastGroupEntry(group)) => self.replicas(&mut group.replicas, see),
                Some(Replication::CloneSessionEntry(session)) => self.replicas(&mut session.replicas, see),
                // Neither reads nor validated updates contain such an entity.
                None => Ok(()),
            },
            Some(Entity::ValueSetEntry(entry)) => {
                let set = self.info.value_set_by_id(entry.value_set_id);
                let fields = set.map_or(&[][..], |set| &set.fields);
                entry.members.iter_mut().try_for_each(|member| key(fields, &mut member.r#match, see))
            }
            Some(
                Entity::ExternEntry(_)
                | Entity::MeterEntry(_)
                | Entity::CounterEntry(_)
                | Entity::RegisterEntry(_)
                | Entity::DigestEntry(_),
            )
            | None => Ok(()),
        }
    }

    /// Visits the keys of a read request; other fields do not matter.
    fn request(&self, request: &mut v1::Entity, see: &mut ValueTranslator) -> Result<(), Fault> {
        let entry = match &mut request.entity {
            Some(Entity::TableEntry(entry)) => Some(entry),
            Some(Entity::DirectCounterEntry(direct)) => direct.table_entry.as_mut(),
            Some(Entity::DirectMeterEntry(direct)) => direct.table_entry.as_mut(),
            Some(_) | None => None,
        };
        let Some(entry) = entry else { return Ok(()) };
        match self.info.table_by_id(entry.table_id) {
            Some(table) => key(table.fields(), &mut entry.r#match, see),
            None => Ok(()),
        }
    }

    fn entry(&self, entry: &mut v1::TableEntry, see: &mut ValueTranslator) -> Result<(), Fault> {
        if let Some(table) = self.info.table_by_id(entry.table_id) {
            key(table.fields(), &mut entry.r#match, see)?;
        }
        match entry.action.as_mut().and_then(|action| action.r#type.as_mut()) {
            Some(table_action::Type::Action(call)) => self.call(call, see),
            Some(table_action::Type::ActionProfileActionSet(set)) => {
                for one in &mut set.action_profile_actions {
                    if let Some(call) = &mut one.action {
                        self.call(call, see)?;
                    }
                    if let Some(WatchKind::WatchPort(port)) = &mut one.watch_kind {
                        self.port(port, see)?;
                    }
                }
                Ok(())
            }
            Some(
                table_action::Type::ActionProfileMemberId(_) | table_action::Type::ActionProfileGroupId(_),
            )
            | None => Ok(()),
        }
    }

    fn call(&self, call: &mut v1::Action, see: &mut ValueTranslator) -> Result<(), Fault> {
        let action = self.info.require_action(call.action_id).map_err(check::Violation::from)?;
        for argument in &mut call.params {
            let text = action.param_by_id(argument.param_id).and_then(|(_, param)| param.text.as_ref());
            if let Some(of) = text {
                see(of, &mut argument.value)?;
            }
        }
        Ok(())
    }

    fn port(&self, port: &mut Vec<u8>, see: &mut ValueTranslator) -> Result<(), Fault> {
        self.ports.as_ref().map_or(Ok(()), |of| see(of, port))
    }

    fn replicas(&self, replicas: &mut [v1::Replica], see: &mut ValueTranslator) -> Result<(), Fault> {
        for replica in replicas {
            if let Some(PortKind::Port(port)) = &mut replica.port_kind {
                self.port(port, see)?;
            }
            for backup in &mut replica.backup_replicas {
                self.port(&mut backup.port, see)?;
            }
        }
        Ok(())
    }
}

/// Visits the fields of a key. Only exact and optional ones can be text.
fn key(fields: &[MatchField], found: &mut [v1::FieldMatch], see: &mut ValueTranslator) -> Result<(), Fault> {
    for value in found {
        let field = fields.iter().find(|field| field.id == value.field_id);
        let Some(of) = field.and_then(|field| field.text.as_ref()) else { continue };
        match &mut value.field_match_type {
            Some(FieldMatchType::Exact(exact)) => see(of, &mut exact.value)?,
            Some(FieldMatchType::Optional(optional)) => see(of, &mut optional.value)?,
            Some(
                FieldMatchType::Lpm(_)
                | FieldMatchType::Ternary(_)
                | FieldMatchType::Range(_)
                | FieldMatchType::Other(_),
            )
            | None => {}
        }
    }
    Ok(())
}

impl Store {
    /// Reserves the numbers in entries of the program.
    pub(super) fn reserve_numbers(&mut self) {
        let Some(mut names) = self.names.take() else { return };
        for is_default_action in [false, true] {
            let all = v1::TableEntry { is_default_action, ..v1::TableEntry::default() };
            for used in self.uses(&super::entity(Entity::TableEntry(all))) {
                names.reserve(used);
            }
        }
        self.names = Some(names);
    }

    /// Returns the numbers used by the entities of a request. A request with a key covers only the entry with
    /// that key.
    fn uses(&self, request: &v1::Entity) -> Vec<Use> {
        let found = match &request.entity {
            Some(Entity::TableEntry(entry)) if entry.table_id != 0 && !entry.is_default_action => self
                .find_entry(entry)
                .map(|entry| super::entity(Entity::TableEntry(entry)))
                .into_iter()
                .collect(),
            _ => {
                let mut page = Page::new(Spot::default(), usize::MAX);
                match self.read_numbers(0, request, &mut page) {
                    Ok(()) => page.finish().0,
                    Err(_) => Vec::new(),
                }
            }
        };
        let walk = Walk::new(self.pipeline.info());
        let mut uses = Vec::new();
        for mut entity in found {
            // Visiting cannot fail.
            let _ = walk.entity(&mut entity, &mut |of, value| {
                let number = closc_runtime::value::Width::Bits(32).decode(value);
                uses.extend(number.ok().map(|number| (Arc::clone(of), number as u32)));
                Ok(())
            });
        }
        uses
    }

    /// Applies an update that contains names.
    pub(super) fn write_named(&mut self, now_ns: u64, update: &v1::Update) -> Result<(), Fault> {
        let result = self.write_translated(now_ns, update);
        self.settle_names();
        result
    }

    fn write_translated(&mut self, now_ns: u64, update: &v1::Update) -> Result<(), Fault> {
        let pipeline = Arc::clone(&self.pipeline);
        let kind = update.r#type();
        let mut update = update.clone();
        if let (Some(entity), Some(names)) = (&mut update.entity, &mut self.names) {
            Walk::new(pipeline.info()).entity(entity, &mut |of, value| {
                let found = match kind {
                    // An unknown name gets a number, so that the table reports the missing entry.
                    Type::Delete => names.find(of, value).map_or_else(|| names.assign(of, value), Ok),
                    Type::Insert | Type::Modify | Type::Unspecified => names.assign(of, value),
                };
                *value = number(found?);
                Ok(())
            })?;
        }
        let checked = check::resolve(pipeline.info(), &update)?;
        let Some(place) = update.entity.as_ref().and_then(place_of) else {
            return self.apply(now_ns, &checked);
        };
        let before = if kind == Type::Insert { Vec::new() } else { self.uses(&place) };
        self.apply(now_ns, &checked)?;
        let after = if kind == Type::Delete { Vec::new() } else { self.uses(&place) };
        if let Some(names) = &mut self.names {
            names.hold(&after);
            names.release(&before);
        }
        self.remember(|| Undo::Names { held: after, released: before });
        Ok(())
    }

    /// Removes unused names, unless the batch may still be rolled back.
    pub(super) fn settle_names(&mut self) {
        if let (Some(names), None) = (&mut self.names, &self.undo) {
            names.settle();
        }
    }

    /// Reads the entities of a request that contains names.
    pub(super) fn read_named(
        &self,
        names: &Names,
        now_ns: u64,
        request: &v1::Entity,
        out: &mut Page,
    ) -> Result<(), Fault> {
        let walk = Walk::new(self.pipeline.info());
        let mut request = request.clone();
        let mut known = true;
        walk.request(&mut request, &mut |of, value| {
            match names.find(of, value) {
                Some(found) => *value = number(found),
                None => known = false,
            }
            Ok(())
        })?;
        // An entity never uses a name without a number.
        if !known {
            return Ok(());
        }
        self.read_numbers(now_ns, &request, out)?;
        out.translate(|entity| {
            // Converting to names cannot fail.
            let _ = walk.entity(entity, &mut |of, value| {
                *value = names.name(of, value);
                Ok(())
            });
        });
        Ok(())
    }

    /// Converts numbers of a reported entry to names.
    pub(super) fn name_entry(&self, entry: &mut v1::TableEntry) {
        if let Some(names) = &self.names {
            let _ = Walk::new(self.pipeline.info()).entry(entry, &mut |of, value| {
                *value = names.name(of, value);
                Ok(())
            });
        }
    }

    /// Returns the name of a number of a type, for a packet-in.
    pub(crate) fn name_of(&self, of: &str, value: &[u8]) -> Vec<u8> {
        self.names.as_ref().map_or_else(|| value.to_vec(), |names| names.name(of, value))
    }

    /// Returns the number of a name, for a packet-out.
    pub(crate) fn number_of(&self, of: &str, name: &[u8]) -> Option<Vec<u8>> {
        self.names.as_ref()?.find(of, name).map(number)
    }
}

/// Returns a read request for the entity of an update, if the entity can contain names.
fn place_of(entity: &v1::Entity) -> Option<v1::Entity> {
    let place = match entity.entity.as_ref()? {
        Entity::TableEntry(entry) => Entity::TableEntry(v1::TableEntry {
            table_id: entry.table_id,
            r#match: entry.r#match.clone(),
            priority: entry.priority,
            is_default_action: entry.is_default_action,
            ..v1::TableEntry::default()
        }),
        Entity::ActionProfileMember(member) => {
            let (action_profile_id, member_id) = (member.action_profile_id, member.member_id);
            let place = v1::ActionProfileMember { action_profile_id, member_id, action: None };
            Entity::ActionProfileMember(place)
        }
        Entity::ValueSetEntry(entry) => {
            let value_set_id = entry.value_set_id;
            Entity::ValueSetEntry(v1::ValueSetEntry { value_set_id, members: Vec::new() })
        }
        // The other entities contain only ports, whose numbers are fixed.
        Entity::ExternEntry(_)
        | Entity::ActionProfileGroup(_)
        | Entity::MeterEntry(_)
        | Entity::DirectMeterEntry(_)
        | Entity::CounterEntry(_)
        | Entity::DirectCounterEntry(_)
        | Entity::PacketReplicationEngineEntry(_)
        | Entity::RegisterEntry(_)
        | Entity::DigestEntry(_) => return None,
    };
    Some(super::entity(place))
}
