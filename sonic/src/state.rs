//! Applied state of a switch: ports, routes, segments, buffers, PFC, and LLDP neighbours.
//!
//! In: a configuration, and the output of `sonic-db-dump` for APPL_DB, and for parts of other databases if
//! those are read. Out: [`StateFault`]s, for requested state that is missing. Invariants: addresses are
//! compared as numbers, not as text; additional state is not a fault, because daemons add their own routes.

mod buffers;
mod neighbours;
mod pauses;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::config_db::{ConfigDb, DumpMember, Entry, Field, ParseError, json};
use crate::ownership::ISOLATION;

/// Configured state that the switch has not applied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateFault {
    /// A port that is admin up and not operationally up.
    Port {
        /// Its name.
        port: String,
        /// State on the switch; `None` if the port does not exist there.
        status: Option<String>,
    },
    /// A static route that is not programmed. A route over a port that is down is not programmed either.
    Route {
        /// Its key in `STATIC_ROUTE`.
        key: String,
    },
    /// A local segment that is not programmed.
    Segment {
        /// Its key in `SRV6_MY_SIDS`.
        key: String,
    },
    /// A buffer setting that is missing or different.
    Buffer {
        /// The table of APPL_DB.
        table: &'static str,
        /// Its place there.
        place: String,
        /// The field that differs, with its wanted and its live value; `None` if the complete entry is missing.
        field: Option<(String, String, String)>,
    },
    /// More resources than the switch has.
    ResourceLimit {
        /// The resource.
        resource: String,
        /// Requested amount.
        requested: u64,
        /// Available amount.
        available: u64,
    },
    /// A port whose PFC priorities differ from the configuration.
    Pauses {
        /// Its name.
        port: String,
        /// The wanted priorities, as a bit mask.
        expected: u8,
        /// The priorities of the chip, as a bit mask.
        live: u8,
    },
    /// An access list that orchagent has not applied, so its ports drop nothing.
    AccessList {
        /// Its name.
        name: String,
        /// Its status; `None` if orchagent does not know it.
        status: Option<String>,
    },
    /// A port whose neighbour differs from the plan.
    Neighbour {
        /// Its name.
        port: String,
        /// Planned neighbour: device and port.
        expected: String,
        /// The neighbour, as LLDP reports it; `None` without a neighbour.
        actual: Option<String>,
    },
    /// LLDP reports no neighbour on any port.
    Blind {
        /// Ports that are up and have a switch at the other end.
        ports: usize,
    },
}

/// A route: VRF, address, length.
type Route<'a> = (&'a str, IpAddr, u8);

/// A segment: lengths of block, node, function and argument, and the address.
type Segment<'a> = ([&'a str; 4], IpAddr);

/// Contents of the databases of the switch.
#[derive(Default)]
struct SwitchDatabases<'a> {
    ports: BTreeMap<&'a str, Option<&'a str>>,
    routes: BTreeSet<Route<'a>>,
    segments: BTreeSet<Segment<'a>>,
    /// Entries of buffers, by their place in APPL_DB.
    buffers: BTreeMap<&'a str, &'a Entry>,
    /// Status of access lists, by name (STATE_DB).
    lists: BTreeMap<&'a str, &'a Entry>,
    /// LLDP neighbours, by port.
    neighbours: BTreeMap<&'a str, &'a Entry>,
    /// Limits of buffers, `global` and by port (STATE_DB).
    rooms: BTreeMap<&'a str, &'a Entry>,
    /// Ports of the chip by their ids (ASIC_DB).
    chip_ports: BTreeMap<&'a str, &'a Entry>,
    /// Ids of ports, by the names of the ports (COUNTERS_DB).
    ids: Option<&'a Entry>,
}

/// Compares a configuration with the state of the daemons. `dump` is one dump, or a list with those of several
/// databases.
///
/// # Errors
///
/// Returns an error if the dump cannot be parsed.
pub fn state_faults(config: &ConfigDb, dump: &str) -> Result<Vec<StateFault>, ParseError> {
    let read: Vec<BTreeMap<String, DumpMember>> =
        if dump.trim_start().starts_with('[') { json(dump)? } else { vec![json(dump)?] };
    let mut applied = SwitchDatabases::default();
    for dump in &read {
        applied.add(dump);
    }
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
    access_list(config, &applied, &mut faults);
    buffers::faults(config, &applied, &mut faults);
    pauses::faults(config, &applied, &mut faults);
    neighbours::faults(config, &applied, &mut faults);
    Ok(faults)
}

