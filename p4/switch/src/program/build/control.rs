//! Pipelines: profiles, tables, conditions, and their successors.

use std::collections::HashMap;

use super::super::control::{
    ActionCall, Conditional, KeyField, KeySource, MatchKind, MeterTarget, Node, Profile, Selector, Table,
    TableKind, TableMatch,
};
use super::operand::{Scope, name_pair, text};
use super::{Builder, check_size};
use crate::json::{self, Pipeline};
use crate::{Error, bits};

/// Names of the nodes of all control flows.
type Nodes = HashMap<String, Node>;

impl Builder<'_> {
    /// Compiles both control flows; returns their first nodes.
    pub(super) fn pipelines(&mut self) -> Result<(Node, Node), Error> {
        let document = self.document;
        let mut nodes = Nodes::new();
        for pipeline in &document.pipelines {
            name_nodes(pipeline, &mut nodes)?;
        }
        for pipeline in &document.pipelines {
            for profile in &pipeline.action_profiles {
                self.profile(profile)?;
            }
        }
        for pipeline in &document.pipelines {
            for table in &pipeline.tables {
                let table = self.table(table, &nodes)?;
                self.tables.push(table);
            }
            for conditional in &pipeline.conditionals {
                let conditional = self.conditional(conditional, &nodes)?;
                self.conditionals.push(conditional);
            }
            for call in &pipeline.action_calls {
                let call = self.action_call(call, &nodes)?;
                self.calls.push(call);
            }
        }
        Ok((first_node(document, "ingress", &nodes)?, first_node(document, "egress", &nodes)?))
    }

    fn profile(&mut self, profile: &json::ActionProfile) -> Result<(), Error> {
        let place = format!("action profile `{}`", profile.name);
        let selector = match &profile.selector {
            Some(selector) => {
                let calculation = self.calculation(&selector.algo, &selector.input, &place)?;
                self.calculations.push(calculation);
                Some(Selector { calculation: (self.calculations.len() - 1) as u16 })
            }
            None => None,
        };
        let size = check_size(profile.max_size, &place)?;
        self.profile_names.add(profile.name.clone(), self.profiles.len())?;
        self.profiles.push(Profile { name: profile.name.clone(), size, selector });
        Ok(())
    }

    fn conditional(&self, conditional: &json::Conditional, nodes: &Nodes) -> Result<Conditional, Error> {
        let place = format!("condition `{}`", conditional.name);
        Ok(Conditional {
            cond: self.cond(&conditional.expression, Scope::None, &place)?,
            yes: node(conditional.true_next.as_deref(), nodes, &place)?,
            no: node(conditional.false_next.as_deref(), nodes, &place)?,
        })
    }

    fn action_call(&self, call: &json::ActionCall, nodes: &Nodes) -> Result<ActionCall, Error> {
        let place = format!("action call `{}`", call.name);
        let action = self.action_ids.get(&call.action_id, &place)?;
        if !self.actions[action as usize].params.is_empty() {
            return Err(Error::invalid(place, "the action it calls has parameters"));
        }
        Ok(ActionCall { action, next: node(call.next_node.as_deref(), nodes, &place)? })
    }

    fn table(&self, table: &json::Table, nodes: &Nodes) -> Result<Table, Error> {
        let place = format!("table `{}`", table.name);
        let mut key = Vec::with_capacity(table.key.len());
        let mut key_words = 0_usize;
        for field in &table.key {
            key.push(self.key_field(field, key_words, &place)?);
            key_words += key.last().map_or(0, |field: &KeyField| field.words as usize);
        }
        let matching = table_match(table, &key, &place)?;
        let kind = self.table_kind(table, &place)?;
        let actions = self.table_actions(table, nodes, &place)?;
        let branch = |name: &str| match table.next_tables.get(name) {
            Some(next) => node(next.as_deref(), nodes, &place).map(Some),
            None => Ok(None),
        };
        let listed = table.entries.as_ref().map_or(0, Vec::len) as u64;
        let size = if table.entries.is_some() { listed } else { table.max_size.unwrap_or(0) };
        Ok(Table {
            name: table.name.clone(),
            lookup: matching,
            kind,
            size: check_size(size, &place)?,
            counters: table.with_counters,
            ageing: table.support_timeout,
            meter: self.direct_meter(table, &place)?,
            on_hit: branch("__HIT__")?,
            on_miss: branch("__MISS__")?,
            base_next: node(table.base_default_next.as_deref(), nodes, &place)?,
            default: self.default_entry(table, &place)?,
            entries: self.const_entries(table, &key, &place)?,
            actions,
            key,
            key_words,
        })
    }

    fn table_kind(&self, table: &json::Table, place: &str) -> Result<TableKind, Error> {
        match (table.kind.as_str(), table.action_profile.as_deref()) {
            ("simple", _) => Ok(TableKind::Simple),
            ("indirect" | "indirect_ws", Some(name)) => {
                Ok(TableKind::Indirect(self.profile_names.get(name, place)?))
            }
            ("indirect" | "indirect_ws", None) => Err(Error::invalid(place, "it names no action profile")),
            (other, _) => Err(Error::invalid(place, format!("table type `{other}` is not known"))),
        }
    }

    fn table_actions(
        &self,
        table: &json::Table,
        nodes: &Nodes,
        place: &str,
    ) -> Result<Vec<(u16, Node)>, Error> {
        let mut found = Vec::new();
        match &table.action_ids {
            Some(ids) => {
                for id in ids {
                    found.push(self.action_ids.get(id, place)?);
                }
            }
            None => {
                for name in &table.actions {
                    let at = self.actions.iter().position(|action| action.name == *name);
                    found.push(at.ok_or_else(|| Error::unknown("action", name, place))? as u16);
                }
            }
        }
        let next = |action: u16| {
            let name = &self.actions[action as usize].name;
            let next = table.next_tables.get(name).and_then(|next| next.as_deref());
            Ok((action, node(next, nodes, place)?))
        };
        found.into_iter().map(next).collect()
    }

    fn direct_meter(&self, table: &json::Table, place: &str) -> Result<Option<MeterTarget>, Error> {
        let Some(name) = table.direct_meters.as_deref() else { return Ok(None) };
        let array = self.meter_names.get(name, place)?;
        match self.meter_targets.get(&array) {
            Some(field) => Ok(Some(MeterTarget { array, field: *field })),
            None => Err(Error::unknown("direct meter", name, place)),
        }
    }

    fn key_field(&self, field: &json::KeyField, word: usize, place: &str) -> Result<KeyField, Error> {
        let kind = match field.match_type.as_str() {
            "exact" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "valid" => MatchKind::Valid,
            other => return Err(Error::invalid(place, format!("match type `{other}` is not known"))),
        };
        let valid_of = |header: u16| {
            let header = &self.headers[header as usize];
            (!header.metadata).then_some(header.valid)
        };
        let (source, bits, default_name) = if kind == MatchKind::Valid {
            let name = text(&field.target, place)?;
            let header = self.header_names.get(name, place)?;
            (KeySource::Valid(valid_of(header)), 1, name.to_owned())
        } else {
            let (header, name) = name_pair(&field.target, place)?;
            let found = self.field((header, name), place)?;
            if found.length.is_some() {
                return Err(Error::invalid(place, format!("`{header}.{name}` has no fixed width to match")));
            }
            let valid = valid_of(found.header).filter(|_| name != "$valid$");
            (KeySource::Field { field: found, valid }, found.bits, format!("{header}.{name}"))
        };
        let words = bits::words_for(bits as usize);
        let word = u16::try_from(word).map_err(|_| Error::invalid(place, "its key is too long"))?;
        let mask = match field.mask.as_deref() {
            Some(mask) => Some(super::entries::words(mask, bits, place)?),
            None => None,
        };
        let name = field.name.clone().unwrap_or(default_name);
        Ok(KeyField { name, kind, source, bits, word, words: words as u16, mask })
    }
}

