//! Binds a node to the cable lists.

use std::collections::HashMap;

use camino::Utf8PathBuf;
use closc_artefacts::{Address, Prefix};
use closc_diagnostics::Rule;

use super::binding::Context;
use crate::finding::Findings;
use crate::finding::Violation;
use crate::model::cabling::Cabling;
use crate::model::cabling::DeviceId;
use crate::model::cabling::NodeId;
use crate::model::device::{Port, peer_address};
use crate::model::place::Place;
use crate::model::segment::Layout;
use crate::model::segment::Usid;
use crate::model::switch::Facts;
use crate::model::switch::Node;
use crate::model::switch::Pool;
use crate::model::switch::{EndState, Ends};
use crate::read::linux::node::FirstSegmentRoute;
use crate::read::linux::node::Host;
use crate::read::linux::place::FILE;
use crate::rules::hosts::DECAPSULATION;
use crate::rules::hosts::FIRST;
use crate::rules::ports::{HALVES, NEIGHBOUR, PROFILE};

/// Binds a node to the cable lists.
pub(crate) fn bind(context: &Context<'_>, id: NodeId, host: &Host<'_>, findings: &mut Findings) -> Node {
    let Context { cabling, layout, facts, .. } = *context;
    let name = &cabling.nodes[id.0 as usize];
    let mut work = Binding { cabling, layout, name, host, findings };
    for (file, needle, message) in &host.faults {
        let place = Place::text(work.file(file), vec![needle.clone()]);
        let message = format!("`{name}`: {message}");
        let rule = if *file == FILE { &DECAPSULATION } else { &crate::rules::files::SETTINGS };
        work.findings.report(Violation::new(rule, place, message));
    }
    let mut node = Node::default();
    let mut ends = Vec::new();
    let by_name: HashMap<&str, usize> =
        host.ports.iter().enumerate().map(|(at, port)| (&*port.name, at)).collect();
    for plug in cabling.at_node(id) {
        let cable = cabling.cable(plug.cable());
        let port = cabling.names.text(cable.lower.port);
        work.findings.count_facts(&crate::rules::cabling::POWER, 1);
        let found = by_name.get(port).map(|at| &host.ports[*at]).filter(|port| port.declared && port.up);
        let Some(found) = found else {
            work.report(
                &crate::rules::cabling::POWER,
                port,
                &format!("port `{port}` has a cable, but is not configured"),
            );
            ends.push(EndState::default());
            node.first.push(Vec::new());
            continue;
        };
        let asked = match cable.upper.party {
            DeviceId::Switch(t0) => context.factory_macs[t0.0 as usize],
            DeviceId::Node(_) => false,
        };
        let (end, own) = work.end(facts, port, found, asked);
        node.first.push(work.first(port, cable.plane, own));
        ends.push(end);
    }
    node.ends = Ends::of(&ends);
    work.strangers(id);
    node.decapsulates = work.decapsulated_segments();
    node.inner = host.inner.iter().map(closc_artefacts::Prefix::addr).collect();
    work.source(&node);
    if layout.is_none() {
        super::node_routes::bind(cabling, id, host, &mut node, work.findings);
    }
    node
}

struct Binding<'a> {
    cabling: &'a Cabling,
    layout: Option<&'a Layout>,
    name: &'a str,
    host: &'a Host<'a>,
    findings: &'a mut Findings,
}

