//! A small model of entries: tables by name, with the lookups of a match-action pipeline.
//!
//! In: the updates of an entries file, and the P4Info index. Out: actions with arguments by name. Except for
//! this index, it shares no code with the renderer of the entries. It implements only P4Runtime's rules:
//! longest prefix, highest priority, default actions.

use std::collections::BTreeMap;

use closc_runtime::Info;
use closc_runtime::info::Table;
use closc_runtime::proto::v1;
use v1::action_profile_group::member::WatchKind;
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::table_action::Type;

/// An action with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) action: String,
    arguments: BTreeMap<String, u128>,
}

impl Call {
    pub(crate) fn argument(&self, name: &str) -> u128 {
        self.arguments[name]
    }

    fn of(info: &Info, id: u32, arguments: impl Iterator<Item = (u32, Vec<u8>)>) -> Self {
        let action = info.action_by_id(id).expect("a known action");
        let named = arguments.map(|(id, value)| {
            let (_, param) = action.param_by_id(id).expect("a known parameter");
            (param.name.clone(), number(&value))
        });
        Call { action: action.preamble.alias.clone(), arguments: named.collect() }
    }
}

/// Result of a lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Call(Call),
    Group(u32),
}

#[derive(Debug)]
struct Row {
    key: BTreeMap<u32, FieldMatchType>,
    priority: i32,
    outcome: Outcome,
}

/// The state of one switch.
#[derive(Debug)]
pub(crate) struct State<'a> {
    info: &'a Info,
    rows: BTreeMap<u32, Vec<Row>>,
    defaults: BTreeMap<u32, Call>,
    members: BTreeMap<u32, Call>,
    groups: BTreeMap<u32, Vec<(u32, i32)>>,
}

