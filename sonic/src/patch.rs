//! The difference of two configurations as a JSON patch (RFC 6902), in the form that SONiC's Generic Config Updater
//! accepts.
//!
//! In: the live and the target configuration. Out: [`Patch`]. Invariants: applied to the live configuration,
//! the patch gives the target; it does not touch what is equal in both. No operation empties a table or a list: the
//! updater rejects a table that was emptied key by key, so the table itself is removed. A leaf-list is replaced as a
//! unit. A definition is added before its references, and removed after them.

use std::fmt;

use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::config_db::{ConfigDb, Entry, Field, Table};

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The table.
    pub table: String,
    /// The key of the entry; `None` if it concerns the complete table.
    pub key: Option<String>,
    /// The field; `None` if it concerns the complete entry or table.
    pub field: Option<String>,
    /// The action.
    pub action: Action,
}

/// Effect of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Something is added.
    Add(Content),
    /// The value of a field is replaced.
    Replace(Field),
    /// Something is removed.
    Remove,
}

/// The content that an operation adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// A table.
    Table(Table),
    /// An entry.
    Entry(Entry),
    /// A field.
    Field(Field),
}

/// Operations, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Patch {
    /// The operations.
    pub operations: Vec<Operation>,
}

impl Patch {
    /// Returns the patched configuration, or the first operation that does not fit it.
    pub fn apply(&self, config: &ConfigDb) -> Result<ConfigDb, String> {
        let mut made = config.clone();
        self.operations.iter().try_for_each(|operation| operation.apply(&mut made))?;
        Ok(made)
    }

    /// Returns the difference of two configurations.
    pub fn diff(live: &ConfigDb, wanted: &ConfigDb) -> Self {
        let mut made = Vec::new();
        for (name, table) in wanted.tables() {
            match live.tables().get(name) {
                None => made.push(add(name, None, None, Content::Table(table.clone()))),
                Some(before) => compare(name, before, table, &mut made),
            }
        }
        for name in live.tables().keys().filter(|name| !wanted.tables().contains_key(*name)) {
            made.push(Operation { table: name.clone(), key: None, field: None, action: Action::Remove });
        }
        let (mut gone, mut come): (Vec<_>, Vec<_>) =
            made.into_iter().partition(|operation| operation.action == Action::Remove);
        // Both lists are sorted by name, and the stable sort keeps that order among tables of equal rank.
        come.sort_by_key(|operation| rank(&operation.table));
        gone.reverse();
        gone.sort_by_key(|operation| std::cmp::Reverse(rank(&operation.table)));
        come.append(&mut gone);
        Patch { operations: come }
    }

    /// Returns whether the patch is empty.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the numbers of additions, changes and removals.
    pub fn counts(&self) -> (usize, usize, usize) {
        let mut counts = (0, 0, 0);
        for operation in &self.operations {
            match operation.action {
                Action::Add(_) => counts.0 += 1,
                Action::Replace(_) => counts.1 += 1,
                Action::Remove => counts.2 += 1,
            }
        }
        counts
    }

    /// Returns the patch as JSON text.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("text and lists can be written as JSON");
        text.push('\n');
        text
    }

    /// Splits the patch in two: additions and changes, then removals.
    pub(crate) fn split(self) -> (Patch, Patch) {
        let (gone, come) = self.operations.into_iter().partition(|o| o.action == Action::Remove);
        (Patch { operations: come }, Patch { operations: gone })
    }
}

/// Returns the position of a table in the order of references.
fn rank(table: &str) -> u8 {
    match table {
        "PORT" | "BUFFER_POOL" | "SCHEDULER" | "WRED_PROFILE" | "SRV6_MY_LOCATORS" | "MGMT_PORT"
        | "DEVICE_METADATA" => 0,
        "ACL_TABLE_TYPE" | "BUFFER_PROFILE" | "INTERFACE" | "SRV6_MY_SIDS" | "MGMT_INTERFACE" => 1,
        table if table.ends_with("_MAP") && table != "PORT_QOS_MAP" => 0,
        "ACL_RULE" | "NEIGH" | "NTP" | "DEVICE_NEIGHBOR" => 3,
        "STATIC_ROUTE" => 4,
        _ => 2,
    }
}

fn add(table: &str, key: Option<&str>, field: Option<&str>, content: Content) -> Operation {
    Operation {
        table: table.to_owned(),
        key: key.map(str::to_owned),
        field: field.map(str::to_owned),
        action: Action::Add(content),
    }
}

