//! Translates entries of a tree to the ids of another P4Info: that of a switch whose program was compiled elsewhere.
//!
//! In: entities with the ids of one P4Info, another P4Info, and the roles of its tables. Out: the same entities with
//! the ids of the other, found by name, and the entries omitted because the switch has no table for them. Invariants:
//! every entity is bound, omitted with a reason, or an error that names it; bound entities fit the other P4Info.

mod numbers;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use closc_runtime::Info;
use closc_runtime::capacity::{self, Excess};
use closc_runtime::check::{self, Violation};
use closc_runtime::info::{LookupError, Table};
use closc_runtime::proto::v1;
use closc_runtime::value::{Width, encode_number};
use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;
use v1::action_profile_action::WatchKind;
use v1::action_profile_group::member::WatchKind as GroupWatch;
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::replica::PortKind;
use v1::table_action::Type as ActionForm;

use crate::roles::{Role, Roles};
use crate::state::describe_entity;
use numbers::Numbers;

/// Entries that are omitted because the P4Info of the switch has no table for them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct OmittedEntries {
    /// Role of the table.
    pub(crate) role: String,
    /// The table.
    pub(crate) table: String,
    /// Number of entries.
    pub(crate) entries: usize,
    /// Functions that are missing without them.
    pub(crate) without: String,
}

/// Formats the omitted entries, one line per table.
pub(crate) fn show<'d>(devices: impl Iterator<Item = (&'d str, &'d [OmittedEntries])>) -> Vec<String> {
    let mut tables: BTreeMap<(&str, &str, &str), (Vec<&str>, usize)> = BTreeMap::new();
    for (name, left) in devices {
        for OmittedEntries { role, table, entries, without } in left {
            let (names, sum) = tables.entry((table, role, without)).or_default();
            names.push(name);
            *sum += entries;
        }
    }
    let mut lines = Vec::new();
    for ((table, role, without), (names, entries)) in tables {
        let who = match names.len() - 1 {
            0 => format!("`{}` has", names[0]),
            1 => format!("`{}` and another switch have", names[0]),
            others => format!("`{}` and {others} other switches have", names[0]),
        };
        lines.push(format!(
            "{who} no table `{table}` ({role}). Omitted entries: {entries}. Impact: {without}"
        ));
    }
    lines
}

/// Entries that cannot be bound.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BindError {
    /// The P4Info of the switch lacks a table that entries need.
    #[error("{source} in the P4Info of the switch, but every fabric needs it ({role})")]
    NoTable {
        /// Role of the table.
        role: String,
        /// The error of the lookup.
        source: LookupError,
    },
    /// The table has no such field, action or parameter.
    #[error("`{table}` of the P4Info of the switch: {source}")]
    NoPart {
        /// The table.
        table: String,
        /// The error of the lookup.
        source: LookupError,
    },
    /// The table has no action profile, and the entries need one.
    #[error("`{table}` of the P4Info of the switch has no action profile, but the entries need one")]
    NoProfile {
        /// The table.
        table: String,
    },
    /// A bound value does not fit.
    #[error("`{entity}` does not fit the P4Info of the switch: {fault}")]
    Unfit {
        /// The entity, by names.
        entity: String,
        /// The rule that it violates.
        fault: Box<Violation>,
    },
    /// There are more entries than the switch can hold.
    #[error("the P4Info of the switch: {0}")]
    Full(Excess),
    /// The tree has a kind of entity that cannot be bound by name.
    #[error("`{entity}` does not belong to a table or action profile")]
    Kind {
        /// The entity, by names.
        entity: String,
    },
    /// The switch identifies ports by numbers, and a port of the tree is not a number.
    #[error("port `{name}` is not a number")]
    NoPort {
        /// The port.
        name: String,
    },
    /// The switch has numbers where the tree has names, and too few numbers for the names.
    #[error("`{of}` has {names} names, more than fit in the {bits} bits of the switch's P4Info")]
    TooManyNames {
        /// The type.
        of: String,
        /// Number of names.
        names: usize,
        /// Width of the narrowest field or parameter that holds such a name.
        bits: u32,
    },
    /// The P4Info of the tree lacks an object that its own entries name.
    #[error("the P4Info of the tree: {0}")]
    Own(#[from] LookupError),
}

