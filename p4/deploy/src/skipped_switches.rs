//! Switches of a tree that a command skips: the inventory has no connection for them, or closc does not push to their
//! operating system.
//!
//! In: a tree, an inventory, a selection. Out: [`SkippedSwitches`], one per operating system. Invariants: a selected
//! switch takes part, or is counted here.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::inventory::Inventory;
use crate::tree::Tree;

/// The operating system of switches with a CONFIG_DB, for which rules under `sonic` are needed.
const WITH_RULES: &str = "sonic";

/// Skipped switches of one operating system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SkippedSwitches {
    /// Keyword of the operating system in fabric files.
    pub os: String,
    /// Number of switches.
    pub switches: usize,
    /// The first of them.
    pub first: String,
    /// Names of their files.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<String>,
    /// Advice on how to deliver their configuration.
    pub instead: String,
}

impl SkippedSwitches {
    /// Formats it for people.
    pub fn line(&self) -> String {
        let SkippedSwitches { os, switches, first, files, instead } = self;
        let (verb, are) = if *switches == 1 { ("switch runs", "is") } else { ("switches run", "are") };
        let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
        let with = if files.is_empty() { String::new() } else { format!(" with {}", files.join(", ")) };
        format!("{switches} {verb} `{os}` and {are} skipped (first: `{first}`{with}): {instead}")
    }
}

/// Counts the switches that take no part. `instead` returns the advice for an operating system that closc does not push
/// to.
pub(crate) fn find_skipped(
    tree: &Tree,
    inventory: &Inventory,
    instead: &dyn Fn(&str) -> String,
    select: &dyn Fn(&str) -> bool,
    is_carried: &dyn Fn(&str) -> bool,
) -> Vec<SkippedSwitches> {
    let mut found: BTreeMap<&str, SkippedSwitches> = BTreeMap::new();
    let mut add = |name: &str, os: &'static str, instead: String| {
        let (first, files) = (name.to_owned(), BTreeSet::new());
        let new = || SkippedSwitches { os: os.to_owned(), switches: 0, first, files, instead };
        let entry = found.entry(os).or_insert_with(new);
        entry.switches += 1;
        entry.files.extend(tree.files_of(name).map(str::to_owned));
    };
    if !inventory.has_sonic() {
        for name in tree.sonic().iter().filter(|name| select(name)) {
            let instead = "add a rule under `sonic` to the inventory";
            add(name, WITH_RULES, instead.to_owned());
        }
    }
    let others = tree.other_switches().iter().filter(|(name, _)| !is_carried(name) && select(name));
    for (name, os) in others {
        add(name, os, instead(os));
    }
    for (name, os) in tree.fileless_switches().iter().filter(|(name, _)| select(name)) {
        add(
            name,
            os,
            "a fabric file contains no files for them; compile both sides and compare the trees".to_owned(),
        );
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_several_are_said_differently() {
        let some = |switches| SkippedSwitches {
            os: "frr".to_owned(),
            switches,
            first: "p0-t0-001".to_owned(),
            files: BTreeSet::from(["frr.conf".to_owned(), "ip.batch".to_owned()]),
            instead: "do it".to_owned(),
        };
        assert!(some(1).line().starts_with("1 switch runs `frr`"));
        assert!(some(7).line().starts_with("7 switches run `frr`"));
        assert!(some(7).line().ends_with("(first: `p0-t0-001` with `frr.conf`, `ip.batch`): do it"));
    }
}