impl Binding<'_> {
    fn file(&self, file: &str) -> Utf8PathBuf {
        Utf8PathBuf::from(closc_artefacts::paths::HOSTS).join(self.name).join(file)
    }

    fn report(&mut self, rule: &'static Rule, needle: &str, message: &str) {
        let place = Place::text(self.file(FILE), vec![needle.to_owned()]);
        self.findings.report(Violation::new(rule, place, format!("`{}`: {message}", self.name)));
    }

    /// Binds a port to the end of a cable.
    fn end(
        &mut self,
        facts: &Pool<Facts>,
        port: &str,
        found: &Port<'_>,
        asked: bool,
    ) -> (EndState, Option<Address>) {
        self.findings.count_facts(&PROFILE, 1);
        // A port sets a MAC address only if its T0 expects one. The check of cable ends compares the two.
        if found.wire.mtu.is_none() {
            self.report(&PROFILE, port, &format!("port `{port}` has no MTU"));
        }
        let shared = Facts { up: true, wire: found.wire, ..Facts::default() };
        let mut end = EndState::of(facts.facts(&shared), found.mac);
        self.findings.count_facts(&HALVES, 1);
        let own = match found.addresses.as_slice() {
            [address] if address.prefix_len() == 127 => Some(address.addr()),
            _ => {
                self.report(&HALVES, port, &format!("port `{port}` has no address of a /127, or several"));
                None
            }
        };
        if let Some(own) = own {
            end.address = Some(own);
            end.neighbour = found
                .neighbours
                .iter()
                .find(|(address, _)| *address == peer_address(own))
                .map(|(_, mac)| *mac);
        }
        self.findings.count_facts(&NEIGHBOUR, 2);
        if let Some((address, _)) =
            found.neighbours.iter().find(|(address, _)| own.map(peer_address) != Some(*address))
        {
            let message = format!(
                "port `{port}` has static neighbour {address}, which is not at the other end of its cable"
            );
            self.report(&NEIGHBOUR, &format!("neighbour replace {address} "), &message);
        }
        if asked && end.neighbour.is_some() {
            let message =
                format!("port `{port}` has a static neighbour, but its T0 uses its factory MAC address");
            self.report(&NEIGHBOUR, port, &message);
        }
        if end.neighbour.is_none() && !asked {
            self.report(
                &NEIGHBOUR,
                &format!("link set dev {port} "),
                &format!("port `{port}` has no static neighbour at the other end of its cable"),
            );
        }
        (end, own)
    }

    /// Returns the first segments whose routes use a port, and for each whether its next hop is correct.
    fn first(&mut self, port: &str, plane: u8, own: Option<Address>) -> Vec<(Usid, bool)> {
        let Some(layout) = self.layout else { return Vec::new() };
        let host = self.host;
        let ways: Vec<&FirstSegmentRoute<'_>> = host.first.iter().filter(|way| way.port == port).collect();
        self.findings.count_facts(&FIRST, 1);
        if ways.len() != 1 {
            self.report(
                &FIRST,
                &format!(" dev {port} "),
                &format!("port `{port}` has {} first segments", ways.len()),
            );
        }
        let mut out = Vec::new();
        for way in ways {
            let right = own.is_some() && way.gateway == own.map(peer_address);
            if !right {
                let message =
                    format!("`{}` does not lead to the other end of the cable in `{port}`", way.text);
                self.report(&FIRST, &format!("route replace {} ", way.text), &message);
            }
            match layout.usid(plane, way.prefix) {
                Some(usid) => out.push((usid, right)),
                None => self.report(
                    &FIRST,
                    &format!("route replace {} ", way.text),
                    &format!("`{}` is not a segment of the block `{}`", way.text, layout.block(plane)),
                ),
            }
        }
        out
    }

    /// Reports ports and routes without a cable, and checks the blackhole.
    fn strangers(&mut self, id: NodeId) {
        let known: Vec<&str> = self
            .cabling
            .at_node(id)
            .iter()
            .map(|plug| self.cabling.names.text(self.cabling.cable(plug.cable()).lower.port))
            .collect();
        let host = self.host;
        for port in &host.ports {
            self.findings.count_facts(&crate::rules::cabling::POWER, 1);
            if !known.contains(&&*port.name) {
                let message = format!("port `{}` is in use, but no cable list has a cable for it", port.name);
                self.report(&crate::rules::cabling::POWER, &port.name, &message);
            }
        }
        let Some(layout) = self.layout else { return };
        for way in host.first.iter().filter(|way| !known.contains(&way.port)) {
            let message = format!("`{}` uses `{}`, which has no cable", way.text, way.port);
            self.report(&FIRST, &format!("route replace {} ", way.text), &message);
        }
        let mut seen = HashMap::new();
        for way in &host.first {
            if seen.insert((way.prefix, way.metric), way.port).is_some() {
                let message = format!("`{}` has two routes of metric {}", way.text, way.metric);
                self.report(&FIRST, &format!("route replace {} ", way.text), &message);
            }
        }
        self.findings.count_facts(&FIRST, 1);
        let mut blackholes = host.blackholes.clone();
        blackholes.sort_unstable();
        if blackholes != layout.blocks() {
            let blocks = layout.format_blocks();
            let message = match layout.blocks().len() {
                1 => format!("the blackhole is not {blocks} alone"),
                _ => format!("the blackholes are not {blocks} alone"),
            };
            self.report(&FIRST, "blackhole", &message);
        }
    }

    fn decapsulated_segments(&mut self) -> Vec<Prefix> {
        let Some(layout) = self.layout else { return Vec::new() };
        let host = self.host;
        let mut segments = Vec::new();
        for (prefix, text) in &host.decapsulates {
            if (0..layout.planes).any(|plane| layout.usid(plane, *prefix).is_some()) {
                segments.push(*prefix);
            } else {
                let what = if layout.in_block { "the blocks" } else { "the block" };
                let message = format!("`{text}` is not a segment of {what} {}", layout.format_blocks());
                self.report(&DECAPSULATION, &format!("route replace {text} "), &message);
            }
        }
        segments.sort_unstable();
        segments
    }

    fn source(&mut self, node: &Node) {
        self.findings.count_facts(&DECAPSULATION, 1);
        let full = self.host.inner.iter().all(|net| net.prefix_len() == 128);
        let known = self.host.source.is_none_or(|source| node.inner.contains(&source));
        let missing = self.layout.is_some() && self.host.source.is_none();
        if !full || !known || missing {
            self.report(&DECAPSULATION, "sr tunsrc", "its source address is not that of one of its NICs");
        }
    }
}
