//! Damages: something that a file of the tree is about changes on a switch, past closc.
//!
//! In: a switch that holds a tree. Out: what is to be put back. Invariants: what is the site's is not touched.

use std::collections::BTreeSet;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng as _;

use crate::fleet::{Fleet, Kind};

/// The file of a switch that was damaged, and its text from before.
pub(crate) type Undo = (&'static str, String);

/// Damages something of a switch that the file of the tree is about.
pub(crate) fn damage(fleet: &Fleet, name: &str, tree: &str, random: &mut SplitMix64) -> Undo {
    let mut pick = |count: usize| usize::try_from(random.next_u64() % count.max(1) as u64).expect("small");
    match fleet.kind {
        Kind::Eos => eos_damage(fleet, name, tree, &mut pick),
        Kind::Nvue => nvue_damage(fleet, name, &mut pick),
    }
}

/// Puts back what was damaged.
pub(crate) fn repair(fleet: &Fleet, name: &str, (file, text): &Undo) {
    fleet.put(&format!("fleet/{name}/{file}"), text, 0o644);
}

/// Takes a line away, changes it, or adds one.
fn eos_damage(fleet: &Fleet, name: &str, tree: &str, pick: &mut impl FnMut(usize) -> usize) -> Undo {
    let text = fleet.read(name, "running");
    let wanted = fleet.place.read(&format!("{tree}/switches/{name}/eos.conf"));
    let wanted: BTreeSet<String> = wanted.lines().map(|line| line.trim().to_owned()).collect();
    let lines: Vec<&str> = text.lines().collect();
    let own: Vec<usize> = (0..lines.len())
        .filter(|at| wanted.contains(lines[*at].trim()) && lines[*at].starts_with("   "))
        .collect();
    let at = own[pick(own.len())];
    let changed: Vec<String> = match pick(3) {
        // A line goes, gets another value, or another one comes.
        0 => lines
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != at)
            .map(|(_, line)| (*line).to_owned())
            .collect(),
        1 => lines
            .iter()
            .enumerate()
            .map(|(place, line)| if place == at { format!("{line}1") } else { (*line).to_owned() })
            .collect(),
        _ => lines
            .iter()
            .enumerate()
            .flat_map(|(place, line)| {
                let indent = " ".repeat(line.len() - line.trim_start().len());
                let more = (place == at).then(|| format!("{indent}ipv6 access-group X in"));
                [(*line).to_owned()].into_iter().chain(more)
            })
            .collect(),
    };
    fleet.put(&format!("fleet/{name}/running"), &(changed.join("\n") + "\n"), 0o644);
    ("running", text)
}

/// Takes a leaf away, changes it, or adds an access list beside it.
fn nvue_damage(fleet: &Fleet, name: &str, pick: &mut impl FnMut(usize) -> usize) -> Undo {
    let text = fleet.read(name, "applied");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut paths = Vec::new();
    leaves(&value, &mut Vec::new(), &mut paths);
    paths.retain(|path| match path[0].as_str() {
        "interface" => !path[1].starts_with("eth"),
        "vrf" => path[1] == "default",
        "qos" | "router" => true,
        _ => path.ends_with(&["hostname".to_owned()]),
    });
    let path = &paths[pick(paths.len())];
    let (last, parents) = path.split_last().expect("a path");
    let place = parents.iter().fold(&mut value, |value, key| &mut value[key.as_str()]);
    match pick(3) {
        0 => drop(place.as_object_mut().expect("a mapping").remove(last)),
        1 => place[last.as_str()] = serde_json::json!("damaged"),
        _ => place["acl"] = serde_json::json!({ "X": { "inbound": {} } }),
    }
    fleet.put(&format!("fleet/{name}/applied"), &value.to_string(), 0o644);
    ("applied", text)
}

fn leaves(value: &serde_json::Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
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
