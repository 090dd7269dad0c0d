//! Configurations as sets of lines, independent of order and spacing.
//!
//! In: a text in which subordinate lines are indented. Out: facts, one per line, together with the lines above it.
//! Invariants: comments and ends of modes are not facts; each fact occurs once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use crate::device_drift::Difference;

/// Separator between a line and the lines above it.
const BELOW: &str = " / ";

/// Lines that end a mode.
const ENDS: [&str; 4] = ["exit", "end", "exit-address-family", "exit-vrf"];

/// First words of facts about the startup configuration.
pub(super) const STARTS: [&str; 3] = [SAVED, "saved: ", "startup-config "];

/// First words of a fact about the configuration from which a switch starts.
pub(super) const SAVED: &str = "the same configuration in ";

/// Facts of one file.
pub(super) type Facts = BTreeSet<String>;

/// A difference, with the file of the tree that it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) file: String,
    pub(super) difference: Difference,
}

/// Reads the lines of a text, each with the lines above it.
pub(super) fn paths(text: &str) -> Vec<Vec<String>> {
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = words.join(" ");
        if line.is_empty() || line.starts_with(['!', '#']) || ENDS.contains(&line.as_str()) {
            continue;
        }
        open.retain(|(at, _)| *at < indent);
        open.push((indent, line));
        found.push(open.iter().map(|(_, line)| line.clone()).collect());
    }
    found
}

/// Writes one line per item.
pub(super) fn lines(all: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let mut text = String::new();
    for line in all {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Returns a path as a fact.
pub(super) fn fact(path: &[String]) -> String {
    path.join(BELOW)
}

/// Reads the facts of a text.
pub(super) fn facts(text: &str) -> Facts {
    paths(text).iter().map(|path| fact(path)).collect()
}

/// Returns a fact without its last word: the setting without its value.
pub(super) fn setting(fact: &str) -> &str {
    fact.rsplit_once(' ').map_or(fact, |(head, _)| head)
}

/// Returns the missing and the unexpected facts of a file. A setting with one of each is reported as changed.
pub(super) fn findings(file: &str, missing: &Facts, unexpected: &Facts) -> Vec<Finding> {
    let mut live: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for fact in unexpected {
        live.entry(setting(fact)).or_default().push(fact);
    }
    let named = |fact: &str| format!("{file} {fact}");
    let mut differences = Vec::new();
    for wanted in missing {
        let pair = live.get_mut(setting(wanted)).and_then(Vec::pop);
        differences.push(match pair {
            Some(live) => Difference::Changed { wanted: named(wanted), live: named(live) },
            None => Difference::Missing { wanted: named(wanted) },
        });
    }
    differences.extend(live.values().flatten().map(|fact| Difference::Unexpected { live: named(fact) }));
    differences.into_iter().map(|difference| Finding { file: file.to_owned(), difference }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_spacing_comments_and_ends_do_not_count() {
        let one = "! a\nhostname a\n!\nrouter bgp 1\n  router-id 1.0.0.1\n  !\n  address-family ipv6\n    network  ::/0\n  exit-address-family\nexit\nend\n";
        let other = "router bgp 1\n router-id 1.0.0.1\n address-family ipv6\n  network ::/0\n!\nhostname a\n";
        assert_eq!(facts(one), facts(other));
        assert!(facts(one).contains("router bgp 1 / address-family ipv6 / network ::/0"));
    }

    #[test]
    fn another_value_is_a_change() {
        let found = findings("a.conf", &facts("mtu 9\nspeed 1\n"), &facts("mtu 8\nfec rs\n"));
        let lines: Vec<String> = found.iter().map(|found| format!("{:?}", found.difference)).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].contains("Changed") && lines[0].contains("a.conf mtu 8"), "{lines:?}");
    }
}
