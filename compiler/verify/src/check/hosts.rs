//! V13: nodes, where the tree describes them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::Ipv6Addr;

use camino::Utf8PathBuf;
use closc_diagnostics::Rule;
use closc_paths::{Destination, Table};

use crate::attach::other_half;
use crate::check::ports::HALVES;
use crate::finding::{Findings, Place, Violation};
use crate::model::cabling::{Cable, Cabling, NodeId, Party};
use crate::model::fabric::Fabric;
use crate::model::group::{Group, GroupNic, destination, entropy, list};
use crate::model::segment::{Layout, Usid};
use crate::model::switch::{EndState, Facts, Node, Pool};
use crate::read::host::{First, Host, ROUTES, Spray};
use crate::read::linux::FILE;

/// Ways to first segments.
pub(crate) static FIRST: Rule = Rule {
    code: "V1301",
    title: "a node does not reach its T0s",
    what: "For every port of a NIC there is exactly one route, to the uSID of the T0 at the other end of the \
           cable, over that port and with that T0 as next hop; there is a blackhole for the block and no other \
           route.",
    why: "The first uSID chooses the plane; a route over another port sends the packets of one plane into \
          another, where they die.",
    example: "route replace fcbb:bbbb:1801::/48 via ... dev nic0p2",
    fix: "Compile again.",
};

/// Segments of NICs.
pub(crate) static DECAPSULATION: Rule = Rule {
    code: "V1302",
    title: "a node decapsulates the wrong segments",
    what: "A node decapsulates exactly the uSIDs of its NICs, one for each port with a cable, into the table \
           of local addresses, and it has the inner addresses of its NICs and sends from one of them.",
    why: "What is not decapsulated is dropped after it has crossed the whole fabric.",
    example: "route replace fcbb:bbbb:8003::/48 encap seg6local action End.DT6 table 254",
    fix: "Compile again.",
};

/// Routes to other nodes.
pub(crate) static SPRAY: Rule = Rule {
    code: "V1303",
    title: "a node sends over a path that its table does not have",
    what: "Every path in `routes.batch` is one that the path table of the sending NIC's group gives for the \
           destination and does not deny, is there once, with the weight of its active entropy values, and goes \
           out by the port of its plane; all planes have the same total weight apart from planes without a path; \
           every NIC elsewhere is led to, from all nodes or from none.",
    why: "Hosts that spray otherwise than the tables say load planes unequally, or lose packets.",
    example: "nexthop replace id 7 encap seg6 ... segs fcbb:bbbb:1:4009:2:8001:: ... with four uplinks",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&FIRST, &DECAPSULATION, &SPRAY];

/// Tells whether the NIC at the lower end of a cable sends lists that begin with a uSID over it. What the tree
/// does not describe does as planned.
pub(crate) fn sends(fabric: &Fabric, cable: &Cable, first: Option<Usid>) -> bool {
    let Party::Node(id) = cable.lower.party else { return false };
    let Some(node) = fabric.node(id) else { return true };
    let slot = usize::from(cable.lower.slot);
    let Some(first) = first else { return false };
    let answers = node.ends.get(slot).is_some_and(|end| end.configured);
    let way = node.first.get(slot).is_some_and(|ways| ways.contains(&(first, true)));
    answers
        && way
        && crate::proof::carry::carries(
            fabric,
            cable,
            crate::model::cabling::Side::Lower,
            crate::model::switch::Gateway::Peer,
        )
}

/// Tells whether the NIC at the lower end of a cable takes packets for a uSID.
pub(crate) fn takes(fabric: &Fabric, cable: &Cable, usid: Usid) -> bool {
    let Party::Node(id) = cable.lower.party else { return false };
    fabric.node(id).is_none_or(|node| node.decapsulates.binary_search(&usid).is_ok())
}

