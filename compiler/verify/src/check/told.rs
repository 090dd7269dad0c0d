//! V17: what nodes are told where switches choose the way: over which planes they send.
//!
//! In: routes of nodes, and the classes of destinations that cables lead to from each T0. Out: violations. Always: a NIC
//! sends by its own ports only, over every plane in which cables lead from its T0 to the NIC that is meant, and over none
//! in which that has no cable. A plane in which only cables between switches are missing may be among them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::Ipv6Addr;

use camino::Utf8PathBuf;
use closc_diagnostics::Rule;

use crate::attach::other_half;
use crate::finding::{Findings, Place, Violation};
use crate::model::cabling::{CableId, Cabling, NodeId, Party, SwitchId};
use crate::model::choice::{ClassId, Row};
use crate::model::switch::{Gateway, Node, OddRoute, Way};
use crate::proof::chosen::{Network, Reach};
use crate::read::host::Host;
use crate::read::linux::FILE;

/// Nodes send over planes that lead there.
pub(crate) static TOLD: Rule = Rule {
    code: "V1712",
    title: "a node sends over other planes than lead to the NIC that is meant",
    what: "Where nodes are described: packets from the address of a NIC leave by ports of this NIC, whose next hops are \
           the other ends of their cables: in every plane in which cables in use lead there, and in none in which no \
           cables lead there.",
    why: "The share of the flows that takes a plane without a way dies at the first switch; a plane that is left out \
          carries nothing.",
    example: "nexthop via ... dev nic0p1 towards a T0 group whose T0 in plane 1 is absent",
    fix: "Compile again.",
};

/// Keeps what a node is told: its routes by slot, and which NIC has which address.
pub(crate) fn attach(
    cabling: &Cabling,
    id: NodeId,
    host: &Host<'_>,
    node: &mut Node,
    findings: &mut Findings,
) {
    let name = &cabling.nodes[id.0 as usize];
    let broken = |needle: String, message: String, findings: &mut Findings| {
        let place = Place::text(Utf8PathBuf::from("hosts").join(name.as_str()).join(FILE), vec![needle]);
        findings.broken(Violation::new(&TOLD, place, format!("`{name}`: {message}")));
    };
    let slot = |port: &str| {
        let plugs = cabling.at_node(id).iter();
        let ports = plugs.map(|plug| cabling.names.text(cabling.cable(plug.cable).lower.port));
        ports.enumerate().find(|(_, name)| *name == port).map(|(slot, _)| slot as u16)
    };
    let mut owners: BTreeMap<Ipv6Addr, BTreeSet<u16>> = BTreeMap::new();
    let mut routes = Vec::new();
    for told in &host.told {
        findings.checked(&TOLD, 1);
        let from = told.scope.from.map(|from| from.addr());
        let whose = from.or(told.scope.source);
        let mut ways = Vec::with_capacity(told.hops.len());
        for hop in &told.hops {
            let slot = slot(hop.port);
            let own = slot.and_then(|slot| node.ends.get(usize::from(slot))?.address());
            let peer = own.is_some() && hop.gateway == own.map(other_half);
            if !peer {
                let message = format!(
                    "`{}` leads over `{}`, and not to the other end of its cable",
                    told.prefix, hop.port
                );
                broken(format!("route replace {} ", told.prefix), message, findings);
            }
            if let Some(whose) = whose {
                owners.entry(whose).or_default().insert(number(hop.port));
            }
            let gateway = if peer { Gateway::Peer } else { Gateway::Other };
            ways.push(Way { slot, gateway, weight: hop.weight });
        }
        let known = whose.is_none_or(|whose| node.inner.contains(&whose));
        let whole = told.scope.from.is_none_or(|from| from.prefix_len() == 128);
        if !known || !whole {
            let message = format!("`{}` is for packets from an address that it does not have", told.prefix);
            broken(format!("route replace {} ", told.prefix), message, findings);
        }
        routes.push((told.scope.metric, from, OddRoute { prefix: told.prefix, ways: ways.into() }));
    }
    for (address, numbers) in owners {
        match numbers.iter().copied().collect::<Vec<u16>>().as_slice() {
            [number] => node.nics.push((*number, address)),
            _ => broken(
                format!("from {address}/128 "),
                format!("packets from {address} leave by ports of several NICs"),
                findings,
            ),
        }
    }
    // Of routes of one prefix those for one source count before others, and of these the one of the lowest metric.
    routes.sort_by_key(|(metric, from, _)| (from.is_some(), std::cmp::Reverse(*metric)));
    node.told = routes.into_iter().map(|(_, from, route)| (from, route)).collect();
}

