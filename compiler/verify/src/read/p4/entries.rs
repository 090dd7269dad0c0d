//! Table entries with names, from a `p4.v1.WriteRequest` in text form and the P4Info of the pipeline.

use std::collections::HashMap;

use super::request::REQUEST;
use super::textproto::{self, Message};
use crate::model::pipeline::PipelineNames;
use crate::read::error::ReadError;

/// Reads a P4Info.
pub(crate) fn names(text: &str) -> Result<PipelineNames, ReadError> {
    let info = textproto::read(text)?;
    let objects = |kind: &str, parts: &str| {
        let parts = |object: &Message<'_>| {
            object.messages(parts).map(|(part, _)| (part.number("id"), string(part, "name"))).collect()
        };
        info.messages(kind)
            .filter_map(|(object, _)| {
                let preamble = object.message("preamble")?;
                Some((preamble.number("id"), (string(preamble, "name"), parts(object))))
            })
            .collect()
    };
    let profiles: HashMap<u64, (String, HashMap<u64, String>)> = objects("action_profiles", "none");
    Ok(PipelineNames {
        tables: objects("tables", "match_fields"),
        actions: objects("actions", "params"),
        profiles: profiles.into_iter().map(|(id, (name, _))| (id, name)).collect(),
    })
}

fn string(message: &Message<'_>, field: &str) -> String {
    message.bytes(field).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

/// An entity of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum P4Entity<'n> {
    /// An entry of a table.
    Entry(Entry<'n>),
    /// A member of an action profile: its ID and its action.
    Member { profile: &'n str, id: u64, action: Action<'n> },
    /// A group of an action profile: its ID and its members.
    Group { profile: &'n str, id: u64, members: Vec<Member> },
}

/// A member of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: u64,
    pub(crate) weight: u64,
    /// Port that must be up so that the member receives packets.
    pub(crate) watch_port: Option<u128>,
}

/// An entry of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<'n> {
    pub(crate) table: &'n str,
    /// Match fields by name.
    pub(crate) key: Vec<(&'n str, Match)>,
    pub(crate) action: EntryAction<'n>,
    /// Whether it is the default entry.
    pub(crate) default: bool,
    /// The meter of the entry.
    pub(crate) meter: Option<Meter>,
    pub(crate) lines: EntryLines,
}

/// Lines of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryLines {
    /// The line of the table.
    pub(crate) table: usize,
    /// The line of the value of each match field.
    pub(crate) key: Vec<usize>,
}

/// Rates per second and bursts of the committed and the peak bucket of a meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meter {
    pub(crate) committed: (u64, u64),
    pub(crate) peak: (u64, u64),
}

/// Match of a field, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    Exact(u128),
    Prefix(u128, u64),
    Ternary(u128, u128),
}

/// Action of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryAction<'n> {
    Action(Action<'n>),
    Group(u64),
    Member(u64),
    Nothing,
}

/// An action with its arguments by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Action<'n> {
    pub(crate) name: &'n str,
    /// Line of the name.
    pub(crate) line: usize,
    arguments: Vec<(&'n str, u128)>,
}

#[cfg(test)]
impl<'n> Action<'n> {
    /// Creates an action.
    pub(crate) fn new(name: &'n str, arguments: Vec<(&'n str, u128)>) -> Self {
        Action { name, line: 1, arguments }
    }
}

impl Action<'_> {
    /// Returns an argument.
    pub(crate) fn argument(&self, name: &str) -> Option<u128> {
        self.arguments.iter().find(|argument| argument.0 == name).map(|argument| argument.1)
    }
}

impl Entry<'_> {
    /// Returns how a field is matched.
    pub(crate) fn field(&self, name: &str) -> Option<Match> {
        self.key.iter().find(|field| field.0 == name).map(|field| field.1)
    }

    /// Returns the value of a field that is matched exactly.
    pub(crate) fn exact(&self, name: &str) -> Option<u128> {
        match self.field(name)? {
            Match::Exact(value) => Some(value),
            Match::Prefix(..) | Match::Ternary(..) => None,
        }
    }
}

/// Reads the entities of a file, each with its line.
pub(crate) fn read<'n>(
    text: &str,
    names: &'n PipelineNames,
) -> Result<Vec<(usize, P4Entity<'n>)>, ReadError> {
    let request = textproto::read(text)?;
    request.check(&REQUEST)?;
    let mut all = Vec::new();
    for (update, line) in request.messages("updates") {
        let kind = update.word("type").unwrap_or_default();
        if !matches!(kind, "INSERT" | "MODIFY") {
            let message = format!("`{kind}` is not an update that the proof models");
            return Err(update.fault("type", message));
        }
        let entity =
            update.message("entity").ok_or_else(|| ReadError::at(line, "an update without an entity"))?;
        all.push((line, read_entity(entity, names).map_err(|error| error.or_at(line))?));
    }
    Ok(all)
}

fn read_entity<'n>(entity: &Message<'_>, names: &'n PipelineNames) -> Result<P4Entity<'n>, ReadError> {
    if let Some(entry) = entity.message("table_entry") {
        return self::entry(entry, names).map(P4Entity::Entry);
    }
    let profile = |message: &Message<'_>| {
        let id = message.number("action_profile_id");
        names.profiles.get(&id).map(String::as_str).ok_or_else(|| {
            message.fault("action_profile_id", format!("action profile {id} is not in the P4Info"))
        })
    };
    if let Some(member) = entity.message("action_profile_member") {
        let action = member.message("action").ok_or("a member without an action")?;
        return Ok(P4Entity::Member {
            profile: profile(member)?,
            id: member.number("member_id"),
            action: self::action(action, names)?,
        });
    }
    if let Some(group) = entity.message("action_profile_group") {
        let members = group.messages("members").map(|(each, _)| member(each));
        return Ok(P4Entity::Group {
            profile: profile(group)?,
            id: group.number("group_id"),
            members: members.collect::<Result<_, ReadError>>()?,
        });
    }
    let name = entity.names().next().unwrap_or_default();
    Err(entity.fault(name, format!("`{name}` is not an entity that the proof models")))
}

