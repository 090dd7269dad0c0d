//! Data planes behind one trait, so that tests are the same for every kind of switch.
//!
//! In: packets. Out: arrivals and counters of the data plane. Invariants: a backend does not evaluate results.

pub mod bmv2;
pub mod embedded;
pub mod linux;
pub(crate) mod p4;
mod routes;
pub(crate) mod site;

pub(crate) use routes::{Forwarding, Routes};

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::{Ipv6Addr, SocketAddrV6, UdpSocket};
use std::os::unix::fs::DirBuilderExt as _;

use camino::Utf8Path;
use closc_artefacts::Address;

use crate::LabError;
use crate::model::{CableId, DeviceId, PortId};
use crate::packet::Packet;
use crate::progress::Watch;
use crate::segment::Segment;

/// A data plane: network namespaces, embedded switches, or BMv2.
pub trait Backend {
    /// Sends packets, each from its NIC port. Reports arrivals until `sink` is complete or packets stop arriving.
    fn exchange(&mut self, packets: &[Packet], sink: &mut dyn Sink) -> Result<(), LabError>;

    /// Reads the counters of every port and segment.
    fn counters(&mut self) -> Result<Counters, LabError>;

    /// Sends packets and returns the number that passed each port. If ports cannot be observed, other traffic is also
    /// counted.
    fn follow(&mut self, packets: &[Packet]) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        let before = self.port_counters()?;
        self.exchange(packets, &mut QuietSink)?;
        Ok(ports_since(&self.port_counters()?, &before))
    }

    /// Reads only the counters of ports, which may be cheaper.
    fn port_counters(&mut self) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        Ok(self.counters()?.ports)
    }

    /// Returns the number of packets that may be in flight at once without being dropped by a full buffer.
    fn burst(&self) -> usize {
        1
    }

    /// Returns whether switches drop packets under load, as user-space processes do. A loss is then a fault only if it
    /// is repeated.
    fn drops_under_load(&self) -> bool {
        false
    }

    /// Returns whether switches send ICMP errors for packets that they cannot forward, as kernels do.
    fn answers_losses(&self) -> bool {
        true
    }
}

/// A data plane whose switches choose the path.
pub(crate) trait RoutedBackend {
    /// Reads the routes of every device, in the order of the model.
    fn routes(&mut self) -> Result<Vec<Routes>, LabError>;

    /// Sends flows, those of a node together, and returns the observations of each.
    fn flows(&mut self, flows: &[Flow], watch: &Watch<'_>) -> Result<Vec<FlowObservations>, LabError>;

    /// Waits until routers avoid misplaced cables wherever another path exists. Without neighbour discovery, it
    /// returns immediately.
    fn reroute(&mut self, dead: &BTreeSet<CableId>, watch: &Watch<'_>) -> Result<(), LabError> {
        let _ = dead;
        watch.check()
    }
}

/// Breaks and repairs ports and cables while packets flow, without waiting for silence.
pub(crate) trait FaultInjector {
    /// Sets ports down or up.
    fn set_ports(&mut self, ports: &[PortId], up: bool) -> Result<(), LabError>;

    /// Drops `ppm` of a million incoming packets at ports; 0 for none.
    fn set_loss(&mut self, ports: &[PortId], ppm: u32) -> Result<(), LabError>;

    /// Drops incoming packets of ports that are longer than `mtu`; `None` removes the limit.
    fn set_mtu(&mut self, ports: &[PortId], mtu: Option<u16>) -> Result<(), LabError>;

    /// Pulls cables and connects pairs of ports that were not connected before.
    fn replug(
        &mut self,
        cables: &[CableId],
        pairs: &[(PortId, PortId)],
        watch: &Watch<'_>,
    ) -> Result<(), LabError>;

    /// Configures devices again after their ports were down or their cables were moved.
    fn configure_again(&mut self, devices: &[DeviceId], watch: &Watch<'_>) -> Result<(), LabError>;

    /// Applies the routes from nodes to other nodes again. Every port must have its carrier by then.
    fn reapply_node_routes(&mut self) -> Result<(), LabError>;

    /// Waits until ports stop sending packets of their own.
    fn settle(&mut self) -> Result<(), LabError>;

    /// Opens UDP sockets in the namespace of a device; several may have the same address and port.
    fn sockets(&mut self, device: DeviceId, ends: &[SocketAddrV6]) -> Result<Vec<UdpSocket>, LabError>;

    /// Starts a program in the namespace of a device.
    fn start(
        &mut self,
        device: DeviceId,
        command: &mut std::process::Command,
    ) -> Result<std::process::Child, LabError>;
}

/// A flow to send: one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flow {
    /// The node that sends.
    pub(crate) from: DeviceId,
    /// Its address.
    pub(crate) source: Address,
    /// Its port, by which flows of a pair differ.
    pub(crate) source_port: u16,
    /// The receiving node.
    pub(crate) to: DeviceId,
    /// Its address.
    pub(crate) destination: Address,
}

/// Observations of a flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FlowObservations {
    /// Egress ports.
    pub(crate) egress_ports: Vec<PortId>,
    /// Ingress ports.
    pub(crate) ingress_ports: Vec<PortId>,
    /// Nodes that accepted it, once per copy.
    pub(crate) accepted: Vec<DeviceId>,
    /// Whether its node had no route for it.
    pub(crate) unsent: bool,
    /// Number of retransmissions after losses.
    pub(crate) retransmissions: u32,
}

/// An arrival of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// An encapsulated packet came in at a NIC port.
    Wire {
        /// The port.
        port: PortId,
        /// The remaining segment list.
        destination: Ipv6Addr,
        /// The inner packet.
        inner: &'a [u8],
    },
    /// A node decapsulated a packet and delivered the payload.
    Accepted {
        /// The node.
        node: DeviceId,
        /// The UDP payload.
        payload: &'a [u8],
    },
}

