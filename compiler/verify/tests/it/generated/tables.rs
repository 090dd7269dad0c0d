//! Damage to JSON files: tables of `config_db.json` by row and field, other files by leaf.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Memory;
use serde_json::{Map, Value};

use crate::base::Base;
use crate::generated::case::{Case, ChangeKind, read_json, target_files, write_json};
use crate::generated::lines::kind;

/// Changes of a field.
const FIELD: [ChangeKind; 8] = [
    ChangeKind::Lost,
    ChangeKind::Empty,
    ChangeKind::Other,
    ChangeKind::Larger,
    ChangeKind::Foreign,
    ChangeKind::LostEverywhere,
    ChangeKind::OtherEverywhere,
    ChangeKind::LargerEverywhere,
];

/// Changes of a row or a table.
const ROW: [ChangeKind; 2] = [ChangeKind::Lost, ChangeKind::LostEverywhere];

/// Damages every kind of field and row of every table of a switch, and complete tables.
pub(crate) fn config(tree: &Memory, base: Base, [device, donor]: [&str; 2], cases: &mut Vec<Case>) {
    let path = |device: &str| Utf8PathBuf::from(format!("switches/{device}/config_db.json"));
    let (own, donor) = (read_json(tree, &path(device)), read_json(tree, &path(donor)));
    let empty = Map::new();
    for (table, rows) in &own {
        let section = format!("config_db.json {table}");
        let mut seen = BTreeSet::new();
        let mut push = |field: &str, how: ChangeKind, row: Option<&str>| {
            let at = format!("{device} {}", row.unwrap_or("the table"));
            let damage = Change {
                table: table.clone(),
                row: row.map(str::to_owned),
                field: (!field.is_empty()).then(|| field.to_owned()),
                kind: how,
                foreign: row.and_then(|row| donor.get(table)?.get(row)?.get(field).cloned()),
            };
            let same = |foreign: &Value| row.is_some_and(|row| rows[row][field] == *foreign);
            if how == ChangeKind::Foreign && damage.foreign.as_ref().is_none_or(same) {
                return;
            }
            let file = path(device);
            cases.push(Case {
                base,
                section: section.clone(),
                field: field.to_owned(),
                change_kind: how,
                at,
                damage: Box::new(move |tree| damage.apply(tree, &file)),
            });
        };
        for (row, fields) in rows.as_object().unwrap_or(&empty) {
            let fields = fields.as_object().unwrap_or(&empty);
            let word = kind(row);
            let first = fields.keys().next().map_or(String::new(), |key| kind(key));
            if seen.insert((word.clone(), first, String::new())) {
                for how in ROW {
                    push("", how, Some(row));
                }
            }
            for (field, value) in fields {
                // Fields with numeric names are equivalent if their values are equal, so one field per value is
                // damaged.
                let numbered = field.parse::<u8>().is_ok();
                let value = if numbered || table.contains("QOS") || table == "QUEUE" {
                    value.to_string()
                } else {
                    String::new()
                };
                if seen.insert((word.clone(), if numbered { "#".to_owned() } else { kind(field) }, value)) {
                    for how in FIELD {
                        push(field, how, Some(row));
                    }
                }
            }
        }
        for how in ROW {
            push("", how, None);
        }
    }
}

/// A change of tables.
struct Change {
    table: String,
    row: Option<String>,
    field: Option<String>,
    kind: ChangeKind,
    foreign: Option<Value>,
}

impl Change {
    fn apply(&self, tree: &mut Memory, file: &Utf8Path) {
        for path in target_files(tree, file, self.kind.everywhere()) {
            let mut config = read_json(tree, &path);
            self.change(&mut config);
            let text = write_json(&path, &Value::Object(config));
            tree.files.insert(path, text);
        }
    }

    fn change(&self, config: &mut Map<String, Value>) {
        let Some(row) = &self.row else {
            config.remove(&self.table);
            return;
        };
        let Some(rows) = config.get_mut(&self.table).and_then(Value::as_object_mut) else { return };
        let like = |name: &str| name == row || self.kind.everywhere() && kind(name) == kind(row);
        let Some(field) = &self.field else {
            rows.retain(|name, _| !like(name));
            return;
        };
        for (_, fields) in rows.iter_mut().filter(|(name, _)| like(name)) {
            let Some(fields) = fields.as_object_mut() else { continue };
            let Some(value) = fields.get(field) else { continue };
            match self.kind.of(value, self.foreign.as_ref()) {
                Some(new) => fields.insert(field.clone(), new),
                None => fields.remove(field),
            };
        }
    }
}

/// Damages every kind of leaf of a JSON file.
pub(crate) fn leaves(tree: &Memory, base: Base, file: &str, section: &str, cases: &mut Vec<Case>) {
    let path = Utf8PathBuf::from(file);
    let own = Value::Object(read_json(tree, &path));
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    pointers(&own, &mut Vec::new(), &mut all);
    for pointer in all {
        let number =
            |part: &String| if part.parse::<usize>().is_ok() { "#".to_owned() } else { part.clone() };
        let field = pointer.iter().map(number).collect::<Vec<_>>().join(".");
        // The list of files is written again, so damage to it would have no effect.
        if pointer[0] == "files" || !seen.insert(field.clone()) {
            continue;
        }
        for how in [ChangeKind::Lost, ChangeKind::Other, ChangeKind::Larger] {
            let (path, pointer) = (path.clone(), pointer.clone());
            cases.push(Case {
                base,
                section: section.to_owned(),
                field: field.clone(),
                change_kind: how,
                at: format!("{file} {}", pointer.join(".")),
                damage: Box::new(move |tree| {
                    let mut whole = Value::Object(read_json(tree, &path));
                    leaf(&mut whole, &pointer, how);
                    tree.files.insert(path.clone(), write_json(&path, &whole));
                }),
            });
        }
    }
}

fn pointers(value: &Value, at: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return all.push(at.clone()),
    };
    for (name, value) in below {
        at.push(name);
        pointers(value, at, all);
        at.pop();
    }
}

fn leaf(value: &mut Value, pointer: &[String], how: ChangeKind) {
    let Some((last, parents)) = pointer.split_last() else { return };
    let text = parents
        .iter()
        .fold(String::new(), |text, part| text + "/" + &part.replace('~', "~0").replace('/', "~1"));
    match value.pointer_mut(&text) {
        Some(Value::Object(fields)) => match how.of(&fields[last], None) {
            Some(new) => {
                fields.insert(last.clone(), new);
            }
            None => {
                fields.remove(last);
            }
        },
        Some(Value::Array(items)) => {
            let at: usize = last.parse().expect("a place in a list");
            match how.of(&items[at], None) {
                Some(new) => items[at] = new,
                None => {
                    items.remove(at);
                }
            }
        }
        other => panic!("{other:?} has no {last}"),
    }
}
