//! Access lists of the control plane. They belong to the site, but must permit the protocols of the fabric.
//!
//! In: `acl` and `system.control-plane.acl`. Out: a record of lists that are not judged, and faults. Invariants: rules
//! are evaluated in the order of their numbers, and the first match decides. An unknown match condition counts as a
//! possible match, never as a certain one.

use std::collections::BTreeMap;

use super::fields::Fields;
use super::place::FILE;
use super::value::{Map, Value};
use crate::model::device::{Device, FaultKind};
use crate::read::error::ReadError;

/// Lists that every switch has. They permit routing protocols (Access Control List Configuration, control plane).
const BUILT_IN: [&str; 2] = ["acl-default-dos", "acl-default-whitelist"];

/// A packet to the switch itself that the fabric needs.
struct RequiredPacket {
    name: &'static str,
    protocols: &'static [&'static str],
    /// The field that contains the port, and the port as number and as keyword.
    port: Option<(&'static str, [&'static str; 2])>,
}

const NEEDED: [RequiredPacket; 4] = [
    RequiredPacket { name: "neighbour discovery", protocols: &["icmpv6", "ipv6-icmp", "58"], port: None },
    RequiredPacket {
        name: "BGP sessions that a neighbour opened",
        protocols: &["tcp", "6"],
        port: Some(("dest-port", ["179", "bgp"])),
    },
    RequiredPacket {
        name: "BGP sessions that the switch opened",
        protocols: &["tcp", "6"],
        port: Some(("source-port", ["179", "bgp"])),
    },
    RequiredPacket { name: "BFD", protocols: &["udp", "17"], port: Some(("dest-port", ["3784", "bfd"])) },
];

/// Whether a rule matches a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchResult {
    Never,
    Perhaps,
    Always,
}

/// Checks the lists that are bound to the control plane. Other lists have no effect.
pub(super) fn judge(
    lists: &Fields<'_>,
    bound: &Fields<'_>,
    device: &mut Device<'_>,
) -> Result<(), ReadError> {
    let known: BTreeMap<&str, &Value<'_>> = lists.entries().collect();
    for (name, value) in bound.entries() {
        let mut way = Fields::of(bound.path(name), Some(value))?;
        for key in ["inbound", "outbound"] {
            way.take(key);
        }
        way.finish(device);
        let fact = bound.path(name).fact();
        match known.get(name) {
            None if BUILT_IN.contains(&name) => {}
            None => {
                let message = format!("access list `{name}` is referenced, but does not exist");
                device.fault(FaultKind::Dangling, FILE, fact, message);
            }
            Some(list) => {
                for what in dropped_packets(list) {
                    let message = format!("access list `{name}` of the control plane may drop {what}");
                    device.fault(FaultKind::Setting, FILE, fact.clone(), message);
                }
            }
        }
        let named = format!("access lists of the control plane in `{FILE}`");
        if !device.not_judged.contains(&named) {
            device.not_judged.push(named);
        }
    }
    Ok(())
}

