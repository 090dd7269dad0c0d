//! Statements of FRR that SONiC writes by itself, and statements of the site.
//!
//! In: a statement. Out: whether SONiC or the site owns it. Invariants: a row matches complete words at the beginning
//! of the outermost line.

use super::Statement;
use super::facts::begins;

/// First words of statements that SONiC writes by itself, each with its author.
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
        "bgpcfgd, from SRV6_MY_LOCATORS and SRV6_MY_SIDS, which are compared as CONFIG_DB \
         (`managers_srv6.py`)",
    ),
];

/// First words of statements of the site, each with its purpose.
const OF_SITE: [(&str, &str); 7] = [
    ("vrf", "closc routes only in the default VRF"),
    ("agentx", "SNMP"),
    ("log", "log destinations"),
    ("debug", "messages"),
    ("password", "access to the daemons"),
    ("enable password", "access to the daemons"),
    ("line vty", "access to the daemons"),
];

/// Returns whether a statement belongs to SONiC or the site, so that it is not unexpected.
pub(super) fn is_foreign(statement: &Statement) -> bool {
    let first = statement.first();
    is_of_site(first) || OF_SONIC.iter().any(|(row, _)| begins(first, row))
}

/// Returns whether a statement with this outermost line belongs to the site.
pub(super) fn is_of_site(first: &str) -> bool {
    // BGP of a VRF belongs to the owner of the VRF, the site.
    let is_of_vrf = first.starts_with("router bgp ") && first.contains(" vrf ");
    is_of_vrf || OF_SITE.iter().any(|(row, _)| begins(first, row))
}
