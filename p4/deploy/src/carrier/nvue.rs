//! NVIDIA Cumulus Linux: `nvue.yaml`, applied with NVUE.
//!
//! In: the file of a tree, and `nv config show`. Out: a complete configuration for `nv config replace`,
//! applied with a timer. Invariants: the complete configuration contains the site's settings (management
//! ports and VRFs, users, access lists of the control plane). The result of `nv config apply` is determined
//! by reading back, because its status is 0 even after a failure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_artefacts::paths::NVUE_YAML;
use serde_json::{Map, Value};

use super::facts::{Facts, Finding, SAVED, findings};
use super::guard::{self, Change};
use super::system::{ChangeParameters, Step, System, SystemState, Texts, begin};
use crate::folders::Place;

/// The file of the tree.
const FILE: &str = NVUE_YAML;

/// The file for `nv config replace`.
const WHOLE: &str = "whole.yaml";

/// Separator between the keys of a path.
const BELOW: &str = " / ";

/// Marker file: nothing has to be applied.
const SETTLED: &str = "settled";

/// The operating system.
pub(super) struct Nvue;

/// A configuration as leaves: a path of keys, each with a value. The value is an empty mapping if only the key counts.
type Leaves = BTreeMap<Vec<String>, Value>;

/// Parses a configuration.
fn leaves(text: &str) -> Result<Leaves, String> {
    let mut found = Leaves::new();
    if text.trim().is_empty() {
        return Ok(found);
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: 4_000_000, max_events: 16_000_000 },
    };
    let whole: Value =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())?;
    for entry in whole.as_array().into_iter().flatten() {
        if let Some(set) = entry.get("set") {
            walk(set, &mut Vec::new(), &mut found);
        }
    }
    Ok(found)
}

fn walk(value: &Value, path: &mut Vec<String>, found: &mut Leaves) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, below) in map {
                let names = if *path == ["interface"] { expand_ports(key) } else { vec![key.clone()] };
                for name in names {
                    path.push(name);
                    walk(below, path, found);
                    path.pop();
                }
            }
        }
        Value::Null => _ = found.insert(path.clone(), Value::Object(Map::new())),
        value => _ = found.insert(path.clone(), value.clone()),
    }
}

/// Expands names of ports: newer releases print several as `swp1-4,7`.
fn expand_ports(key: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut stem = String::new();
    for part in key.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, ""));
        let digits = first.len() - first.trim_end_matches(|sign: char| sign.is_ascii_digit()).len();
        let (head, number) = first.split_at(first.len() - digits);
        if !head.is_empty() {
            head.clone_into(&mut stem);
        }
        let begin = number.parse::<u32>();
        let end = if last.is_empty() { begin.clone() } else { last.parse() };
        match (begin, end) {
            (Ok(begin), Ok(end)) if end >= begin && end - begin < 4096 => {
                found.extend((begin..=end).map(|number| format!("{stem}{number}")));
            }
            _ => return vec![key.to_owned()],
        }
    }
    found
}

fn format_leaf(path: &[String], value: &Value) -> String {
    let value = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("{} = {value}", path.join(BELOW))
}

/// Returns the setting without its value; for a bare name, the list that contains it.
fn setting(path: &[String], value: &Value) -> String {
    let is_name = value.as_object().is_some_and(Map::is_empty);
    let end = if is_name { path.len().saturating_sub(1) } else { path.len() };
    path[..end].join(BELOW)
}

/// Returns whether a path belongs to the site unless the tree sets it.
fn is_of_site(path: &[String]) -> bool {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["interface", name, ..] => name.starts_with("eth") || name.starts_with("usb"),
        ["vrf", name, ..] => *name != "default",
        // Free text in the files of daemons can stop sessions and forwarding.
        ["system", "hostname" | "forwarding", ..] | ["system", "config", "snippet", ..] => false,
        ["acl" | "platform" | "service" | "system", ..] => true,
        _ => false,
    }
}

/// Splits a configuration into closc's leaves and the site's.
fn split(all: &Leaves, wanted: &Leaves) -> (Leaves, Leaves) {
    let settings: Facts = wanted.iter().map(|(path, value)| setting(path, value)).collect();
    let is_own = |path: &[String], value: &Value| {
        !is_of_site(path) || wanted.contains_key(path) || settings.contains(&setting(path, value))
    };
    all.clone().into_iter().partition(|(path, value)| is_own(path, value))
}

fn facts(leaves: &Leaves) -> Facts {
    leaves.iter().map(|(path, value)| format_leaf(path, value)).collect()
}

fn wanted_leaves(wanted: &Texts) -> Result<Leaves, String> {
    let text = wanted.get(FILE).ok_or_else(|| format!("there is no `{FILE}`"))?;
    leaves(text).map_err(|reason| format!("`{FILE}`: {reason}"))
}

fn applied_leaves(held: &SystemState) -> Result<Leaves, String> {
    leaves(held.section("applied"))
        .map_err(|reason| format!("the output of `nv config show` cannot be read: {reason}"))
}

/// Writes leaves as one configuration, in JSON, which is valid YAML.
fn render_leaves(all: &Leaves) -> String {
    let mut set = Map::new();
    for (path, value) in all {
        put_leaf(&mut set, path, value);
    }
    format!("- set: {}\n", Value::Object(set))
}

fn put_leaf(map: &mut Map<String, Value>, path: &[String], value: &Value) {
    match path {
        [] => {}
        [last] => _ = map.entry(last.clone()).or_insert_with(|| value.clone()),
        [first, rest @ ..] => {
            let below = map.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(map) = below {
                put_leaf(map, rest, value);
            }
        }
    }
}