/// Checks that orchagent has applied the access list of isolated ports (`AclOrch::setAclTableStatus` of sonic-swss).
fn access_list(config: &ConfigDb, applied: &SwitchDatabases<'_>, faults: &mut Vec<StateFault>) {
    if !config.table("ACL_TABLE").contains_key(ISOLATION) {
        return;
    }
    let status = applied.lists.get(ISOLATION).and_then(|entry| entry.get("status")).map(ToString::to_string);
    if status.as_deref() != Some("Active") {
        faults.push(StateFault::AccessList { name: ISOLATION.to_owned(), status });
    }
}

/// The VRF that is not named in APPL_DB.
const DEFAULT: &str = "default";

impl<'a> SwitchDatabases<'a> {
    fn add(&mut self, read: &'a BTreeMap<String, DumpMember>) {
        for (name, member) in read {
            let DumpMember::Hash(entry) = member else { continue };
            match name.split_once(':') {
                Some(("PORT_TABLE", port)) => {
                    let status = match entry.get("oper_status") {
                        Some(Field::Text(status)) => Some(status.as_str()),
                        _ => None,
                    };
                    self.ports.insert(port, status);
                }
                Some(("ROUTE_TABLE", rest)) => self.routes.extend(route(rest)),
                Some(("SRV6_MY_SID_TABLE", rest)) => self.segments.extend(segment(rest)),
                Some(("LLDP_ENTRY_TABLE", port)) => {
                    self.neighbours.insert(port, entry);
                }
                Some(("ASIC_STATE", rest)) => {
                    let id = rest.strip_prefix("SAI_OBJECT_TYPE_PORT:");
                    self.chip_ports.extend(id.map(|id| (id, entry)));
                }
                Some(_) if buffers::is_applied(name) => {
                    self.buffers.insert(name, entry);
                }
                None if name == "COUNTERS_PORT_NAME_MAP" => self.ids = Some(entry),
                _ => {
                    let port = name.strip_prefix("BUFFER_MAX_PARAM_TABLE|");
                    self.rooms.extend(port.map(|port| (port, entry)));
                    let list = name.strip_prefix("ACL_TABLE_TABLE|");
                    self.lists.extend(list.map(|list| (list, entry)));
                }
            }
        }
    }

    /// Returns whether a port is up.
    fn is_up(&self, port: &str) -> bool {
        self.ports.get(port).copied().flatten() == Some("up")
    }

    /// Returns the available amount of a resource.
    fn available_amount(&self, of: &str, field: &str) -> Option<u64> {
        self.rooms.get(of)?.get(field)?.to_string().parse().ok()
    }

    /// Returns the chip's attributes of a port.
    fn chip_port(&self, port: &str) -> Option<&'a Entry> {
        self.chip_ports.get(self.ids?.get(port)?.to_string().as_str()).copied()
    }
}

/// Parses `PREFIX` or `VRF:PREFIX`.
fn route(text: &str) -> Option<Route<'_>> {
    if let Some((address, length)) = prefix_of(text) {
        return Some((DEFAULT, address, length));
    }
    let (vrf, prefix) = text.split_once(':')?;
    prefix_of(prefix).map(|(address, length)| (vrf, address, length))
}

/// Parses a prefix; an address without a length is a host route, as in APPL_DB.
fn prefix_of(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = address.parse().ok()?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    Some((address, length.map_or(Some(whole), |length| length.parse().ok())?))
}

/// Parses `BLOCK:NODE:FUNCTION:ARGUMENT:ADDRESS`.
fn segment(text: &str) -> Option<Segment<'_>> {
    let mut parts = text.splitn(5, ':');
    let lengths = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    Some((lengths, parts.next()?.parse().ok()?))
}

