//! Statements of FRR that SONiC writes by itself, and statements of the site.
//!
//! In: a statement. Out: whether it is closc's to judge. Invariants: a row begins with whole words of the outermost line.

use super::Statement;

/// Author of the statements with this beginning.
const FOREIGN: [(&str, &str); 12] = [
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
    ("vrf", "the site: closc routes in the default VRF alone"),
    ("agentx", "the site: SNMP"),
    ("log", "the site: destinations of messages"),
    ("debug", "the site: messages"),
    ("password", "the site: access to the daemons"),
    ("enable password", "the site: access to the daemons"),
    ("line vty", "the site: access to the daemons"),
];

/// Tells whether a statement is SONiC's own or the site's, so that it is not unexpected.
pub(super) fn is_foreign(statement: &Statement) -> bool {
    let first = statement.first();
    let begins =
        |row: &str| first == row || first.strip_prefix(row).is_some_and(|rest| rest.starts_with(' '));
    // BGP of a VRF is the site's with the VRF.
    let is_of_vrf = first.starts_with("router bgp ") && first.contains(" vrf ");
    is_of_vrf || FOREIGN.iter().any(|(row, _)| begins(row))
}
