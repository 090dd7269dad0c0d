//! EOS commands that belong to the site.
//!
//! In: the first line of a top-level command. Out: whether the command belongs to the site. Invariants: [`EOS`] is the
//! only list of such commands.

/// First words, after an optional `no`, of top-level EOS commands that belong to the site.
const EOS: [&str; 47] = [
    "aaa",
    "agent",
    "alias",
    "banner",
    "boot",
    "clock",
    "daemon",
    "dns",
    "enable",
    "event-handler",
    "event-monitor",
    "hardware counter",
    "hardware speed-group",
    "interface Management",
    "ip access-list",
    "ip domain",
    "ip domain-list",
    "ip domain-name",
    "ip ftp",
    "ip host",
    "ip http",
    "ip name-server",
    "ip radius",
    "ip route",
    "ip routing",
    "ip ssh",
    "ip tacacs",
    "ipv6 access-list",
    "ipv6 route vrf",
    "lldp",
    "logging",
    "management",
    "monitor telemetry",
    "ntp",
    "policy-map type copp",
    "queue-monitor",
    "radius-server",
    "sflow",
    "service interface inactive",
    "snmp-server",
    "spanning-tree",
    "system control-plane",
    "system l1",
    "tacacs-server",
    "transceiver",
    "username",
    "vrf instance",
];

/// Returns whether a top-level command belongs to the site.
pub fn is_of_site(head: &str) -> bool {
    let head = head.strip_prefix("no ").unwrap_or(head);
    EOS.iter().any(|words| {
        let rest = head.strip_prefix(words);
        // Port names follow without a space.
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ') || words.ends_with("Management"))
    })
}