fn number(bytes: &[u8]) -> u128 {
    assert!(bytes.len() <= 16);
    bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

fn calls(info: &Info, call: &v1::Action) -> Call {
    Call::of(info, call.action_id, call.params.iter().map(|param| (param.param_id, param.value.clone())))
}

impl<'a> State<'a> {
    /// Loads updates onto an empty switch. An update may refer only to entities of earlier updates.
    pub(crate) fn load(info: &'a Info, updates: &[v1::Update]) -> Self {
        let defaults = info.tables().iter().filter_map(|table| {
            let call = table.initial_default_action.as_ref()?;
            let arguments = call.arguments.iter().map(|argument| (argument.param_id, argument.value.clone()));
            Some((table.preamble.id, Call::of(info, call.action_id, arguments)))
        });
        let mut state = State {
            info,
            rows: BTreeMap::new(),
            defaults: defaults.collect(),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
        };
        for update in updates {
            state.apply(update);
        }
        state
    }

    fn apply(&mut self, update: &v1::Update) {
        match update.entity.as_ref().and_then(|entity| entity.entity.as_ref()).expect("an entity") {
            Entity::TableEntry(entry) => self.entry(entry, update.r#type()),
            Entity::ActionProfileMember(member) => {
                let call = calls(self.info, member.action.as_ref().expect("an action"));
                assert!(self.members.insert(member.member_id, call).is_none(), "duplicate member");
            }
            Entity::ActionProfileGroup(group) => {
                for member in &group.members {
                    let Some(WatchKind::WatchPort(port)) = &member.watch_kind else {
                        panic!("member {} watches no port", member.member_id)
                    };
                    assert_eq!(
                        number(port),
                        self.port_of_member(member.member_id),
                        "a member watches its own port"
                    );
                }
                let members = group.members.iter().map(|member| (member.member_id, member.weight));
                let members: Vec<_> = members.collect();
                assert!(members.iter().all(|(id, _)| self.members.contains_key(id)), "a member is missing");
                assert!(self.groups.insert(group.group_id, members).is_none(), "duplicate group");
            }
            other => panic!("{other:?} is not an entity of this pipeline"),
        }
    }

    /// Returns the port that a member leads to.
    fn port_of_member(&self, member: u32) -> u128 {
        let id = self.members[&member].argument("nexthop_id");
        self.call("nexthop", &[("nexthop_id", id)]).argument("port")
    }

    fn entry(&mut self, entry: &v1::TableEntry, kind: v1::update::Type) {
        let outcome = match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            Some(Type::Action(call)) => Outcome::Call(calls(self.info, call)),
            Some(Type::ActionProfileGroupId(id)) => {
                assert!(self.groups.contains_key(id), "group {id} is missing");
                Outcome::Group(*id)
            }
            other => panic!("{other:?}"),
        };
        if entry.is_default_action {
            assert_eq!(kind, v1::update::Type::Modify);
            let Outcome::Call(call) = outcome else { panic!("a default entry has an action") };
            self.defaults.insert(entry.table_id, call);
            return;
        }
        assert_eq!(kind, v1::update::Type::Insert);
        let key = entry
            .r#match
            .iter()
            .map(|field| (field.field_id, field.field_match_type.clone().expect("a value")));
        let row = Row { key: key.collect(), priority: entry.priority, outcome };
        let rows = self.rows.entry(entry.table_id).or_default();
        assert!(rows.iter().all(|other| other.key != row.key), "duplicate entry: {row:?}");
        rows.push(row);
    }

    fn table(&self, name: &str) -> &'a Table {
        self.info.table(name).expect("a known table")
    }

    /// Returns the number of entries of a table.
    pub(crate) fn count(&self, table: &str) -> usize {
        self.rows.get(&self.table(table).preamble.id).map_or(0, Vec::len)
    }

    /// Looks up a table; a miss returns the default action.
    pub(crate) fn look(&self, table: &str, key: &[(&str, u128)]) -> Option<Outcome> {
        let table = self.table(table);
        let key: BTreeMap<u32, (u32, u128)> = key
            .iter()
            .map(|(name, value)| {
                let field = table.field(name).expect("a known field");
                (field.id, (field.width.bits(), *value))
            })
            .collect();
        assert_eq!(key.len(), table.fields().len());
        let rows = self.rows.get(&table.preamble.id).into_iter().flatten();
        let hits = rows.filter(|row| row.key.iter().all(|(id, value)| matches(value, key[id])));
        let best = hits.max_by_key(|row| (row.priority, row.key.values().map(prefix).sum::<i32>()));
        match best {
            Some(row) => Some(row.outcome.clone()),
            None => self.defaults.get(&table.preamble.id).cloned().map(Outcome::Call),
        }
    }

    /// Looks up a table whose result must be an action; panics if it is a group.
    pub(crate) fn call(&self, table: &str, key: &[(&str, u128)]) -> Call {
        match self.look(table, key) {
            Some(Outcome::Call(call)) => call,
            other => panic!("{table}: {other:?}"),
        }
    }

    /// Returns the action of each member of a group, with its weight.
    pub(crate) fn group(&self, id: u32) -> Vec<(&Call, i32)> {
        self.groups[&id].iter().map(|(member, weight)| (&self.members[member], *weight)).collect()
    }
}

fn matches(value: &FieldMatchType, (width, key): (u32, u128)) -> bool {
    match value {
        FieldMatchType::Exact(exact) => number(&exact.value) == key,
        FieldMatchType::Lpm(lpm) => {
            let shift = width - lpm.prefix_len.unsigned_abs();
            shift >= 128 || number(&lpm.value) >> shift == key >> shift
        }
        FieldMatchType::Ternary(ternary) => number(&ternary.value) == key & number(&ternary.mask),
        other => panic!("unexpected match kind {other:?}"),
    }
}

fn prefix(value: &FieldMatchType) -> i32 {
    match value {
        FieldMatchType::Lpm(lpm) => lpm.prefix_len,
        _ => 0,
    }
}