/// Lays a node over the cable lists.
pub(crate) fn attach(
    cabling: &Cabling,
    layout: Option<&Layout>,
    facts: &Pool<Facts>,
    id: NodeId,
    host: &Host<'_>,
    findings: &mut Findings,
) -> Node {
    let name = &cabling.nodes[id.0 as usize];
    let mut work = Attach { cabling, layout, name, host, findings };
    for (file, needle, message) in &host.faults {
        let place = Place::text(work.file(file), vec![needle.clone()]);
        let message = format!("`{name}`: {message}");
        let rule = if *file == FILE { &DECAPSULATION } else { &crate::check::files::SETTINGS };
        work.findings.broken(Violation::new(rule, place, message));
    }
    let mut node = Node::default();
    let by_name: HashMap<&str, usize> =
        host.ports.iter().enumerate().map(|(at, port)| (&*port.name, at)).collect();
    for plug in cabling.at_node(id) {
        let cable = cabling.cable(plug.cable);
        let port = cabling.names.text(cable.lower.port);
        work.findings.checked(&crate::check::cabling::POWER, 1);
        let found = by_name.get(port).map(|at| &host.ports[*at]).filter(|port| port.declared && port.up);
        let Some(found) = found else {
            work.broken(
                &crate::check::cabling::POWER,
                port,
                &format!("port `{port}` has a cable and is not set up"),
            );
            node.ends.push(EndState::default());
            node.first.push(Vec::new());
            continue;
        };
        let shared = Facts { up: true, wire: found.wire, ..Facts::default() };
        let mut end = EndState::of(facts.facts(&shared), found.mac);
        work.findings.checked(&HALVES, 1);
        let own = match found.addresses.as_slice() {
            [address] if address.prefix_len() == 127 => Some(address.addr()),
            _ => {
                work.broken(&HALVES, port, &format!("port `{port}` has no address of a /127, or several"));
                None
            }
        };
        if let Some(own) = own {
            end.set_address(own);
            end.neighbour =
                found.neighbours.iter().find(|(address, _)| *address == other_half(own)).map(|(_, mac)| *mac);
        }
        if end.neighbour.is_none() {
            work.findings.checked(&crate::check::ports::NEIGHBOUR, 1);
            work.broken(
                &crate::check::ports::NEIGHBOUR,
                port,
                &format!("port `{port}` has no static neighbour at the other end of its cable"),
            );
        }
        node.first.push(work.first(port, own));
        node.ends.push(end);
    }
    work.strangers(id);
    node.decapsulates = work.decapsulated();
    node.inner = host.inner.iter().map(ipnet::Ipv6Net::addr).collect();
    work.source(&node);
    if layout.is_none() {
        super::told::attach(cabling, id, host, &mut node, work.findings);
    }
    node
}

struct Attach<'a> {
    cabling: &'a Cabling,
    layout: Option<&'a Layout>,
    name: &'a str,
    host: &'a Host<'a>,
    findings: &'a mut Findings,
}

