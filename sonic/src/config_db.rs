//! CONFIG_DB as tables, entries and fields.
//!
//! In: `config_db.json`, or Redis as `sonic-db-dump` prints it. Out: [`ConfigDb`]. Invariants: tables and lists are not
//! empty, because Redis cannot hold empty ones. An entry without fields is `{}`, not `{"NULL": "NULL"}`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// The fields of an entry by name.
pub type Entry = BTreeMap<String, Field>;

/// The entries of a table by key; the parts of a key are joined with `|`.
pub type Table = BTreeMap<String, Entry>;

/// Size limit of a configuration. That of a switch with 512 ports has 1 MB.
const BYTES_MAX: usize = 64 << 20;

/// Contents of a field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// One value.
    Text(String),
    /// The values of a leaf-list, in order.
    List(Vec<String>),
}

/// A configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigDb {
    tables: BTreeMap<String, Table>,
}

/// Text that is not a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    /// It is not JSON of this form.
    #[error("{line}:{column}: {reason}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The error there.
        reason: String,
    },
    /// It exceeds the size limit.
    #[error("the configuration has {bytes} bytes; expected at most {max}")]
    Large {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// A key of Redis without a table.
    #[error("key `{key}` has no table; expected `TABLE|KEY`")]
    Key {
        /// The key.
        key: String,
    },
}

impl ConfigDb {
    /// Reads `config_db.json`, or the output of `show runningconfiguration all` and `sonic-cfggen -d --print-data`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        json(text)
    }

    fn of(read: BTreeMap<String, Member>) -> Self {
        let mut made = ConfigDb::default();
        for (name, member) in read {
            if let Member::Table(table) = member {
                made.replace(
                    &name,
                    table.into_iter().map(|(key, entry)| (key, normalize_entry(entry))).collect(),
                );
            }
        }
        made
    }

    /// Reads the output of `sonic-db-dump -n CONFIG_DB`: the hashes of Redis.
    pub fn parse_dump(text: &str) -> Result<Self, ParseError> {
        let read: BTreeMap<String, DumpMember> = json(text)?;
        let mut made = ConfigDb::default();
        for (name, member) in read {
            // `CONFIG_DB_INITIALIZED` and similar keys are strings for SONiC's internal use.
            let DumpMember::Hash(entry) = member else { continue };
            let Some((table, key)) = name.split_once('|') else { return Err(ParseError::Key { key: name }) };
            made.insert(table, key, raw(entry));
        }
        Ok(made)
    }

    /// Returns the tables by name.
    pub fn tables(&self) -> &BTreeMap<String, Table> {
        &self.tables
    }

    /// Returns a table; an empty one if it does not exist.
    pub fn table(&self, name: &str) -> &Table {
        static NONE: Table = Table::new();
        self.tables.get(name).unwrap_or(&NONE)
    }

    /// Returns an entry.
    pub fn entry(&self, table: &str, key: &str) -> Option<&Entry> {
        self.tables.get(table)?.get(key)
    }

    /// Returns the value of a field that is not a list.
    pub fn text(&self, table: &str, key: &str, field: &str) -> Option<&str> {
        match self.entry(table, key)?.get(field)? {
            Field::Text(text) => Some(text),
            Field::List(_) => None,
        }
    }

    /// Adds or replaces an entry.
    pub fn insert(&mut self, table: &str, key: &str, entry: Entry) {
        let table = match self.tables.get_mut(table) {
            Some(known) => known,
            None => self.tables.entry(table.to_owned()).or_default(),
        };
        table.insert(key.to_owned(), entry);
    }

    /// Adds or replaces a table; an empty one is removed.
    pub fn replace(&mut self, name: &str, table: Table) {
        if table.is_empty() {
            self.tables.remove(name);
        } else {
            self.tables.insert(name.to_owned(), table);
        }
    }

    /// Writes it as `config_db.json`.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(&self.tables).expect("text and lists have a form in JSON");
        text.push('\n');
        text
    }
}

/// Drops empty lists, which Redis cannot distinguish from missing fields.
fn normalize_entry(mut entry: Entry) -> Entry {
    entry.retain(|name, field| *field != Field::List(Vec::new()) && name != "NULL");
    entry
}

