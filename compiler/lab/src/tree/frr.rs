//! The lines of an `frr.conf` that a lab loads into daemons: routes, interfaces, filters and BGP. Lines that refer to
//! files, namespaces, users or other machines are rejected.
//!
//! In: the text of `frr.conf` and `daemons`. Out: [`Router`]: the checked lines, and the daemons that they need.
//! Invariants: every line matches one of the forms. A word for a placeholder must have the type of that placeholder.

use std::net::Ipv4Addr;

use closc_artefacts::{Address, Prefix};

use crate::error::TreeFault;
use crate::name::{DeviceName, Interface};

/// Maximum length of a line.
const LINE_MAX: usize = 500;

/// Forms of lines. `<number>`, `<name>`, `<device>`, `<port>`, `<address>`, `<id>`, `<family>` and `<prefix>` are
/// placeholders for a word, `<text>` and `<pattern>` for the rest of the line.
const FORMS: [&str; 63] = [
    "frr version <name>",
    "frr defaults datacenter",
    "frr defaults traditional",
    "hostname <device>",
    "service integrated-vtysh-config",
    "no zebra nexthop kernel enable",
    "no ipv6 forwarding",
    "no ip forwarding",
    "ipv6 forwarding",
    "<family> route <prefix> blackhole",
    "<family> route <prefix> <address> <port>",
    "interface <port>",
    "description <text>",
    "<family> address <prefix>",
    "ipv6 nd ra-interval <number>",
    "no ipv6 nd suppress-ra",
    "exit",
    "end",
    "bfd",
    "profile <name>",
    "detect-multiplier <number>",
    "transmit-interval <number>",
    "receive-interval <number>",
    "<family> prefix-list <name> seq <number> permit <prefix>",
    "<family> prefix-list <name> seq <number> deny <prefix>",
    "<family> prefix-list <name> seq <number> permit <prefix> ge <number> le <number>",
    "<family> prefix-list <name> seq <number> permit <prefix> le <number>",
    "bgp as-path access-list <name> seq <number> permit <pattern>",
    "bgp community-list standard <name> seq <number> permit graceful-shutdown",
    "route-map <name> permit <number>",
    "route-map <name> deny <number>",
    "match community <name>",
    "match <family> address prefix-list <name>",
    "match as-path <name>",
    "set local-preference <number>",
    "set community graceful-shutdown additive",
    "set extcommunity bandwidth <name>",
    "set extcommunity bandwidth <name> <name>",
    "router bgp <number>",
    "bgp router-id <id>",
    "no bgp default ipv4-unicast",
    "bgp ebgp-requires-policy",
    "bgp graceful-restart",
    "bgp graceful-restart preserve-fw-state",
    "bgp graceful-restart stalepath-time <number>",
    "bgp graceful-restart restart-time <number>",
    "bgp bestpath as-path multipath-relax",
    "bgp bestpath bandwidth <name>",
    "timers bgp <number> <number>",
    "neighbor <name> peer-group",
    "neighbor <name> bfd profile <name>",
    "neighbor <name> advertisement-interval <number>",
    "neighbor <name> timers connect <number>",
    "neighbor <port> interface v6only remote-as <number>",
    "neighbor <port> peer-group <name>",
    "address-family ipv4 unicast",
    "address-family ipv6 unicast",
    "exit-address-family",
    "network <prefix>",
    "neighbor <name> activate",
    "neighbor <name> maximum-prefix <number> restart <number>",
    "neighbor <name> route-map <name> <name>",
    "maximum-paths <number>",
];

/// FRR daemons of a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Router {
    /// The lines of the configuration.
    pub(crate) text: String,
    /// Whether it uses BGP.
    pub(crate) bgp: bool,
    /// Whether it uses BFD.
    pub(crate) bfd: bool,
}