/// Returns a segment of the configuration in the form of APPL_DB: with the lengths of its locator.
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
    fn missing_state_is_reported() {
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
        // A segment with other lengths is another segment, and a route in another VRF another route.
        let other = good.replace("TABLE:32:16:16:0:", "TABLE:32:16:0:16:").replace(":Vrf-a:", ":Vrf-b:");
        assert_eq!(state_faults(&config, &other).expect("right").len(), 2);
        assert!(state_faults(&config, "no JSON").is_err());
    }

    /// A list that orchagent rejects drops nothing, although the configuration has it.
    #[test]
    fn a_list_of_isolated_ports_is_active_or_named() {
        let list = r#""ACL_TABLE": { "LINK_ISOLATION_TABLE": { "type": "L3V6LITE" } }, "SRV6_MY_LOCATORS""#;
        let config = ConfigDb::parse(&CONFIG.replacen("\"SRV6_MY_LOCATORS\"", list, 1)).expect("right");
        let found = |status: &[(&str, &str)]| -> Vec<StateFault> {
            let faults = state_faults(&config, &dump(status)).expect("right");
            faults.into_iter().filter(|fault| matches!(fault, StateFault::AccessList { .. })).collect()
        };
        let fault = |status: Option<&str>| {
            let (name, status) = ("LINK_ISOLATION_TABLE".to_owned(), status.map(str::to_owned));
            [StateFault::AccessList { name, status }]
        };
        let key = "ACL_TABLE_TABLE|LINK_ISOLATION_TABLE";
        assert_eq!(found(&[]), fault(None));
        let pending = r#"{ "status": "Pending creation" }"#;
        assert_eq!(found(&[(key, pending)]), fault(Some("Pending creation")));
        assert_eq!(found(&[(key, r#"{ "status": "Active" }"#)]), []);
        let other = r#"{ "status": "Active" }"#;
        assert_eq!(found(&[("ACL_TABLE_TABLE|SSH_ONLY", other)]), fault(None));
    }

    /// A switch with buffers, PFC and neighbours, with every entry applied.
    const WHOLE: &str = r#"{
        "DEVICE_METADATA": { "localhost": { "hostname": "p0-t0-001", "buffer_model": "traditional" } },
        "LLDP": { "GLOBAL": { "enabled": "true" } },
        "PORT": { "Ethernet0": { "admin_status": "up" }, "Ethernet8": { "admin_status": "up" } },
        "BUFFER_POOL": { "ingress": { "size": "100", "type": "ingress" }, "egress": { "size": "90", "type": "egress" } },
        "BUFFER_PROFILE": { "lossless": { "pool": "ingress", "xoff": "7" } },
        "BUFFER_PG": { "Ethernet0|3-4": { "profile": "lossless" } },
        "PORT_QOS_MAP": { "Ethernet0": { "pfc_enable": "3,4" }, "Ethernet8": {} },
        "DEVICE_NEIGHBOR": { "Ethernet0": { "name": "p0-t1-001", "port": "Ethernet64" },
                             "Ethernet8": { "name": "su001-n001", "port": "nic0p0" } },
        "DEVICE_NEIGHBOR_METADATA": { "p0-t1-001": {} }
    }"#;

    /// State of its daemons, as keys and fields.
    const APPLIED: [(&str, &str); 12] = [
        ("PORT_TABLE:Ethernet0", r#"{ "oper_status": "up" }"#),
        ("PORT_TABLE:Ethernet8", r#"{ "oper_status": "up" }"#),
        ("BUFFER_POOL_TABLE:ingress", r#"{ "size": "100", "type": "ingress" }"#),
        ("BUFFER_POOL_TABLE:egress", r#"{ "size": "90", "type": "egress" }"#),
        (
            "BUFFER_PROFILE_TABLE:lossless",
            r#"{ "pool": "[BUFFER_POOL_TABLE:ingress]", "xoff": "7", "more": "1" }"#,
        ),
        ("BUFFER_PG_TABLE:Ethernet0:3-4", r#"{ "profile": "lossless" }"#),
        (
            "LLDP_ENTRY_TABLE:Ethernet0",
            r#"{ "lldp_rem_sys_name": "P0-T1-001.example", "lldp_rem_port_id": "etp17",
                                            "lldp_rem_port_desc": "p0-t0-001:Ethernet0" }"#,
        ),
        ("BUFFER_MAX_PARAM_TABLE|global", r#"{ "mmu_size": "100" }"#),
        ("BUFFER_MAX_PARAM_TABLE|Ethernet0", r#"{ "max_priority_groups": "8" }"#),
        ("COUNTERS_PORT_NAME_MAP", r#"{ "Ethernet0": "oid:0x1", "Ethernet8": "oid:0x2" }"#),
        ("ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x1", r#"{ "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": "24" }"#),
        ("ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x2", r#"{ "NULL": "NULL" }"#),
    ];

    /// Compares a switch after one entry was replaced or removed.
    fn check_change(change: Option<(&str, Option<&str>)>) -> Vec<StateFault> {
        let mut members: BTreeMap<&str, &str> = APPLIED.into();
        match change {
            Some((key, Some(fields))) => {
                members.insert(key, fields);
            }
            Some((key, None)) => assert!(members.remove(key).is_some(), "it was there"),
            None => {}
        }
        let dumps: Vec<String> =
            members.iter().map(|(key, fields)| format!("{{ {key:?}: {} }}", hash(fields))).collect();
        let config = ConfigDb::parse(WHOLE).expect("right");
        state_faults(&config, &format!("[{}]", dumps.join(","))).expect("right")
    }

    #[test]
    fn buffers_that_are_not_applied_are_named() {
        assert_eq!(check_change(None), []);
        let missing = |table, place: &str| StateFault::Buffer { table, place: place.to_owned(), field: None };
        let place = "BUFFER_PG_TABLE:Ethernet0:3-4";
        assert_eq!(check_change(Some((place, None))), [missing("BUFFER_PG_TABLE", place)]);
        let place = "BUFFER_PROFILE_TABLE:lossless";
        let other = check_change(Some((place, Some(r#"{ "pool": "ingress", "xoff": "9" }"#))));
        let field = Some(("xoff".to_owned(), "7".to_owned(), "9".to_owned()));
        let place = place.to_owned();
        assert_eq!(other, [StateFault::Buffer { table: "BUFFER_PROFILE_TABLE", place, field }]);
        let small = check_change(Some(("BUFFER_MAX_PARAM_TABLE|global", Some(r#"{ "mmu_size": "95" }"#))));
        let what = "bytes of ingress pools".to_owned();
        assert_eq!(small, [StateFault::ResourceLimit { resource: what, requested: 100, available: 95 }]);
        let few = r#"{ "max_priority_groups": "4" }"#;
        let few = check_change(Some(("BUFFER_MAX_PARAM_TABLE|Ethernet0", Some(few))));
        let what = "BUFFER_PG of Ethernet0, by max_priority_groups".to_owned();
        assert_eq!(few, [StateFault::ResourceLimit { resource: what, requested: 5, available: 4 }]);
    }

    #[test]
    fn ports_that_pause_other_priorities_are_named() {
        let chip = "ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x";
        let pauses =
            |port: &str, wanted, live| StateFault::Pauses { port: port.to_owned(), expected: wanted, live };
        let none = check_change(Some((&format!("{chip}1"), Some("{}"))));
        assert_eq!(none, [pauses("Ethernet0", 0b1_1000, 0)]);
        let some = r#"{ "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": "8" }"#;
        assert_eq!(check_change(Some((&format!("{chip}2"), Some(some)))), [pauses("Ethernet8", 0, 8)]);
        let separate = r#"{ "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE": "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE",
                            "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX": "24" }"#;
        assert_eq!(check_change(Some((&format!("{chip}1"), Some(separate)))), []);
        assert_eq!(check_change(Some(("COUNTERS_PORT_NAME_MAP", None))), [], "the chip was not read");
    }

    #[test]
    fn neighbours_that_are_not_the_planned_ones_are_named() {
        let key = "LLDP_ENTRY_TABLE:Ethernet0";
        let seen =
            |port: &str, words: &str| check_change(Some((&format!("LLDP_ENTRY_TABLE:{port}"), Some(words))));
        let by_name = r#"{ "lldp_rem_sys_name": "p0-t1-001", "lldp_rem_port_id": "Ethernet64" }"#;
        assert_eq!(seen("Ethernet0", by_name), []);
        let alias = r#"{ "lldp_rem_sys_name": "p0-t1-001", "lldp_rem_port_id": "etp17", "lldp_rem_port_desc": "up" }"#;
        assert_eq!(seen("Ethernet0", alias), [], "an alias does not identify the port");
        assert_eq!(seen("Ethernet0", r#"{ "lldp_rem_chassis_id": "02:00:00:00:00:01" }"#), []);
        let swapped = seen("Ethernet0", &by_name.replace("64", "68"));
        assert!(
            matches!(&swapped[..], [StateFault::Neighbour { port, expected, actual: Some(seen) }]
                if port == "Ethernet0" && expected == "p0-t1-001 Ethernet64" && seen == "p0-t1-001 Ethernet68"),
            "{swapped:?}"
        );
        let described = alias.replace("\"up\"", "\"p0-t0-001:Ethernet4\"");
        assert_eq!(
            seen("Ethernet0", &described).len(),
            1,
            "the description names another port of this switch"
        );
        assert_eq!(seen("Ethernet0", &by_name.replace("t1-001", "t1-002")).len(), 1);
        // A node need not send LLDP, but its LLDP counts.
        assert_eq!(seen("Ethernet8", r#"{ "lldp_rem_sys_name": "su001-n002" }"#).len(), 1);
        let unseen = check_change(Some((key, None)));
        assert!(matches!(&unseen[..], [StateFault::Neighbour { actual: None, .. }]), "{unseen:?}");
    }
}