/// Result of binding.
#[derive(Debug)]
pub(crate) struct BindResult {
    /// The entities with the ids of the switch.
    pub(crate) entities: Vec<v1::Entity>,
    /// Entries that are omitted.
    pub(crate) omissions: Vec<OmittedEntries>,
}

/// Translation from one P4Info to another.
pub(crate) struct Binding<'b> {
    from: &'b Info,
    to: &'b Info,
    local_roles: &'b Roles,
    theirs: &'b Roles,
    /// Numbers for names, on a switch that has no text.
    numbers: RefCell<Numbers>,
}

/// The switch's counterpart of a table of the tree.
struct Place<'b> {
    /// The table on the switch.
    table: &'b Table,
    /// The names on the switch, if they differ.
    names: Option<&'b Role>,
}

impl Place<'_> {
    fn lacks(&self) -> impl Fn(LookupError) -> BindError + use<> {
        let table = self.table.preamble.name.clone();
        move |source| BindError::NoPart { table: table.clone(), source }
    }
}

/// Returns the update that sets an entity; default entries always exist, so they are modified.
fn upsert(entity: v1::Entity) -> v1::Update {
    match &entity.entity {
        Some(Entity::TableEntry(entry)) if entry.is_default_action => v1::Update::modify(entity),
        _ => v1::Update::insert(entity),
    }
}

/// Returns the name on the switch.
fn switch_name<'n>(names: Option<&'n BTreeMap<String, String>>, own: &'n str) -> &'n str {
    names.and_then(|names| names.get(own)).map_or(own, String::as_str)
}

impl<'b> Binding<'b> {
    /// Creates a binding from both P4Infos, the roles of the tree's tables, and the names of the roles on the switch.
    pub(crate) fn new(from: &'b Info, to: &'b Info, (own, theirs): (&'b Roles, &'b Roles)) -> Self {
        Binding { from, to, local_roles: own, theirs, numbers: RefCell::default() }
    }

    /// Converts a value to the form of the switch: a number to decimal text, or text to a number.
    fn retype(&self, own: (Width, Option<&Arc<str>>), there: Width, value: &mut Vec<u8>) {
        match (own, there) {
            ((Width::Bits(_), _), Width::Text) => {
                if let Ok(number) = own.0.decode(value) {
                    *value = number.to_string().into_bytes();
                }
            }
            ((Width::Text, Some(of)), Width::Bits(bits)) => self.numbers.borrow_mut().meet(of, bits, value),
            _ => {}
        }
    }

    /// Collects the names that need numbers, and assigns them.
    fn give_numbers(&self, entities: &[v1::Entity]) -> Result<(), BindError> {
        let mut left = BTreeMap::new();
        for entity in entities {
            self.entity(entity.clone(), &mut left)?;
        }
        self.numbers.borrow_mut().give(|of| self.from.is_port_type(of))
    }

    /// Binds entities.
    pub(crate) fn bind(
        &self,
        entities: impl IntoIterator<Item = v1::Entity>,
    ) -> Result<BindResult, BindError> {
        let entities: Vec<v1::Entity> = entities.into_iter().collect();
        self.give_numbers(&entities)?;
        let mut left: BTreeMap<String, OmittedEntries> = BTreeMap::new();
        let mut bound = Vec::new();
        for entity in entities {
            if let Some(entity) = self.entity(entity, &mut left)? {
                let update = upsert(entity);
                let checked = check::update(self.to, &update).map(drop);
                let entity = update.entity.unwrap_or_default();
                checked.map_err(|fault| BindError::Unfit {
                    entity: describe_entity(self.to, &entity),
                    fault: Box::new(fault),
                })?;
                bound.push(entity);
            }
        }
        match capacity::excess(self.to, &bound) {
            Some(excess) => Err(BindError::Full(excess)),
            None => Ok(BindResult { entities: bound, omissions: left.into_values().collect() }),
        }
    }

