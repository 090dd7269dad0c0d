//! `frr.conf` of a switch, in FRR's own form.
//!
//! In: text of a file, or of `show running-config`. Out: [`FrrConfig`], the statements, and [`FrrChange`], the changes
//! from one configuration to another. A node is a block of FRR's command line, such as `router bgp 65001`. Each
//! statement has the lines that open the nodes around it. Invariants: texts of the same configuration have the same
//! statements. Statements of SONiC and of the site are neither missing nor unexpected. A replaced statement is not
//! removed first.

mod commands;
mod facts;
mod rows;

use std::collections::BTreeSet;
use std::fmt;

use commands::key;
use facts::{facts, is_container, is_default};
use rows::{is_foreign, is_of_site};

/// A statement: its nodes, outermost first, and the line itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Statement(Vec<String>);

impl Statement {
    /// Returns the line.
    pub fn line(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// Returns its nodes.
    pub(crate) fn nodes(&self) -> &[String] {
        self.0.split_last().map_or(&[], |(_, nodes)| nodes)
    }

    /// Returns the outermost line.
    fn first(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// Returns whether the statement is in the node that another statement opens.
    fn is_below(&self, node: &Statement) -> bool {
        self.0.len() > node.0.len() && self.0.starts_with(&node.0)
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" / "))
    }
}

/// A configuration of FRR.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrrConfig {
    statements: BTreeSet<Statement>,
}

/// Lines that are not statements: headers of `show running-config`, and ends of nodes.
const AROUND: [&str; 3] = ["Building configuration...", "Current configuration:", "end"];

impl FrrConfig {
    /// Parses a configuration. Indented lines belong to the line above, as FRR prints them.
    pub fn parse(text: &str) -> Self {
        let mut open: Vec<(usize, String)> = Vec::new();
        let mut made = FrrConfig::default();
        let mut profile = "";
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(first) = words.first() else { continue };
            if first.starts_with(['!', '#']) || first.starts_with("exit") || AROUND.contains(&line.trim()) {
                continue;
            }
            if let ["frr", "defaults", name] = words[..] {
                profile = name;
            }
            let indent = line.len() - line.trim_start().len();
            open.truncate(open.iter().take_while(|(outer, _)| *outer < indent).count());
            let nodes: Vec<String> = open.iter().map(|(_, node)| node.clone()).collect();
            let line = words.join(" ");
            for fact in facts(&nodes, &words) {
                if !is_container(&fact) && !is_default(&nodes, &fact, profile) {
                    made.statements.insert(Statement([&nodes[..], &[fact]].concat()));
                }
            }
            open.push((indent, line));
        }
        made
    }

    /// Returns the configuration without the statements of daemons that do not run: FRR does not hold those.
    #[must_use]
    pub fn as_run_by(mut self, daemons: &[&str]) -> Self {
        if !daemons.contains(&"bfdd") {
            self.statements.retain(|statement| statement.first() != "bfd");
        }
        self
    }

    /// Returns the statements, in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter()
    }

    /// Returns the number of statements.
    pub fn len(&self) -> usize {
        self.statements.len()
    }

    /// Returns whether the configuration has no statements.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }
}

/// Returns a file with the site's statements of another configuration inserted before its end, because after a restart
/// the daemons have only the contents of this file. A statement of the site replaces one of the file with the same key.
pub fn with_site(file: &str, held: &str) -> String {
    let known: BTreeSet<&str> = file.lines().map(str::trim_end).collect();
    let mut site = String::new();
    let mut is_open = false;
    for line in held.lines().map(str::trim_end) {
        let is_end = line.starts_with("exit") || line.is_empty() || line.starts_with('!');
        if !line.starts_with(' ') && !is_end {
            is_open = is_of_site(line) && !known.contains(line);
        }
        if is_open && !(line.is_empty() || line.starts_with('!')) {
            site.push_str(line);
            site.push('\n');
        }
        is_open &= !is_end || line.starts_with(' ');
    }
    if site.is_empty() {
        return file.to_owned();
    }
    let keys: Vec<_> = site.lines().filter(|line| is_of_site(line)).filter_map(key).collect();
    let is_replaced = |line: &str| is_of_site(line) && key(line).is_some_and(|key| keys.contains(&key));
    let kept: String = file.split_inclusive('\n').filter(|line| !is_replaced(line.trim_end())).collect();
    match kept.strip_suffix("end\n") {
        Some(head) => format!("{head}{site}!\nend\n"),
        None => format!("{kept}{site}"),
    }
}

