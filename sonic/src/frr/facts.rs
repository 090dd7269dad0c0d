//! The facts that FRR reads from one line of its configuration.
//!
//! In: the words of a line, and its nodes. Out: facts in canonical spelling. Invariants: a configuration has the same
//! facts whether it is read from a file or printed by FRR; defaults of FRR are not facts.

use std::net::Ipv6Addr;

/// Lines with metadata or the host name, which configure nothing.
const NO_FACTS: [&str; 4] = ["frr version", "hostname", "domainname", "service integrated-vtysh-config"];

/// Lines that only open a node, and are not facts themselves.
const CONTAINERS: [&str; 4] = ["interface", "address-family", "bfd", "segment-routing"];

/// Defaults, which FRR does not print: the profile of defaults that each belongs to, if any, and the line. From
/// `bgpd/bgp_vty.c`, `bgpd/bgpd.h` and `bfdd/bfd.h` of FRR 10.5; SONiC and Debian build with 256 paths.
const DEFAULTS: [(Option<&str>, &str); 11] = [
    (Some("traditional"), "bgp ebgp-requires-policy"),
    (Some("traditional"), "timers bgp 60 180"),
    (Some("datacenter"), "no bgp ebgp-requires-policy"),
    (Some("datacenter"), "timers bgp 3 9"),
    (Some("datacenter"), "bgp log-neighbor-changes"),
    (None, "bgp graceful-restart restart-time 120"),
    (None, "bgp graceful-restart stalepath-time 360"),
    (None, "maximum-paths 256"),
    (None, "detect-multiplier 3"),
    (None, "transmit-interval 300"),
    (None, "receive-interval 300"),
];

/// Returns whether a line begins with these complete words.
pub(super) fn begins(line: &str, with: &str) -> bool {
    line.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns whether a line only opens a node.
pub(super) fn is_container(line: &str) -> bool {
    CONTAINERS.iter().any(|container| begins(line, container))
}

/// Returns whether a fact is a default.
pub(super) fn is_default(nodes: &[String], line: &str, profile: &str) -> bool {
    let is_inside = !nodes.is_empty();
    is_inside && DEFAULTS.iter().any(|(of, default)| of.is_none_or(|of| of == profile) && *default == line)
}

/// Returns the facts of a line.
pub(super) fn facts(nodes: &[String], words: &[&str]) -> Vec<String> {
    let line = words.iter().map(|word| spelling(word)).collect::<Vec<_>>().join(" ");
    if nodes.is_empty() && NO_FACTS.iter().any(|none| begins(&line, none)) {
        return Vec::new();
    }
    match words {
        // FRR prints the group on the same line as the interface if there is one, and the AS number on a separate line.
        ["neighbor", peer, "interface", more @ ..] => {
            let v6only = if more.contains(&"v6only") { " v6only" } else { "" };
            let mut made = vec![format!("neighbor {peer} interface{v6only}")];
            for pair in more.windows(2).filter(|pair| ["remote-as", "peer-group"].contains(&pair[0])) {
                made.push(format!("neighbor {peer} {} {}", pair[0], pair[1]));
            }
            made
        }
        // A profile enables BFD.
        ["neighbor", peer, "bfd", "profile", _] => vec![format!("neighbor {peer} bfd"), line],
        _ => vec![line],
    }
}

/// Returns a word as FRR spells it: an address or prefix in its canonical form.
fn spelling(word: &str) -> String {
    let (address, rest) = word.split_once('/').map_or((word, None), |(address, rest)| (address, Some(rest)));
    match (address.contains(':').then(|| address.parse::<Ipv6Addr>()), rest) {
        (Some(Ok(address)), Some(rest)) => format!("{address}/{rest}"),
        (Some(Ok(address)), None) => address.to_string(),
        _ => word.to_owned(),
    }
}