/// Returns the number of the NIC whose port is `nicNpP`.
fn number(port: &str) -> u16 {
    let found = port.strip_prefix("nic").and_then(|rest| rest.split_once('p')?.0.parse().ok());
    found.unwrap_or(u16::MAX)
}

/// Holds what every node is told against what cables lead to from its T0s.
pub(crate) fn check(network: &Network<'_>, from_t0s: &HashMap<SwitchId, Reach>, findings: &mut Findings) {
    let fabric = network.fabric;
    for nic in &network.destinations.nics {
        let Some(node) = fabric.node(nic.node) else { continue };
        let Some(address) = node.address(nic.number) else { continue };
        let name = &fabric.cabling.nodes[nic.node.0 as usize];
        let mine = |from: &Option<Ipv6Addr>| from.is_none_or(|from| from == address);
        let own: Vec<OddRoute> =
            node.told.iter().filter(|(from, _)| mine(from)).map(|(_, route)| route.clone()).collect();
        let choice = network.classes.choice(&own, &|_, _| false);
        let told = Teller { network, from_t0s, node: nic.node, cables: &nic.cables };
        findings.checked(&TOLD, choice.rows.len() as u64);
        let mut left = network.taken.clone();
        for row in &choice.rows {
            for run in row.classes.runs().iter().filter(|_| !row.ways.is_empty()) {
                left.clear_run(run);
            }
            if let Some((class, message)) = told.row(row) {
                let place = Place::text(
                    Utf8PathBuf::from("hosts").join(name.as_str()).join(FILE),
                    vec![format!("route replace {} from {address}/128 ", row.prefix)],
                );
                let to = network.classes.address(class);
                let message = format!("`{name}`: from {address} to {to} {message}");
                findings.broken(Violation::new(&TOLD, place, message));
            }
        }
        let lost = left.iter().find(|class| !told.planes(*class, false).is_empty() && !told.own(*class));
        if let Some(class) = lost {
            let message =
                format!("`{name}`: from {address} there is no route to {}", network.classes.address(class));
            let place = Place::file(Utf8PathBuf::from("hosts").join(name.as_str()).join(FILE));
            findings.broken(Violation::new(&TOLD, place, message));
        }
    }
}

/// What one NIC should be told.
struct Teller<'a> {
    network: &'a Network<'a>,
    from_t0s: &'a HashMap<SwitchId, Reach>,
    node: NodeId,
    cables: &'a [CableId],
}

impl Teller<'_> {
    /// The planes from whose T0 cables lead to a class: those over which nothing is drained, or all.
    fn planes(&self, class: ClassId, all: bool) -> BTreeSet<u8> {
        let cables = self.cables.iter().map(|id| self.network.fabric.cabling.cable(*id));
        let leads = cables.filter(|cable| all || !cable.drained).filter(|cable| match cable.upper.party {
            Party::Switch(t0) => {
                self.from_t0s.get(&t0).is_some_and(|from| from[usize::from(all)].get(class as usize))
            }
            Party::Node(_) => false,
        });
        leads.map(|cable| cable.plane).collect()
    }

    /// Tells whether a class is of the node's own addresses.
    fn own(&self, class: ClassId) -> bool {
        let nics = &self.network.classes.nics[class as usize];
        nics.iter().all(|nic| self.network.destinations.nics[*nic as usize].node == self.node)
    }

    /// What is wrong with a route, and the first class for which it is.
    fn row(&self, row: &Row) -> Option<(ClassId, String)> {
        let cabling = &self.network.fabric.cabling;
        let plugs = cabling.at_node(self.node);
        let classes = row.classes.iter().filter(|class| self.network.taken.get(*class as usize));
        let classes: Vec<ClassId> = classes.filter(|class| !self.own(*class)).collect();
        let first = *classes.first()?;
        let mut over = BTreeSet::new();
        for way in row.ways.iter() {
            let cable = way.slot.map(|slot| plugs[usize::from(slot)].cable);
            let Some(cable) = cable.filter(|cable| self.cables.contains(cable)) else {
                return Some((first, "packets leave by a port that is none of this NIC's".to_owned()));
            };
            over.insert(cabling.cable(cable).plane);
        }
        for class in classes {
            let meant = self.planes(class, false);
            let possible = self.planes(class, true);
            let fits = meant.is_subset(&over) && over.is_subset(&possible);
            if !possible.is_empty() && !over.is_empty() && !fits {
                let show = |planes: &BTreeSet<u8>| {
                    planes.iter().map(u8::to_string).collect::<Vec<String>>().join(", ")
                };
                let message =
                    format!("packets leave by planes {}, and {} lead there", show(&over), show(&meant));
                return Some((class, message));
            }
        }
        None
    }
}