/// Changes from one configuration to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrrChange {
    /// Statements that are wanted and missing.
    pub missing: Vec<Statement>,
    /// Statements that are present and not wanted.
    pub unexpected: Vec<Statement>,
}

impl FrrChange {
    /// Compares the current configuration with the wanted one. If the site has chosen a different value for
    /// one of its own statements, the wanted statement does not count as missing.
    pub fn diff(held: &FrrConfig, wanted: &FrrConfig) -> Self {
        let own = |statement: &&Statement| !is_foreign(statement);
        let is_chosen = |statement: &Statement| {
            let key = key(statement.line()).filter(|_| is_of_site(statement.first()));
            let has =
                |other: &Statement| other.nodes() == statement.nodes() && self::key(other.line()) == key;
            key.is_some() && held.statements.iter().any(has)
        };
        let missing = wanted.statements.difference(&held.statements);
        FrrChange {
            missing: missing.filter(|statement| !is_chosen(statement)).cloned().collect(),
            unexpected: held.statements.difference(&wanted.statements).filter(own).cloned().collect(),
        }
    }

    /// Returns whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.unexpected.is_empty()
    }

    /// Returns the number of statements that differ.
    pub fn len(&self) -> usize {
        self.missing.len() + self.unexpected.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the form of a template.
    const FILE: &str = "! a\nfrr version 10.5.4\nfrr defaults traditional\nhostname a\nlog syslog informational\n\
        service integrated-vtysh-config\n!\n\
        no fpm use-next-hop-groups\nfpm address 127.0.0.1\nipv6 route fd00:0:1::/48 blackhole\n\
        interface Ethernet0\n ipv6 nd ra-interval 10\n no ipv6 nd suppress-ra\nexit\n!\n\
        bfd\n profile FABRIC\n  detect-multiplier 3\n exit\n !\nexit\n!\n\
        router bgp 65001\n bgp router-id 1.0.0.1\n bgp ebgp-requires-policy\n bgp graceful-restart restart-time 120\n \
        neighbor ABOVE peer-group\n neighbor ABOVE bfd profile FABRIC\n \
        neighbor Ethernet0 interface v6only remote-as 65002\n neighbor Ethernet0 peer-group ABOVE\n !\n \
        address-family ipv6 unicast\n  neighbor ABOVE route-map ABOVE-IN in\n exit-address-family\nexit\n!\nend\n";

    /// The same in FRR's output, with the additions of bgpcfgd.
    const RUNNING: &str = "Building configuration...\n\nCurrent configuration:\n!\nfrr version 8.4.4\nfrr defaults traditional\n\
        hostname b\nlog syslog informational\nfpm address 127.0.0.1\nno fpm use-next-hop-groups\n\
        service integrated-vtysh-config\n!\nipv6 route fd00:0:1::/48 blackhole\n!\n\
        interface Ethernet0\n no ipv6 nd suppress-ra\n ipv6 nd ra-interval 10\nexit\n!\n\
        router bgp 65001\n bgp router-id 1.0.0.1\n neighbor ABOVE peer-group\n neighbor ABOVE bfd\n \
        neighbor ABOVE bfd profile FABRIC\n neighbor Ethernet0 interface v6only peer-group ABOVE\n \
        neighbor Ethernet0 remote-as 65002\n !\n address-family ipv6 unicast\n  \
        neighbor ABOVE route-map ABOVE-IN in\n exit-address-family\nexit\n!\n\
        route-map RM_SET_SRC6 permit 10\n set src fd00::1\nexit\n!\nipv6 protocol bgp route-map RM_SET_SRC6\n!\nend\n";

    #[test]
    fn statements_of_the_site_stay_in_the_file() {
        let site = "vrf MGMT\n ip route 0.0.0.0/0 192.0.2.1\nexit-vrf\n";
        let held = RUNNING.replace("!\nipv6 route", &format!("!\n{site}ipv6 route"));
        let made = with_site(FILE, &held);
        let more = format!("{site}!\nend\n");
        assert_eq!(made, FILE.strip_suffix("end\n").expect("its end").to_owned() + &more);
        assert_eq!(with_site(&made, &held), made, "each is there once");
        assert_eq!(diff(&made, FILE), FrrChange::default());
        assert_eq!(with_site(FILE, ""), FILE);
    }

    #[test]
    fn a_level_that_the_site_has_chosen_is_kept() {
        let held = RUNNING.replace("log syslog informational", "log syslog errors");
        assert_eq!(diff(&held, FILE), FrrChange::default(), "no push resets it");
        let made = with_site(FILE, &held);
        let levels: Vec<&str> = made.lines().filter(|line| line.starts_with("log ")).collect();
        assert_eq!(levels, ["log syslog errors"]);
        assert_eq!(
            with_site(&made, &RUNNING.replace("informational", "warnings")).matches("log syslog").count(),
            1
        );
        let drained = diff(&held, &FILE.replace("ABOVE-IN in", "ABOVE-IN-DRAINED in"));
        assert!(!drained.commands().iter().any(|line| line.starts_with("log ")), "{drained:?}");
        let none = diff(&RUNNING.replace("log syslog informational\n", ""), FILE);
        assert_eq!(none.commands(), ["log syslog informational"]);
    }

    fn diff(held: &str, wanted: &str) -> FrrChange {
        let daemons = ["zebra", "bgpd", "staticd"];
        let read = |text: &str| FrrConfig::parse(text).as_run_by(&daemons);
        FrrChange::diff(&read(held), &read(wanted))
    }

    #[test]
    fn a_file_and_what_frr_holds_of_it_are_the_same() {
        assert_eq!(diff(RUNNING, FILE), FrrChange::default());
        assert_eq!(diff(FILE, FILE), FrrChange::default());
    }

    #[test]
    fn every_statement_that_is_gone_or_added_is_seen() {
        for (from, to, named) in [
            (" bgp router-id 1.0.0.1\n", "", "router bgp 65001 / bgp router-id 1.0.0.1"),
            (
                "  neighbor ABOVE route-map ABOVE-IN in\n",
                "",
                "router bgp 65001 / address-family ipv6 unicast / neighbor ABOVE route-map ABOVE-IN in",
            ),
            (
                " neighbor Ethernet0 remote-as 65002\n",
                " neighbor Ethernet0 remote-as 65002\n neighbor Ethernet0 shutdown\n",
                "router bgp 65001 / neighbor Ethernet0 shutdown",
            ),
            (
                "router bgp 65001\n",
                "ip route 0.0.0.0/0 blackhole\n!\nrouter bgp 65001\n",
                "ip route 0.0.0.0/0 blackhole",
            ),
            ("fpm address 127.0.0.1\n", "", "fpm address 127.0.0.1"),
        ] {
            assert!(RUNNING.contains(from), "{from}");
            let change = diff(&RUNNING.replacen(from, to, 1), FILE);
            let all: Vec<String> =
                change.missing.iter().chain(&change.unexpected).map(ToString::to_string).collect();
            assert_eq!(all, [named]);
        }
    }

    #[test]
    fn a_change_is_a_list_of_commands_that_removes_nothing_that_it_replaces() {
        let drained = FILE.replace("ABOVE-IN in", "ABOVE-IN-DRAINED in");
        let change = diff(RUNNING, &drained);
        assert_eq!(
            change.commands(),
            [
                "router bgp 65001",
                "address-family ipv6 unicast",
                "neighbor ABOVE route-map ABOVE-IN-DRAINED in",
                "exit-address-family",
                "exit",
            ]
        );
        assert!(change.resets().is_empty() && change.restart_reasons().is_empty());
        let gone = FILE.replace(
            " neighbor Ethernet0 interface v6only remote-as 65002\n neighbor Ethernet0 peer-group ABOVE\n",
            "",
        );
        let change = diff(RUNNING, &gone);
        assert_eq!(change.commands(), ["router bgp 65001", "no neighbor Ethernet0 interface v6only", "exit"]);
        assert_eq!(change.resets().into_iter().collect::<Vec<_>>(), ["Ethernet0"]);
        let commands = diff(RUNNING, &FILE.replace("router bgp 65001", "router bgp 65009")).commands();
        assert_eq!(
            commands[..2],
            ["no router bgp 65001", "router bgp 65009"],
            "FRR runs BGP under one number"
        );
        let other = FILE.replace("frr defaults traditional", "frr defaults datacenter");
        assert_eq!(diff(RUNNING, &other).restart_reasons().len(), 1);
        let moved = FILE.replace("Ethernet0 peer-group ABOVE", "Ethernet0 peer-group BELOW");
        assert_eq!(
            diff(RUNNING, &moved).restart_reasons(),
            ["FRR does not move `Ethernet0` to another group"]
        );
    }
}
