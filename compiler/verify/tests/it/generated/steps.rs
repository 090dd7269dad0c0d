//! Small changes of numbers: by one, by a tenth or by half, on one device, on all devices of a tier, or on all devices.
//!
//! A check against a range or other devices finds much larger numbers, but not these changes.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Memory;
use serde_json::{Map, Value, json};

use crate::base::Base;
use crate::generated::case::{Case, ChangeKind, read_json, write_json};
use crate::generated::lines::kind;

/// Size of the change.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Up,
    Down,
    Negative,
    Doubled,
    Halved,
    TenthMore,
    TenthLess,
}

const STEPS: [Step; 7] =
    [Step::Up, Step::Down, Step::Negative, Step::Doubled, Step::Halved, Step::TenthMore, Step::TenthLess];

impl Step {
    fn of(self, number: i64) -> i64 {
        let tenth = (number.abs() / 10).max(1);
        match self {
            Step::Up => number + 1,
            Step::Down => number - 1,
            Step::Negative => -number - 1,
            Step::Doubled => number * 2,
            Step::Halved => number / 2,
            Step::TenthMore => number + tenth,
            Step::TenthLess => number - tenth,
        }
    }

    /// Returns the changed number; `None` if the value is not a number.
    fn value(self, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => Some(json!(self.of(text.parse().ok()?).to_string())),
            Value::Number(number) => Some(json!(self.of(number.as_i64()?))),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Scopes of changes: all devices whose names contain the text.
const SCOPES: [&str; 4] = ["", "-t0-", "-t1-", "-001"];

/// Returns the files of the switches whose names contain a text.
pub(crate) fn files(tree: &Memory, name: &str, scope: &str) -> Vec<Utf8PathBuf> {
    let fits = |path: &&Utf8PathBuf| {
        path.starts_with("switches") && path.file_name() == Some(name) && path.as_str().contains(scope)
    };
    tree.files.keys().filter(fits).cloned().collect()
}

/// Returns the scopes that differ in their switches in a tree.
pub(crate) fn scopes(tree: &Memory, name: &str) -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    SCOPES.into_iter().filter(|scope| seen.insert(files(tree, name, scope))).collect()
}

/// Changes each kind of number in each table.
pub(crate) fn config(tree: &Memory, base: Base, cases: &mut Vec<Case>) {
    const NAME: &str = "config_db.json";
    for scope in scopes(tree, NAME) {
        let mut seen = BTreeSet::new();
        for path in files(tree, NAME, scope) {
            for (table, row, field) in numbers(&read_json(tree, &path)) {
                let like =
                    if table.contains("PROFILE") || table == "SCHEDULER" { row.clone() } else { kind(&row) };
                if !seen.insert((table.clone(), like.clone(), kind(&field))) {
                    continue;
                }
                for step in STEPS {
                    let (table, like, field, name) =
                        (table.clone(), like.clone(), field.clone(), row.clone());
                    cases.push(Case {
                        base,
                        section: format!("config_db.json {table}"),
                        field: field.clone(),
                        change_kind: if scope == "-001" {
                            ChangeKind::Moved
                        } else {
                            ChangeKind::MovedEverywhere
                        },
                        at: format!("{step:?} {name} of {}", if scope.is_empty() { "all" } else { scope }),
                        damage: Box::new(move |tree| {
                            for path in files(tree, NAME, scope) {
                                change(tree, &path, (&table, &like, &field), step);
                            }
                        }),
                    });
                }
            }
        }
    }
}

/// Returns the numeric fields of a configuration: table, row, field.
fn numbers(config: &Map<String, Value>) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for (table, rows) in config {
        for (row, fields) in rows.as_object().into_iter().flatten() {
            for (field, value) in fields.as_object().into_iter().flatten() {
                if Step::Up.value(value).is_some() {
                    found.push((table.clone(), row.clone(), field.clone()));
                }
            }
        }
    }
    found
}

fn change(tree: &mut Memory, path: &Utf8Path, (table, like, field): (&str, &str, &str), step: Step) {
    let mut config = read_json(tree, path);
    let rows = config.get_mut(table).and_then(Value::as_object_mut);
    let mut moved = false;
    for (name, fields) in rows.into_iter().flatten() {
        if name != like && kind(name) != *like {
            continue;
        }
        if let Some(value) = fields.get_mut(field)
            && let Some(new) = step.value(value)
        {
            // A change can have no effect, because half of zero is zero.
            moved |= *value != new;
            *value = new;
        }
    }
    if moved {
        tree.files.insert(path.to_owned(), write_json(path, &Value::Object(config)));
    }
}
