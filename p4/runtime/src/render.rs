//! Shows entities to people: one line with names, `ingress.my_sid dst=fcbb:bbbb:1801::/48 -> uN()`.
//!
//! The line is for messages, diffs and comments, and is not parsed. An object that the P4Info does not contain is shown
//! by its number.

mod key;
mod value;

use std::fmt::{self, Display as _};

use crate::info::{Action, Info, Table};
use crate::proto::v1;
use key::Key;
use v1::entity::Entity;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::table_action::Type as ActionForm;
use value::DisplayValue;

/// Shows an entity by names.
pub fn entity<'a>(info: &'a Info, entity: &'a v1::Entity) -> impl fmt::Display + 'a {
    EntityRenderer { info, entity }
}

/// Shows an update by names, prefixed with `+` for an insert, `~` for a modify or `-` for a delete.
pub fn update<'a>(info: &'a Info, update: &'a v1::Update) -> impl fmt::Display + 'a {
    RenderedUpdate { info, update }
}

struct RenderedUpdate<'a> {
    info: &'a Info,
    update: &'a v1::Update,
}

impl fmt::Display for RenderedUpdate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.update.r#type() {
            v1::update::Type::Insert => "+ ",
            v1::update::Type::Modify => "~ ",
            v1::update::Type::Delete => "- ",
            v1::update::Type::Unspecified => "? ",
        })?;
        match &self.update.entity {
            Some(entity) => EntityRenderer { info: self.info, entity }.fmt(f),
            None => f.write_str("(nothing)"),
        }
    }
}

struct EntityRenderer<'a> {
    info: &'a Info,
    entity: &'a v1::Entity,
}

impl fmt::Display for EntityRenderer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info;
        match self.entity.entity.as_ref() {
            None => f.write_str("(nothing)"),
            Some(Entity::TableEntry(entry)) => self.table_entry(f, entry),
            Some(Entity::ActionProfileMember(member)) => self.member(f, member),
            Some(Entity::ActionProfileGroup(group)) => self.group(f, group),
            Some(Entity::MeterEntry(entry)) => {
                let name = info.meter_by_id(entry.meter_id).map(|meter| meter.preamble.name.as_str());
                place(f, "meter", name, entry.meter_id, entry.index)?;
                rates(f, entry.config.as_ref())
            }
            Some(Entity::CounterEntry(entry)) => {
                let name = info.counter_by_id(entry.counter_id).map(|counter| counter.preamble.name.as_str());
                place(f, "counter", name, entry.counter_id, entry.index)?;
                counts(f, entry.data)
            }
            Some(Entity::RegisterEntry(entry)) => {
                let name =
                    info.register_by_id(entry.register_id).map(|register| register.preamble.name.as_str());
                place(f, "register", name, entry.register_id, entry.index)?;
                match &entry.data {
                    Some(data) => write!(f, " = {}", value::Data(data)),
                    None => Ok(()),
                }
            }
            Some(Entity::DirectMeterEntry(entry)) => {
                f.write_str("meter of ")?;
                self.direct(f, entry.table_entry.as_ref())?;
                rates(f, entry.config.as_ref())
            }
            Some(Entity::DirectCounterEntry(entry)) => {
                f.write_str("counter of ")?;
                self.direct(f, entry.table_entry.as_ref())?;
                counts(f, entry.data)
            }
            Some(Entity::PacketReplicationEngineEntry(entry)) => replication(info, f, entry.r#type.as_ref()),
            Some(Entity::ValueSetEntry(entry)) => self.value_set(f, entry),
            Some(Entity::DigestEntry(entry)) => {
                let name = info.digest_by_id(entry.digest_id).map(|digest| digest.preamble.name.as_str());
                object(f, "digest", name, entry.digest_id)
            }
            Some(Entity::ExternEntry(entry)) => {
                let name = info.extern_by_id(entry.extern_id).map(|instance| instance.preamble.name.as_str());
                object(f, "extern", name, entry.extern_id)
            }
        }
    }
}

