//! Simulated nodes of a lab: frames that a NIC sends, and the treatment of received ones.
//!
//! In: packets, frames. Out: frames, arrivals, counters. Invariants: a node behaves like the kernel with the same
//! configuration. It accepts frames for its own MAC address, decapsulates packets whose first remaining segment is its
//! own, and accepts inner packets for one of its NICs.

use std::net::Ipv6Addr;
use std::sync::Arc;

use hashbrown::HashMap;

use super::wire::Frame;
use super::{ETHERNET, IPV6};
use crate::backend::{Arrival, PortCounter, SegmentCounter, Sink};
use crate::model::{DeviceId, Model, PortId};
use crate::packet::{self, Packet};
use crate::segment::Segment;
use crate::traffic;
use crate::tree::{DeviceKind, Tree};

/// The simulated nodes of a lab.
#[derive(Debug)]
pub(super) struct Nodes {
    model: Arc<Model>,
    /// For each NIC port: its own MAC address, if its node has one, and that of its T0.
    ports: HashMap<PortId, Macs>,
    /// Node of each inner address.
    addresses: HashMap<Ipv6Addr, DeviceId>,
    /// Packets at ports of nodes.
    passed: HashMap<PortId, PortCounter>,
    /// Packets handled by segments of nodes.
    segment_counters: HashMap<(DeviceId, Segment), SegmentCounter>,
    /// Whether a NIC port drops frames for other MAC addresses.
    pub(super) strict: bool,
}

#[derive(Debug, Clone, Copy)]
struct Macs {
    local: Option<[u8; 6]>,
    t0: [u8; 6],
}

impl Nodes {
    pub(super) fn new(tree: &Tree, model: Arc<Model>) -> Self {
        let (mut ports, mut addresses) = (HashMap::new(), HashMap::new());
        for (table, nic) in traffic::nics(tree) {
            for (plane, t0) in (0..table.planes).zip(&table.t0_macs) {
                let Some(port) = model.nic_port(nic, plane) else { continue };
                let (node, name) = model.end(port);
                let device = tree.devices.get(&model.devices[node.0].name);
                let own = device.and_then(|device| device.batch.macs.get(name)).map(|mac| mac.0);
                ports.insert(port, Macs { local: own, t0: t0.0 });
                addresses.insert(nic.address, node);
            }
        }
        Nodes {
            model,
            ports,
            addresses,
            passed: HashMap::new(),
            segment_counters: HashMap::new(),
            strict: true,
        }
    }

    /// Returns the frame that a NIC port sends for a packet; `None` if the port does not belong to a NIC.
    pub(super) fn send(&mut self, packet: &Packet) -> Option<Frame> {
        let macs = self.ports.get(&packet.from)?;
        let mut bytes = Vec::with_capacity(ETHERNET + 40 + packet.inner.len());
        bytes.extend(macs.t0);
        // An unconfigured node sends from a locally administered address.
        bytes.extend(macs.local.unwrap_or([2, 0, 0, 0, 0, 1]));
        bytes.extend(IPV6);
        bytes.extend(packet::outer(packet));
        self.passed.entry(packet.from).or_default().sent += 1;
        Some(Frame { port: packet.from.number(), bytes })
    }

    /// Processes a received frame.
    pub(super) fn receive(&mut self, frame: &Frame, sink: &mut dyn Sink) {
        let Some(port) = self.model.port_of(frame.port) else { return };
        self.passed.entry(port).or_default().received += 1;
        let Some((header, packet)) = frame.bytes.split_at_checked(ETHERNET) else { return };
        let Some((destination, inner)) = packet::decapsulate(packet).filter(|_| header[12..] == IPV6) else {
            return;
        };
        sink.report_arrival(Arrival::Wire { port, destination, inner });
        let own = self.ports.get(&port).and_then(|macs| macs.local);
        if self.strict && own.is_some_and(|own| header[..6] != own) {
            return;
        }
        let (node, _) = self.model.end(port);
        let device = &self.model.devices[node.0];
        let segment = Segment::of(destination);
        let last = segment.prefix().network();
        if device.kind != DeviceKind::Node || last != destination || !device.segments.contains(&segment) {
            return;
        }
        self.segment_counters.entry((node, segment)).or_default().packets += 1;
        if packet::destination(inner).is_some_and(|to| self.addresses.get(&to) == Some(&node)) {
            sink.report_arrival(Arrival::Accepted { node, payload: packet::payload(inner) });
        }
    }

    /// Returns the counters of node ports.
    pub(super) fn ports(&self) -> impl Iterator<Item = (PortId, PortCounter)> {
        self.passed.iter().map(|(port, counter)| (*port, *counter))
    }

    /// Returns the counters of node segments.
    pub(super) fn segments(&self) -> impl Iterator<Item = ((DeviceId, Segment), SegmentCounter)> {
        self.segment_counters.iter().map(|(place, counter)| (*place, *counter))
    }
}
