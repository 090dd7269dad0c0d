//! V13: checks the nodes, if the tree contains files for them.

use std::collections::{BTreeMap, HashSet};

use closc_artefacts::{Address, Prefix};
use closc_paths::{Destination, Table};

use crate::finding::{Findings, Violation};
use crate::model::cabling::NodeId;
use crate::model::device::peer_address;
use crate::model::fabric::Fabric;
use crate::model::group::{Group, GroupNic, destination, entropy, list};
use crate::model::place::Place;
use crate::model::segment::Layout;
use crate::read::linux::node::{ROUTES, Spray};
use crate::read::linux::place::FILE;
use crate::rules::hosts::{DECAPSULATION, FIRST, SPRAY};

/// Compares nodes with the path tables: decapsulated segments, first segments, inner addresses.
pub(crate) fn check(fabric: &Fabric, nics: &crate::bind::nics::NicCables, findings: &mut Findings) {
    let Some(layout) = &fabric.layout else { return };
    let mut expected: BTreeMap<NodeId, (Vec<Prefix>, Vec<Address>)> = BTreeMap::new();
    for (at, group) in fabric.groups.iter().enumerate() {
        for (number, nic) in group.nics.iter().enumerate() {
            let Some(node) = nic.node.filter(|node| fabric.node(*node).is_some()) else { continue };
            let entry = expected.entry(node).or_default();
            entry.1.push(nic.address);
            for plane in 0..group.planes.len() {
                let Some(id) = nics.cable(at, group.planes.len(), number, plane) else { continue };
                let usid = nics.usids[id.0 as usize];
                entry.0.extend(usid.map(|usid| layout.prefix(plane as u8, usid)));
                first(fabric, layout, group, (node, id), plane as u8, findings);
            }
        }
    }
    for (at, name) in fabric.cabling.nodes.iter().enumerate() {
        let id = NodeId(at as u32);
        if fabric.node(id).is_some() && !expected.contains_key(&id) {
            let message = format!("node `{name}` has files, but no path table lists a NIC of it");
            let place = Place::file(format!("hosts/{name}/{FILE}"));
            findings.report(Violation::new(&crate::rules::files::COMPLETE, place, message));
        }
    }
    for (id, (mut segments, mut inner)) in expected {
        let Some(node) = fabric.node(id) else { continue };
        let name = &fabric.cabling.nodes[id.0 as usize];
        let place = |needle: &str| Place::text(format!("hosts/{name}/{FILE}"), vec![needle.to_owned()]);
        segments.sort_unstable();
        // NICs of a node on the same downlink of their groups share a uSID.
        segments.dedup();
        findings.expect(segments == node.decapsulates, &DECAPSULATION, || {
            let show = |all: &[Prefix]| all.iter().map(Prefix::to_string).collect::<Vec<_>>().join(", ");
            let message =
                format!("`{name}` decapsulates {}; expected {}", show(&node.decapsulates), show(&segments));
            Violation::new(&DECAPSULATION, place("End.DT6"), message)
        });
        let mut own = node.inner.clone();
        own.sort_unstable();
        inner.sort_unstable();
        findings.expect(own == inner, &DECAPSULATION, || {
            let message =
                format!("`{name}` has {} inner addresses, which are not those of its NICs", own.len());
            Violation::new(&DECAPSULATION, place("# NICs"), message)
        });
    }
}

/// Checks that the first segment of a node's port is the uSID of its group's T0 in that plane.
fn first(
    fabric: &Fabric,
    layout: &Layout,
    group: &Group,
    (node, id): (NodeId, crate::model::cabling::CableId),
    plane: u8,
    findings: &mut Findings,
) {
    let cable = fabric.cabling.cable(id);
    let Some(ways) = fabric.node(node).and_then(|node| node.first.get(usize::from(cable.lower.slot))) else {
        return;
    };
    let wanted = layout.t0(plane, group.zone, group.group, 0);
    findings.expect(ways.iter().map(|way| Some(way.0)).eq([wanted]), &FIRST, || {
        let name = &fabric.cabling.nodes[node.0 as usize];
        let port = fabric.cabling.names.text(cable.lower.port);
        let wanted = wanted.map_or("nothing".to_owned(), |usid| usid.to_string());
        let message = format!("`{name}`: port `{port}` does not lead to uSID {wanted}, its T0's");
        let needles = vec!["# The first segment".to_owned(), format!(" dev {port} ")];
        Violation::new(&FIRST, Place::text(format!("hosts/{name}/{FILE}"), needles), message)
    });
}

