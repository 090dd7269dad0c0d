//! The commands that change a configuration while FRR runs, for `vtysh -f`.
//!
//! In: missing and unexpected statements. Out: lines, the neighbours whose sessions they reset, and the reasons why a
//! change needs a restart of the daemons. Invariants: additions come before removals, except for the removal of another
//! AS number. A definition comes before its references. A replaced statement is not removed, so that no session loses
//! its route map for a moment.

use std::collections::BTreeSet;

use super::facts::begins;
use super::{FrrChange, Statement};

/// Statements that occur once per node: a later one replaces an earlier one. `*` matches any word, which is
/// part of the key; `=` matches any word, which is not part of it.
const REPLACED: [&str; 25] = [
    "frr defaults",
    "fpm address",
    "log syslog",
    "ip prefix-list * seq *",
    "ipv6 prefix-list * seq *",
    "bgp as-path access-list * seq *",
    "bgp community-list standard * seq *",
    "bgp router-id",
    "bgp graceful-restart stalepath-time",
    "bgp graceful-restart restart-time",
    "timers bgp",
    "maximum-paths",
    "neighbor * remote-as",
    "neighbor * advertisement-interval",
    "neighbor * timers connect",
    "neighbor * maximum-prefix",
    "neighbor * route-map = in",
    "neighbor * route-map = out",
    "match as-path",
    "match community",
    "match ip address prefix-list",
    "match ipv6 address prefix-list",
    "set",
    "description",
    "ipv6 nd ra-interval",
];

/// Statements that also open a node.
const OPENING: [&str; 3] = ["route-map", "router bgp", "profile"];

/// Words of a `set` statement that form its key, including `set`.
const SET_WORDS: usize = 2;

/// Returns the key by which a statement replaces another one; `None` if several may exist.
pub(super) fn key(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split(' ').collect();
    let row = REPLACED.iter().find(|row| {
        let row: Vec<&str> = row.split(' ').collect();
        row.len() <= words.len()
            && row.iter().zip(&words).all(|(of, word)| ["*", "="].contains(of) || of == word)
    })?;
    if *row == "set" {
        return Some(words.into_iter().take(SET_WORDS).collect());
    }
    let parts = row.split(' ').zip(&words).filter(|(of, _)| *of != "=");
    Some(parts.map(|(_, word)| *word).collect())
}

/// Returns the neighbour or group of a line.
fn peer(line: &str) -> Option<&str> {
    line.strip_prefix("neighbor ")?.split(' ').next()
}

/// Returns whether a line creates a neighbour or group, so that its removal removes all other lines of it.
fn makes_peer(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    matches!(words[..], ["neighbor", _, "interface", ..] | ["neighbor", _, "peer-group"])
}

/// Returns the position of a line in the order of additions.
fn rank(statement: &Statement) -> (usize, usize) {
    let outer = ["bfd", "interface", "route-map", "router bgp"];
    let node = outer.iter().position(|node| begins(statement.first(), node)).map_or(0, |place| place + 1);
    let words: Vec<&str> = statement.line().split(' ').collect();
    let line = match words[..] {
        ["neighbor", _, "peer-group"] => 1,
        ["neighbor", _, "interface", ..] => 2,
        ["neighbor", _, "remote-as", _] => 3,
        ["neighbor", _, "peer-group", _] => 4,
        ["neighbor", ..] => 5,
        _ => 0,
    };
    (node, statement.nodes().len() * 8 + line)
}

/// Returns the command that removes a statement.
fn removal(line: &str) -> String {
    line.strip_prefix("no ").map_or_else(|| format!("no {line}"), str::to_owned)
}

impl FrrChange {
    /// Returns the lines for `vtysh -f`.
    pub fn commands(&self) -> Vec<String> {
        let mut lines = Lines::default();
        // FRR runs BGP under one AS number, so the old one is removed before the new one is added.
        let (first, removed): (Vec<&Statement>, Vec<&Statement>) =
            self.statements_to_remove().partition(|statement| begins(statement.line(), "router bgp"));
        for statement in first {
            lines.push(statement.nodes(), removal(statement.line()));
        }
        let mut added: Vec<&Statement> = self.missing.iter().collect();
        added.sort_by_key(|statement| rank(statement));
        for statement in added {
            lines.push(statement.nodes(), statement.line().to_owned());
        }
        let mut removed = removed;
        removed.sort_by_key(|statement| std::cmp::Reverse(rank(statement)));
        for statement in removed {
            lines.push(statement.nodes(), removal(statement.line()));
        }
        lines.finish()
    }