/// Number of retransmissions on switches that drop packets under load.
pub(crate) const RETRIES: u32 = 2;

/// Sends flows and retransmits lost ones, for switches that drop packets under load.
pub(crate) fn send_with_retries(
    flows: &[Flow],
    mut send: impl FnMut(&[Flow]) -> Result<Vec<FlowObservations>, LabError>,
) -> Result<Vec<FlowObservations>, LabError> {
    let mut seen = send(flows)?;
    for _ in 0..RETRIES {
        let is_lost = |seen: &FlowObservations| seen.accepted.is_empty() && !seen.unsent;
        let lost: Vec<usize> = (0..seen.len()).filter(|at| is_lost(&seen[*at])).collect();
        if lost.is_empty() {
            break;
        }
        let again: Vec<Flow> = lost.iter().map(|at| flows[*at]).collect();
        for (at, found) in lost.into_iter().zip(send(&again)?) {
            seen[at] = FlowObservations { retransmissions: seen[at].retransmissions + 1, ..found };
        }
    }
    Ok(seen)
}

/// Receives arrivals.
pub trait Sink {
    /// Reports an arrival.
    fn report_arrival(&mut self, arrival: Arrival<'_>);

    /// Reports that a packet could not be sent, because its node has no route for it.
    fn unsent(&mut self, packet: usize);

    /// Returns whether everything that can arrive has arrived.
    fn is_complete(&self) -> bool;
}

/// Ignores arrivals, for callers that only need port observations.
pub(crate) struct QuietSink;

impl Sink for QuietSink {
    fn report_arrival(&mut self, _: Arrival<'_>) {}

    fn unsent(&mut self, _: usize) {}

    fn is_complete(&self) -> bool {
        false
    }
}

/// Counters of ports and segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// By port.
    pub ports: BTreeMap<PortId, PortCounter>,
    /// By device and segment.
    pub segments: BTreeMap<(DeviceId, Segment), SegmentCounter>,
}

/// Packets of a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounter {
    /// Received packets.
    pub received: u64,
    /// Sent packets.
    pub sent: u64,
}

/// Packets of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentCounter {
    /// Packets handled.
    pub packets: u64,
    /// Packets that could not be handled.
    pub errors: u64,
}

impl PortCounter {
    /// Returns the difference from an earlier reading.
    #[must_use]
    pub fn since(self, earlier: PortCounter) -> PortCounter {
        PortCounter {
            received: self.received.wrapping_sub(earlier.received),
            sent: self.sent.wrapping_sub(earlier.sent),
        }
    }
}

impl SegmentCounter {
    /// Returns the difference from an earlier reading.
    #[must_use]
    pub fn since(self, earlier: SegmentCounter) -> SegmentCounter {
        SegmentCounter {
            packets: self.packets.wrapping_sub(earlier.packets),
            errors: self.errors.wrapping_sub(earlier.errors),
        }
    }
}

/// Returns the difference from an earlier reading, port by port.
pub(crate) fn ports_since(
    later: &BTreeMap<PortId, PortCounter>,
    earlier: &BTreeMap<PortId, PortCounter>,
) -> BTreeMap<PortId, PortCounter> {
    later
        .iter()
        .map(|(port, counter)| (*port, counter.since(earlier.get(port).copied().unwrap_or_default())))
        .collect()
}

impl Counters {
    /// Returns the difference from an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        let segments = self.segments.iter().map(|(key, counter)| {
            (*key, counter.since(earlier.segments.get(key).copied().unwrap_or_default()))
        });
        Counters { ports: ports_since(&self.ports, &earlier.ports), segments: segments.collect() }
    }
}

/// Creates the folder of a lab, accessible only to its owner.
fn make_folder(folder: &Utf8Path) -> Result<(), LabError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(LabError::io(format!("create `{folder}`")))
}

/// Removes the folder of a lab, if it exists.
pub(crate) fn remove_folder(folder: &Utf8Path) -> Result<(), LabError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::io(format!("remove `{folder}`"))(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_flows_are_sent_again_before_a_switch_is_blamed() {
        let address = |last: u16| Address::from(std::net::Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last));
        let flow = |source_port| Flow {
            from: DeviceId(0),
            source: address(1),
            source_port,
            to: DeviceId(1),
            destination: address(2),
        };
        let flows: Vec<Flow> = (0..5).map(flow).collect();
        // Flow 0 has no route, 1 arrives, 2 and 3 arrive when retransmitted, 4 never arrives.
        let mut rounds = Vec::new();
        let seen = send_with_retries(&flows, |flows| {
            rounds.push(flows.iter().map(|flow| flow.source_port).collect::<Vec<_>>());
            let round = rounds.len();
            let one = |flow: &Flow| FlowObservations {
                accepted: match flow.source_port {
                    1 => vec![flow.to],
                    port @ (2 | 3) if usize::from(port) == round => vec![flow.to],
                    _ => Vec::new(),
                },
                unsent: flow.source_port == 0,
                ..FlowObservations::default()
            };
            Ok(flows.iter().map(one).collect())
        });
        let seen = seen.expect("no round fails");
        assert_eq!(rounds, [vec![0, 1, 2, 3, 4], vec![2, 3, 4], vec![3, 4]]);
        let found: Vec<_> = seen.iter().map(|seen| (seen.accepted.len(), seen.retransmissions)).collect();
        assert_eq!(found, [(0, 0), (1, 0), (1, 1), (1, 2), (0, 2)]);
    }
}
