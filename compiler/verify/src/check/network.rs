//! V13: compares files for netplan and systemd-networkd with the node's cables, its T0s and the path tables.
//!
//! In: the network of a node. Out: violations. Where switches choose the path, the treatment of packets from each NIC
//! is also returned, for the proof. Invariants: expected values do not come from other nodes.

mod tables;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use closc_artefacts::{Address, Prefix};
use closc_diagnostics::Rule;
use rayon::prelude::*;

use crate::bind::nics::NicCables;
use crate::check::ports::{self, Aspect};
use crate::check::{negotiation, profile};
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, CableId, DeviceId, NodeId, Side};
use crate::model::device::peer_address;
use crate::model::fabric::Fabric;
use crate::model::network::{Interface, MAIN, NicTables, NodeNetwork, NodeRouteAction, TableRoute};
use crate::model::place::Place;
use crate::model::segment::Layout;
use crate::model::stated::StatedValues;
use crate::rules::hosts::{FIRST, NETWORK, TABLES};

/// For each cable, the values that path tables state for the NIC at its lower end: the address, and the first segment
/// of paths over the cable.
type ExpectedRoutes = HashMap<CableId, (Address, Option<Prefix>)>;

/// Finds the values that path tables state for each cable.
fn expected_routes(fabric: &Fabric, nics: &NicCables) -> ExpectedRoutes {
    let Some(layout) = &fabric.layout else { return HashMap::new() };
    let mut wanted = HashMap::new();
    for (at, group) in fabric.groups.iter().enumerate() {
        for (number, nic) in group.nics.iter().enumerate() {
            for plane in 0..group.planes.len() {
                let Some(id) = nics.cable(at, group.planes.len(), number, plane) else { continue };
                let first = layout.t0(plane as u8, group.zone, group.group, 0);
                wanted.insert(id, (nic.address, first.map(|usid| layout.prefix(plane as u8, usid))));
            }
        }
    }
    wanted
}

/// Checks the networks of all nodes.
pub(crate) fn check(
    fabric: &Fabric,
    stated: Option<&StatedValues>,
    nics: &NicCables,
    networks: &[(NodeId, NodeNetwork)],
    findings: &mut Findings,
) -> Vec<NicTables> {
    if networks.is_empty() {
        return Vec::new();
    }
    let wanted = expected_routes(fabric, nics);
    let one = |(id, network): &(NodeId, NodeNetwork)| {
        let mut findings = Findings::default();
        let tables = node(fabric, stated, &wanted, (*id, network), &mut findings);
        (tables, findings)
    };
    let checked: Vec<(Vec<NicTables>, Findings)> = networks.par_iter().map(one).collect();
    let mut all = Vec::new();
    for (tables, found) in checked {
        all.extend(tables);
        *findings = std::mem::take(findings).merge(found);
    }
    all
}

/// Checks the network of a node.
fn node(
    fabric: &Fabric,
    stated: Option<&StatedValues>,
    wanted: &ExpectedRoutes,
    (id, network): (NodeId, &NodeNetwork),
    findings: &mut Findings,
) -> Vec<NicTables> {
    let name = fabric.cabling.nodes[id.0 as usize].as_str();
    let mut work =
        Work { fabric, stated_values: stated, expected_routes: wanted, id, name, network, findings };
    work.faults();
    let ports = work.ports();
    work.names();
    work.negotiation(&ports);
    if let Some(layout) = &fabric.layout {
        work.drop_routes(layout);
        work.first(&ports);
        return Vec::new();
    }
    tables::check(&mut work, &ports)
}

/// A configured port, with its own address and that of its NIC.
struct Port<'a> {
    slot: u16,
    cable: CableId,
    interface: &'a Interface,
    local_address: Option<Address>,
    nic: Option<Address>,
}

impl Port<'_> {
    /// Returns the address of the T0 at the other end of the cable, as next hop.
    fn gateway(&self) -> Option<NodeRouteAction> {
        self.local_address.map(|own| NodeRouteAction::Via(peer_address(own)))
    }
}