    /// Returns the statements to remove by a command of their own; others go with their node, neighbour or replacement.
    fn statements_to_remove(&self) -> impl Iterator<Item = &Statement> {
        let replaced: BTreeSet<(&[String], Vec<&str>)> =
            self.missing.iter().filter_map(|each| Some((each.nodes(), key(each.line())?))).collect();
        let gone: BTreeSet<&str> = self
            .unexpected
            .iter()
            .map(Statement::line)
            .filter(|line| makes_peer(line))
            .filter_map(peer)
            .collect();
        self.unexpected.iter().filter(move |statement| {
            let line = statement.line();
            let with_node = self.unexpected.iter().any(|node| statement.is_below(node));
            let with_peer = !makes_peer(line) && peer(line).is_some_and(|peer| gone.contains(peer));
            let is_replaced = key(line).is_some_and(|key| replaced.contains(&(statement.nodes(), key)));
            !with_node && !with_peer && !is_replaced
        })
    }

    /// Returns the neighbours whose sessions the commands reset; `*` if they reset all.
    pub fn resets(&self) -> BTreeSet<&str> {
        let resets = |statement: &'_ Statement| -> Option<String> {
            let words: Vec<&str> = statement.line().split(' ').collect();
            match words[..] {
                ["router", "bgp", ..] | ["bgp", "router-id", ..] => Some("*".to_owned()),
                ["neighbor", peer, "interface" | "remote-as" | "peer-group" | "shutdown" | "bfd", ..] => {
                    Some(peer.to_owned())
                }
                _ => None,
            }
        };
        let all = self.missing.iter().chain(&self.unexpected);
        all.filter(|statement| resets(statement).is_some())
            .map(|statement| peer(statement.line()).unwrap_or("*"))
            .collect()
    }

    /// Returns why the change needs a restart of the daemons.
    pub fn restart_reasons(&self) -> Vec<String> {
        let profiles = self.missing.iter().filter(|statement| begins(statement.line(), "frr defaults"));
        let profiles =
            profiles.map(|statement| format!("daemons read `{}` only when they start", statement.line()));
        profiles
            .chain(
                self.regrouped_neighbours()
                    .map(|peer| format!("FRR does not move `{peer}` to another group")),
            )
            .collect()
    }

    /// Returns the neighbours that move to another group. bgpd rejects that with `Cannot change peer-group. Deconfigure
    /// first`, and removing the group removes the neighbour.
    fn regrouped_neighbours(&self) -> impl Iterator<Item = &str> {
        fn member(statement: &Statement) -> Option<&str> {
            let words: Vec<&str> = statement.line().split(' ').collect();
            match words[..] {
                ["neighbor", peer, "peer-group", _] => Some(peer),
                _ => None,
            }
        }
        let before: BTreeSet<&str> = self.unexpected.iter().filter_map(member).collect();
        self.missing.iter().filter_map(member).filter(move |peer| before.contains(peer))
    }
}

/// Lines with their nodes.
#[derive(Default)]
struct Lines {
    output: Vec<String>,
    open: Vec<String>,
}

impl Lines {
    fn push(&mut self, nodes: &[String], line: String) {
        let shared = self.open.iter().zip(nodes).take_while(|(one, other)| one == other).count();
        // Close the nodes that the line is not in; a line that opens a node is followed by the contents of that node.
        self.close(shared);
        for node in &nodes[shared..] {
            self.output.push(node.clone());
            self.open.push(node.clone());
        }
        if OPENING.iter().any(|node| begins(&line, node)) {
            self.open.push(line.clone());
        }
        self.output.push(line);
    }

    fn close(&mut self, to: usize) {
        while self.open.len() > to {
            let node = self.open.pop().unwrap_or_default();
            let end = if begins(&node, "address-family") { "exit-address-family" } else { "exit" };
            self.output.push(end.to_owned());
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.close(0);
        self.output
    }
}