fn compare(name: &str, before: &Table, after: &Table, made: &mut Vec<Operation>) {
    for (key, entry) in after {
        match before.get(key) {
            None => made.push(add(name, Some(key), None, Content::Entry(entry.clone()))),
            Some(known) if known == entry => {}
            Some(known) => fields(name, key, known, entry, made),
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        made.push(Operation {
            table: name.to_owned(),
            key: Some(key.clone()),
            field: None,
            action: Action::Remove,
        });
    }
}

fn fields(table: &str, key: &str, before: &Entry, after: &Entry, made: &mut Vec<Operation>) {
    for (field, value) in after {
        match before.get(field) {
            Some(known) if known == value => {}
            Some(_) => made.push(Operation {
                table: table.to_owned(),
                key: Some(key.to_owned()),
                field: Some(field.clone()),
                action: Action::Replace(value.clone()),
            }),
            None => made.push(add(table, Some(key), Some(field), Content::Field(value.clone()))),
        }
    }
    for field in before.keys().filter(|field| !after.contains_key(*field)) {
        made.push(Operation {
            table: table.to_owned(),
            key: Some(key.to_owned()),
            field: Some(field.clone()),
            action: Action::Remove,
        });
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = |f: &mut fmt::Formatter<'_>, entry: &Entry| {
            let fields: Vec<String> = entry.iter().map(|(field, value)| format!("{field}={value}")).collect();
            f.write_str(&fields.join(" "))
        };
        match self {
            Content::Table(table) => write!(f, "({} entries)", table.len()),
            Content::Entry(fields) => entry(f, fields),
            Content::Field(field) => write!(f, "{field}"),
        }
    }
}

impl Operation {
    /// Returns the place as a JSON pointer (RFC 6901).
    pub fn pointer(&self) -> String {
        let mut text = String::new();
        for part in [Some(&self.table), self.key.as_ref(), self.field.as_ref()].into_iter().flatten() {
            text.push('/');
            text.push_str(&part.replace('~', "~0").replace('/', "~1"));
        }
        text
    }

    /// Returns the size of the operation as JSON without spaces, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        serde_json::to_string(self).expect("text and lists can be written as JSON").len()
    }

    /// Returns the place in a form for people: `TABLE|key.field`.
    pub fn place(&self) -> String {
        let key = self.key.as_ref().map(|key| format!("|{key}")).unwrap_or_default();
        let field = self.field.as_ref().map(|field| format!(".{field}")).unwrap_or_default();
        format!("{}{key}{field}", self.table)
    }
}

/// One operation as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOperation {
    op: String,
    path: String,
    value: Option<serde_json::Value>,
}

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Vec::<RawOperation>::deserialize(deserializer)?;
        let operations = raw.into_iter().map(|raw| Operation::read(raw).map_err(D::Error::custom));
        Ok(Patch { operations: operations.collect::<Result<_, _>>()? })
    }
}

impl Operation {
    /// Reads an operation in the form of [`Patch::diff`].
    fn read(raw: RawOperation) -> Result<Self, String> {
        let RawOperation { op, path, value } = raw;
        let what = || format!("`{op}` of `{path}`");
        let mut parts = path.split('/').map(|part| part.replace("~1", "/").replace("~0", "~"));
        let (Some(""), Some(table)) = (parts.next().as_deref(), parts.next()) else {
            return Err(format!("{} does not name a table", what()));
        };
        let (key, field) = (parts.next(), parts.next());
        if parts.next().is_some() {
            return Err(format!("{} is deeper than a field", what()));
        }
        let of = |error: serde_json::Error| format!("{}: {error}", what());
        let action = match (op.as_str(), value) {
            ("remove", None) => Action::Remove,
            ("replace", Some(value)) if field.is_some() => {
                Action::Replace(serde_json::from_value(value).map_err(of)?)
            }
            ("add", Some(value)) => Action::Add(match (&key, &field) {
                (None, _) => Content::Table(serde_json::from_value(value).map_err(of)?),
                (Some(_), None) => Content::Entry(serde_json::from_value(value).map_err(of)?),
                (Some(_), Some(_)) => Content::Field(serde_json::from_value(value).map_err(of)?),
            }),
            _ => return Err(format!("{} is not an operation that closc writes", what())),
        };
        Ok(Operation { table, key, field, action })
    }

    /// Applies the operation. Returns an error if it adds what exists, or changes or removes what does not exist.
    fn apply(&self, config: &mut ConfigDb) -> Result<(), String> {
        let nowhere = || format!("`{}` does not fit the configuration of the switch", self.place());
        let mut table = config.table(&self.table).clone();
        match (&self.key, &self.field, &self.action) {
            (None, _, Action::Add(Content::Table(content))) if table.is_empty() => table.clone_from(content),
            (None, _, Action::Remove) if !table.is_empty() => table.clear(),
            (Some(key), None, Action::Add(Content::Entry(entry))) if !table.contains_key(key) => {
                table.insert(key.clone(), entry.clone());
            }
            (Some(key), None, Action::Remove) if table.contains_key(key) => drop(table.remove(key)),
            (Some(key), Some(field), action) => {
                let entry = table.get_mut(key).ok_or_else(nowhere)?;
                match (action, entry.contains_key(field)) {
                    (Action::Add(Content::Field(value)), false) | (Action::Replace(value), true) => {
                        entry.insert(field.clone(), value.clone());
                    }
                    (Action::Remove, true) => drop(entry.remove(field)),
                    _ => return Err(nowhere()),
                }
            }
            _ => return Err(nowhere()),
        }
        config.replace(&self.table, table);
        Ok(())
    }
}

impl Serialize for Operation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let word = match self.action {
            Action::Add(_) => "add",
            Action::Replace(_) => "replace",
            Action::Remove => "remove",
        };
        map.serialize_entry("op", word)?;
        map.serialize_entry("path", &self.pointer())?;
        match &self.action {
            Action::Add(content) => map.serialize_entry("value", content)?,
            Action::Replace(field) => map.serialize_entry("value", field)?,
            Action::Remove => {}
        }
        map.end()
    }
}
