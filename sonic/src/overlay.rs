//! Site additions to every switch: AAA, TACACS+, DNS, SNMP communities, and other settings outside closc.
//!
//! In: the texts of a folder, one JSON object each. Out: [`Overlay`], from which [`Overlay::additions`] returns the
//! additions to one device. Invariants: fields that closc owns are rejected by name. Files that set one field of a
//! device to different values are rejected, so their order does not matter.
//!
//! ```json
//! { "devices": ["p*-t0-*"], "tables": { "DNS_NAMESERVER": { "192.0.2.53": {} } } }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use thiserror::Error;

use crate::config_db::{ConfigDb, Field, ParseError, Table};
use crate::ownership::owned_table;

/// Site additions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlay {
    files: Vec<File>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    name: String,
    patterns: Vec<String>,
    tables: ConfigDb,
}

/// An overlay that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OverlayError {
    /// It is not JSON of this form.
    #[error("`{file}`:{fault}")]
    Parse {
        /// The file.
        file: String,
        /// The error.
        fault: ParseError,
    },
    /// It is a list.
    #[error(
        "`{0}` is a list: expected one object, `{{\"devices\": [...], \"tables\": {{...}}}}`; help: write each \
         object to its own file"
    )]
    List(String),
    /// It names an empty table or list. An overlay adds; it removes nothing.
    #[error(
        "`{place}` in `{file}` is empty, but an overlay only adds settings; help: add values, or remove the key"
    )]
    Empty {
        /// The file.
        file: String,
        /// The table, or the list: `TABLE|key.field`.
        place: String,
    },
    /// It sets a field that closc owns.
    #[error(
        "`{file}` sets `{place}` of `{device}`, which closc writes; help: remove it, or set it in the fabric file"
    )]
    Owned {
        /// The file.
        file: String,
        /// The switch.
        device: String,
        /// The field: `TABLE|key.field`.
        place: String,
    },
    /// Two files set different values.
    #[error("`{place}` of `{device}` is `{first_value}` in `{file}` and `{second_value}` in `{other_file}`")]
    Twice {
        /// The first.
        file: String,
        /// The second.
        other_file: String,
        /// The switch.
        device: String,
        /// The field: `TABLE|key.field`.
        place: String,
        /// Value in the first.
        first_value: Box<Field>,
        /// Value in the second.
        second_value: Box<Field>,
    },
}

impl Overlay {
    /// Parses files, given by name and text.
    pub fn parse<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, OverlayError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct OverlayFile {
            #[serde(default)]
            devices: Vec<String>,
            tables: BTreeMap<String, Table>,
        }
        let mut made = Overlay::default();
        for (name, text) in files {
            if text.trim_start().starts_with('[') {
                return Err(OverlayError::List(name.to_owned()));
            }
            let raw: OverlayFile = crate::config_db::json(text)
                .map_err(|fault| OverlayError::Parse { file: name.to_owned(), fault })?;
            let tables = reject_empty(raw.tables)
                .map_err(|place| OverlayError::Empty { file: name.to_owned(), place })?;
            made.files.push(File { name: name.to_owned(), patterns: raw.devices, tables });
        }
        made.files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(made)
    }

    /// Returns an overlay of one file that applies to every switch.
    pub fn of_file(name: &str, tables: ConfigDb) -> Self {
        Overlay { files: vec![File { name: name.to_owned(), patterns: Vec::new(), tables }] }
    }

    /// Returns the patterns that match none of these switches, each with its file.
    pub fn idle<'a>(&'a self, devices: &[&str]) -> Vec<(&'a str, &'a str)> {
        let patterns = self
            .files
            .iter()
            .flat_map(|file| file.patterns.iter().map(|each| (file.name.as_str(), each.as_str())));
        patterns.filter(|(_, pattern)| !devices.iter().any(|device| fits(pattern, device))).collect()
    }

    /// Returns the first switch of each group of switches to which the same files apply, except those without a file.
    pub fn kinds<'d>(&self, devices: &[&'d str]) -> Vec<&'d str> {
        let mut known = BTreeSet::new();
        let mut is_first = |device: &str| {
            let files: Vec<usize> =
                (0..self.files.len()).filter(|file| self.files[*file].applies(device)).collect();
            !files.is_empty() && known.insert(files)
        };
        devices.iter().copied().filter(|device| is_first(device)).collect()
    }

    /// Returns the additions to a switch.
    pub fn additions(&self, device: &str, tree: &ConfigDb) -> Result<ConfigDb, OverlayError> {
        let mut made = ConfigDb::default();
        for file in self.files.iter().filter(|file| file.applies(device)) {
            for (table, entries) in file.tables.tables() {
                for (key, entry) in entries {
                    let mut merged = made.entry(table, key).cloned().unwrap_or_default();
                    for (field, value) in entry {
                        let place = || format!("{table}|{key}.{field}");
                        let known = tree.entry(table, key);
                        if known.is_some()
                            && owned_table(table).is_some_and(|owned| owned.sets_field(field, known))
                        {
                            let (file, device) = (file.name.clone(), device.to_owned());
                            return Err(OverlayError::Owned { file, device, place: place() });
                        }
                        match merged.insert(field.clone(), value.clone()) {
                            Some(before) if before != *value => {
                                return Err(self.duplicate_error(
                                    file,
                                    device,
                                    (table, key, field),
                                    &before,
                                    value,
                                ));
                            }
                            _ => {}
                        }
                    }
                    made.insert(table, key, merged);
                }
            }
        }
        Ok(made)
    }

    fn duplicate_error(
        &self,
        file: &File,
        device: &str,
        (table, key, field): (&str, &str, &str),
        there: &Field,
        here: &Field,
    ) -> OverlayError {
        let says = |other: &&File| {
            other.applies(device) && other.tables.entry(table, key).and_then(|e| e.get(field)) == Some(there)
        };
        OverlayError::Twice {
            file: file.name.clone(),
            other_file: self.files.iter().find(says).map(|other| other.name.clone()).unwrap_or_default(),
            device: device.to_owned(),
            place: format!("{table}|{key}.{field}"),
            first_value: Box::new(here.clone()),
            second_value: Box::new(there.clone()),
        }
    }
}

/// Rejects empty tables and lists. The error is the place.
fn reject_empty(tables: BTreeMap<String, Table>) -> Result<ConfigDb, String> {
    let mut made = ConfigDb::default();
    for (name, table) in tables {
        if table.is_empty() {
            return Err(name);
        }
        for (key, mut entry) in table {
            if let Some((field, _)) = entry.iter().find(|(_, value)| **value == Field::List(Vec::new())) {
                return Err(format!("{name}|{key}.{field}"));
            }
            // Redis form of an entry without fields.
            entry.retain(|field, _| field != "NULL");
            made.insert(&name, &key, entry);
        }
    }
    Ok(made)
}

impl File {
    fn applies(&self, device: &str) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| fits(pattern, device))
    }
}

/// Returns whether a name matches a pattern, in which `*` is any text and `?` any character.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(sign) if *sign == '?' || *sign == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((back, taken)) = star else { return false };
                star = Some((back, taken + 1));
                at = back + 1;
                in_name = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|sign| *sign == '*')
}
