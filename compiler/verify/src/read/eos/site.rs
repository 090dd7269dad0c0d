//! Settings in `eos.conf` that sites may choose freely: commands by their first words.
//!
//! In: a command. Out: the matching setting, if any. Invariants: in a mode of a site setting, only the listed commands
//! are accepted. Any other command is judged as usual.

use crate::read::site::SiteGroup;

/// Commands, with or without `no` and `default`. The words after `>` are a command in the mode that the words before
/// `>` open. `#` stands for a number.
pub(crate) const SITE: &[SiteGroup] = &[
    SiteGroup {
        settings: &[
            "aaa accounting",
            "aaa authentication",
            "aaa authorization",
            "aaa group server ldap > server",
            "aaa group server radius > server",
            "aaa group server tacacs+ > server",
            "aaa root",
            "enable password",
            "enable secret",
            "ip radius",
            "ip tacacs",
            "management accounts > password policy",
            "radius-server",
            "role > #",
            "tacacs-server",
            "username",
        ],
        reason: "logins and permissions: they configure nothing by themselves",
    },
    SiteGroup {
        settings: &[
            "management security > certificate",
            "management security > cipher-list",
            "management security > entropy source",
            "management security > password",
            "management security > ssl profile",
            "management security > tls versions",
            "management security > trust certificate",
        ],
        reason: "protection of passwords and of connections to the switch",
    },
    SiteGroup {
        settings: &[
            "management console > idle-timeout",
            "management ssh > authentication",
            "management ssh > cipher",
            "management ssh > client-alive",
            "management ssh > connection",
            "management ssh > fips",
            "management ssh > hostkey",
            "management ssh > idle-timeout",
            "management ssh > key-exchange",
            "management ssh > log-level",
            "management ssh > login timeout",
            "management ssh > mac",
            "management ssh > server-port",
            "management ssh > shutdown",
            "management ssh > vrf",
            "management telnet > idle-timeout",
            "management telnet > shutdown",
            "management telnet > vrf",
        ],
        reason: "access to the terminals of the switch",
    },
    SiteGroup {
        settings: &[
            "management api gnmi > port",
            "management api gnmi > provider eos-native",
            "management api gnmi > shutdown",
            "management api gnmi > ssl profile",
            "management api gnmi > transport grpc",
            "management api gnmi > vrf",
            "management api http-commands > protocol",
            "management api http-commands > shutdown",
            "management api http-commands > vrf",
            "management api models > path",
            "management api models > provider",
            "management api netconf > port",
            "management api netconf > shutdown",
            "management api netconf > transport ssh",
            "management api netconf > vrf",
            "management api restconf > port",
            "management api restconf > shutdown",
            "management api restconf > ssl profile",
            "management api restconf > transport https",
            "management api restconf > vrf",
        ],
        reason: "API servers of the switch and their addresses: they change forwarding only on a request, \
                 and requests are not part of a tree",
    },
    SiteGroup {
        settings: &["alias", "banner login", "banner motd", "snmp-server contact", "snmp-server location"],
        reason: "a text for people",
    },
    SiteGroup { settings: &["clock timezone", "ntp"], reason: "sources of the time" },
    SiteGroup {
        settings: &["dns domain", "ip domain lookup", "ip domain-name", "ip host", "ip name-server"],
        reason: "name servers: no route of the fabric uses a name",
    },
    SiteGroup { settings: &["logging"], reason: "destinations of log messages" },
    SiteGroup {
        settings: &[
            "snmp-server chassis-id",
            "snmp-server community",
            "snmp-server enable traps",
            "snmp-server engineID",
            "snmp-server group",
            "snmp-server host",
            "snmp-server ifmib",
            "snmp-server local-interface",
            "snmp-server user",
            "snmp-server view",
            "snmp-server vrf",
        ],
        reason: "access by SNMP, and destinations of traps",
    },
    SiteGroup {
        settings: &["interface Ethernet* > sflow", "sflow"],
        reason: "copies of packet headers for a collector; the packets are forwarded",
    },
    SiteGroup {
        settings: &[
            "daemon TerminAttr > exec /usr/bin/TerminAttr",
            "daemon TerminAttr > shutdown",
            "hardware counter feature",
            "interface Ethernet* > queue-monitor length",
            "queue-monitor length",
            "queue-monitor streaming > max-connections",
            "queue-monitor streaming > shutdown",
            "queue-monitor streaming > vrf",
        ],
        reason: "export of counters and queue depths",
    },
    SiteGroup {
        settings: &["spanning-tree mode", "spanning-tree vlan-id"],
        reason: "spanning tree: every port in use is routed (V0105)",
    },
];

/// A mode of a site setting, by the words that open it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SiteMode(&'static str);

/// A command of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SiteCommand {
    pub(super) prefix: &'static str,
    /// Mode that the command opens, if any.
    pub(super) mode: Option<SiteMode>,
    /// Whether the following lines are text, up to a line `EOF`.
    pub(super) is_text: bool,
}

/// Returns the site command at the top level that matches a line.
pub(super) fn top(words: &[&str]) -> Option<SiteCommand> {
    let plain = strip_negation(words);
    let is_positive = plain.len() == words.len();
    settings().find_map(|(opener, inner)| {
        let fits = starts(plain, opener);
        let mode = inner.filter(|_| is_positive).map(|_| SiteMode(opener));
        let is_text = is_positive && opener.starts_with("banner ");
        fits.then_some(SiteCommand { prefix: opener, mode, is_text })
    })
}

impl SiteMode {
    /// Returns whether a line is a command of the mode.
    pub(super) fn has(self, words: &[&str]) -> bool {
        settings().any(|(opener, inner)| {
            opener == self.0 && inner.is_some_and(|inner| starts(strip_negation(words), inner))
        })
    }
}

/// Returns all commands at the top level, each with one command of the mode that it opens, if any.
fn settings() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let all = SITE.iter().flat_map(|group| group.settings.iter().copied());
    let of_ports = |setting: &&str| setting.starts_with("interface ");
    all.filter(move |setting| !of_ports(setting)).map(|setting| match setting.split_once(" > ") {
        Some((opener, inner)) => (opener, Some(inner)),
        None => (setting, None),
    })
}

fn strip_negation<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    match words {
        ["no" | "default", rest @ ..] => rest,
        words => words,
    }
}

fn starts(words: &[&str], setting: &str) -> bool {
    let mut own = words.iter();
    setting.split(' ').all(|word| {
        own.next().is_some_and(|own| match word {
            "#" => own.bytes().all(|byte| byte.is_ascii_digit()),
            word => *own == word,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_known_by_their_first_words() {
        let of = |line: &str| top(&line.split(' ').collect::<Vec<_>>());
        for line in ["ntp server 192.0.2.1", "no aaa root", "banner motd", "role ops", "management ssh"] {
            assert!(of(line).is_some(), "{line}");
        }
        for line in [
            "management api gribi",
            "management cvx",
            "daemon router",
            "transceiver qsfp default-mode 4x10G",
            "event-handler boot",
            "snmp-server extension .1.3.6 flash:script",
            "spanning-tree",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        let mode = of("management api gnmi").and_then(|own| own.mode).expect("it opens a mode");
        assert!(mode.has(&["transport", "grpc", "default"]) && mode.has(&["no", "shutdown"]));
        assert!(!mode.has(&["router", "bgp", "1"]) && !mode.has(&["exec", "/tmp/x"]));
        assert_eq!(of("no management ssh").and_then(|own| own.mode), None);
    }
}
