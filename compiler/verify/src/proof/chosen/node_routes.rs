//! V17: routes of nodes where switches choose the path, and the planes that they use.
//!
//! In: routes of nodes, and the classes of destinations that cables lead to from each T0. Out: violations. Invariants:
//! a NIC sends only through its own ports. It uses every plane in which cables in use lead from its T0 to the
//! destination, and none in which no cable does. Planes in which only drained cables lead to the destination are
//! optional.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use camino::Utf8PathBuf;
use closc_artefacts::{Address, Family, Prefix};

use crate::finding::{Findings, Violation};
use crate::model::cabling::{CableId, DeviceId, NodeId, SwitchId};
use crate::model::choice::{ClassId, Row};
use crate::model::destinations::Destination;
use crate::model::place::Place;
use crate::model::switch::{OtherRoute, RouteView};
use crate::proof::chosen::network::{Network, Reach};
use crate::read::linux::place::FILE;
use crate::rules::choices::{NODE_ROUTES, SHARE};
use crate::rules::hosts::NETWORK;

/// The destinations that cables lead to from each T0.
type T0Reach = HashMap<SwitchId, Reach>;

/// Compares the routes of every node with the cables from its T0s.
pub(crate) fn check(network: &Network<'_>, from_t0s: &T0Reach, findings: &mut Findings) {
    let fabric = network.fabric;
    let file = |node: NodeId, file: &str| {
        let name = fabric.cabling.nodes[node.0 as usize].as_str();
        Utf8PathBuf::from(closc_artefacts::paths::HOSTS).join(name).join(file)
    };
    for nic in &network.destinations.nics {
        let Some(node) = fabric.node(nic.node) else { continue };
        let Some(address) = node.address(nic.number) else { continue };
        // IPv4 routes by source are in a table that is looked up before the main one, and its blackhole ends the
        // search.
        let has_table =
            address.family() == Family::V4 && node.routes.iter().any(|(from, _)| *from == Some(address));
        let mine = |from: &Option<Address>| from.map_or(!has_table, |from| from == address);
        let own: Vec<RouteView<'_>> =
            node.routes.iter().filter(|(from, _)| mine(from)).map(|(_, route)| route.view()).collect();
        let place = |prefix: Option<Prefix>| {
            let needle = prefix.map(|prefix| match address.family() {
                Family::V4 => format!("route replace {prefix} table "),
                Family::V6 => format!("route replace {prefix} from {address}/128 "),
            });
            Place::text(file(nic.node, FILE), needle.into_iter().collect())
        };
        one(network, from_t0s, (nic, address), &own, &place, findings);
    }
    unbound(network, from_t0s, findings);
    let by_number: HashMap<(NodeId, u16), &Destination> =
        network.destinations.nics.iter().map(|nic| ((nic.node, nic.number), nic)).collect();
    for tables in &fabric.tables {
        let place = |prefix: Option<Prefix>| {
            let needle = prefix.map(|prefix| prefix.to_string());
            Place::text(file(tables.node, &tables.file), needle.into_iter().collect())
        };
        let Some(nic) = by_number.get(&(tables.node, tables.number)) else { continue };
        findings.count_facts(&NETWORK, 1);
        if nic.address != Some(tables.address) {
            let name = format!("{}/nic{}", fabric.cabling.nodes[nic.node.0 as usize], nic.number);
            let meant = nic.address.map_or_else(|| "none".to_owned(), |address| address.to_string());
            let message =
                format!("`{name}` has address {}, but switches route {meant} to it", tables.address);
            findings.report(Violation::new(&NETWORK, place(Some(tables.address.into())), message));
            continue;
        }
        let own: Vec<RouteView<'_>> = tables.routes.iter().map(OtherRoute::view).collect();
        one(network, from_t0s, (nic, tables.address), &own, &place, findings);
    }
}