fn member(member: &Message<'_>) -> Result<Member, ReadError> {
    let id = member.number("member_id");
    let watched = match member.bytes("watch_port").map(number) {
        Some(None) => {
            let message = format!("`watch_port` of member {id} does not parse");
            return Err(member.fault("watch_port", message));
        }
        watched => watched.flatten(),
    };
    Ok(Member { id, weight: member.number("weight"), watch_port: watched })
}

fn entry<'n>(entry: &Message<'_>, names: &'n PipelineNames) -> Result<Entry<'n>, ReadError> {
    let id = entry.number("table_id");
    let unknown = || entry.fault("table_id", format!("table {id} is not in the P4Info"));
    let (table, fields) = names.tables.get(&id).ok_or_else(unknown)?;
    let key = entry.messages("match").map(|(field, _)| {
        let id = field.number("field_id");
        let unknown = || field.fault("field_id", format!("`{table}` has no field {id}"));
        let name = fields.get(&id).ok_or_else(unknown)?;
        let wrong = |line| ReadError::at(line, format!("`{table}`: field `{name}` does not parse"));
        Ok((name.as_str(), read_match(field).map_err(wrong)?))
    });
    let key = key.collect::<Result<Vec<(&str, Match)>, ReadError>>()?;
    // P4Runtime 1.3, section 9.1: entries of tables with ternary keys have a priority above zero.
    let ranked = key.iter().any(|(_, matched)| matches!(matched, Match::Ternary(..)));
    if ranked && entry.number("priority") == 0 {
        return Err(entry.fault("priority", format!("an entry of `{table}` has no priority")));
    }
    if !ranked && entry.number("priority") != 0 {
        return Err(
            entry.fault("priority", format!("an entry of `{table}` has a priority, but no ternary key"))
        );
    }
    let does = match entry.message("action") {
        None => EntryAction::Nothing,
        Some(action) => match (action.message("action"), action.word("action_profile_group_id")) {
            (Some(direct), _) => EntryAction::Action(self::action(direct, names)?),
            (None, Some(_)) => EntryAction::Group(action.number("action_profile_group_id")),
            (None, None) => EntryAction::Member(action.number("action_profile_member_id")),
        },
    };
    let default = entry.word("is_default_action") == Some("true");
    let meter = entry.message("meter_config").map(meter);
    let lines = EntryLines {
        table: entry.line_of("table_id"),
        key: entry.messages("match").map(|(field, line)| value_line(field).unwrap_or(line)).collect(),
    };
    Ok(Entry { table, key, action: does, default, meter, lines })
}

fn meter(config: &Message<'_>) -> Meter {
    let bucket = |rate, burst| (config.number(rate), config.number(burst));
    Meter { committed: bucket("cir", "cburst"), peak: bucket("pir", "pburst") }
}

/// Reads how a field is matched, or returns the line that does not parse.
fn read_match(field: &Message<'_>) -> Result<Match, usize> {
    let bytes = |of: &Message<'_>, name: &str| of.bytes(name).and_then(number).ok_or(of.line_of(name));
    if let Some(exact) = field.message("exact") {
        return bytes(exact, "value").map(Match::Exact);
    }
    if let Some(lpm) = field.message("lpm") {
        // P4Runtime 1.3, section 9.1.1: match fields that match anything are omitted, so a length is never 0.
        let length = Some(lpm.number("prefix_len")).filter(|length| *length > 0);
        return Ok(Match::Prefix(bytes(lpm, "value")?, length.ok_or(lpm.line_of("prefix_len"))?));
    }
    let ternary = field.message("ternary").ok_or(field.line_of("ternary"))?;
    Ok(Match::Ternary(bytes(ternary, "value")?, bytes(ternary, "mask")?))
}

/// Returns the line with the value of a match field.
fn value_line(field: &Message<'_>) -> Option<usize> {
    let of = ["exact", "lpm", "ternary"].into_iter().find_map(|kind| field.message(kind))?;
    Some(of.line_of("value"))
}

fn action<'n>(action: &Message<'_>, names: &'n PipelineNames) -> Result<Action<'n>, ReadError> {
    let id = action.number("action_id");
    let unknown = || action.fault("action_id", format!("action {id} is not in the P4Info"));
    let (name, params) = names.actions.get(&id).ok_or_else(unknown)?;
    let arguments = action.messages("params").map(|(param, _)| {
        let id = param.number("param_id");
        let unknown = || param.fault("param_id", format!("`{name}` has no parameter {id}"));
        let known = params.get(&id).ok_or_else(unknown)?;
        let wrong = || param.fault("value", format!("`{name}`: parameter `{known}` does not parse"));
        Ok((known.as_str(), param.bytes("value").and_then(number).ok_or_else(wrong)?))
    });
    Ok(Action {
        name,
        line: action.line_of("action_id"),
        arguments: arguments.collect::<Result<_, ReadError>>()?,
    })
}

/// Parses a number in network byte order.
fn number(bytes: &[u8]) -> Option<u128> {
    (bytes.len() <= 16).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}