fn table_match(table: &json::Table, key: &[KeyField], place: &str) -> Result<TableMatch, Error> {
    let matching = match table.match_type.as_str() {
        "exact" => TableMatch::Exact,
        "lpm" => TableMatch::Lpm,
        "ternary" => TableMatch::Ternary,
        "range" => TableMatch::Range,
        other => return Err(Error::invalid(place, format!("match type `{other}` is not known"))),
    };
    let count = |kind| key.iter().filter(|field| field.kind == kind).count();
    let fits = match matching {
        TableMatch::Exact => count(MatchKind::Lpm) + count(MatchKind::Ternary) + count(MatchKind::Range) == 0,
        TableMatch::Lpm => {
            count(MatchKind::Lpm) == 1 && count(MatchKind::Ternary) + count(MatchKind::Range) == 0
        }
        TableMatch::Ternary => count(MatchKind::Range) == 0,
        TableMatch::Range => true,
    };
    if fits {
        Ok(matching)
    } else {
        Err(Error::invalid(place, format!("its key does not fit match type `{}`", table.match_type)))
    }
}

fn name_nodes(pipeline: &Pipeline, nodes: &mut Nodes) -> Result<(), Error> {
    let count = |kind: fn(&Node) -> bool| nodes.values().filter(|node| kind(node)).count() as u32;
    let tables = count(|node| matches!(node, Node::Table(_)));
    let conditionals = count(|node| matches!(node, Node::Conditional(_)));
    let calls = count(|node| matches!(node, Node::Call(_)));
    let tables = (tables..).map(Node::Table).zip(pipeline.tables.iter().map(|t| &t.name));
    let conditionals =
        (conditionals..).map(Node::Conditional).zip(pipeline.conditionals.iter().map(|c| &c.name));
    let calls = (calls..).map(Node::Call).zip(pipeline.action_calls.iter().map(|c| &c.name));
    for (node, name) in tables.chain(conditionals).chain(calls).collect::<Vec<_>>() {
        if nodes.insert(name.clone(), node).is_some() {
            return Err(Error::Duplicate { kind: "control flow node", name: name.clone() });
        }
    }
    Ok(())
}

fn node(name: Option<&str>, nodes: &Nodes, place: &str) -> Result<Node, Error> {
    match name {
        Some(name) => {
            nodes.get(name).copied().ok_or_else(|| Error::unknown("control flow node", name, place))
        }
        None => Ok(Node::End),
    }
}

fn first_node(document: &json::Document, name: &'static str, nodes: &Nodes) -> Result<Node, Error> {
    let pipeline = document.pipelines.iter().find(|pipeline| pipeline.name == name);
    let pipeline = pipeline.ok_or(Error::Missing { kind: "pipeline", name })?;
    node(pipeline.init_table.as_deref(), nodes, &format!("pipeline `{name}`"))
}
