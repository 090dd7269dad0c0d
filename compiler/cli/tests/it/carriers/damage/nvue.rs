//! Damage to the configuration of Cumulus Linux: a leaf is removed, changed or added.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Act, Damage, Pick, Victim};
use crate::carriers::fleet::NVUE_SITE;

type Path = Vec<String>;

fn leaves(value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    match value.as_object().filter(|map| !map.is_empty()) {
        None => found.push(path.clone()),
        Some(map) => {
            for (key, below) in map {
                path.push(key.clone());
                leaves(below, path, found);
                path.pop();
            }
        }
    }
}

fn all(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    leaves(value, &mut Vec::new(), &mut found);
    found
}

/// Changes a leaf that the site does not own, and returns its path in the form of a report.
fn edit(config: &mut Value, pick: &mut Pick<'_>) -> (Act, String) {
    let site: BTreeSet<Path> = all(&serde_json::from_str(NVUE_SITE).expect("JSON")).into_iter().collect();
    // The site may add anything here that the tree does not set.
    let is_open = |path: &Path| ["acl", "platform", "service", "system"].contains(&path[0].as_str());
    let own: Vec<Path> =
        all(config).into_iter().filter(|path| !site.contains(path) && !path[1].starts_with("eth")).collect();
    let path = &own[pick(own.len())];
    let (last, parents) = path.split_last().expect("a path");
    let place = parents.iter().fold(&mut *config, |value, key| &mut value[key.as_str()]);
    let shown = |last: &str| parents.iter().map(String::as_str).chain([last]).collect::<Vec<_>>().join(" / ");
    match pick(3) {
        0 => {
            place.as_object_mut().expect("a mapping").remove(last);
            (Act::Removed, shown(last))
        }
        1 if !is_open(path) => {
            place["acl"] = json!({ "X": { "inbound": {} } });
            (Act::Added, shown("acl / X / inbound"))
        }
        _ => {
            place[last.as_str()] = json!("damaged");
            (Act::Changed, shown(last))
        }
    }
}

/// Changes the applied configuration.
pub(super) fn change_applied(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let mut config = serde_json::from_str(&victim.read("applied")).expect("JSON");
    let (act, path) = edit(&mut config, pick);
    victim.write("applied", &config.to_string());
    Some(Damage::new(act, &path, &[&["nvue.yaml", &path]]))
}

const SAVED: &str = "etc/nvue.d/startup.yaml";

/// Changes the startup configuration.
pub(super) fn change_saved(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let named: &[&[&str]] = &[&["nvue.yaml", "the same configuration in the startup configuration"]];
    if pick(4) == 0 {
        std::fs::remove_file(victim.fleet.at(victim.name, SAVED)).expect("it is there");
        return Some(Damage::new(Act::Emptied, SAVED, named));
    }
    let text = victim.read(SAVED);
    let text = text.trim().strip_prefix("- set: ").expect("the simulated switch writes it so");
    let mut config = serde_json::from_str(text).expect("JSON");
    let (act, path) = edit(&mut config, pick);
    victim.write(SAVED, &format!("- set: {config}\n"));
    Some(Damage::new(act, format!("{SAVED}: {path}"), named))
}
