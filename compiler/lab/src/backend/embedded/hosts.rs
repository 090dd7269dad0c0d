//! Nodes of a lab whose switches choose the path. They send packets along their own routes, and accept packets to their
//! addresses.
//!
//! In: flows, frames. Out: frames, and the node that accepts one. Invariants: routes, neighbours and addresses are
//! those of the nodes' own files. A node chooses among its next hops with a hash that differs from those of switches.

use std::sync::Arc;

use closc_artefacts::Address;
use hashbrown::HashMap;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::wire::Frame;
use super::{ETHERNET, IPV6};
use crate::LabError;
use crate::backend::{Flow, Forwarding, Routes};
use crate::model::{DeviceId, Model, PortId};
use crate::packet::{self, InnerPacket, Tag};
use crate::tree::ip::{Action, Command};
use crate::tree::{DeviceKind, KernelFiles, Tree};

/// Metric of a route that has none (`IP6_RT_PRIO_USER` of `include/uapi/linux/ipv6_route.h`).
const METRIC: u32 = 1024;
/// UDP destination port of flows: that of RoCE (RFC 6335 registry, service `roce`).
const UDP_PORT: u16 = 4791;

/// The nodes of a lab.
#[derive(Debug)]
pub(super) struct Hosts {
    model: Arc<Model>,
    /// Routes of each device; empty for switches.
    routes: Vec<Routes>,
    /// For each NIC port, its own MAC address and that of its neighbour.
    macs: HashMap<PortId, [[u8; 6]; 2]>,
    /// Node of each address.
    addresses: HashMap<Address, DeviceId>,
}

impl Hosts {
    /// Reads the files of all nodes.
    pub(super) fn new(tree: &Tree, model: Arc<Model>) -> Result<Hosts, LabError> {
        let (mut macs, mut addresses) = (HashMap::new(), HashMap::new());
        let mut routes = vec![Routes::default(); model.devices.len()];
        for (at, node) in model.devices.iter().enumerate().filter(|(_, d)| d.kind == DeviceKind::Node) {
            let Some(device) = tree.devices.get(&node.name) else { continue };
            let files = KernelFiles::of(tree, device);
            let commands = files.batch()?.into_iter().chain(files.routes()?);
            routes[at] = Routes::new(commands.filter_map(forwarding).collect());
            addresses.extend(device.batch.addresses.iter().map(|address| (*address, DeviceId(at))));
            for port in &node.ports {
                let name = model.end(*port).1;
                let (own, far) = (device.batch.macs.get(name), device.batch.neighbours.get(name));
                if let Some((own, far)) = own.zip(far) {
                    macs.insert(*port, [own.0, far.mac.0]);
                }
            }
        }
        Ok(Hosts { model, routes, macs, addresses })
    }

    /// Returns the routes of every device, in the order of the model; a switch has none here.
    pub(super) fn routes(&self) -> &[Routes] {
        &self.routes
    }

    /// Returns the frame that a node sends for a flow; `None` if the node has no route for it.
    pub(super) fn send(&self, flow: &Flow, tag: Tag) -> Option<Frame> {
        let (_, route) = self.routes[flow.from.0].of(flow.source, flow.destination)?;
        let port = self.model.port(flow.from, choose(flow, route)?)?;
        let [own, far] = self.macs.get(&port)?;
        let entropy = u32::from(flow.source_port);
        let Flow { source, destination, .. } = *flow;
        let mut bytes = [&far[..], own, &IPV6].concat();
        let (source, destination) = (source.to_ipv6(), destination.to_ipv6());
        bytes.extend(InnerPacket { source, destination, entropy, port: UDP_PORT, tag }.bytes());
        Some(Frame { port: port.number(), bytes })
    }

    /// Returns the node that accepts a frame at a NIC port.
    pub(super) fn accept(&self, port: PortId, frame: &[u8]) -> Option<DeviceId> {
        let (header, inner) = frame.split_at_checked(ETHERNET)?;
        let [own, _] = self.macs.get(&port)?;
        let (node, _) = self.model.end(port);
        let is_own = header[..6] == *own && header[12..] == IPV6;
        let to = packet::destination(inner).filter(|_| is_own)?;
        (self.addresses.get(&Address::from(to)) == Some(&node)).then_some(node)
    }
}

/// The identification of a frame.
pub(super) fn tag(frame: &[u8]) -> Option<Tag> {
    packet::tag(packet::payload(frame.get(ETHERNET..)?))
}

/// Returns the route that a command of a node adds, if it adds one.
fn forwarding(command: Command) -> Option<(u32, Forwarding)> {
    let Command::Route(route) = command else { return None };
    let hops = match &route.action {
        Action::Forward(hops) => {
            hops.iter().map(|hop| (hop.port.to_string(), u32::from(hop.weight))).collect()
        }
        Action::Blackhole | Action::Unreachable => Vec::new(),
        Action::NextHop(_) | Action::Shift(_) | Action::Decapsulate(_) => return None,
    };
    Some((route.metric.unwrap_or(METRIC), Forwarding { to: route.to, from: route.from, hops }))
}

/// Chooses a port of a route by a hash of the flow, in proportion to the weights.
fn choose<'r>(flow: &Flow, route: &'r Forwarding) -> Option<&'r str> {
    let all: u64 = route.hops.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let halves = |bits: u128| bits as u64 ^ ((bits >> 64) as u64).rotate_left(32);
    let ends = halves(flow.source.into()).wrapping_mul(3) ^ halves(flow.destination.into());
    let seed = SplitMix64::seed_from_u64(ends).next_u64() ^ u64::from(flow.source_port);
    let mut left = SplitMix64::seed_from_u64(seed).next_u64().checked_rem(all)?;
    for (port, weight) in &route.hops {
        match left.checked_sub(u64::from(*weight)) {
            Some(rest) => left = rest,
            None => return Some(port),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_chosen_by_their_weights() {
        let hops = vec![("a".to_owned(), 1), ("b".to_owned(), 3)];
        let route = Forwarding { to: "fd00::/16".parse().unwrap(), from: None, hops };
        let flow = |source_port| Flow {
            from: DeviceId(0),
            source: "fd00::1".parse().unwrap(),
            source_port,
            to: DeviceId(1),
            destination: "fd00::2".parse().unwrap(),
        };
        let first = (0..40_000).filter(|port| choose(&flow(*port), &route) == Some("a")).count();
        assert!((9_500..10_500).contains(&first), "{first}");
        assert_eq!(choose(&flow(1), &Forwarding { hops: Vec::new(), ..route }), None);
    }
}