/// Returns the commands that print the applied and the startup configuration.
fn print_commands(place: &Place) -> String {
    let (applied, saved) = (begin("applied"), begin("saved"));
    format!(
        "{applied}nv config show --expand </dev/null 2>/dev/null || nv config show </dev/null\n\
         {saved}cat {}/nvue.d/startup.yaml 2>/dev/null || :\n",
        place.etc
    )
}

impl System for Nvue {
    fn shell(&self) -> Option<&'static str> {
        Some("sudo -n sh -s")
    }

    fn has_folders(&self) -> bool {
        true
    }

    fn files(&self) -> &'static [&'static str] {
        &[FILE]
    }

    fn read(&self, place: &Place, _: &Texts) -> String {
        guard::read(place, &print_commands(place))
    }

    fn parse_state(&self, output: &str) -> Result<SystemState, String> {
        guard::parse_state(output)
    }

    fn compare(&self, wanted: &Texts, held: &SystemState) -> Result<Vec<Finding>, String> {
        let asked = wanted_leaves(wanted)?;
        let (own, _) = split(&applied_leaves(held)?, &asked);
        let (asked_facts, live) = (facts(&asked), facts(&own));
        let missing = asked_facts.difference(&live).cloned().collect();
        let unexpected = live.difference(&asked_facts).cloned().collect();
        let mut found = findings(FILE, &missing, &unexpected);
        // An unconfirmed change is not saved yet.
        if found.is_empty() && held.pending_change.is_none() {
            let saved = leaves(held.section("saved")).unwrap_or_default();
            if facts(&split(&saved, &asked).0) != asked_facts {
                let saved = Facts::from([format!("{SAVED}the startup configuration")]);
                found = findings(FILE, &saved, &Facts::new());
            }
        }
        Ok(found)
    }

    fn places(&self, wanted: &Texts, held: &SystemState) -> Result<Option<Vec<String>>, String> {
        let asked = wanted_leaves(wanted)?;
        let (_, site) = split(&applied_leaves(held)?, &asked);
        Ok(Some(site.keys().chain(asked.keys()).map(|path| path.join(".")).collect()))
    }

    fn apply(
        &self,
        wanted: &Texts,
        held: &SystemState,
        making: &ChangeParameters<'_>,
    ) -> Result<Vec<Step>, String> {
        let asked = wanted_leaves(wanted)?;
        let live = applied_leaves(held)?;
        let (_, mut whole) = split(&live, &asked);
        whole.extend(asked);
        let (state, before) = (&making.place.state, render_leaves(&live));
        let mut new = Texts::from([
            (WHOLE.to_owned(), render_leaves(&whole)),
            ("before.yaml".to_owned(), before.clone()),
        ]);
        let minutes = making.confirm.as_secs().div_ceil(60).max(1);
        // Prompts are answered. The read-back determines the result, because the exit status does not.
        let mut go = format!(
            "nv config replace {state}/new/{WHOLE} </dev/null\n\
             nv config apply --assume-yes --confirm {minutes}m </dev/null\n"
        );
        if live == whole {
            // Only the startup configuration differs, and NVUE has nothing to confirm.
            go.clear();
            new.insert(SETTLED.to_owned(), String::new());
        }
        let back = format!(
            "nv config apply --assume-yes --confirm-no </dev/null || :\n\
             nv config detach </dev/null || :\n\
             nv config replace {state}/new/before.yaml </dev/null\n\
             nv config apply --assume-yes </dev/null\n"
        );
        let before = Texts::from([(FILE.to_owned(), before)]);
        let change = Change {
            state_commands: &print_commands(making.place),
            digest: &held.digest,
            before: &before,
            new: &new,
            note: "",
            go: &go,
            back: &back,
        };
        Ok(vec![Step { script: guard::apply(&change, making), rereads: false }])
    }

    fn abandon(&self, _: &ChangeParameters<'_>) -> Option<String> {
        None
    }

    fn confirm(&self, place: &Place, _: &str, _: &SystemState) -> String {
        let mut save = String::new();
        let _ = write!(
            save,
            "[ -e {}/new/{SETTLED} ] || nv config apply --assume-yes --confirm-yes </dev/null >&2\nnv config save </dev/null >&2\n",
            place.state
        );
        guard::confirm(place, &save)
    }

    fn roll_back(&self, place: &Place, _: &str) -> String {
        guard::roll_back(place)
    }

    fn backup(&self, place: &Place, run: &str) -> String {
        guard::backup(place, run)
    }

    fn parse_backup(&self, output: &str) -> Result<Option<Texts>, String> {
        Ok(guard::parse_backup(output, self.files()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ports_are_taken_apart() {
        assert_eq!(expand_ports("swp1-3,7"), ["swp1", "swp2", "swp3", "swp7"]);
        assert_eq!(expand_ports("swp1s0-1"), ["swp1s0", "swp1s1"]);
        assert_eq!(expand_ports("eth0"), ["eth0"]);
        assert_eq!(expand_ports("br_default"), ["br_default"]);
    }

    #[test]
    fn the_part_of_the_site_stays_and_snippets_are_named() {
        let live = "- header: {}\n- set:\n    interface:\n      eth0: {ip: {vrf: mgmt}}\n      swp1-2: {link: {mtu: 1500}}\n    system:\n      aaa: {user: {a: {}}}\n      config: {snippet: {'frr.conf': 'router bgp'}}\n";
        let asked = leaves("- set:\n    interface:\n      swp1: {link: {mtu: 9216}}\n").expect("YAML");
        let (own, site) = split(&leaves(live).expect("YAML"), &asked);
        let (own, site) = (facts(&own), facts(&site));
        assert_eq!(site.len(), 2, "{site:?}");
        assert!(own.iter().any(|fact| fact.contains("snippet")) && own.len() == 3, "{own:?}");
        assert_eq!(leaves(&render_leaves(&asked)), Ok(asked));
    }
}
