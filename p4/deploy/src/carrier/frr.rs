//! FRRouting: `frr.conf` and the list of daemons.
//!
//! In: the files of a tree, and `show running-config`. Out: differences, and commands for `vtysh`.
//! Invariants: FRR does not print defaults. A default counts as present only if `DEFAULTS` contains it, or if
//! it is FRR's built-in number of paths. Lines about ports that the tree does not name belong to the site.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use closc_artefacts::paths::{DAEMONS, FRR_CONF};

use super::facts::{Facts, Finding, SAVED, fact, findings, lines, paths};
use super::system::{SystemState, Texts, begin};
use crate::folders::Place;

/// First words of top-level lines that belong to the site.
const OF_SITE: [&str; 20] = [
    "agentx",
    "banner",
    "debug",
    "enable",
    "frr version",
    // FRR prints the system's host name.
    "hostname",
    "ip forwarding",
    "ip nht",
    "ip route",
    "ipv6 nht",
    "line",
    "log",
    "no ip forwarding",
    // FRR prints the kernel's state here; the setting is in `sysctl.conf`.
    "no ipv6 forwarding",
    "no zebra",
    "password",
    "service",
    "username",
    "vrf",
    "zebra",
];

/// Last lines of facts that FRR does not print because they are defaults, including those of `frr defaults datacenter`.
/// FRR prints any other value of these settings.
const DEFAULTS: [&str; 6] = [
    "bgp graceful-restart restart-time 120",
    "detect-multiplier 3",
    "receive-interval 300",
    "service integrated-vtysh-config",
    "timers bgp 3 9",
    "transmit-interval 300",
];

/// The section with the running configuration.
const RUNNING: &str = "frr";

/// The section with the number of paths that FRR was built for. This number is the default, so FRR does not print it.
const WIDTH: &str = "frr multipath";

/// Returns the commands that print FRR's running configuration and its files.
pub(super) fn read(place: &Place) -> String {
    let (running, width) = (begin(RUNNING), begin(WIDTH));
    let (conf, daemons) = (begin("saved frr.conf"), begin("saved daemons"));
    format!(
        "{running}vtysh -c 'show running-config' </dev/null\n\
         {width}vtysh -c 'show version' </dev/null | sed -n 's/.*--enable-multipath=\\([0-9]*\\).*/\\1/p'\n\
         {conf}cat {etc}/frr/frr.conf 2>/dev/null || :\n{daemons}cat {etc}/frr/daemons 2>/dev/null || :\n",
        etc = place.etc
    )
}

/// First words of the lines that `vtysh` prints around a configuration.
const AROUND: [&str; 2] = ["Building ", "Current "];

/// Reads facts in a form that is independent of the FRR release.
fn normal(text: &str) -> Facts {
    let all: Facts = paths(text).iter().flat_map(|path| of_path(path)).collect();
    // FRR 8 prints a line for BFD in addition to the one with its profile.
    let has_profile = |fact: &str| {
        fact.ends_with(" bfd") && all.iter().any(|other| other.starts_with(&format!("{fact} profile ")))
    };
    all.iter().filter(|fact| !has_profile(fact)).cloned().collect()
}

/// The facts of one line.
fn of_path(path: &[String]) -> Vec<String> {
    let Some((last, modes)) = path.split_last() else { return Vec::new() };
    if AROUND.iter().any(|words| path[0].starts_with(words)) {
        return Vec::new();
    }
    let words: Vec<&str> = last.split(' ').collect();
    let lines = match words.as_slice() {
        // Default lengths are not printed.
        ["prefix", ..] => vec![last.replace(" func-bits 0", "").replace(" block-len 32 node-len 16", "")],
        // In this line FRR 8 prints the group, and FRR 10 the AS number.
        ["neighbor", port, "interface", "v6only", rest @ ..] => {
            let more = (!rest.is_empty()).then(|| format!("neighbor {port} {}", rest.join(" ")));
            [format!("neighbor {port} interface v6only")].into_iter().chain(more).collect()
        }
        _ => vec![last.clone()],
    };
    let whole = |line: String| fact(&modes.iter().cloned().chain([line]).collect::<Vec<_>>());
    lines.into_iter().map(whole).collect()
}