impl EntityRenderer<'_> {
    fn member(&self, f: &mut fmt::Formatter<'_>, member: &v1::ActionProfileMember) -> fmt::Result {
        profile(f, self.info, member.action_profile_id)?;
        write!(f, "  member {}", member.member_id)?;
        match &member.action {
            Some(call) => {
                f.write_str(" -> ")?;
                self.call(f, None, call)
            }
            None => Ok(()),
        }
    }

    fn group(&self, f: &mut fmt::Formatter<'_>, group: &v1::ActionProfileGroup) -> fmt::Result {
        profile(f, self.info, group.action_profile_id)?;
        write!(f, "  group {} -> {{", group.group_id)?;
        for (position, member) in group.members.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{} x{}", member.member_id, member.weight)?;
        }
        f.write_str("}")
    }

    fn table_entry(&self, f: &mut fmt::Formatter<'_>, entry: &v1::TableEntry) -> fmt::Result {
        let table = self.key(f, entry)?;
        self.effect(f, table, entry)?;
        match &entry.meter_config {
            Some(v1::MeterConfig { cir, cburst, pir, pburst, .. }) => {
                write!(f, " meter(cir={cir}, cburst={cburst}, pir={pir}, pburst={pburst})")
            }
            None => Ok(()),
        }
    }

    fn effect(
        &self,
        f: &mut fmt::Formatter<'_>,
        table: Option<&Table>,
        entry: &v1::TableEntry,
    ) -> fmt::Result {
        match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            None => Ok(()),
            Some(ActionForm::Action(call)) => {
                f.write_str(" -> ")?;
                self.call(f, table, call)
            }
            Some(ActionForm::ActionProfileMemberId(id)) => write!(f, " -> member {id}"),
            Some(ActionForm::ActionProfileGroupId(id)) => write!(f, " -> group {id}"),
            Some(ActionForm::ActionProfileActionSet(set)) => {
                f.write_str(" -> {")?;
                for (position, weighted) in set.action_profile_actions.iter().enumerate() {
                    f.write_str(if position == 0 { "" } else { ", " })?;
                    let nothing = v1::Action::default();
                    self.call(f, table, weighted.action.as_ref().unwrap_or(&nothing))?;
                    write!(f, " x{}", weighted.weight)?;
                }
                f.write_str("}")
            }
        }
    }

    fn key(&self, f: &mut fmt::Formatter<'_>, entry: &v1::TableEntry) -> Result<Option<&Table>, fmt::Error> {
        let table = self.info.table_by_id(entry.table_id).map(AsRef::as_ref);
        object(f, "table", table.map(|table: &Table| table.preamble.name.as_str()), entry.table_id)?;
        if entry.is_default_action {
            f.write_str("  (default)")?;
        } else {
            f.write_str("  ")?;
            Key { fields: table.map_or(&[], |table| table.fields()), values: &entry.r#match }.fmt(f)?;
        }
        if entry.priority != 0 {
            write!(f, " priority={}", entry.priority)?;
        }
        Ok(table)
    }

    fn direct(&self, f: &mut fmt::Formatter<'_>, entry: Option<&v1::TableEntry>) -> fmt::Result {
        match entry {
            Some(entry) => self.key(f, entry).map(drop),
            None => f.write_str("(nothing)"),
        }
    }

    fn call(&self, f: &mut fmt::Formatter<'_>, table: Option<&Table>, call: &v1::Action) -> fmt::Result {
        let of_table =
            table.and_then(|table| table.action_by_id(call.action_id)).map(|reference| &reference.action);
        let Some(action) = of_table.or_else(|| self.info.action_by_id(call.action_id)) else {
            return write!(f, "action 0x{:08x}(...)", call.action_id);
        };
        let action: &Action = action;
        let name = match action.preamble.alias.as_str() {
            "" => &action.preamble.name,
            alias => alias,
        };
        write!(f, "{name}(")?;
        for (position, argument) in call.params.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            match action.param_by_id(argument.param_id) {
                Some((_, param)) => {
                    let type_of = Some((param.name.as_str(), param.width));
                    let shown = DisplayValue { type_of, value: &argument.value };
                    write!(f, "{comma}{}={shown}", param.name)?;
                }
                None => write!(f, "{comma}{}={}", argument.param_id, value::Hex(&argument.value))?,
            }
        }
        f.write_str(")")
    }

    fn value_set(&self, f: &mut fmt::Formatter<'_>, entry: &v1::ValueSetEntry) -> fmt::Result {
        let set = self.info.value_set_by_id(entry.value_set_id);
        object(f, "value set", set.map(|set| set.preamble.name.as_str()), entry.value_set_id)?;
        f.write_str(" = {")?;
        for (position, member) in entry.members.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { "; " })?;
            Key { fields: set.map_or(&[], |set| &set.fields), values: &member.r#match }.fmt(f)?;
        }
        f.write_str("}")
    }
}

fn object(f: &mut fmt::Formatter<'_>, kind: &str, name: Option<&str>, id: u32) -> fmt::Result {
    match name {
        Some(name) => f.write_str(name),
        None => write!(f, "{kind} 0x{id:08x}"),
    }
}

fn profile(f: &mut fmt::Formatter<'_>, info: &Info, id: u32) -> fmt::Result {
    object(f, "action profile", info.profile_by_id(id).map(|profile| profile.preamble.name.as_str()), id)
}

fn place(
    f: &mut fmt::Formatter<'_>,
    kind: &str,
    name: Option<&str>,
    id: u32,
    index: Option<v1::Index>,
) -> fmt::Result {
    object(f, kind, name, id)?;
    match index {
        Some(index) => write!(f, "[{}]", index.index),
        None => f.write_str("[*]"),
    }
}

fn counts(f: &mut fmt::Formatter<'_>, data: Option<v1::CounterData>) -> fmt::Result {
    match data {
        Some(data) => write!(f, " = {} packets, {} bytes", data.packet_count, data.byte_count),
        None => Ok(()),
    }
}

fn rates(f: &mut fmt::Formatter<'_>, config: Option<&v1::MeterConfig>) -> fmt::Result {
    match config {
        Some(config) => {
            write!(f, " = cir {}+{}, pir {}+{}", config.cir, config.cburst, config.pir, config.pburst)
        }
        None => Ok(()),
    }
}

fn replication(info: &Info, f: &mut fmt::Formatter<'_>, case: Option<&Replication>) -> fmt::Result {
    let replicas = match case {
        None => return f.write_str("(nothing)"),
        Some(Replication::MulticastGroupEntry(group)) => {
            write!(f, "multicast group {}", group.multicast_group_id)?;
            &group.replicas
        }
        Some(Replication::CloneSessionEntry(session)) => {
            write!(f, "clone session {}", session.session_id)?;
            &session.replicas
        }
    };
    f.write_str(" -> {")?;
    for (position, replica) in replicas.iter().enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        write!(f, "{comma}port {}/{}", value::Port(replica, info.text_ports().is_some()), replica.instance)?;
    }
    f.write_str("}")
}

#[cfg(test)]
mod tests;
