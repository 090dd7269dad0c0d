//! Builds entities of the program by name, valid or deliberately invalid.

#![expect(clippy::unnecessary_wraps, reason = "a key may be left out of an entry, so keys are options")]

use closc_runtime::Info;
use closc_runtime::info::LookupError;
use closc_runtime::proto::v1;
use v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use v1::packet_replication_engine_entry::Type as Replication;
use v1::replica::PortKind;
use v1::table_action::Type as ActionForm;

/// An entity, or the error for a name that is not in the program.
pub(crate) type EntityResult<T> = Result<T, LookupError>;

/// Builds entities of a program.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'i> {
    pub(crate) info: &'i Info,
}

/// The value of a match field, in the order of the source; `None` omits the field.
pub(crate) type Field = Option<FieldMatchType>;

pub(crate) fn exact(value: &[u8]) -> Field {
    Some(FieldMatchType::Exact(Exact { value: value.to_vec() }))
}

pub(crate) fn lpm(value: &[u8], prefix_len: i32) -> Field {
    Some(FieldMatchType::Lpm(Lpm { value: value.to_vec(), prefix_len }))
}

pub(crate) fn ternary(value: &[u8], mask: &[u8]) -> Field {
    Some(FieldMatchType::Ternary(Ternary { value: value.to_vec(), mask: mask.to_vec() }))
}

pub(crate) fn range(low: &[u8], high: &[u8]) -> Field {
    Some(FieldMatchType::Range(Range { low: low.to_vec(), high: high.to_vec() }))
}

pub(crate) fn optional(value: &[u8]) -> Field {
    Some(FieldMatchType::Optional(Optional { value: value.to_vec() }))
}

/// An action and the values of its parameters, in the order of the source.
pub(crate) type Call<'c> = (&'c str, &'c [&'c [u8]]);

pub(crate) const DROP: Call<'static> = ("drop", &[]);