/// Returns the facts of a text, without those that belong to the site.
fn fabric_facts(text: &str, ports: &BTreeSet<&str>, wanted: &Facts) -> Facts {
    // closc owns the static routes of an IPv4 fabric.
    let routes_ipv4 = wanted.iter().any(|fact| fact.starts_with("ip route "));
    let is_of_site = |fact: &str| {
        let head = fact.split(" / ").next().unwrap_or_default();
        match head.strip_prefix("interface ") {
            Some(port) => !ports.contains(port),
            None => OF_SITE.iter().filter(|words| !(routes_ipv4 && **words == "ip route")).any(|words| {
                head.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            }),
        }
    };
    normal(text).into_iter().filter(|fact| wanted.contains(fact) || !is_of_site(fact)).collect()
}

/// Returns whether a fact is a default of this build of FRR.
fn is_default(fact: &str, held: &SystemState) -> bool {
    let last = fact.rsplit(" / ").next().unwrap_or_default();
    let is_width =
        || last.strip_prefix("maximum-paths ").is_some_and(|paths| paths == held.section(WIDTH).trim());
    DEFAULTS.contains(&last) || last.starts_with("frr version ") || is_width()
}

/// Returns the wanted facts, and those of a configuration of FRR.
fn target_and_live(wanted: &Texts, live: &str) -> (Facts, Facts) {
    let asked = normal(wanted.get(FRR_CONF).map_or("", String::as_str));
    let ports = asked.iter().filter_map(|fact| fact.strip_prefix("interface "));
    let ports: BTreeSet<&str> = ports.map(|rest| rest.split(" / ").next().unwrap_or(rest)).collect();
    let live = fabric_facts(live, &ports, &asked);
    (asked, live)
}

/// Compares the running configuration and the startup file with the tree.
pub(super) fn compare(wanted: &Texts, held: &SystemState) -> Vec<Finding> {
    let (asked, live) = target_and_live(wanted, held.section(RUNNING));
    let missing: Facts = asked
        .difference(&live)
        .filter(|fact| !is_default(fact, held) && !is_unprinted(fact, &asked))
        .cloned()
        .collect();
    let unexpected: Facts = live.difference(&asked).filter(|fact| !is_default(fact, held)).cloned().collect();
    let mut found = findings(FRR_CONF, &missing, &unexpected);
    let (asked, saved) = target_and_live(wanted, held.section("saved frr.conf"));
    let differs = asked.symmetric_difference(&saved).any(|fact| !is_default(fact, held));
    if differs {
        found.extend(findings(
            FRR_CONF,
            &Facts::from([format!("{SAVED}the file that FRR starts with")]),
            &Facts::new(),
        ));
    }
    found.extend(super::saved_files::compare(DAEMONS, wanted, held));
    found
}

/// FRR does not print a port without settings, and it prints the system's host name instead of the file's.
fn is_unprinted(fact: &str, asked: &Facts) -> bool {
    fact.starts_with("hostname ")
        || fact.starts_with("interface ")
            && !fact.contains(" / ")
            && !asked.iter().any(|other| other.starts_with(&format!("{fact} / ")))
}

/// The running configuration as a file.
fn running_config(held: &SystemState) -> String {
    let all = held.section(RUNNING).lines();
    lines(all.filter(|line| !AROUND.iter().any(|words| line.starts_with(words))))
}

/// The state of FRR, as files of a tree.
pub(super) fn texts(wanted: &Texts, held: &SystemState) -> Texts {
    let saved = Texts::from([(FRR_CONF.to_owned(), held.section("saved frr.conf").to_owned())]);
    // The startup file keeps its order, its comments and the name of the switch.
    let is_saved = !saved[FRR_CONF].is_empty() && compare(&saved, held).is_empty();
    let mut made = if is_saved { saved } else { Texts::from([(FRR_CONF.to_owned(), running_config(held))]) };
    if wanted.contains_key(DAEMONS) && !held.section("saved daemons").is_empty() {
        made.insert(DAEMONS.to_owned(), held.section("saved daemons").to_owned());
    }
    made
}

/// The file with the commands for `vtysh`, and the one with the previous configuration.
pub(super) const CHANGE: &str = "frr.change";
pub(super) const BEFORE: &str = "frr.before";