/// Returns the required packets that a list may drop.
fn dropped_packets(list: &Value<'_>) -> Vec<&'static str> {
    // All required packets are IPv6, because neighbours use link-local addresses.
    if list.get("type").and_then(Value::as_str) == Some("ipv4") {
        return Vec::new();
    }
    let rules = list.get("rule").and_then(Value::as_object).into_iter().flat_map(Map::iter);
    let mut rules: Vec<(u32, &Value<'_>)> =
        rules.map(|(number, rule)| (number.parse().unwrap_or(0), rule)).collect();
    rules.sort_by_key(|(number, _)| *number);
    let drops = |needed: &&RequiredPacket| {
        for (_, rule) in &rules {
            let matches = matches(rule.get("match"), needed);
            if matches == MatchResult::Never {
                continue;
            }
            let action = rule.get("action").and_then(Value::as_object);
            let does = |word: &str| action.is_some_and(|action| action.get(word).is_some());
            if does("log") && action.is_some_and(|action| action.len() == 1) {
                continue;
            }
            if !does("permit") {
                return true;
            }
            if matches == MatchResult::Always {
                return false;
            }
        }
        false
    };
    NEEDED.iter().filter(drops).map(|needed| needed.name).collect()
}

fn matches(value: Option<&Value<'_>>, needed: &RequiredPacket) -> MatchResult {
    let none = Map::default();
    let whole = value.and_then(Value::as_object).unwrap_or(&none);
    let ip = whole.get("ip").and_then(Value::as_object).unwrap_or(&none);
    let text = |value: &Value<'_>| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_other = ip.get("protocol").is_some_and(|own| !needed.protocols.contains(&text(own).as_str()));
    if is_other {
        return MatchResult::Never;
    }
    let mut understood = whole.iter().all(|(key, _)| key == "ip");
    for (key, value) in ip.iter() {
        match key {
            "protocol" => {}
            "tcp" | "udp" if !needed.protocols.contains(&key) => return MatchResult::Never,
            "tcp" | "udp" => {
                for (side, ports) in value.as_object().into_iter().flat_map(Map::iter) {
                    let Some((own, words)) = &needed.port else { return MatchResult::Never };
                    let ports: Vec<&str> =
                        ports.as_object().into_iter().flat_map(Map::iter).map(|(port, _)| port).collect();
                    let has = |port: &&str| words.contains(port) || port.eq_ignore_ascii_case("any");
                    let may = |port: &&str| {
                        // The other end uses an ephemeral port.
                        let is_high = port.parse::<u16>().is_ok_and(|number| number >= 1024);
                        let is_range = port.contains(':') || port.eq_ignore_ascii_case("any");
                        is_range || if side == *own { has(port) } else { is_high }
                    };
                    if !ports.iter().any(may) {
                        return MatchResult::Never;
                    }
                    understood &= side == *own && ports.iter().any(has);
                }
            }
            _ => understood = false,
        }
    }
    if understood { MatchResult::Always } else { MatchResult::Perhaps }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Value;

    #[test]
    fn what_the_fabric_speaks_must_come_through() {
        let refused = |list: serde_json::Value| super::dropped_packets(&Value::from(list));
        let list = |rules: &serde_json::Value| json!({ "type": "ipv6", "rule": rules });
        let ssh = json!({ "match": { "ip": { "protocol": "tcp", "tcp": { "dest-port": { "22": {} } } } }, "action": { "deny": {} } });
        let all = json!({ "action": { "deny": {} } });
        let permit = |ip: &serde_json::Value| json!({ "match": { "ip": ip }, "action": { "permit": {} } });
        let discovery = permit(&json!({ "protocol": "icmpv6" }));
        let tcp = permit(&json!({ "protocol": "tcp" }));
        let bfd = permit(&json!({ "protocol": "udp", "udp": { "dest-port": { "3784": {}, "3785": {} } } }));
        let some = permit(&json!({ "protocol": "tcp", "source-ip": "2001:db8::/32" }));
        for (rules, count) in [
            (json!({}), 0),
            (json!({ "1": ssh }), 0),
            (json!({ "1": all }), 4),
            (json!({ "1": discovery, "2": tcp, "3": bfd, "4": all }), 0),
            (json!({ "10": all, "9": tcp, "8": discovery }), 1),
            (json!({ "1": discovery, "2": some, "3": bfd, "4": all }), 2),
            (
                json!({ "1": { "match": { "ip": { "tcp": { "source-port": { "179": {} } } } }, "action": { "police": { "rate": 1 } } } }),
                1,
            ),
            (
                json!({ "1": { "match": { "ip": { "protocol": "udp", "udp": { "dest-port": { "3000:4000": {} } } } }, "action": { "deny": {} } } }),
                1,
            ),
        ] {
            assert_eq!(refused(list(&rules)).len(), count, "{rules}");
        }
        assert!(refused(json!({ "type": "ipv4", "rule": { "1": { "action": { "deny": {} } } } })).is_empty());
    }
}
