//! Routing tables and rules of a node, where switches choose the path.
//!
//! In: the ports of a node. Out: violations, and the treatment of packets from each NIC. Invariants: the kernel looks
//! up the tables of a NIC's ports one after the other. The first table with a route decides. Routes disappear with
//! their port, so the proof merges the tables into one route with several next hops.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::{Address, Prefix};

use super::{Port, Work};
use crate::model::network::{MAIN, NicTables, NodeRouteAction, TableRoute, TableRule};
use crate::model::switch::{Gateway, NextHop, OtherRoute};
use crate::rules::hosts::{NETWORK, TABLES};

/// The priority of the rule that looks up the main table.
const MAIN_PRIORITY: u32 = 32_766;

/// Reserved tables of the kernel: unspecified, compat, default, main, local.
const KERNEL: [u32; 5] = [0, 252, 253, MAIN, 255];

/// Checks tables and rules, and returns the treatment of packets from each NIC.
pub(super) fn check(work: &mut Work<'_>, ports: &[Port<'_>]) -> Vec<NicTables> {
    if !work.network.dropped.is_empty() {
        let file = &work.network.loopback;
        work.report_file(&TABLES, file, "the loopback has a blackhole, but there are no segments");
    }
    let mut owners: BTreeMap<u32, &str> = BTreeMap::new();
    let mut priorities = BTreeSet::new();
    let mut nics: BTreeMap<u16, Vec<(&Port<'_>, Vec<&TableRoute>)>> = BTreeMap::new();
    for port in ports {
        work.findings.count_facts(&TABLES, 1);
        let interface = port.interface;
        let tables: BTreeSet<u32> = interface.routes.iter().map(|route| route.table).collect();
        let own = tables.first().copied().filter(|table| tables.len() == 1 && !KERNEL.contains(table));
        let Some(table) = own else {
            work.report(&TABLES, interface, "able", "does not have all its routes in one table of its own");
            continue;
        };
        if let Some(other) = owners.insert(table, &interface.name) {
            work.report(&TABLES, interface, "able", &format!("shares table {table} with `{other}`"));
        }
        rules(work, port, table, &mut priorities);
        routes(work, port);
        nics.entry(number(&interface.name)).or_default().push((port, interface.routes.iter().collect()));
    }
    nics.into_iter().filter_map(|(number, ports)| nic(work, number, &ports)).collect()
}

/// Checks the rules of a port: by its own source address, by that of the NIC, and by outgoing interface for bound
/// sockets, where supported.
fn rules(work: &mut Work<'_>, port: &Port<'_>, table: u32, priorities: &mut BTreeSet<u32>) {
    let interface = port.interface;
    let from = |address: Option<Address>| address.map(|address| (Some(Prefix::from(address)), None));
    let bound = work.network.binds.then_some((None, Some(interface.name.as_str())));
    let wanted = [from(port.local_address), from(port.nic), bound];
    let mut left: Vec<&TableRule> = interface.rules.iter().collect();
    for (from, out) in wanted.into_iter().flatten() {
        let fits = |rule: &&TableRule| {
            rule.from == from
                && rule
                    .family
                    .is_none_or(|family| port.local_address.is_some_and(|own| own.family() == family))
                && rule.out.as_deref() == out
                && rule.table == table
                && rule.priority < MAIN_PRIORITY
        };
        if let Some(at) = left.iter().position(fits) {
            left.remove(at);
            continue;
        }
        let what = from.map_or_else(|| "bound to it".to_owned(), |from| format!("from `{from}`"));
        let message =
            format!("has no rule that selects table {table} for packets {what} before the main table");
        work.report(&TABLES, interface, "rule", &message);
    }
    if !left.is_empty() {
        work.report(
            &TABLES,
            interface,
            "rule",
            &format!("has {} rules that do not match any of its addresses", left.len()),
        );
    }
    // The order of rules with the same priority depends on which is added first.
    let of_nic = interface.rules.iter().filter(|rule| rule.from == port.nic.map(Prefix::from));
    for rule in of_nic {
        if !priorities.insert(rule.priority) {
            work.report(
                &TABLES,
                interface,
                "rule",
                &format!("has the second rule of priority {}", rule.priority),
            );
        }
    }
}

/// Checks that the routes of a port lead to its T0, and that each prefix occurs once.
fn routes(work: &mut Work<'_>, port: &Port<'_>) {
    let mut seen = BTreeSet::new();
    for route in &port.interface.routes {
        let needle = route.to.to_string();
        if matches!(route.action, NodeRouteAction::Via(_)) && Some(route.action) != port.gateway() {
            let message = format!("has a route to `{needle}` that is not to the other end of its cable");
            work.report(&TABLES, port.interface, &needle, &message);
        }
        if !seen.insert(route.to) {
            work.report(&TABLES, port.interface, &needle, &format!("has two routes to `{needle}`"));
        }
    }
}

/// Checks and returns the treatment of packets from a NIC.
fn nic(work: &mut Work<'_>, number: u16, ports: &[(&Port<'_>, Vec<&TableRoute>)]) -> Option<NicTables> {
    let (first, _) = ports.first()?;
    let address = first.nic?;
    for (port, _) in ports.iter().filter(|(port, _)| port.nic != Some(address)) {
        work.report(&NETWORK, port.interface, "ddress", "does not have the NIC address of the other ports");
    }
    let prefixes: BTreeSet<Prefix> =
        ports.iter().flat_map(|(_, routes)| routes.iter().map(|r| r.to)).collect();
    let mut together = Vec::new();
    for prefix in prefixes {
        let mut ways = Vec::new();
        let mut drops = false;
        for (port, routes) in ports {
            let longest = routes.iter().filter(|route| route.to.contains(&prefix));
            match longest.max_by_key(|route| route.to.prefix_len()).map(|route| route.action) {
                Some(NodeRouteAction::Via(_)) => {
                    ways.push(NextHop { slot: Some(port.slot), gateway: Gateway::Peer, weight: 1 });
                }
                Some(NodeRouteAction::Drops) => drops = true,
                Some(NodeRouteAction::Throws) | None => {}
            }
        }
        if drops != ways.is_empty() {
            let what = if drops {
                "are dropped by one table and forwarded by another"
            } else {
                "use the main table"
            };
            let message = format!("packets to `{prefix}` {what}");
            work.report(&TABLES, first.interface, &prefix.to_string(), &message);
        }
        together.push(OtherRoute { prefix, next_hops: ways.into() });
    }
    Some(NicTables { file: first.interface.file.clone(), node: work.id, number, address, routes: together })
}

/// Returns the NIC number in the port name `nicNpP`, or `u16::MAX` for any other name.
fn number(port: &str) -> u16 {
    let found = port.strip_prefix("nic").and_then(|rest| rest.split_once('p')?.0.parse().ok());
    found.unwrap_or(u16::MAX)
}