impl Attach<'_> {
    fn file(&self, file: &str) -> Utf8PathBuf {
        Utf8PathBuf::from("hosts").join(self.name).join(file)
    }

    fn broken(&mut self, rule: &'static Rule, needle: &str, message: &str) {
        let place = Place::text(self.file(FILE), vec![needle.to_owned()]);
        self.findings.broken(Violation::new(rule, place, format!("`{}`: {message}", self.name)));
    }

    /// The first segments that lead out over a port, and whether the next hop is right.
    fn first(&mut self, port: &str, own: Option<Ipv6Addr>) -> Vec<(Usid, bool)> {
        let Some(layout) = self.layout else { return Vec::new() };
        let host = self.host;
        let ways: Vec<&First<'_>> = host.first.iter().filter(|way| way.port == port).collect();
        self.findings.checked(&FIRST, 1);
        if ways.len() != 1 {
            self.broken(
                &FIRST,
                &format!(" dev {port} "),
                &format!("port `{port}` has {} first segments", ways.len()),
            );
        }
        let mut out = Vec::new();
        for way in ways {
            let right = own.is_some() && way.gateway == own.map(other_half);
            if !right {
                let message =
                    format!("`{}` does not lead to the other end of the cable in `{port}`", way.text);
                self.broken(&FIRST, &format!("route replace {} ", way.text), &message);
            }
            match layout.usid(way.prefix) {
                Some(usid) => out.push((usid, right)),
                None => self.broken(
                    &FIRST,
                    &format!("route replace {} ", way.text),
                    &format!("`{}` is no segment of the block `{}`", way.text, layout.block),
                ),
            }
        }
        out
    }

    /// Ports and routes that no cable asks for, and the blackhole.
    fn strangers(&mut self, id: NodeId) {
        let Some(layout) = self.layout else { return };
        let known: Vec<&str> = self
            .cabling
            .at_node(id)
            .iter()
            .map(|plug| self.cabling.names.text(self.cabling.cable(plug.cable).lower.port))
            .collect();
        let host = self.host;
        for port in &host.ports {
            self.findings.checked(&crate::check::cabling::POWER, 1);
            if !known.contains(&&*port.name) {
                let message = format!("port `{}` is in use, and no cable list has a cable in it", port.name);
                self.broken(&crate::check::cabling::POWER, &port.name, &message);
            }
        }
        for way in host.first.iter().filter(|way| !known.contains(&way.port)) {
            let message = format!("`{}` leads over `{}`, which has no cable", way.text, way.port);
            self.broken(&FIRST, &format!("route replace {} ", way.text), &message);
        }
        let mut seen = HashMap::new();
        for way in &host.first {
            if seen.insert((way.prefix, way.metric), way.port).is_some() {
                let message = format!("`{}` has two routes of metric {}", way.text, way.metric);
                self.broken(&FIRST, &format!("route replace {} ", way.text), &message);
            }
        }
        self.findings.checked(&FIRST, 1);
        if host.blackholes != [layout.block] {
            self.broken(&FIRST, "blackhole", &format!("the blackhole is not `{}` alone", layout.block));
        }
    }

    fn decapsulated(&mut self) -> Vec<Usid> {
        let Some(layout) = self.layout else { return Vec::new() };
        let host = self.host;
        let mut usids = Vec::new();
        for (prefix, text) in &host.decapsulates {
            if let Some(usid) = layout.usid(*prefix) {
                usids.push(usid);
            } else {
                let message = format!("`{text}` is no segment of the block `{}`", layout.block);
                self.broken(&DECAPSULATION, &format!("route replace {text} "), &message);
            }
        }
        usids.sort_unstable();
        usids
    }

    fn source(&mut self, node: &Node) {
        self.findings.checked(&DECAPSULATION, 1);
        let full = self.host.inner.iter().all(|net| net.prefix_len() == 128);
        let known = self.host.source.is_none_or(|source| node.inner.contains(&source));
        let missing = self.layout.is_some() && self.host.source.is_none();
        if !full || !known || missing {
            self.broken(&DECAPSULATION, "sr tunsrc", "it does not send from the address of one of its NICs");
        }
    }
}

/// Checks what nodes have against the path tables: decapsulated segments, first segments, inner addresses.
pub(crate) fn check(fabric: &Fabric, nics: &crate::check::nics::NicCables, findings: &mut Findings) {
    let Some(layout) = &fabric.layout else { return };
    let mut expected: BTreeMap<NodeId, (Vec<Usid>, Vec<Ipv6Addr>)> = BTreeMap::new();
    for (at, group) in fabric.groups.iter().enumerate() {
        for (number, nic) in group.nics.iter().enumerate() {
            let Some(node) = nic.node.filter(|node| fabric.node(*node).is_some()) else { continue };
            let entry = expected.entry(node).or_default();
            entry.1.push(nic.address);
            for plane in 0..group.planes.len() {
                let Some(id) = nics.cable(at, group.planes.len(), number, plane) else { continue };
                entry.0.extend(nics.usids[id.0 as usize]);
                first(fabric, layout, group, (node, id), plane as u8, findings);
            }
        }
    }
    for (at, name) in fabric.cabling.nodes.iter().enumerate() {
        let id = NodeId(at as u32);
        if fabric.node(id).is_some() && !expected.contains_key(&id) {
            let message = format!("node `{name}` is described, and no path table lists a NIC of it");
            let place = Place::file(format!("hosts/{name}/{FILE}"));
            findings.broken(Violation::new(&crate::check::files::COMPLETE, place, message));
        }
    }
    for (id, (mut usids, mut inner)) in expected {
        let Some(node) = fabric.node(id) else { continue };
        let name = &fabric.cabling.nodes[id.0 as usize];
        let place = |needle: &str| Place::text(format!("hosts/{name}/{FILE}"), vec![needle.to_owned()]);
        usids.sort_unstable();
        findings.expect(usids == node.decapsulates, &DECAPSULATION, || {
            let show = |usids: &[Usid]| usids.iter().map(Usid::to_string).collect::<Vec<_>>().join(", ");
            let message =
                format!("`{name}` decapsulates {} and must {}", show(&node.decapsulates), show(&usids));
            Violation::new(&DECAPSULATION, place("End.DT6"), message)
        });
        let mut own = node.inner.clone();
        own.sort_unstable();
        inner.sort_unstable();
        findings.expect(own == inner, &DECAPSULATION, || {
            let message = format!("`{name}` has {} inner addresses, and not those of its NICs", own.len());
            Violation::new(&DECAPSULATION, place("# NICs"), message)
        });
    }
}

