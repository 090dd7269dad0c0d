//! Access lists: `ACL_TABLE`, `ACL_RULE` and `ACL_TABLE_TYPE`.
//!
//! In: the rows of these tables. Out: the isolated ports, and faults. Invariants: only the ports in the list of
//! isolated ports may vary. The list therefore drops every IPv6 packet except ICMPv6, and nothing else. Lists for the
//! switch's own services belong to the site. Any other list is a fault, because it may drop or redirect packets of the
//! fabric.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::place::{FILE, LIST};
use crate::model::device::{Device, FaultKind, Ports};
use crate::model::place::{Fact, Step};

/// Type of the list.
const TYPE: &str = "L3V6LITE";

/// The only field of the list that differs between switches.
const PORTS: &str = "ports";

/// The fields of a row.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Row(BTreeMap<String, Value>);

/// Rows by key.
type Rows = BTreeMap<String, Row>;

/// The access lists of a switch.
#[derive(Debug, Default)]
pub(super) struct AccessLists {
    pub(super) lists: Rows,
    pub(super) rules: Rows,
    pub(super) kinds: Rows,
}

impl AccessLists {
    /// Judges all access lists. `isolates` states whether the switch must have the list of isolated ports.
    pub(super) fn judge(mut self, isolates: bool, ports: &mut Ports<'_>, device: &mut Device<'_>) {
        if isolates {
            self.isolation(ports, device);
        }
        for kind in self.kinds.keys() {
            let message = format!("type `{kind}` of access lists is not one that closc writes");
            device.fault(FaultKind::Unknown, FILE, Fact::row("ACL_TABLE_TYPE", &**kind), message);
        }
        let mut with_rules: BTreeSet<&str> = self.rules.keys().map(|key| list_of(key)).collect();
        for (name, row) in &self.lists {
            with_rules.remove(name.as_str());
            if row.0.get("type") == Some(&json!("CTRLPLANE")) {
                device.not_judged.push(format!("access lists of the control plane in `{FILE}`"));
                continue;
            }
            let message = if name == LIST {
                format!(
                    "access list `{name}` drops packets, but the fabric file has no `exceptions.isolated`"
                )
            } else {
                format!("access list `{name}` applies to forwarded packets")
            };
            device.fault(FaultKind::Unknown, FILE, Fact::row("ACL_TABLE", &**name), message);
        }
        for name in with_rules {
            let message = format!("rules of access list `{name}`, which does not exist");
            let rule = Fact::row("ACL_RULE", Step::Start(format!("{name}|")));
            device.fault(FaultKind::Dangling, FILE, rule, message);
        }
    }

    /// Removes the list of isolated ports, and compares it with its only valid form.
    fn isolation(&mut self, ports: &mut Ports<'_>, device: &mut Device<'_>) {
        let mut list = self.lists.remove(LIST);
        let bound = list.as_mut().and_then(|row| row.0.remove(PORTS));
        compare("ACL_TABLE", LIST, list.as_ref(), device);
        compare("ACL_TABLE_TYPE", TYPE, self.kinds.remove(TYPE).as_ref(), device);
        for rule in RULES {
            compare("ACL_RULE", rule, self.rules.remove(rule).as_ref(), device);
        }
        let own = |key: &String| list_of(key) == LIST;
        let others: Vec<String> = self.rules.keys().filter(|key| own(key)).cloned().collect();
        for key in others {
            self.rules.remove(&key);
            let message = format!("rule `{key}` changes which packets enter over isolated cables");
            device.fault(FaultKind::Isolation, FILE, Fact::row("ACL_RULE", &*key), message);
        }
        if let Some(bound) = bound {
            bind(&bound, ports, device);
        }
    }
}

/// The rules of the list. The rule with the higher priority permits ICMPv6.
const RULES: [&str; 2] = ["LINK_ISOLATION_TABLE|DENY_ALL_IPV6", "LINK_ISOLATION_TABLE|PERMIT_ALL_ICMPV6"];

/// Returns the only fields that a row of the list may have, apart from its ports.
fn expected_fields(key: &str) -> Value {
    match key {
        LIST => json!({ "policy_desc": "SRv6_link_isolation", "stage": "ingress", "type": TYPE }),
        TYPE => json!({
            "ACTIONS": ["PACKET_ACTION", "COUNTER"],
            "BIND_POINTS": ["PORT"],
            "MATCHES": ["IP_PROTOCOL", "IP_TYPE"],
        }),
        key if key == RULES[0] => {
            json!({ "IP_TYPE": "IPV6ANY", "PACKET_ACTION": "DROP", "PRIORITY": "999" })
        }
        _ => json!({ "IP_PROTOCOL": "58", "PACKET_ACTION": "FORWARD", "PRIORITY": "1000" }),
    }
}

/// Reports a row that is missing, and each field that differs.
fn compare(table: &'static str, key: &str, found: Option<&Row>, device: &mut Device<'_>) {
    let Some(found) = found else {
        let message = format!("`{table}|{key}` is missing, so no cable can be isolated");
        return device.fault(FaultKind::Isolation, FILE, Fact::table(table), message);
    };
    let wanted = expected_fields(key);
    let wanted = wanted.as_object().expect("every row is an object");
    let fields: BTreeSet<&String> = wanted.keys().chain(found.0.keys()).collect();
    for field in fields {
        let (is, expected) = (found.0.get(field), wanted.get(field));
        if is == expected {
            continue;
        }
        let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        let message = format!("`{field}` of `{table}|{key}` is {}, expected {}", shown(is), shown(expected));
        let fact = match is {
            Some(_) => Fact::Path(vec![table.into(), key.into(), field.as_str().into()]),
            None => Fact::row(table, key),
        };
        device.fault(FaultKind::Isolation, FILE, fact, message);
    }
}

/// Marks the ports of the list as isolated.
fn bind(bound: &Value, ports: &mut Ports<'_>, device: &mut Device<'_>) {
    let fact = || Fact::Path(vec!["ACL_TABLE".into(), LIST.into(), PORTS.into()]);
    let names = bound.as_array().map(Vec::as_slice).unwrap_or_default();
    if names.is_empty() {
        let message = format!("`{PORTS}` of `{LIST}` is not a list of ports; SONiC omits an empty list");
        return device.fault(FaultKind::Isolation, FILE, fact(), message);
    }
    let mut seen = BTreeSet::new();
    for name in names {
        let known = name.as_str().filter(|name| seen.insert(*name));
        let Some(name) = known else {
            let message = format!("`{LIST}` has port {name}, which is a duplicate or not a name");
            device.fault(FaultKind::Isolation, FILE, fact(), message);
            continue;
        };
        if ports.port_named(name).declared {
            device.isolated_ports.insert(name.to_owned());
        } else {
            let message = format!("`{LIST}` names port `{name}`, which does not exist");
            device.fault(FaultKind::Dangling, FILE, fact(), message);
        }
    }
}

/// Returns the name of the list that a rule belongs to.
fn list_of(key: &str) -> &str {
    key.split_once('|').map_or(key, |(list, _)| list)
}