/// Checks the routes of a node to other nodes.
pub(crate) fn routes(fabric: &Fabric, id: NodeId, sprays: &[Spray<'_>], findings: &mut Findings) {
    let name = &fabric.cabling.nodes[id.0 as usize];
    let file = format!("hosts/{name}/{ROUTES}");
    check_routes_exist(fabric, id, sprays, findings);
    for spray in sprays {
        findings.count_facts(&SPRAY, 1 + spray.members.len() as u64);
        for (line, message) in one(fabric, id, spray) {
            let place = Place::line(file.clone(), line);
            findings.report(Violation::new(&SPRAY, place, format!("`{name}`: {message}")));
        }
    }
}

/// Checks that every NIC of another node has a route, unless every path to it that has an entropy value is denied. A
/// node sends from its NIC with the same number, or from its first NIC.
fn check_routes_exist(fabric: &Fabric, id: NodeId, sprays: &[Spray<'_>], findings: &mut Findings) {
    let known: HashSet<Address> = sprays.iter().map(|spray| spray.to.addr()).collect();
    let own: Vec<(&Group, &GroupNic)> = fabric
        .groups
        .iter()
        .flat_map(|group| group.nics.iter().map(move |nic| (group, nic)))
        .filter(|(_, nic)| nic.node == Some(id))
        .collect();
    let Some(first) = own.iter().min_by_key(|(_, nic)| nic.number).copied() else { return };
    for to in &fabric.groups {
        for nic in to.nics.iter().filter(|nic| nic.node != Some(id) && !known.contains(&nic.address)) {
            findings.count_facts(&SPRAY, 1);
            let (group, from) =
                own.iter().find(|(_, own)| own.number == nic.number).copied().unwrap_or(first);
            if open(group, from, (to, nic)) {
                let name = &fabric.cabling.nodes[id.0 as usize];
                let place = Place::file(format!("hosts/{name}/{ROUTES}"));
                let message =
                    format!("`{name}` has no route to `{}`, although paths to it are open", nic.name);
                findings.report(Violation::new(&SPRAY, place, message));
            }
        }
    }
}

/// Returns whether at least one entropy value of a NIC gives a usable path to another NIC.
fn open(group: &Group, from: &GroupNic, (to, nic): (&Group, &GroupNic)) -> bool {
    let table = group.table();
    let Some(found) = destination(&table, to.zone, to.group, nic.downlink) else { return false };
    (0..table.header().planes).any(|plane| {
        let mut values = table.entropy_values(plane, from.downlink);
        values.any(|value| !table.is_denied(from.downlink, &found, value))
    })
}

/// Checks that either all nodes or none have routes to other nodes.
pub(crate) fn everywhere(fabric: &Fabric, findings: &mut Findings) {
    let (with, without): (Vec<usize>, Vec<usize>) =
        (0..fabric.nodes.len()).filter(|at| fabric.nodes[*at].is_some()).partition(|at| fabric.sprays[*at]);
    findings.count_facts(&SPRAY, (with.len() + without.len()) as u64);
    for at in without.iter().filter(|_| !with.is_empty()) {
        let name = &fabric.cabling.nodes[*at];
        let place = Place::file(format!("hosts/{name}/{ROUTES}"));
        let message = format!("`{name}` has no routes to other nodes, but other nodes have");
        findings.report(Violation::new(&SPRAY, place, message));
    }
}

fn one(fabric: &Fabric, id: NodeId, spray: &Spray<'_>) -> Vec<(usize, String)> {
    let is_own = |nic: &GroupNic| nic.node == Some(id) && Some(nic.address) == spray.source;
    let own = |group: &&Group| group.nics.iter().any(is_own);
    let Some(group) = fabric.groups.iter().find(own) else {
        return vec![(spray.line, "the source is not an address of one of its NICs".to_owned())];
    };
    let table = group.table();
    let to = table.destination(spray.to.addr().octets()).filter(|_| spray.to.prefix_len() == 128);
    let Some(to) = to else {
        return vec![(spray.line, format!("`{}` is not a NIC of this fabric", spray.to))];
    };
    let Some(nic) = group.nics.iter().find(|nic| is_own(nic)) else { return Vec::new() };
    let h = *table.header();
    let mut faults = Vec::new();
    if spray.mtu != Some(h.mtu.into()) {
        faults.push((spray.line, format!("the largest packet is not {}", h.mtu)));
    }
    let mut weights: BTreeMap<u8, u64> = BTreeMap::new();
    let mut seen = HashSet::new();
    for member in &spray.members {
        if !seen.insert(member.segments) {
            faults.push((member.line, format!("{} appears twice", member.segments)));
        }
        let port = member.port.strip_prefix(&format!("nic{}p", nic.number));
        let Some(plane) = port.and_then(|plane| plane.parse().ok()).filter(|plane: &u8| *plane < h.planes)
        else {
            faults.push((member.line, format!("`{}` is not a port of `{}`", member.port, nic.name)));
            continue;
        };
        *weights.entry(plane).or_default() += u64::from(member.weight);
        let names = |t0_uplink: u16, t1_uplink: u16| {
            let choice = closc_paths::Choice { plane, t0_uplink, t1_uplink };
            let same = list(&table, &to, choice).0 == member.segments;
            same.then(|| table.is_denied(nic.downlink, &to, entropy(&h, choice)))
        };
        let uplinks = (0..h.t0_uplinks).flat_map(|t0| (0..h.t1_uplinks.max(1)).map(move |t1| (t0, t1)));
        match uplinks.into_iter().find_map(|(t0, t1)| names(t0, t1)) {
            None => faults.push((member.line, format!("{} is not a path of plane {plane}", member.segments))),
            Some(true) => faults.push((member.line, format!("{} is a path that is denied", member.segments))),
            Some(false) => {}
        }
        if !gateway(fabric, id, &member.port, member.gateway) {
            let text = format!("{} is not the other end of `{}`", member.gateway, member.port);
            faults.push((member.line, text));
        }
    }
    let most = weights.values().max().copied().unwrap_or(0);
    for plane in 0..h.planes {
        // A plane with denied paths may have fewer paths than active values.
        let whole = !table.denials().any(|denied| denied.plane == plane);
        let weight = weights.get(&plane).copied().unwrap_or(0);
        if whole && weight != most {
            faults.push((spray.line, format!("plane {plane} has weight {weight}, but another has {most}")));
        }
        if whole {
            faults.extend(shares(&table, nic, &to, plane, spray));
        }
    }
    faults
}

/// Maximum weight of a next hop in the kernel.
const WEIGHT_MAX: u64 = 256;

/// Checks that the weight of every path is the number of active entropy values of the NIC that use it.
fn shares(
    table: &Table<'_>,
    nic: &GroupNic,
    to: &Destination,
    plane: u8,
    spray: &Spray<'_>,
) -> Vec<(usize, String)> {
    let mut active: BTreeMap<Address, u64> = BTreeMap::new();
    for value in table.entropy_values(plane, nic.downlink).take(table.header().active.into()) {
        *active.entry(list(table, to, table.choice(value)).0).or_default() += 1;
    }
    let port = format!("nic{}p{plane}", nic.number);
    let members = spray.members.iter().filter(|member| member.port == port);
    members
        .filter_map(|member| {
            let wanted = active.get(&member.segments).copied().unwrap_or(0).min(WEIGHT_MAX);
            let message = format!(
                "{} has weight {}, but {wanted} active entropy values use it",
                member.segments, member.weight
            );
            (u64::from(member.weight) != wanted).then_some((member.line, message))
        })
        .collect()
}

fn gateway(fabric: &Fabric, id: NodeId, port: &str, gateway: Address) -> bool {
    let Some(name) = fabric.cabling.names.get(port) else { return false };
    let plugs = fabric.cabling.at_node(id).iter();
    let cable = plugs.map(|plug| fabric.cabling.cable(plug.cable())).find(|cable| cable.lower.port == name);
    let own = cable.and_then(|cable| fabric.end_state(cable.lower)?.address);
    own.map(peer_address) == Some(gateway)
}