/// Returns the files that a change needs.
pub(super) fn changes(wanted: &Texts, held: &SystemState) -> Texts {
    let daemons = wanted.get(DAEMONS).map(|text| (DAEMONS, text.clone()));
    let files = [
        (FRR_CONF, complete_file(wanted, held)),
        (CHANGE, commands(wanted, held)),
        (BEFORE, running_config(held)),
    ];
    files.into_iter().chain(daemons).map(|(name, text)| (name.to_owned(), text)).collect()
}

/// Returns the complete file: the site's part of the running configuration, and the file of the tree.
fn complete_file(wanted: &Texts, held: &SystemState) -> String {
    let asked = wanted.get(FRR_CONF).map_or("", String::as_str);
    let (known, live) = target_and_live(wanted, held.section(RUNNING));
    let all = normal(held.section(RUNNING));
    let mut site = String::new();
    for path in paths(held.section(RUNNING)) {
        let facts = of_path(&path);
        // A fact that `normal` dropped is covered by another one that it kept.
        let is_own = |fact| !all.contains(fact) || live.contains(fact) || known.contains(fact);
        let is_own = facts.iter().any(is_own);
        let is_of_tree = ["frr version", "hostname", "service integrated-vtysh-config", "no ipv6 forwarding"];
        if !facts.is_empty() && !is_own && !is_of_tree.iter().any(|words| path[0].starts_with(words)) {
            let _ = writeln!(site, "{}{}", " ".repeat(path.len() - 1), path[path.len() - 1]);
        }
    }
    if site.is_empty() {
        return asked.to_owned();
    }
    // Inserted after the header, which is the same in every file.
    let end = asked.find("\n!\n").map_or(0, |at| at + 3);
    format!("{}{site}!\n{}", &asked[..end], &asked[end..])
}

/// Returns the commands for `vtysh` that change the running configuration to the file, for a system without FRR's
/// `frr-reload.py`.
fn commands(wanted: &Texts, held: &SystemState) -> String {
    let (asked, live) = target_and_live(wanted, held.section(RUNNING));
    let asked_text = wanted.get(FRR_CONF).map_or("", String::as_str);
    let mut text = String::new();
    let running = paths(held.section(RUNNING));
    let gone = |path: &[String]| {
        let facts = of_path(path);
        let is_gone = |fact: &String| live.contains(fact) && !asked.contains(fact) && !is_default(fact, held);
        !facts.is_empty() && facts.iter().all(is_gone)
    };
    // Removing a line also removes the lines below it.
    for path in running.iter().filter(|path| gone(path) && !(1..path.len()).any(|at| gone(&path[..at]))) {
        let last = path.last().map_or("", String::as_str);
        let removed = last.strip_prefix("no ").map_or_else(|| format!("no {last}"), str::to_owned);
        command(&mut text, &path[..path.len() - 1], &removed);
    }
    for path in paths(asked_text) {
        let is_there = of_path(&path).iter().all(|fact| live.contains(fact));
        // In a file, the version selects defaults; in a session, it is not accepted.
        if !is_there && !path[0].starts_with("frr version") {
            command(&mut text, &path[..path.len() - 1], &path[path.len() - 1]);
        }
    }
    text
}

/// Writes one command, in its mode.
fn command(text: &mut String, modes: &[String], line: &str) {
    for mode in modes {
        let _ = writeln!(text, "{mode}");
    }
    let _ = writeln!(text, "{line}");
    // Leave the mode: each later command enters its modes again.
    for _ in modes {
        text.push_str("exit\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stale route of an IPv4 fabric is removed; in an IPv6 fabric IPv4 routes belong to the site.
    #[test]
    fn ipv4_routes_are_closcs_in_an_ipv4_fabric() {
        let live = "ip route 10.0.0.1/32 100.64.0.0 eth1\nip route 10.0.0.9/32 100.64.0.8 eth9\n";
        let count = |wanted: &str| fabric_facts(live, &BTreeSet::new(), &normal(wanted)).len();
        assert_eq!(count("ip route 10.0.0.1/32 100.64.0.0 eth1\n"), 2);
        assert_eq!(count("ipv6 route fd00::1/128 fd00::a eth1\n"), 0);
    }
}
