//! The access list of isolated ports: `ACL_RULE`, `ACL_TABLE` and `ACL_TABLE_TYPE`.
//!
//! In: a view. Out: rows, if the fabric file has `exceptions.isolated`. Invariants: the list is the same on every switch,
//! except for its ports, so a cable is isolated by changing one field. Without ports that field is omitted, because
//! SONiC's updater rejects an empty list. Names, priorities and fields are those of sonic-mgmt 26037.

use super::json::Document;
use super::view::View;

/// Name of the list.
const LIST: &str = "LINK_ISOLATION_TABLE";

/// Its type. Rules of this type match only the IP type and the IP protocol, so they use little TCAM.
const TYPE: &str = "L3V6LITE";

/// The number of ICMPv6, which neighbour discovery uses (RFC 4443).
const ICMPV6: u8 = 58;

/// Writes `ACL_RULE`. The rule with the higher priority is applied.
pub(super) fn rules(document: &mut Document, view: &View<'_>) {
    if !view.intent.has_isolation {
        return;
    }
    document.table("ACL_RULE", |table| {
        table.row(&[LIST, "|DENY_ALL_IPV6"], |row| {
            row.text("IP_TYPE", "IPV6ANY");
            row.text("PACKET_ACTION", "DROP");
            row.text("PRIORITY", "999");
        });
        table.row(&[LIST, "|PERMIT_ALL_ICMPV6"], |row| {
            row.number("IP_PROTOCOL", ICMPV6);
            row.text("PACKET_ACTION", "FORWARD");
            row.text("PRIORITY", "1000");
        });
    });
}

/// Writes `ACL_TABLE`, with the isolated ports.
pub(super) fn list(document: &mut Document, view: &View<'_>) {
    if !view.intent.has_isolation {
        return;
    }
    let isolated = view.links().filter(|(_, link)| link.connection.isolated);
    let ports: Vec<&str> = isolated.map(|(port, _)| port.name).collect();
    document.table("ACL_TABLE", |table| {
        table.row(&[LIST], |row| {
            row.text("policy_desc", "SRv6_link_isolation");
            if !ports.is_empty() {
                row.list("ports", &ports);
            }
            row.text("stage", "ingress");
            row.text("type", TYPE);
        });
    });
}

/// Writes `ACL_TABLE_TYPE`, because the type is not built in.
pub(super) fn kind(document: &mut Document, view: &View<'_>) {
    if !view.intent.has_isolation {
        return;
    }
    document.table("ACL_TABLE_TYPE", |table| {
        table.row(&[TYPE], |row| {
            row.list("ACTIONS", &["PACKET_ACTION", "COUNTER"]);
            row.list("BIND_POINTS", &["PORT"]);
            row.list("MATCHES", &["IP_PROTOCOL", "IP_TYPE"]);
        });
    });
}