impl Router {
    /// Reads both files.
    pub(crate) fn read(configuration: &str, daemons: &str) -> Result<Router, TreeFault> {
        let mut text = String::with_capacity(configuration.len());
        for (number, line) in configuration.lines().enumerate() {
            let line = line.trim_end();
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            if words.first().is_none_or(|word| word.starts_with('!')) {
                continue;
            }
            if line.len() > LINE_MAX || !FORMS.iter().any(|form| fits(form, &words)) {
                let shown: String = line.chars().take(60).flat_map(char::escape_debug).collect();
                let what = format!("a lab does not support `{}`", shown.trim());
                return Err(TreeFault::Line { line: number + 1, message: what });
            }
            text.push_str(&words.join(" "));
            text.push('\n');
        }
        let runs = |daemon: &str| daemons.lines().any(|line| line.trim() == format!("{daemon}=yes"));
        Ok(Router { text, bgp: runs("bgpd"), bfd: runs("bfdd") })
    }
}

/// Returns whether words match a form.
fn fits(form: &str, words: &[&str]) -> bool {
    let mut words = words.iter();
    for part in form.split(' ') {
        let mut rest = |legal: fn(char) -> bool| {
            let some = words.len() > 0;
            some && words.by_ref().all(|word| word.chars().all(legal))
        };
        match part {
            "<text>" => return rest(|c| c.is_ascii_alphanumeric() || ".,:;()/_-#".contains(c)),
            "<pattern>" => return rest(|c| c.is_ascii_digit() || "^$_.()|*+?[]-{},".contains(c)),
            _ => {}
        }
        if !words.next().is_some_and(|word| is_kind(part, word)) {
            return false;
        }
    }
    words.len() == 0
}

/// Returns whether a word fits a placeholder, or equals the word of the form.
fn is_kind(part: &str, word: &str) -> bool {
    match part {
        "<number>" => word.parse::<u32>().is_ok(),
        "<name>" => word.len() <= 64 && word.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)),
        "<device>" => word.parse::<DeviceName>().is_ok(),
        "<family>" => ["ip", "ipv6"].contains(&word),
        "<port>" => word.parse::<Interface>().is_ok(),
        "<address>" => word.parse::<Address>().is_ok(),
        "<id>" => word.parse::<Ipv4Addr>().is_ok(),
        "<prefix>" => word.parse::<Prefix>().is_ok(),
        word_of_form => word_of_form == word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_is_loaded() {
        let text = "! a comment\nfrr version 10.5.4\nhostname p0-t0-001\n!\nipv6 route fd00::/48 blackhole\n\
                    interface eth501\n description p0-t1-001:eth1\n ipv6 nd ra-interval 10\nexit\n\
                    bgp as-path access-list AT-MOST-0 seq 5 permit ^$\nrouter bgp 4200000001\n bgp router-id 1.0.0.1\n \
                    neighbor eth501 interface v6only remote-as 4216777217\n  network fd00::/64\n\
                    set extcommunity bandwidth 1000 cumulative\nend\n";
        let router = Router::read(text, "# x\nbgpd=yes\nbfdd=no\n").unwrap();
        assert!(router.bgp && !router.bfd);
        assert_eq!(router.text.lines().count(), 14);
        assert!(router.text.contains("\nneighbor eth501 interface v6only remote-as 4216777217\n"));
    }

    #[test]
    fn nothing_that_reaches_out_is_loaded() {
        for line in [
            "log file /etc/passwd",
            "log syslog",
            "vrf x",
            "netns /run/netns/other",
            "username root nopassword",
            "password x",
            "enable password x",
            "write file",
            "copy running-config startup-config",
            "start-shell bash",
            "terminal length 0",
            "line vty",
            "ip route 0.0.0.0/0 eth0",
            "ipv6 route ::/0 fd00::1 eth0 table 254 vrf default",
            "router bgp 1 vrf other",
            "router bgp 1 view /run/netns/x",
            "bgp as-path access-list A seq 5 permit ^1$ | include x",
            "interface eth0 vrf other",
            "interface ../x",
            "neighbor eth1 interface v6only remote-as 1; id",
            "neighbor fd00::1 remote-as 1",
            "neighbor A password x",
            "dump bgp all /tmp/x",
            "rpki",
            "agentx",
            "import-table 1",
            "description \u{1b}[2J",
            "do show running-config",
            "find x",
            "exit exit",
        ] {
            let error = Router::read(line, "").unwrap_err();
            assert!(matches!(error, TreeFault::Line { line: 1, .. }), "{line}: {error}");
        }
    }
}