/// A port leads to the uSID of the T0 at the other end.
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
    missing(fabric, id, sprays, findings);
    for spray in sprays {
        findings.checked(&SPRAY, 1 + spray.members.len() as u64);
        for (line, message) in one(fabric, id, spray) {
            let place = Place::line(file.clone(), line);
            findings.broken(Violation::new(&SPRAY, place, format!("`{name}`: {message}")));
        }
    }
}

/// Every NIC of another node is led to, unless every path to it that has an entropy value is denied. A node sends from the NIC of the same
/// number, or from its first.
fn missing(fabric: &Fabric, id: NodeId, sprays: &[Spray<'_>], findings: &mut Findings) {
    let known: HashSet<Ipv6Addr> = sprays.iter().map(|spray| spray.to.addr()).collect();
    let own: Vec<(&Group, &GroupNic)> = fabric
        .groups
        .iter()
        .flat_map(|group| group.nics.iter().map(move |nic| (group, nic)))
        .filter(|(_, nic)| nic.node == Some(id))
        .collect();
    let Some(first) = own.iter().min_by_key(|(_, nic)| nic.number).copied() else { return };
    for to in &fabric.groups {
        for nic in to.nics.iter().filter(|nic| nic.node != Some(id) && !known.contains(&nic.address)) {
            findings.checked(&SPRAY, 1);
            let (group, from) =
                own.iter().find(|(_, own)| own.number == nic.number).copied().unwrap_or(first);
            if open(group, from, (to, nic)) {
                let name = &fabric.cabling.nodes[id.0 as usize];
                let place = Place::file(format!("hosts/{name}/{ROUTES}"));
                let message = format!("`{name}` has no route to `{}`, and paths to it are open", nic.name);
                findings.broken(Violation::new(&SPRAY, place, message));
            }
        }
    }
}

/// Tells whether any path of a NIC's entropy values to another NIC is not denied.
fn open(group: &Group, from: &GroupNic, (to, nic): (&Group, &GroupNic)) -> bool {
    let table = group.table();
    let Some(found) = destination(&table, to.zone, to.group, nic.downlink) else { return false };
    (0..table.header().planes).any(|plane| {
        let mut values = table.entropy_values(plane, from.downlink);
        values.any(|value| !table.is_denied(from.downlink, &found, value))
    })
}

/// Checks that either all nodes have routes to other nodes, or none has.
pub(crate) fn everywhere(fabric: &Fabric, findings: &mut Findings) {
    let (with, without): (Vec<usize>, Vec<usize>) =
        (0..fabric.nodes.len()).filter(|at| fabric.nodes[*at].is_some()).partition(|at| fabric.sprays[*at]);
    findings.checked(&SPRAY, (with.len() + without.len()) as u64);
    for at in without.iter().filter(|_| !with.is_empty()) {
        let name = &fabric.cabling.nodes[*at];
        let place = Place::file(format!("hosts/{name}/{ROUTES}"));
        let message = format!("`{name}` has no routes to other nodes, and others have");
        findings.broken(Violation::new(&SPRAY, place, message));
    }
}

fn one(fabric: &Fabric, id: NodeId, spray: &Spray<'_>) -> Vec<(usize, String)> {
    let own = |group: &&Group| {
        group.nics.iter().any(|nic| nic.node == Some(id) && Some(nic.address) == spray.source)
    };
    let Some(group) = fabric.groups.iter().find(own) else {
        return vec![(spray.line, "the source is no address of one of its NICs".to_owned())];
    };
    let table = group.table();
    let Some(to) = table.destination(spray.to.addr().octets()).filter(|_| spray.to.prefix_len() == 128)
    else {
        return vec![(spray.line, format!("`{}` is no NIC of this fabric", spray.to))];
    };
    let nic = group.nics.iter().find(|nic| nic.node == Some(id) && Some(nic.address) == spray.source);
    let Some(nic) = nic else { return Vec::new() };
    let h = *table.header();
    let mut faults = Vec::new();
    if spray.mtu != Some(h.mtu.into()) {
        faults.push((spray.line, format!("the largest packet is not {}", h.mtu)));
    }
    let mut weights: BTreeMap<u8, u64> = BTreeMap::new();
    let mut seen = HashSet::new();
    for member in &spray.members {
        if !seen.insert(member.segments) {
            faults.push((member.line, format!("{} is there twice", member.segments)));
        }
        let plane =
            member.port.strip_prefix(&format!("nic{}p", nic.number)).and_then(|plane| plane.parse().ok());
        let Some(plane) = plane.filter(|plane: &u8| *plane < h.planes) else {
            faults.push((member.line, format!("`{}` is no port of `{}`", member.port, nic.name)));
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
            None => faults.push((member.line, format!("{} is no path of plane {plane}", member.segments))),
            Some(true) => faults.push((member.line, format!("{} is a path that is denied", member.segments))),
            Some(false) => {}
        }
        if !gateway(fabric, id, &member.port, member.gateway) {
            faults
                .push((member.line, format!("{} is not the other end of `{}`", member.gateway, member.port)));
        }
    }
    let most = weights.values().max().copied().unwrap_or(0);
    for plane in 0..h.planes {
        // A plane of which something is denied may have fewer paths than values are active.
        let whole = !table.denied().any(|denied| denied.plane == plane);
        let weight = weights.get(&plane).copied().unwrap_or(0);
        if whole && weight != most {
            faults.push((spray.line, format!("plane {plane} has weight {weight}, and another has {most}")));
        }
        if whole {
            faults.extend(shares(&table, nic, &to, plane, spray));
        }
    }
    faults
}

/// The largest weight of a next hop that the kernel takes.
const WEIGHT_MAX: u64 = 256;

/// Every path over a plane weighs as much as active entropy values of the NIC lead over it.
fn shares(
    table: &Table<'_>,
    nic: &GroupNic,
    to: &Destination,
    plane: u8,
    spray: &Spray<'_>,
) -> Vec<(usize, String)> {
    let mut active: BTreeMap<Ipv6Addr, u64> = BTreeMap::new();
    for value in table.entropy_values(plane, nic.downlink).take(table.header().active.into()) {
        *active.entry(list(table, to, table.choice(value)).0).or_default() += 1;
    }
    let port = format!("nic{}p{plane}", nic.number);
    let members = spray.members.iter().filter(|member| member.port == port);
    members
        .filter_map(|member| {
            let wanted = active.get(&member.segments).copied().unwrap_or(0).min(WEIGHT_MAX);
            let message = format!(
                "{} weighs {}, and {wanted} active entropy values lead over it",
                member.segments, member.weight
            );
            (u64::from(member.weight) != wanted).then_some((member.line, message))
        })
        .collect()
}

fn gateway(fabric: &Fabric, id: NodeId, port: &str, gateway: Ipv6Addr) -> bool {
    let Some(name) = fabric.cabling.names.get(port) else { return false };
    let plugs = fabric.cabling.at_node(id).iter();
    let cable = plugs.map(|plug| fabric.cabling.cable(plug.cable)).find(|cable| cable.lower.port == name);
    let own = cable.and_then(|cable| fabric.end_state(cable.lower)?.address());
    own.map(other_half) == Some(gateway)
}
