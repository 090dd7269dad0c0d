//! Loads the tables of a P4Info. Value sets use the same functions for match fields.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{InfoFault, ObjectKind};
use super::load::Loader;
use super::objects::Parts;
use super::types::{Place, is_translated, text_type};
use super::{ActionProfile, ActionRef, Info, MatchField, MatchKind, Preamble, Scope, Table, references};
use crate::proto::config;
use crate::restriction::{Kind, Operand, Restriction};

impl Loader<'_> {
    pub(super) fn tables(&mut self, info: &mut Info, messages: &[config::Table]) {
        for message in messages {
            let preamble = self.preamble(ObjectKind::Table, message.preamble.as_ref());
            let idle = ("idle_timeout_behavior", message.idle_timeout_behavior);
            self.check_enum::<config::table::IdleTimeoutBehavior>(ObjectKind::Table, &preamble, idle);
            let fields = self.match_fields(&preamble, &message.match_fields);
            let actions = self.action_refs(info, &preamble, &message.action_refs);
            for id in &message.direct_resource_ids {
                self.direct_resource(info, &preamble, *id);
            }
            let restriction = Restriction::of_table(&preamble.annotations, operands(&fields.items));
            let restriction = self.restriction(ObjectKind::Table, &preamble, restriction);
            let object = Table {
                restriction,
                fields,
                actions,
                const_default_action: (message.const_default_action_id != 0)
                    .then_some(message.const_default_action_id),
                initial_default_action: message.initial_default_action.clone(),
                profile: self.profile_of(info, &preamble, message.implementation_id),
                direct_counter: message
                    .direct_resource_ids
                    .iter()
                    .find_map(|id| info.direct_counters.by_id(*id).cloned()),
                direct_meter: message
                    .direct_resource_ids
                    .iter()
                    .find_map(|id| info.direct_meters.by_id(*id).cloned()),
                size: message.size.max(0) as u64,
                idle_timeout: message.idle_timeout_behavior()
                    == config::table::IdleTimeoutBehavior::NotifyControl,
                is_const: message.is_const_table,
                has_initial_entries: message.has_initial_entries,
                preamble: preamble.clone(),
            };
            self.add(&mut info.tables, ObjectKind::Table, &preamble, object);
        }
    }

    pub(super) fn match_fields(
        &mut self,
        owner: &Preamble,
        messages: &[config::MatchField],
    ) -> Parts<MatchField> {
        let mut fields = Parts::default();
        let mut ids = BTreeMap::new();
        for message in messages {
            self.part_id(message.id, &mut ids, ObjectKind::MatchField, &message.name);
            let Some(kind) = match_kind(message) else {
                let (field, within) = (message.name.clone(), owner.name.clone());
                self.faults.push(InfoFault::NoMatchType { field, scope: within });
                continue;
            };
            let place = Place { kind: ObjectKind::MatchField, name: &message.name, scope: &owner.name };
            let width = self.width(message.bitwidth, message.type_name.as_ref(), &place);
            let refers_to = references::read(&message.annotations, &message.structured_annotations);
            let text = text_type(width, message.type_name.as_ref());
            let name = message.name.clone();
            let translated = is_translated(self.types, message.type_name.as_ref());
            let field = MatchField { id: message.id, name, width, text, translated, kind, refers_to };
            self.part(&mut fields, ObjectKind::MatchField, &message.name, field);
        }
        fields
    }

    fn action_refs(
        &mut self,
        info: &Info,
        owner: &Preamble,
        messages: &[config::ActionRef],
    ) -> Parts<ActionRef> {
        let mut actions = Parts::default();
        for message in messages {
            self.check_enum::<config::action_ref::Scope>(ObjectKind::Table, owner, ("scope", message.scope));
            let Some(action) = info.actions.by_id(message.id) else {
                self.report_dangling(ObjectKind::Table, owner, ObjectKind::Action, message.id);
                continue;
            };
            let reference = ActionRef { action: action.clone(), scope: scope(message.scope()) };
            let preamble = &action.preamble;
            if actions.names.add(&preamble.name, &preamble.alias).is_ok() {
                actions.items.push(reference);
            } else {
                let name = format!("{} of {}", preamble.name, owner.name);
                self.faults.push(InfoFault::SameName { kind: ObjectKind::Action, name });
            }
        }
        actions
    }

    fn profile_of(&mut self, info: &Info, owner: &Preamble, id: u32) -> Option<Arc<ActionProfile>> {
        if id == 0 {
            return None;
        }
        let profile = info.profiles.by_id(id).cloned();
        if profile.is_none() {
            self.report_dangling(ObjectKind::Table, owner, ObjectKind::ActionProfile, id);
        }
        profile
    }
}

fn scope(scope: config::action_ref::Scope) -> Scope {
    match scope {
        config::action_ref::Scope::TableAndDefault => Scope::Everywhere,
        config::action_ref::Scope::TableOnly => Scope::EntriesOnly,
        config::action_ref::Scope::DefaultOnly => Scope::DefaultOnly,
        config::action_ref::Scope::GroupAction => Scope::GroupOnly,
    }
}

fn match_kind(field: &config::MatchField) -> Option<MatchKind> {
    use config::match_field::{Match, MatchType};
    match field.r#match.as_ref()? {
        Match::OtherMatchType(name) => Some(MatchKind::Other(name.clone())),
        Match::MatchType(number) => match MatchType::try_from(*number).ok()? {
            MatchType::Unspecified => None,
            MatchType::Exact => Some(MatchKind::Exact),
            MatchType::Lpm => Some(MatchKind::Lpm),
            MatchType::Ternary => Some(MatchKind::Ternary),
            MatchType::Range => Some(MatchKind::Range),
            MatchType::Optional => Some(MatchKind::Optional),
        },
    }
}

/// Returns the operands that the restriction of a table may use.
fn operands(fields: &[MatchField]) -> Vec<Operand> {
    let operand = |field: &MatchField| {
        let kind = match field.kind {
            MatchKind::Exact => Kind::Exact,
            MatchKind::Lpm => Kind::Lpm,
            MatchKind::Ternary => Kind::Ternary,
            MatchKind::Range => Kind::Range,
            MatchKind::Optional => Kind::Optional,
            MatchKind::Other(_) => Kind::Other,
        };
        Operand { id: field.id, name: field.name.clone(), width: field.width, kind }
    };
    fields.iter().map(operand).collect()
}