/// The node to check.
struct Work<'a> {
    fabric: &'a Fabric,
    stated_values: Option<&'a StatedValues>,
    expected_routes: &'a ExpectedRoutes,
    id: NodeId,
    name: &'a str,
    network: &'a NodeNetwork,
    findings: &'a mut Findings,
}

impl<'a> Work<'a> {
    fn path(&self, file: &str) -> String {
        format!("{}/{}/{file}", closc_artefacts::paths::HOSTS, self.name)
    }

    fn report(&mut self, rule: &'static Rule, interface: &Interface, needle: &str, message: &str) {
        let needles = vec![interface.anchor.clone(), needle.to_owned()];
        let place = Place::text(self.path(&interface.file), needles);
        let message = format!("`{}`: `{}` {message}", self.name, interface.name);
        self.findings.report(Violation::new(rule, place, message));
    }

    fn report_file(&mut self, rule: &'static Rule, file: &str, message: &str) {
        let place = Place::file(self.path(file));
        self.findings.report(Violation::new(rule, place, format!("`{}`: {message}", self.name)));
    }

    fn faults(&mut self) {
        for (file, needle, message) in &self.network.faults {
            let place = Place::text(self.path(file), vec![needle.clone()]);
            self.findings.report(Violation::new(&NETWORK, place, format!("`{}`: {message}", self.name)));
        }
    }

