//! What the daemons of a switch made of its configuration: ports that are up, routes and segments that are programmed.
//!
//! In: a configuration, and what `sonic-db-dump -n APPL_DB` prints. Out: [`StateFault`]s, what is asked for and not there.
//! Invariants: addresses are compared as numbers, not as text; what is there and not asked for is nobody's fault, because
//! daemons add routes of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::config_db::{ConfigDb, DumpMember, Field, ParseError, json};

/// Something that a configuration asks for, and that the switch does not do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateFault {
    /// A port that is switched on and not up.
    Port {
        /// Its name.
        port: String,
        /// What the switch says of it; nothing where it does not know the port.
        status: Option<String>,
    },
    /// A static route that is not programmed; one over a port that is down is none.
    Route {
        /// Its key in `STATIC_ROUTE`.
        key: String,
    },
    /// A segment of its own that is not programmed.
    Segment {
        /// Its key in `SRV6_MY_SIDS`.
        key: String,
    },
}

/// A route: VRF, address, length.
type Route<'a> = (&'a str, IpAddr, u8);

/// A segment: lengths of block, node, function and argument, and the address.
type Segment<'a> = ([&'a str; 4], IpAddr);

/// What APPL_DB says.
#[derive(Default)]
struct Applied<'a> {
    ports: BTreeMap<&'a str, Option<&'a str>>,
    routes: BTreeSet<Route<'a>>,
    segments: BTreeSet<Segment<'a>>,
}

/// Compares what a switch is to do with what its daemons made of it.
///
/// # Errors
///
/// Returns an error where the dump is none.
pub fn state_faults(config: &ConfigDb, dump: &str) -> Result<Vec<StateFault>, ParseError> {
    let read: BTreeMap<String, DumpMember> = json(dump)?;
    let applied = Applied::of(&read);
    let mut faults = Vec::new();
    for (port, entry) in config.table("PORT") {
        if entry.get("admin_status") != Some(&Field::from("up")) {
            continue;
        }
        let status = applied.ports.get(port.as_str()).copied().flatten();
        if status != Some("up") {
            faults.push(StateFault::Port { port: port.clone(), status: status.map(str::to_owned) });
        }
    }
    for key in config.table("STATIC_ROUTE").keys() {
        let (vrf, prefix) = key.split_once('|').unwrap_or((DEFAULT, key));
        if !prefix_of(prefix)
            .is_some_and(|(address, length)| applied.routes.contains(&(vrf, address, length)))
        {
            faults.push(StateFault::Route { key: key.clone() });
        }
    }
    for key in config.table("SRV6_MY_SIDS").keys() {
        if !segment_of(config, key).is_some_and(|segment| applied.segments.contains(&segment)) {
            faults.push(StateFault::Segment { key: key.clone() });
        }
    }
    Ok(faults)
}

/// The VRF that has no name in APPL_DB.
const DEFAULT: &str = "default";

impl<'a> Applied<'a> {
    fn of(read: &'a BTreeMap<String, DumpMember>) -> Self {
        let mut made = Applied::default();
        for (name, member) in read {
            let DumpMember::Hash(entry) = member else { continue };
            match name.split_once(':') {
                Some(("PORT_TABLE", port)) => {
                    let status = match entry.get("oper_status") {
                        Some(Field::Text(status)) => Some(status.as_str()),
                        _ => None,
                    };
                    made.ports.insert(port, status);
                }
                Some(("ROUTE_TABLE", rest)) => made.routes.extend(route(rest)),
                Some(("SRV6_MY_SID_TABLE", rest)) => made.segments.extend(segment(rest)),
                _ => {}
            }
        }
        made
    }
}

/// Reads `PREFIX` or `VRF:PREFIX`.
fn route(text: &str) -> Option<Route<'_>> {
    if let Some((address, length)) = prefix_of(text) {
        return Some((DEFAULT, address, length));
    }
    let (vrf, prefix) = text.split_once(':')?;
    prefix_of(prefix).map(|(address, length)| (vrf, address, length))
}

/// Reads a prefix; an address without a length is one of its own, as APPL_DB writes it.
fn prefix_of(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = address.parse().ok()?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    Some((address, length.map_or(Some(whole), |length| length.parse().ok())?))
}