/// Converts the fields of Redis: a leaf-list is a field whose name ends with `@`, with its values joined by commas.
fn raw(entry: Entry) -> Entry {
    let fields = entry.into_iter().filter(|(name, _)| name != "NULL");
    let fields = fields.filter_map(|(name, field)| match (name.strip_suffix('@'), field) {
        (Some(_), Field::Text(text)) if text.is_empty() => None,
        (Some(list), Field::Text(text)) => {
            Some((list.to_owned(), Field::List(text.split(',').map(str::to_owned).collect())))
        }
        (_, field) => Some((name, field)),
    });
    fields.collect()
}

pub(crate) fn json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ParseError> {
    if text.len() > BYTES_MAX {
        return Err(ParseError::Large { bytes: text.len(), max: BYTES_MAX });
    }
    serde_json::from_str(text).map_err(|error| ParseError::Json {
        line: error.line(),
        column: error.column(),
        reason: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    })
}

/// A member of the outermost object.
enum Member {
    Table(Table),
    /// `bgpraw`, the text of FRR that `show runningconfiguration all` adds to the tables.
    Other,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Member;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table: entries by key, each with fields by name")
            }
            fn visit_str<E>(self, _: &str) -> Result<Member, E> {
                Ok(Member::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Member, A::Error> {
                Table::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Member::Table)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// The value of a Redis key.
pub(crate) enum DumpMember {
    Hash(Entry),
    Other,
}

impl<'de> Deserialize<'de> for DumpMember {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        if value.get("type").and_then(serde_json::Value::as_str) != Some("hash") {
            return Ok(DumpMember::Other);
        }
        let fields = value.get("value").cloned().unwrap_or_default();
        serde_json::from_value(fields).map(DumpMember::Hash).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for ConfigDb {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(ConfigDb::of)
    }
}

impl From<&str> for Field {
    fn from(text: &str) -> Self {
        Field::Text(text.to_owned())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Text(text) => f.write_str(text),
            Field::List(values) => write!(f, "[{}]", values.join(", ")),
        }
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Field::Text(text) => serializer.serialize_str(text),
            Field::List(values) => values.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Field;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings, as all values of CONFIG_DB are")
            }
            fn visit_str<E>(self, text: &str) -> Result<Field, E> {
                Ok(Field::Text(text.to_owned()))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Field, A::Error> {
                Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq)).map(Field::List)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_the_dump_of_redis_are_one() {
        let file = r#"{
            "LOOPBACK_INTERFACE": { "Loopback0": {}, "Loopback0|fd00::1/128": { "NULL": "NULL" } },
            "SWITCH_HASH": { "GLOBAL": { "ecmp_hash": ["DST_IP", "SRC_IP"], "lag_hash": [] } },
            "EMPTY": {},
            "bgpraw": "router bgp 1\n"
        }"#;
        let dump = r#"{
            "LOOPBACK_INTERFACE|Loopback0": { "type": "hash", "ttl": -0.001, "value": { "NULL": "NULL" } },
            "LOOPBACK_INTERFACE|Loopback0|fd00::1/128": { "type": "hash", "value": { "NULL": "NULL" } },
            "SWITCH_HASH|GLOBAL": { "type": "hash", "value": { "ecmp_hash@": "DST_IP,SRC_IP", "lag_hash@": "" } },
            "CONFIG_DB_INITIALIZED": { "type": "string", "value": "1" }
        }"#;
        let file = ConfigDb::parse(file).expect("right");
        assert_eq!(Ok(&file), ConfigDb::parse_dump(dump).as_ref());
        assert_eq!(file.tables().len(), 2);
        assert_eq!(ConfigDb::parse(&file.to_json()), Ok(file));
    }

    #[test]
    fn mistakes_have_a_place() {
        let error =
            ConfigDb::parse("{\n \"PORT\": { \"Ethernet0\": { \"mtu\": 9100 } } }").expect_err("a number");
        assert!(error.to_string().starts_with("2:"), "{error}");
        assert!(error.to_string().contains("as all values of CONFIG_DB are"), "{error}");
        let error = ConfigDb::parse_dump(r#"{"PORT": {"type": "hash", "value": {}}}"#).expect_err("no key");
        assert_eq!(error, ParseError::Key { key: "PORT".to_owned() });
    }
}
