//! Views for the templates of a Linux node.

use closc_artefacts::{Family, Prefix};
use closc_plan::{HostIntent, NicIntent, NicPortIntent, NicRoute};
use serde::Serialize;

use super::{Port, nodad};
use crate::targets::mac::static_mac;

/// A node.
#[derive(Debug, Serialize)]
pub(super) struct View {
    name: String,
    fabric: String,
    /// Blocks of the segments; empty if routing does not use segments.
    blocks: Vec<String>,
    /// Whether NICs have IPv4 addresses.
    is_ipv4: bool,
    /// The keyword that skips duplicate address detection.
    nodad: &'static str,
    nics: Vec<Nic>,
    /// Ports of all NICs, in the order of NICs and planes.
    ports: Vec<Port>,
    /// Segments this node decapsulates.
    decapsulates: Vec<String>,
    /// First segments of every path, each with the port of its plane.
    first_segments: Vec<FirstSegment>,
    /// Outer source address: that of the first NIC.
    source: String,
    /// Routes by NIC; empty if paths are written into packets.
    sources: Vec<Source>,
}

/// The routes of packets from one NIC.
#[derive(Debug, Serialize)]
struct Source {
    /// Name of the NIC, for a comment.
    name: String,
    address: String,
    /// The address with prefix length.
    prefix: String,
    /// The routing table of the NIC. For IPv4, the kernel supports source-specific routes only in separate tables.
    table: u16,
    routes: Vec<RouteLine>,
    /// The prefix of all NICs of the fabric, for destinations that no port reaches.
    hosts: String,
    /// Whether unbound sockets use these routes.
    is_unbound: bool,
}

/// A route over some ports; an unreachable route if there are none.
#[derive(Debug, Serialize)]
struct RouteLine {
    prefix: String,
    hops: Vec<Hop>,
}

#[derive(Debug, Serialize)]
struct Hop {
    gateway: String,
    port: String,
}

#[derive(Debug, Serialize)]
struct Nic {
    name: String,
    /// With prefix length.
    address: String,
}

/// A route to the first switch of a path. NICs that share a T0 also share its segment, and their routes differ in
/// metric. So a socket that is bound to a port uses that port, and other sockets use the port of the first NIC.
#[derive(Debug, Serialize)]
struct FirstSegment {
    prefix: String,
    gateway: String,
    port: String,
    metric: u16,
}

/// Default metric of `ip` routes.
const METRIC: u16 = 1024;

/// The table of the first NIC, and the priority of its rule. It is greater than the numbers of the kernel's tables and
/// less than the table numbers of ports (from 1000).
const NIC_TABLE: u16 = 500;

impl View {
    pub(super) fn of(intent: &HostIntent<'_>) -> View {
        let ports =
            || intent.nics.iter().flat_map(|nic| nic.ports.iter().map(move |port| (nic.number, port)));
        View {
            name: intent.name.to_string(),
            fabric: intent.fabric.to_owned(),
            blocks: intent.blocks.iter().map(ToString::to_string).collect(),
            is_ipv4: intent.reach.family() == Family::V4,
            nodad: nodad(intent.reach.family()),
            nics: intent.nics.iter().map(nic).collect(),
            ports: ports().map(|(_, p)| port(intent, p)).collect(),
            decapsulates: ports().filter_map(|(_, p)| Some(p.decapsulate?.to_string())).collect(),
            first_segments: ports().filter_map(|(number, p)| first_segment(number, p)).collect(),
            source: intent.nics.first().map(|nic| nic.address.to_string()).unwrap_or_default(),
            sources: intent
                .nics
                .iter()
                .enumerate()
                .filter_map(|(at, nic)| source(nic, at == intent.unbound))
                .collect(),
        }
    }
}

fn source(nic: &NicIntent, is_unbound: bool) -> Option<Source> {
    let route = |route: &NicRoute| RouteLine {
        prefix: route.prefix.to_string(),
        hops: route.ports.iter().filter_map(|port| nic.ports.get(*port)).map(hop).collect(),
    };
    Some(Source {
        name: nic.name.to_string(),
        address: nic.address.to_string(),
        prefix: Prefix::from(nic.address).to_string(),
        table: NIC_TABLE + u16::from(nic.number),
        routes: nic.routes.iter().map(route).collect(),
        hosts: nic.routes.last()?.prefix.to_string(),
        is_unbound,
    })
}

fn hop(port: &NicPortIntent) -> Hop {
    Hop { gateway: port.gateway.to_string(), port: port.interface.to_string() }
}

fn nic(nic: &NicIntent) -> Nic {
    Nic { name: nic.name.to_string(), address: Prefix::from(nic.address).to_string() }
}

fn first_segment(number: u8, port: &NicPortIntent) -> Option<FirstSegment> {
    Some(FirstSegment {
        prefix: port.first_segment?.to_string(),
        gateway: port.gateway.to_string(),
        port: port.interface.to_string(),
        metric: METRIC + u16::from(number),
    })
}

fn port(intent: &HostIntent<'_>, port: &NicPortIntent) -> Port {
    Port {
        name: port.interface.to_string(),
        mac: static_mac(port),
        mtu: intent.mtu,
        address: port.address.to_string(),
        peer: port.gateway.to_string(),
        peer_mac: port.gateway_mac.map(|mac| mac.to_string()),
        far: format!("{}:{}", port.t0, port.t0_port),
    }
}
