//! Binds the routes of a node in a fabric whose switches choose the next hop.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use closc_artefacts::{Address, Prefix};

use crate::finding::Findings;
use crate::finding::Violation;
use crate::model::cabling::Cabling;
use crate::model::cabling::NodeId;
use crate::model::device::peer_address;
use crate::model::place::Place;
use crate::model::switch::Gateway;
use crate::model::switch::NextHop;
use crate::model::switch::Node;
use crate::model::switch::OtherRoute;
use crate::read::linux::node::Host;
use crate::read::linux::place::FILE;
use crate::rules::choices::NODE_ROUTES;

/// Keeps the routes of a node by slot, and the addresses of its NICs.
pub(crate) fn bind(cabling: &Cabling, id: NodeId, host: &Host<'_>, node: &mut Node, findings: &mut Findings) {
    let name = &cabling.nodes[id.0 as usize];
    let broken = |needle: String, message: String, findings: &mut Findings| {
        let place = Place::text(
            Utf8PathBuf::from(closc_artefacts::paths::HOSTS).join(name.as_str()).join(FILE),
            vec![needle],
        );
        findings.report(Violation::new(&NODE_ROUTES, place, format!("`{name}`: {message}")));
    };
    let slot = |port: &str| {
        let plugs = cabling.at_node(id).iter();
        let ports = plugs.map(|plug| cabling.names.text(cabling.cable(plug.cable()).lower.port));
        ports.enumerate().find(|(_, name)| *name == port).map(|(slot, _)| slot as u16)
    };
    let mut owners: BTreeMap<Address, BTreeSet<u16>> = BTreeMap::new();
    let mut routes = Vec::new();
    for read in &host.routes {
        findings.count_facts(&NODE_ROUTES, 1);
        let from = read.scope.from.map(|from| from.addr());
        let whose = from.or(read.scope.source);
        let mut ways = Vec::with_capacity(read.hops.len());
        for hop in &read.hops {
            let slot = slot(hop.port);
            let own = slot.and_then(|slot| node.ends.get(usize::from(slot))?.address);
            let peer = own.is_some() && hop.gateway == own.map(peer_address);
            if !peer {
                let message =
                    format!("`{}` uses `{}`, and not to the other end of its cable", read.prefix, hop.port);
                broken(format!("route replace {} ", read.prefix), message, findings);
            }
            if let Some(whose) = whose {
                owners.entry(whose).or_default().insert(number(hop.port));
            }
            let gateway = if peer { Gateway::Peer } else { Gateway::Other };
            ways.push(NextHop { slot, gateway, weight: hop.weight });
        }
        let known = whose.is_none_or(|whose| node.inner.contains(&whose));
        let whole = read.scope.from.is_none_or(|from| from.prefix_len() == 128);
        if !known || !whole {
            let message = format!("`{}` is for packets from an address that it does not have", read.prefix);
            broken(format!("route replace {} ", read.prefix), message, findings);
        }
        routes.push((read.scope.metric, from, OtherRoute { prefix: read.prefix, next_hops: ways.into() }));
    }
    check_blackholes(host, &mut |needle, message| broken(needle, message, findings));
    for (address, numbers) in owners {
        match numbers.iter().copied().collect::<Vec<u16>>().as_slice() {
            [number] => node.nics.push((*number, address)),
            _ => broken(
                format!("from {address}/128 "),
                format!("packets from {address} leave through ports of several NICs"),
                findings,
            ),
        }
    }
    silent(cabling, id, node);
    // The last route of a prefix counts: one with a source, if there is any, and among these the lowest metric.
    routes.sort_by_key(|(metric, from, _)| (from.is_some(), std::cmp::Reverse(*metric)));
    node.routes = routes.into_iter().map(|(_, from, route)| (from, route)).collect();
}

/// Assigns the addresses that no port sends from, in order, to the NICs whose routes all drop.
fn silent(cabling: &Cabling, id: NodeId, node: &mut Node) {
    let plugs = cabling.at_node(id).iter();
    let ports = plugs.map(|plug| cabling.names.text(cabling.cable(plug.cable()).lower.port));
    let numbers: BTreeSet<u16> = ports.map(number).collect();
    let numbers: Vec<u16> =
        numbers.into_iter().filter(|number| node.nics.iter().all(|(known, _)| known != number)).collect();
    let mut addresses = node.inner.clone();
    addresses.retain(|address| node.nics.iter().all(|(_, known)| known != address));
    if numbers.len() == addresses.len() {
        node.nics.extend(numbers.into_iter().zip(addresses));
    }
}

/// Checks that packets are dropped, and do not follow a default route of the site, once their routes are gone. This
/// applies to every source address and to unbound sockets.
fn check_blackholes(host: &Host<'_>, broken: &mut dyn FnMut(String, String)) {
    let sources: BTreeSet<Option<Prefix>> = host.routes.iter().map(|route| route.scope.from).collect();
    for from in sources {
        let own = || host.routes.iter().filter(|route| route.scope.from == from);
        let dropped =
            |prefix: &Prefix| own().any(|route| route.hops.is_empty() && route.prefix.contains(prefix));
        for route in own().filter(|route| !dropped(&route.prefix)) {
            let message =
                format!("`{}` has no blackhole for the case that its routes are removed", route.prefix);
            broken("route replace blackhole ".to_owned(), message);
        }
    }
}

/// Returns the NIC number in the port name `nicNpP`, or `u16::MAX` for any other name.
fn number(port: &str) -> u16 {
    let found = port.strip_prefix("nic").and_then(|rest| rest.split_once('p')?.0.parse().ok());
    found.unwrap_or(u16::MAX)
}