/// Compares the routes of packets from one NIC with the cables from its T0s.
fn one(
    network: &Network<'_>,
    from_t0s: &T0Reach,
    (nic, address): (&Destination, Address),
    own: &[RouteView<'_>],
    place: &dyn Fn(Option<Prefix>) -> Place,
    findings: &mut Findings,
) {
    let name = &network.fabric.cabling.nodes[nic.node.0 as usize];
    let choice = network.classes.choice(own, &|_, _| false);
    let reader = NodeReader { network, from_t0s, node: nic.node, cables: &nic.cables };
    findings.count_facts(&NODE_ROUTES, choice.rows.len() as u64);
    findings.count_facts(&SHARE, choice.rows.len() as u64);
    let mut left = network.accepted.clone();
    for row in &choice.rows {
        for run in row.classes.runs().iter().filter(|_| !row.next_hops.is_empty()) {
            left.clear_run(run);
        }
        if let Some((class, message)) = reader.row(row) {
            let to = network.classes.address(class);
            let message = format!("`{name}`: from {address} to {to} {message}");
            findings.report(Violation::new(&NODE_ROUTES, place(Some(row.prefix)), message));
        }
        if let Some(message) = reader.shares(row) {
            let message = format!("`{name}`: from {address} to {} {message}", row.prefix);
            findings.report(Violation::new(&SHARE, place(Some(row.prefix)), message));
        }
    }
    let lost = left.iter().find(|class| !reader.planes(*class, false).is_empty() && !reader.is_local(*class));
    if let Some(class) = lost {
        let message =
            format!("`{name}`: from {address} there is no route to {}", network.classes.address(class));
        findings.report(Violation::new(&NODE_ROUTES, place(None), message));
    }
}

/// Checks the routes of packets from unbound sockets, for example those of new connections. These routes set
/// the source address. Without them a node cannot initiate connections.
fn unbound(network: &Network<'_>, from_t0s: &T0Reach, findings: &mut Findings) {
    let fabric = network.fabric;
    let mut nics: HashMap<NodeId, Vec<&[CableId]>> = HashMap::new();
    for nic in &network.destinations.nics {
        nics.entry(nic.node).or_default().push(&nic.cables);
    }
    let mut nodes: Vec<(NodeId, Vec<&[CableId]>)> = nics.into_iter().collect();
    nodes.sort_unstable_by_key(|(id, _)| id.0);
    for (id, nics) in nodes {
        let Some(node) = fabric.node(id) else { continue };
        let own: Vec<RouteView<'_>> =
            node.routes.iter().filter(|(from, _)| from.is_none()).map(|(_, route)| route.view()).collect();
        let choice = network.classes.choice(&own, &|_, _| false);
        findings.count_facts(&NODE_ROUTES, 1);
        findings.count_facts(&SHARE, 1);
        let mut left = network.accepted.clone();
        for row in choice.rows.iter().filter(|row| !row.next_hops.is_empty()) {
            row.classes.runs().iter().for_each(|run| left.clear_run(run));
        }
        let readers = nics.iter().map(|cables| NodeReader { network, from_t0s, node: id, cables });
        let readers: Vec<NodeReader<'_>> = readers.collect();
        // The source address is that of the NIC through which the first usable route sends. If no route is usable, any
        // NIC that reaches the destination counts.
        let nic = choice.rows.iter().find_map(|row| sender(&readers, row));
        let reached = |class: ClassId| {
            let mut nics = readers.iter().filter(|one| nic.is_none_or(|nic| nic.cables == one.cables));
            nics.any(|nic| !nic.planes(class, false).is_empty())
        };
        let lost = left.iter().find(|class| reached(*class) && !readers[0].is_local(*class));
        let uneven = choice.rows.iter().find_map(|row| Some((row.prefix, readers.first()?.shares(row)?)));
        if let Some((prefix, message)) = uneven {
            let name = &fabric.cabling.nodes[id.0 as usize];
            let message = format!("`{name}`: packets that have no address yet, to {prefix}: {message}");
            let file = Utf8PathBuf::from(closc_artefacts::paths::HOSTS).join(name.as_str()).join(FILE);
            let place = Place::text(file, vec![format!("route replace {prefix} ")]);
            findings.report(Violation::new(&SHARE, place, message));
        }
        let lost = lost.map(|class| (class, "have no route".to_owned()));
        let wrong = choice.rows.iter().find_map(|row| sender(&readers, row).and_then(|nic| nic.row(row)));
        if let Some((class, message)) = lost.or(wrong) {
            let name = &fabric.cabling.nodes[id.0 as usize];
            let to = network.classes.address(class);
            let message = format!("`{name}`: packets that have no address yet, to {to}: {message}");
            let place =
                Place::file(Utf8PathBuf::from(closc_artefacts::paths::HOSTS).join(name.as_str()).join(FILE));
            findings.report(Violation::new(&NODE_ROUTES, place, message));
        }
    }
}

/// Returns the NIC whose ports a route uses first.
fn sender<'t, 'a>(readers: &'t [NodeReader<'a>], row: &Row) -> Option<&'t NodeReader<'a>> {
    let slot = row.next_hops.iter().find_map(|way| way.slot)?;
    let first = readers.first()?;
    let cable = first.network.fabric.cabling.at_node(first.node)[usize::from(slot)].cable();
    readers.iter().find(|nic| nic.cables.contains(&cable))
}