/// Reads `BLOCK:NODE:FUNCTION:ARGUMENT:ADDRESS`.
fn segment(text: &str) -> Option<Segment<'_>> {
    let mut parts = text.splitn(5, ':');
    let lengths = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    Some((lengths, parts.next()?.parse().ok()?))
}

/// Returns a segment of the configuration as APPL_DB has it: with the lengths of its locator.
fn segment_of<'a>(config: &'a ConfigDb, key: &str) -> Option<Segment<'a>> {
    let (locator, prefix) = key.split_once('|')?;
    let length =
        |field: &str, default: &'a str| config.text("SRV6_MY_LOCATORS", locator, field).unwrap_or(default);
    let lengths = [
        length("block_len", "32"),
        length("node_len", "16"),
        length("func_len", "16"),
        length("arg_len", "0"),
    ];
    Some((lengths, prefix_of(prefix)?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{
        "PORT": { "Ethernet0": { "admin_status": "up" }, "Ethernet4": { "admin_status": "up" },
                  "Ethernet8": { "admin_status": "down" }, "Ethernet12": { "admin_status": "up" } },
        "STATIC_ROUTE": { "default|fcbb:bbbb:8001::/48": {}, "Vrf-a|10.0.0.0/24": {}, "2001:db8::1/128": {} },
        "SRV6_MY_LOCATORS": { "loc1": { "prefix": "fcbb:bbbb:1::", "block_len": "32", "node_len": "16",
                                        "func_len": "0", "arg_len": "0" } },
        "SRV6_MY_SIDS": { "loc1|fcbb:bbbb:1::/48": { "action": "uN" }, "loc2|fcbb:bbbb:2::/48": { "action": "uN" } }
    }"#;

    fn hash(fields: &str) -> String {
        format!(r#"{{ "type": "hash", "ttl": -0.001, "value": {fields} }}"#)
    }

    fn dump(more: &[(&str, &str)]) -> String {
        let mut members = vec![
            ("PORT_TABLE:Ethernet0", r#"{ "oper_status": "up", "admin_status": "up" }"#),
            ("PORT_TABLE:Ethernet4", r#"{ "oper_status": "down", "admin_status": "up" }"#),
            ("ROUTE_TABLE:fcbb:bbbb:8001:0::/48", r#"{ "nexthop": "fd00::a" }"#),
            ("SRV6_MY_SID_TABLE:32:16:0:0:fcbb:bbbb:1::", r#"{ "action": "un" }"#),
        ];
        members.extend(more);
        let members: Vec<String> =
            members.iter().map(|(key, fields)| format!("{key:?}: {}", hash(fields))).collect();
        format!(r#"{{ {}, "PORT_TABLE:PortInitDone": {} }}"#, members.join(", "), hash("{}"))
    }

    #[test]
    fn what_is_asked_for_and_not_there_is_named() {
        let config = ConfigDb::parse(CONFIG).expect("right");
        let key = str::to_owned;
        assert_eq!(
            state_faults(&config, &dump(&[])).expect("right"),
            [
                StateFault::Port { port: key("Ethernet12"), status: None },
                StateFault::Port { port: key("Ethernet4"), status: Some(key("down")) },
                StateFault::Route { key: key("2001:db8::1/128") },
                StateFault::Route { key: key("Vrf-a|10.0.0.0/24") },
                StateFault::Segment { key: key("loc2|fcbb:bbbb:2::/48") },
            ]
        );
        let more = [
            ("PORT_TABLE:Ethernet4", r#"{ "oper_status": "up" }"#),
            ("PORT_TABLE:Ethernet12", r#"{ "oper_status": "up" }"#),
            ("ROUTE_TABLE:2001:db8::1", "{}"),
            ("ROUTE_TABLE:Vrf-a:10.0.0.0/24", "{}"),
            ("SRV6_MY_SID_TABLE:32:16:16:0:fcbb:bbbb:2::", "{}"),
        ];
        let good = dump(&more).replacen("\"PORT_TABLE:Ethernet4\"", "\"OLD:Ethernet4\"", 1);
        assert_eq!(state_faults(&config, &good).expect("right"), []);
        // Another length of a part is another segment, and another VRF another route.
        let other = good.replace("TABLE:32:16:16:0:", "TABLE:32:16:0:16:").replace(":Vrf-a:", ":Vrf-b:");
        assert_eq!(state_faults(&config, &other).expect("right").len(), 2);
        assert!(state_faults(&config, "no JSON").is_err());
    }
}