    /// Compares each port that has a cable with the cable.
    fn ports(&mut self) -> Vec<Port<'a>> {
        let (cabling, network) = (&self.fabric.cabling, self.network);
        let mut known: HashMap<&str, (u16, CableId)> = HashMap::new();
        for (slot, plug) in cabling.at_node(self.id).iter().enumerate() {
            let port = cabling.names.text(cabling.cable(plug.cable()).lower.port);
            known.insert(port, (slot as u16, plug.cable()));
        }
        let mut ports = Vec::new();
        let mut seen = HashSet::new();
        for interface in &network.interfaces {
            self.findings.count_facts(&NETWORK, 1);
            seen.insert(interface.name.as_str());
            match known.get(interface.name.as_str()) {
                Some((slot, cable)) => ports.push(self.port(*slot, *cable, interface)),
                None => {
                    self.report(
                        &NETWORK,
                        interface,
                        "",
                        "is configured, but no cable list has a cable for it",
                    );
                }
            }
        }
        let mut missing: Vec<&str> = known.into_keys().filter(|port| !seen.contains(port)).collect();
        missing.sort_unstable();
        let first = network.interfaces.first();
        let file = first.map_or(network.loopback.as_str(), |interface| &interface.file);
        for port in missing {
            self.report_file(&NETWORK, file, &format!("`{port}` has a cable, but is not configured"));
        }
        ports
    }

    fn port(&mut self, slot: u16, id: CableId, interface: &'a Interface) -> Port<'a> {
        let cable = self.fabric.cabling.cable(id);
        self.findings.count_facts(&NETWORK, 4);
        if let Some(what) = interface.open.first() {
            self.report(&NETWORK, interface, "", &format!("accepts changes from outside: {what}"));
        }
        let meant = self.mtu(&cable);
        if interface.mtu.is_none() || meant.is_some_and(|meant| interface.mtu != Some(meant)) {
            let show = |mtu: Option<u32>| mtu.map_or_else(|| "none".to_owned(), |mtu| mtu.to_string());
            let message = format!("has MTU {}; expected {}", show(interface.mtu), show(meant));
            self.report(&NETWORK, interface, "", &message);
        }
        let expected = self.fabric.end_state(cable.upper).and_then(|end| end.neighbour);
        if let Some(expected) = expected.filter(|expected| interface.mac != Some(*expected)) {
            self.report(
                &NETWORK,
                interface,
                "",
                &format!("does not set MAC address {expected}, which its T0 expects"),
            );
        }
        let (own, nic) = self.addresses(id, &cable, interface);
        Port { slot, cable: id, interface, local_address: own, nic }
    }

    /// Returns the MTU of the T0's port: the stated one, or else the configured one.
    fn mtu(&self, cable: &Cable) -> Option<u32> {
        let DeviceId::Switch(t0) = cable.upper.party else { return None };
        let switch = self.fabric.switch(t0)?;
        let own = self
            .stated_values
            .zip(switch.tier)
            .and_then(|(stated, tier)| profile::stated_switch(self.fabric, stated, (t0, switch), tier));
        let stated = own.and_then(|own| profile::port(own, cable, Side::Upper)).map(|port| port.mtu);
        let there = || self.fabric.facts(cable.upper)?.wire.mtu;
        stated.or_else(there).map(u32::from)
    }

    /// Checks that the only addresses are those of the cable and of the NIC, and returns both in this order.
    fn addresses(
        &mut self,
        id: CableId,
        cable: &Cable,
        interface: &Interface,
    ) -> (Option<Address>, Option<Address>) {
        let mut own: Vec<Prefix> = interface.addresses.clone();
        own.sort_by_key(Prefix::prefix_len);
        let [on_cable, of_nic] = own.as_slice() else {
            let message =
                format!("has {} addresses; expected one on its cable and that of its NIC", own.len());
            self.report(&NETWORK, interface, "ddress", &message);
            return (None, None);
        };
        if (on_cable.prefix_len(), of_nic.prefix_len()) != (127, 128) {
            self.report(&NETWORK, interface, "ddress", "has addresses of other lengths than 127 and 128");
            return (None, None);
        }
        let (on_cable, of_nic) = (on_cable.addr(), of_nic.addr());
        let far = self.fabric.end_state(cable.upper).and_then(|state| state.address).map(peer_address);
        // A P4 target has no addresses, so those in `ip.batch` are compared, if it exists.
        let own = far.or_else(|| self.fabric.end_state(cable.lower)?.address);
        if let Some(own) = own.filter(|own| *own != on_cable) {
            let message = format!("has address {on_cable}; its end of the cable has {own}");
            self.report(&NETWORK, interface, &on_cable.to_string(), &message);
        }
        if let Some((meant, _)) = self.expected_routes.get(&id).filter(|(meant, _)| *meant != of_nic) {
            let message = format!("has address {of_nic}, but the path tables give its NIC {meant}");
            self.report(&NETWORK, interface, &of_nic.to_string(), &message);
        }
        (Some(on_cable), Some(of_nic))
    }

    /// Checks that the names by slot are those of the cabled ports, each once, and that RDMA devices have the names of
    /// their interfaces.
    fn names(&mut self) {
        let network = self.network;
        let described: BTreeMap<&str, &Interface> =
            network.interfaces.iter().map(|interface| (interface.name.as_str(), interface)).collect();
        let (mut names, mut slots, mut files) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        for given in &network.names {
            self.findings.count_facts(&NETWORK, 1);
            let interface = described.get(given.name.as_str());
            let twice = !names.insert(&given.name) || slots.insert(&given.pci, &given.name).is_some();
            let fault = match interface {
                None => Some(format!("a slot is named `{}`, which is not a port with a cable", given.name)),
                Some(own) if given.mtu.is_some() && given.mtu != own.mtu => {
                    Some(format!("`{}` has another MTU in `{}`", given.name, own.file))
                }
                Some(_) if twice => Some(format!("`{}` or its slot appears twice", given.name)),
                Some(_) if !is_pci(&given.pci) => Some(format!("`{}` is not a PCI address", given.pci)),
                Some(_) => None,
            };
            if let Some(message) = fault {
                let place = |file: &String| Place::text(self.path(file), vec!["[Link]".to_owned()]);
                let found =
                    Violation::new(&NETWORK, place(&given.file), format!("`{}`: {message}", self.name));
                let others = files.iter().filter(|_| twice).map(|file: &&String| place(file));
                let found = others.fold(found, Violation::and);
                self.findings.report(found);
            }
            files.push(&given.file);
        }
        let devices: BTreeMap<&String, &String> =
            network.devices.iter().map(|(pci, name)| (pci, name)).collect();
        if devices.len() != network.devices.len() || devices != slots {
            let message = "RDMA devices do not have the names of the interfaces of their slots";
            self.report_file(&NETWORK, &network.devices_file, message);
        }
    }

    /// Checks that named ports on copper negotiate if and only if the T0 does, and otherwise force its speed.
    fn negotiation(&mut self, ports: &[Port<'_>]) {
        let network = self.network;
        for port in ports {
            let cable = self.fabric.cabling.cable(port.cable);
            let given = network.names.iter().find(|given| given.name == port.interface.name);
            let Some((given, t0)) = given.filter(|_| cable.copper).zip(negotiation::of(
                self.fabric,
                self.stated_values,
                cable.upper,
            )) else {
                continue;
            };
            self.findings.count_facts(&NETWORK, 1);
            let speed = self.fabric.facts(cable.upper).and_then(|facts| facts.wire.speed);
            let message = match (given.negotiates, t0) {
                (Some(false), true) => "forces its speed, but its T0 negotiates",
                (Some(true) | None, false) => "negotiates, but its T0 forces the speed",
                (Some(false), false) if given.speed != speed => "forces a speed that differs from its T0",
                _ => continue,
            };
            let place = Place::text(self.path(&given.file), vec!["[Link]".to_owned()]);
            let message = format!("`{}`: `{}` {message} over copper", self.name, given.name);
            let violation = Violation::new(&NETWORK, place, message);
            let far = ports::place(self.fabric, cable.upper, Aspect::Port);
            self.findings.report(violation.and(far).and(self.fabric.cabling.place(port.cable)));
        }
    }

    /// Checks that the drop routes of the loopback are exactly the segment blocks.
    fn drop_routes(&mut self, layout: &Layout) {
        self.findings.count_facts(&FIRST, 1);
        let routes = &self.network.dropped;
        let drops = |route: &TableRoute| (route.action, route.table) == (NodeRouteAction::Drops, MAIN);
        let mut dropped: Vec<Prefix> = routes.iter().map(|route| route.to).collect();
        dropped.sort_unstable();
        if dropped != layout.blocks() || !routes.iter().all(drops) {
            let (file, blocks) = (&self.network.loopback, layout.format_blocks());
            let message = match layout.blocks().len() {
                1 => format!("the blackhole is not {blocks} alone"),
                _ => format!("the blackholes are not {blocks} alone"),
            };
            self.report_file(&FIRST, file, &message);
        }
    }

    /// Checks that every port has one route only, to the uSID of its T0, and no rules or tables of its own.
    fn first(&mut self, ports: &[Port<'a>]) {
        let mut seen = HashSet::new();
        for port in ports {
            self.findings.count_facts(&FIRST, 1);
            let interface = port.interface;
            if !interface.rules.is_empty() || interface.routes.iter().any(|route| route.table != MAIN) {
                self.report(
                    &TABLES,
                    interface,
                    "able",
                    "has routing tables or rules, but in this routing mode hosts choose the path",
                );
            }
            let Some((_, Some(segment))) = self.expected_routes.get(&port.cable) else { continue };
            let fits = |route: &TableRoute| route.to == *segment && Some(route.action) == port.gateway();
            let [route] = interface.routes.as_slice() else {
                let message = format!("has {} routes; expected one, to its T0", interface.routes.len());
                self.report(&FIRST, interface, "oute", &message);
                continue;
            };
            if !fits(route) {
                let message = format!("does not lead to `{segment}`, its T0, at the other end of its cable");
                self.report(&FIRST, interface, &route.to.to_string(), &message);
            }
            if !seen.insert((route.to, route.metric)) {
                let message = format!("has the second route to `{}` of metric {}", route.to, route.metric);
                self.report(&FIRST, interface, &route.to.to_string(), &message);
            }
        }
    }
}

/// Returns whether a text is a PCI address: domain, bus, device and function.
fn is_pci(text: &str) -> bool {
    let hex = |text: &str, digits| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = text.split([':', '.']).collect();
    matches!(parts.as_slice(), [domain, bus, device, function]
        if hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1))
}
