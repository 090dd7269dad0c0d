//! Damage to a CONFIG_DB: a field is removed or changed, an entry removed or added, or a table removed.

use closc_artefacts::carriers::SwitchFile;
use closc_sonic::{Rows, SITE_FIRST, Share, owned_table};
use serde_json::Value;

use super::{Act, Damage, Pick, Victim};

/// Tables that are never damaged, because they make the switch reachable.
const REACHED_BY: [&str; 2] = ["MGMT_INTERFACE", "MGMT_PORT"];

/// Tables, keys and fields of the tree that closc owns.
fn fields(tree: &Value) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for (table, entries) in tree.as_object().expect("tables") {
        for (key, fields) in entries.as_object().expect("entries") {
            let own = fields.as_object().expect("fields").keys().filter(|field| {
                !REACHED_BY.contains(&table.as_str())
                    && !SITE_FIRST.iter().any(|(of, first, _)| of == table && first == field)
            });
            found.extend(own.map(|field| (table.clone(), key.clone(), field.clone())));
        }
    }
    found
}

/// Returns whether closc owns every entry of a table.
fn is_own(table: &str) -> bool {
    owned_table(table).is_some_and(|owned| owned.share == Share::Entries && owned.rows == Rows::All)
}

fn change(value: &mut Value) {
    match value {
        Value::String(text) => text.push('9'),
        Value::Array(list) => list.push("9".into()),
        other => panic!("CONFIG_DB has no {other}"),
    }
}

/// Makes a random change, and returns its place.
fn edit(held: &mut Value, tree: &Value, pick: &mut Pick<'_>) -> (Act, String) {
    let all = fields(tree);
    let (table, key, field) = &all[pick(all.len())];
    let entry = format!("{table}|{key}");
    let rows = held[table].as_object_mut().expect("a table");
    match pick(8) {
        0 if is_own(table) => {
            let copy = rows[key].clone();
            rows.insert(format!("{key}9"), copy);
            (Act::Added, format!("{entry}9"))
        }
        1 if is_own(table) => {
            rows.remove(key);
            if rows.is_empty() {
                held.as_object_mut().expect("tables").remove(table);
            }
            (Act::Removed, table.clone())
        }
        2 if is_own(table) => {
            held.as_object_mut().expect("tables").remove(table);
            (Act::Emptied, table.clone())
        }
        3 | 4 => {
            rows[key].as_object_mut().expect("fields").remove(field);
            (Act::Removed, entry)
        }
        _ => {
            change(&mut rows[key][field]);
            (Act::Changed, entry)
        }
    }
}

/// Changes the running configuration.
pub(super) fn change_running(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let tree: Value = serde_json::from_str(&victim.target_file(SwitchFile::ConfigDb)).expect("JSON");
    let mut held = victim.fleet.config(victim.name);
    let (act, what) = edit(&mut held, &tree, pick);
    victim.fleet.set_config(victim.name, &held);
    Some(Damage::new(act, &what, &[&[&what]]))
}

/// Changes or removes the startup configuration.
pub(super) fn change_saved(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    if pick(4) == 0 {
        std::fs::remove_file(victim.fleet.at(victim.name, "saved.json")).expect("it is there");
        return Some(Damage::new(Act::Emptied, "saved.json", &[&["saved"]]));
    }
    let tree: Value = serde_json::from_str(&victim.target_file(SwitchFile::ConfigDb)).expect("JSON");
    let mut held = serde_json::from_str(&victim.read("saved.json")).expect("JSON");
    let (act, what) = edit(&mut held, &tree, pick);
    victim.write("saved.json", &held.to_string());
    Some(Damage::new(act, format!("saved.json: {what}"), &[&["saved", &what]]))
}