    fn entity(
        &self,
        mut entity: v1::Entity,
        left: &mut BTreeMap<String, OmittedEntries>,
    ) -> Result<Option<v1::Entity>, BindError> {
        let kept = match &mut entity.entity {
            Some(Entity::TableEntry(entry)) => {
                let table = self.from.require_table(entry.table_id)?;
                match self.place(table, left)? {
                    Some(place) => {
                        self.entry(table, &place, entry)?;
                        true
                    }
                    None => false,
                }
            }
            Some(Entity::ActionProfileMember(member)) => {
                match self.profile(member.action_profile_id, left)? {
                    Some((place, id)) => {
                        member.action_profile_id = id;
                        if let Some(action) = &mut member.action {
                            self.action(&place, action)?;
                        }
                        true
                    }
                    None => false,
                }
            }
            Some(Entity::ActionProfileGroup(group)) => match self.profile(group.action_profile_id, left)? {
                Some((_, id)) => {
                    group.action_profile_id = id;
                    for member in &mut group.members {
                        if let Some(GroupWatch::WatchPort(port)) = &mut member.watch_kind {
                            self.port(port)?;
                        }
                    }
                    true
                }
                None => false,
            },
            // These entities contain no P4Info ids.
            Some(Entity::PacketReplicationEngineEntry(entry)) => {
                self.replication(entry)?;
                true
            }
            Some(_) | None => return Err(BindError::Kind { entity: describe_entity(self.from, &entity) }),
        };
        Ok(kept.then_some(entity))
    }

