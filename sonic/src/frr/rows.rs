//! Statements of FRR that SONiC writes by itself, and statements of the site.
//!
//! In: a statement. Out: whether it is closc's to judge. Invariants: a row begins with whole words of the outermost line.

use super::Statement;
use super::facts::begins;

/// Statements with this beginning that SONiC writes by itself, each with their author.
const OF_SONIC: [(&str, &str); 5] = [
    (
        "route-map RM_SET_SRC",
        "bgpcfgd: the source address of packets of the switch itself (`managers_setsrc.py`)",
    ),
    ("route-map RM_SET_SRC6", "the same for IPv6"),
    ("ip protocol bgp route-map RM_SET_SRC", "the same"),
    ("ipv6 protocol bgp route-map RM_SET_SRC6", "the same"),
    (
        "segment-routing",
        "bgpcfgd, from SRV6_MY_LOCATORS and SRV6_MY_SIDS, which are compared as CONFIG_DB (`managers_srv6.py`)",
    ),
];

/// Statements of the site with this beginning, each with their purpose.
const OF_SITE: [(&str, &str); 7] = [
    ("vrf", "closc routes in the default VRF alone"),
    ("agentx", "SNMP"),
    ("log", "destinations of messages"),
    ("debug", "messages"),
    ("password", "access to the daemons"),
    ("enable password", "access to the daemons"),
    ("line vty", "access to the daemons"),
];

/// Tells whether a statement is SONiC's own or the site's, so that it is not unexpected.
pub(super) fn is_foreign(statement: &Statement) -> bool {
    let first = statement.first();
    is_of_site(first) || OF_SONIC.iter().any(|(row, _)| begins(first, row))
}

/// Tells whether the outermost line of a statement makes it the site's.
pub(super) fn is_of_site(first: &str) -> bool {
    // BGP of a VRF is the site's with the VRF.
    let is_of_vrf = first.starts_with("router bgp ") && first.contains(" vrf ");
    is_of_vrf || OF_SITE.iter().any(|(row, _)| begins(first, row))
}