impl Maker<'_> {
    pub(crate) fn table_id(self, table: &str) -> EntityResult<u32> {
        Ok(self.info.table(table)?.preamble.id)
    }

    /// Returns an entry without an action.
    pub(crate) fn key(self, table: &str, fields: &[Field], priority: i32) -> EntityResult<v1::TableEntry> {
        let table = self.info.table(table)?;
        let given = table.fields().iter().zip(fields);
        let r#match = given.filter_map(|(field, value)| {
            Some(v1::FieldMatch { field_id: field.id, field_match_type: Some(value.clone()?) })
        });
        let (table_id, r#match) = (table.preamble.id, r#match.collect());
        Ok(v1::TableEntry { table_id, r#match, priority, ..Default::default() })
    }

    /// Returns an entry with an action.
    pub(crate) fn entry(
        self,
        table: &str,
        fields: &[Field],
        priority: i32,
        action: Call<'_>,
    ) -> EntityResult<v1::TableEntry> {
        let call = ActionForm::Action(self.call(action)?);
        Ok(with_action(self.key(table, fields, priority)?, call))
    }

    /// Returns the default entry, with an action if one is given.
    pub(crate) fn default(self, table: &str, action: Option<Call<'_>>) -> EntityResult<v1::TableEntry> {
        let entry = v1::TableEntry { is_default_action: true, ..self.key(table, &[], 0)? };
        match action {
            Some(action) => Ok(with_action(entry, ActionForm::Action(self.call(action)?))),
            None => Ok(entry),
        }
    }

    /// Returns a read request for all entries of a table.
    pub(crate) fn all(self, table: &str) -> EntityResult<v1::TableEntry> {
        self.key(table, &[], 0)
    }

    pub(crate) fn call(self, (name, values): Call<'_>) -> EntityResult<v1::Action> {
        let action = self.info.action(name)?;
        let given = action.params().iter().zip(values);
        let param = |(param, value): (&closc_runtime::info::Param, &&[u8])| v1::action::Param {
            param_id: param.id,
            value: value.to_vec(),
        };
        Ok(v1::Action { action_id: action.preamble.id, params: given.map(param).collect() })
    }

    pub(crate) fn member(
        self,
        profile: &str,
        member_id: u32,
        action: Option<Call<'_>>,
    ) -> EntityResult<v1::ActionProfileMember> {
        let action_profile_id = self.info.profile(profile)?.preamble.id;
        let action = action.map(|action| self.call(action)).transpose()?;
        Ok(v1::ActionProfileMember { action_profile_id, member_id, action })
    }

    pub(crate) fn group(
        self,
        profile: &str,
        group_id: u32,
        members: &[(u32, i32)],
    ) -> EntityResult<v1::ActionProfileGroup> {
        let action_profile_id = self.info.profile(profile)?.preamble.id;
        let member = |(member_id, weight): &(u32, i32)| v1::action_profile_group::Member {
            member_id: *member_id,
            weight: *weight,
            watch_kind: None,
        };
        let members = members.iter().map(member).collect();
        Ok(v1::ActionProfileGroup { action_profile_id, group_id, members, max_size: 0 })
    }

    /// Returns an entry of the table with a selector, with a one-shot set of actions.
    pub(crate) fn set(self, key: u8, weights: &[i32]) -> EntityResult<v1::TableEntry> {
        let mut set = v1::ActionProfileActionSet::default();
        for (port, weight) in (1..).zip(weights) {
            let action = Some(self.call(("send", &[&[port]]))?);
            let part = v1::ActionProfileAction { action, weight: *weight, watch_kind: None };
            set.action_profile_actions.push(part);
        }
        let entry = self.key("spread_over", &[exact(&[key])], 0)?;
        Ok(with_action(entry, ActionForm::ActionProfileActionSet(set)))
    }

    pub(crate) fn counter(
        self,
        index: Option<i64>,
        data: Option<(i64, i64)>,
    ) -> EntityResult<v1::CounterEntry> {
        let counter_id = self.info.counter("ports")?.preamble.id;
        let data = data.map(|(packet_count, byte_count)| v1::CounterData { byte_count, packet_count });
        Ok(v1::CounterEntry { counter_id, index: index.map(|index| v1::Index { index }), data })
    }

    pub(crate) fn meter(
        self,
        index: Option<i64>,
        config: Option<v1::MeterConfig>,
    ) -> EntityResult<v1::MeterEntry> {
        let meter_id = self.info.meter("port_meter")?.preamble.id;
        let index = index.map(|index| v1::Index { index });
        Ok(v1::MeterEntry { meter_id, index, config, counter_data: None })
    }

    pub(crate) fn register(
        self,
        index: Option<i64>,
        data: Option<v1::p4_data::Data>,
    ) -> EntityResult<v1::RegisterEntry> {
        let register_id = self.info.register("last_seen")?.preamble.id;
        let data = data.map(|data| v1::P4Data { data: Some(data) });
        Ok(v1::RegisterEntry { register_id, index: index.map(|index| v1::Index { index }), data })
    }

    pub(crate) fn value_set(self, values: &[&[u8]]) -> EntityResult<v1::ValueSetEntry> {
        let set = self.info.value_set("kinds")?;
        let id = set.fields.first().map_or(1, |field| field.id);
        let member = |value: &&[u8]| {
            let field = v1::FieldMatch { field_id: id, field_match_type: exact(value) };
            v1::ValueSetMember { r#match: vec![field] }
        };
        let members = values.iter().map(member).collect();
        Ok(v1::ValueSetEntry { value_set_id: set.preamble.id, members })
    }

    pub(crate) fn digest(self, config: Option<(i64, i32, i64)>) -> EntityResult<v1::DigestEntry> {
        let digest_id = self.info.digest("learn_t")?.preamble.id;
        let config = config.map(|(max_timeout_ns, max_list_size, ack_timeout_ns)| v1::digest_entry::Config {
            max_timeout_ns,
            max_list_size,
            ack_timeout_ns,
        });
        Ok(v1::DigestEntry { digest_id, config })
    }

    /// Returns the ids of the fields of a packet header, in the order of the source.
    pub(crate) fn header(self, name: &str) -> EntityResult<Vec<u32>> {
        Ok(self.info.packet_header(name)?.fields().iter().map(|field| field.id).collect())
    }
}

pub(crate) fn with_action(entry: v1::TableEntry, action: ActionForm) -> v1::TableEntry {
    v1::TableEntry { action: Some(v1::TableAction { r#type: Some(action) }), ..entry }
}

/// Returns the set of actions of an entry, so that a corner can modify it.
pub(crate) fn set_of(entry: &mut v1::TableEntry) -> &mut v1::ActionProfileActionSet {
    let form = entry.action.get_or_insert_default().r#type.as_mut();
    match form {
        Some(ActionForm::ActionProfileActionSet(set)) => set,
        Some(_) | None => unreachable!("`Maker::set` made it"),
    }
}

/// A port and an instance.
pub(crate) type Replica<'r> = (&'r [u8], u32);

fn replicas(copies: &[Replica<'_>]) -> Vec<v1::Replica> {
    let replica = |(port, instance): &Replica<'_>| v1::Replica {
        instance: *instance,
        backup_replicas: Vec::new(),
        port_kind: Some(PortKind::Port(port.to_vec())),
    };
    copies.iter().map(replica).collect()
}

fn replication(case: Replication) -> v1::PacketReplicationEngineEntry {
    v1::PacketReplicationEngineEntry { r#type: Some(case) }
}

pub(crate) fn multicast(id: u32, copies: &[Replica<'_>]) -> v1::PacketReplicationEngineEntry {
    let (replicas, metadata) = (replicas(copies), Vec::new());
    let group = v1::MulticastGroupEntry { multicast_group_id: id, replicas, metadata };
    replication(Replication::MulticastGroupEntry(group))
}

/// Returns a multicast group of one replica with a backup.
pub(crate) fn backup_group(copy: Replica<'_>, backup: Replica<'_>) -> v1::PacketReplicationEngineEntry {
    let mut replicas = replicas(&[copy]);
    let (port, instance) = (backup.0.to_vec(), backup.1);
    replicas[0].backup_replicas.push(v1::BackupReplica { port, instance });
    let group = v1::MulticastGroupEntry { multicast_group_id: 1, replicas, metadata: Vec::new() };
    replication(Replication::MulticastGroupEntry(group))
}

pub(crate) fn session(
    session_id: u32,
    copies: &[Replica<'_>],
    class_of_service: u32,
    packet_length_bytes: i32,
) -> v1::PacketReplicationEngineEntry {
    let replicas = replicas(copies);
    let session = v1::CloneSessionEntry { session_id, replicas, class_of_service, packet_length_bytes };
    replication(Replication::CloneSessionEntry(session))
}