    /// Converts the ports of replicas to the switch's form.
    fn replication(&self, entry: &mut v1::PacketReplicationEngineEntry) -> Result<(), BindError> {
        let replicas = match &mut entry.r#type {
            Some(Replication::MulticastGroupEntry(group)) => &mut group.replicas[..],
            Some(Replication::CloneSessionEntry(session)) => &mut session.replicas[..],
            None => &mut [],
        };
        for replica in replicas {
            if let Some(PortKind::Port(port)) = &mut replica.port_kind {
                self.port(port)?;
            }
            for backup in &mut replica.backup_replicas {
                self.port(&mut backup.port)?;
            }
        }
        Ok(())
    }

    /// Converts a port to the switch's form.
    fn port(&self, port: &mut Vec<u8>) -> Result<(), BindError> {
        match (self.from.text_ports(), self.to.text_ports()) {
            (None, Some(_)) => self.retype((Width::Bits(32), None), Width::Text, port),
            (Some(_), None) => *port = encode_number(numbers::port(port)?),
            (None, None) | (Some(_), Some(_)) => {}
        }
        Ok(())
    }

    /// Finds the switch's counterpart of a table. Returns `None` and counts the entry if the switch lacks the table and
    /// is allowed to lack it.
    fn place(
        &self,
        table: &Table,
        left: &mut BTreeMap<String, OmittedEntries>,
    ) -> Result<Option<Place<'b>>, BindError> {
        let own = &table.preamble.name;
        let (role, without) = match self.local_roles.of_table([own, &table.preamble.alias]) {
            Some((role, of)) => (role, of.without.as_deref()),
            None => (own.as_str(), None),
        };
        let names = self.theirs.get(role);
        // An object of another control of the switch program may have the same alias.
        let found = if let Some(role) = names {
            self.to.table(&role.table)
        } else {
            let alias = &table.preamble.alias;
            self.to.table(own).or_else(|missing| self.to.table(alias).map_err(|_| missing))
        };
        match (found, without) {
            (Ok(table), _) => Ok(Some(Place { table, names })),
            (Err(LookupError::Unknown { .. }), Some(without)) => {
                let entry = left.entry(own.clone()).or_insert_with(|| OmittedEntries {
                    role: role.to_owned(),
                    table: own.clone(),
                    entries: 0,
                    without: without.to_owned(),
                });
                entry.entries += 1;
                Ok(None)
            }
            (Err(source), _) => Err(BindError::NoTable { role: role.to_owned(), source }),
        }
    }

    /// Finds the action profile that corresponds to one of the tree.
    fn profile(
        &self,
        id: u32,
        left: &mut BTreeMap<String, OmittedEntries>,
    ) -> Result<Option<(Place<'b>, u32)>, BindError> {
        let profile = self.from.require_profile(id)?;
        let Some(table) = profile.table_ids.first() else { return Ok(None) };
        let table = self.from.require_table(*table)?;
        let Some(place) = self.place(table, left)? else { return Ok(None) };
        let there = place.table.profile.as_ref();
        let there = there.ok_or_else(|| BindError::NoProfile { table: place.table.preamble.name.clone() })?;
        let id = there.preamble.id;
        Ok(Some((place, id)))
    }

    fn entry(&self, table: &Table, place: &Place<'_>, entry: &mut v1::TableEntry) -> Result<(), BindError> {
        entry.table_id = place.table.preamble.id;
        for field in &mut entry.r#match {
            let unknown = || LookupError::UnknownId {
                kind: closc_runtime::info::ObjectKind::MatchField,
                scope: Some(table.preamble.name.clone()),
                id: field.field_id,
            };
            let (_, own) = table.field_by_id(field.field_id).ok_or_else(unknown)?;
            let name = switch_name(place.names.map(|role| &role.fields), &own.name);
            let there = place.table.field(name).map_err(place.lacks())?;
            field.field_id = there.id;
            match &mut field.field_match_type {
                Some(FieldMatchType::Exact(exact)) => {
                    self.retype((own.width, own.text.as_ref()), there.width, &mut exact.value);
                }
                Some(FieldMatchType::Optional(found)) => {
                    self.retype((own.width, own.text.as_ref()), there.width, &mut found.value);
                }
                // Text has only exact matches: the later check rejects a field of another match kind.
                Some(_) | None => {}
            }
        }
        match entry.action.as_mut().and_then(|action| action.r#type.as_mut()) {
            Some(ActionForm::Action(action)) => self.action(place, action),
            Some(ActionForm::ActionProfileActionSet(set)) => {
                for one in &mut set.action_profile_actions {
                    if let Some(WatchKind::WatchPort(port)) = &mut one.watch_kind {
                        self.port(port)?;
                    }
                    if let Some(action) = &mut one.action {
                        self.action(place, action)?;
                    }
                }
                Ok(())
            }
            Some(ActionForm::ActionProfileMemberId(_) | ActionForm::ActionProfileGroupId(_)) | None => Ok(()),
        }
    }

    fn action(&self, place: &Place<'_>, action: &mut v1::Action) -> Result<(), BindError> {
        let own = self.from.require_action(action.action_id)?;
        // Roles name actions as the tree does, by the last part of the name.
        let short = own.preamble.name.rsplit('.').next().unwrap_or_default();
        let name = match place.names.and_then(|role| role.actions.get(short)) {
            Some(name) => name,
            None => &own.preamble.name,
        };
        let there = (place.table.action(name))
            .or_else(|missing| place.table.action(short).map_err(|_| missing))
            .map_err(place.lacks())?;
        action.action_id = there.action.preamble.id;
        for param in &mut action.params {
            let unknown = || LookupError::UnknownId {
                kind: closc_runtime::info::ObjectKind::Param,
                scope: Some(own.preamble.name.clone()),
                id: param.param_id,
            };
            let (_, of) = own.param_by_id(param.param_id).ok_or_else(unknown)?;
            let name = switch_name(place.names.map(|role| &role.params), &of.name);
            let to = there.action.param(name).map_err(place.lacks())?;
            param.param_id = to.id;
            self.retype((of.width, of.text.as_ref()), to.width, &mut param.value);
        }
        Ok(())
    }
}
