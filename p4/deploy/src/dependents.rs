//! Entries that name ports, and entries that refer to them.
//!
//! In: the live and the wanted state of a switch, and the ports that are removed and added. Out: an intermediate state,
//! in which no entry names a removed port or one that is not added yet. Invariants: every reference of that state
//! resolves in it; if no port is added, it contains the complete wanted state.

use std::collections::{BTreeSet, HashSet};

use closc_runtime::info::Reference;
use closc_runtime::proto::v1;
use closc_runtime::{EntityKey, Info};
use v1::action_profile_action::WatchKind;
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::table_action::Type as Action;

use crate::invalid::InvalidState;
use crate::state::State;

/// Ids of ports, as used in entries.
pub(crate) type PortIds = BTreeSet<String>;

/// Returns the intermediate state.
pub(crate) fn intermediate_state(
    info: &Info,
    (wanted, live): (&State, &State),
    (leaving, arriving): (&PortIds, &PortIds),
) -> Result<State, InvalidState> {
    let early = Dependents::of(info, wanted, arriving);
    let late = Dependents::of(info, live, leaving);
    let stays = |live: Option<&v1::Entity>| live.filter(|entity| !late.has(entity)).cloned();
    let kept = wanted.merge(live).filter_map(|pair| match pair {
        (Some(wanted), live) if early.has(wanted) => stays(live),
        (Some(wanted), _) => Some(wanted.clone()),
        (None, live) => stays(live),
    });
    State::new(info, kept.collect())
}

/// Fields of a key and their values, in the order of the fields.
type Fields = Vec<(u32, Vec<u8>)>;

/// The entries that name certain ports, or refer to entries that do.
#[derive(Default)]
struct Dependents {
    keys: HashSet<EntityKey>,
    /// Every subset of the key fields of those entries, by table: references name such subsets.
    key_subsets: HashSet<(u32, Fields)>,
}

/// Limit of key fields for which subsets are kept; references name one or two fields.
const FIELDS_MAX: usize = 4;

impl Dependents {
    fn of(info: &Info, state: &State, ports: &PortIds) -> Self {
        let mut made = Dependents::default();
        let Some(port_type) = info.text_ports().filter(|_| !ports.is_empty()) else { return made };
        let reader = Reader { info, port_type, ports };
        // Each round adds the entries that refer to those of the previous round.
        loop {
            let before = made.keys.len();
            for entity in state.entities() {
                if let Some(Entity::TableEntry(entry)) = &entity.entity
                    && !made.has(entity)
                    && (reader.names_port(entry)
                        || reader.references(entry).iter().any(|r| made.key_subsets.contains(r)))
                {
                    made.add(entity, entry);
                }
            }
            if made.keys.len() == before {
                return made;
            }
        }
    }

    fn has(&self, entity: &v1::Entity) -> bool {
        !self.keys.is_empty() && EntityKey::of(entity).is_some_and(|key| self.keys.contains(&key))
    }

    fn add(&mut self, entity: &v1::Entity, entry: &v1::TableEntry) {
        self.keys.extend(EntityKey::of(entity));
        let mut fields: Fields = entry.r#match.iter().filter_map(exact).collect();
        fields.sort();
        fields.truncate(FIELDS_MAX);
        for part in 1..1_u32 << fields.len() {
            let part = (0..).zip(&fields).filter(|(at, _)| part >> at & 1 == 1);
            self.key_subsets.insert((entry.table_id, part.map(|(_, field)| field.clone()).collect()));
        }
    }
}

fn exact(field: &v1::FieldMatch) -> Option<(u32, Vec<u8>)> {
    match &field.field_match_type {
        Some(FieldMatchType::Exact(exact)) => Some((field.field_id, exact.value.clone())),
        Some(FieldMatchType::Optional(optional)) => Some((field.field_id, optional.value.clone())),
        Some(
            FieldMatchType::Ternary(_)
            | FieldMatchType::Lpm(_)
            | FieldMatchType::Range(_)
            | FieldMatchType::Other(_),
        )
        | None => None,
    }
}

/// Finds ports and references in entries.
struct Reader<'a> {
    info: &'a Info,
    port_type: &'a str,
    ports: &'a PortIds,
}