/// Compares the routes of packets from one NIC with the cables.
struct NodeReader<'a> {
    network: &'a Network<'a>,
    from_t0s: &'a T0Reach,
    node: NodeId,
    cables: &'a [CableId],
}

impl NodeReader<'_> {
    /// Returns the planes in which cables lead from the NIC through its T0 to a class: only cables in use, or all.
    fn planes(&self, class: ClassId, all: bool) -> BTreeSet<u8> {
        let cables = self.cables.iter().map(|id| self.network.fabric.cabling.cable(*id));
        let leads = cables.filter(|cable| all || !cable.drained).filter(|cable| match cable.upper.party {
            DeviceId::Switch(t0) => {
                self.from_t0s.get(&t0).is_some_and(|from| from[usize::from(all)].get(class as usize))
            }
            DeviceId::Node(_) => false,
        });
        leads.map(|cable| cable.plane).collect()
    }

    /// Returns whether all NICs of a class belong to this node.
    fn is_local(&self, class: ClassId) -> bool {
        let nics = &self.network.classes.nics[class as usize];
        nics.iter().all(|nic| self.network.destinations.nics[*nic as usize].node == self.node)
    }

    /// Returns the fault of the weights of a route. They must be equal, because a node has no data about the capacity
    /// behind its T0s.
    fn shares(&self, row: &Row) -> Option<String> {
        let cabling = &self.network.fabric.cabling;
        let plugs = cabling.at_node(self.node);
        let mut weights: BTreeMap<u8, u64> = BTreeMap::new();
        for way in row.next_hops.iter() {
            let plane = cabling.cable(plugs[usize::from(way.slot?)].cable()).plane;
            *weights.entry(plane).or_default() += u64::from(way.weight);
        }
        let (least, most) = (weights.values().min()?, weights.values().max()?);
        (least != most || *least == 0).then(|| {
            let show: Vec<String> =
                weights.iter().map(|(plane, weight)| format!("{plane} ({weight})")).collect();
            format!("packets leave through planes with different weights: {}", show.join(", "))
        })
    }

    /// Returns the fault of a route, and the first affected class.
    fn row(&self, row: &Row) -> Option<(ClassId, String)> {
        let cabling = &self.network.fabric.cabling;
        let plugs = cabling.at_node(self.node);
        let classes = row.classes.iter().filter(|class| self.network.accepted.get(*class as usize));
        let classes: Vec<ClassId> = classes.filter(|class| !self.is_local(*class)).collect();
        let first = *classes.first()?;
        let mut over = BTreeSet::new();
        for way in row.next_hops.iter() {
            let cable = way.slot.map(|slot| plugs[usize::from(slot)].cable());
            let Some(cable) = cable.filter(|cable| self.cables.contains(cable)) else {
                return Some((first, "packets leave through a port of another NIC".to_owned()));
            };
            over.insert(cabling.cable(cable).plane);
        }
        for class in classes {
            let meant = self.planes(class, false);
            let possible = self.planes(class, true);
            let fits = meant.is_subset(&over) && over.is_subset(&possible);
            if !over.is_empty() && !fits {
                let show = |planes: &BTreeSet<u8>| {
                    planes.iter().map(u8::to_string).collect::<Vec<String>>().join(", ")
                };
                let leads = if possible.is_empty() {
                    "no cables lead there".to_owned()
                } else {
                    format!("{} lead there", show(&meant))
                };
                return Some((class, format!("packets leave through planes {}, but {leads}", show(&over))));
            }
        }
        None
    }
}