impl Reader<'_> {
    fn is_port(&self, value: &[u8]) -> bool {
        std::str::from_utf8(value).is_ok_and(|id| self.ports.contains(id))
    }

    fn names_port(&self, entry: &v1::TableEntry) -> bool {
        let is_port_type = |text: Option<&str>| text == Some(self.port_type);
        let table = self.info.table_by_id(entry.table_id);
        let in_key = entry.r#match.iter().filter_map(exact).any(|(id, value)| {
            let field = table.and_then(|table| table.fields().iter().find(|field| field.id == id));
            field.is_some_and(|field| is_port_type(field.text.as_deref())) && self.is_port(&value)
        });
        let in_action = actions(entry).any(|action| {
            let known = self.info.action_by_id(action.action_id);
            action.params.iter().any(|param| {
                let of = known.and_then(|known| known.param_by_id(param.param_id));
                of.is_some_and(|(_, of)| is_port_type(of.text.as_deref())) && self.is_port(&param.value)
            })
        });
        in_key || in_action || watched_ports(entry).any(|port| self.is_port(port))
    }

    /// Returns the references of an entry, by table.
    fn references(&self, entry: &v1::TableEntry) -> Vec<(u32, Fields)> {
        let mut found: Vec<(u32, Fields)> = Vec::new();
        if let Some(table) = self.info.table_by_id(entry.table_id) {
            let mut fields = Vec::new();
            for (id, value) in entry.r#match.iter().filter_map(exact) {
                let field = table.fields().iter().find(|field| field.id == id);
                fields.extend(
                    field.into_iter().flat_map(|field| self.referenced_fields(&field.refers_to, &value)),
                );
            }
            found.extend(group_by_table(fields));
        }
        for action in actions(entry) {
            let Some(known) = self.info.action_by_id(action.action_id) else { continue };
            let mut params = Vec::new();
            for param in &action.params {
                let of = known.param_by_id(param.param_id);
                params.extend(
                    of.into_iter().flat_map(|(_, of)| self.referenced_fields(&of.refers_to, &param.value)),
                );
            }
            found.extend(group_by_table(params));
        }
        found
    }

    /// Returns the fields that a value refers to, with their tables.
    fn referenced_fields(&self, references: &[Reference], value: &[u8]) -> Vec<(u32, (u32, Vec<u8>))> {
        let field = |reference: &Reference| {
            let Reference::Table { table, field } = reference else { return None };
            let table = self.info.table(table).ok()?;
            Some((table.preamble.id, (table.field(field).ok()?.id, value.to_vec())))
        };
        references.iter().filter_map(field).collect()
    }
}

/// Groups fields by table.
fn group_by_table(mut named: Vec<(u32, (u32, Vec<u8>))>) -> Vec<(u32, Fields)> {
    named.sort();
    let mut grouped: Vec<(u32, Fields)> = Vec::new();
    for (table, field) in named {
        match grouped.last_mut() {
            Some((last, fields)) if *last == table => fields.push(field),
            Some(_) | None => grouped.push((table, vec![field])),
        }
    }
    grouped
}

/// Returns the actions of an entry: one, or those of a one-shot set.
fn actions(entry: &v1::TableEntry) -> impl Iterator<Item = &v1::Action> {
    let of = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
    let one = of.and_then(|of| match of {
        Action::Action(action) => Some(action),
        Action::ActionProfileActionSet(_)
        | Action::ActionProfileMemberId(_)
        | Action::ActionProfileGroupId(_) => None,
    });
    one.into_iter().chain(set(entry).filter_map(|member| member.action.as_ref()))
}

fn set(entry: &v1::TableEntry) -> impl Iterator<Item = &v1::ActionProfileAction> {
    let of = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
    let set = of.and_then(|of| match of {
        Action::ActionProfileActionSet(set) => Some(&set.action_profile_actions),
        Action::Action(_) | Action::ActionProfileMemberId(_) | Action::ActionProfileGroupId(_) => None,
    });
    set.into_iter().flatten()
}

/// Returns the ports that the members of a one-shot set watch.
fn watched_ports(entry: &v1::TableEntry) -> impl Iterator<Item = &[u8]> {
    set(entry).filter_map(|member| match &member.watch_kind {
        Some(WatchKind::WatchPort(port)) => Some(&port[..]),
        _ => None,
    })
}
