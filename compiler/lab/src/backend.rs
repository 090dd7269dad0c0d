//! Carrier of packets: behind one trait, so that tests are the same for every kind of switch.
//!
//! In: packets. Out: arrivals and counters, as the data plane has them. Invariants: a backend judges nothing.

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

/// Something that carries packets: network namespaces, an embedded switch, BMv2.
pub trait Backend {
    /// Sends packets, each from its NIC port, and reports what arrives where, until `sink` has everything or
    /// nothing more comes.
    fn exchange(&mut self, packets: &[Packet], sink: &mut dyn Sink) -> Result<(), LabError>;

    /// Reads the counters of every port and segment.
    fn counters(&mut self) -> Result<Counters, LabError>;

    /// Sends packets and says how often they passed each port: exactly they, where the ports can be looked at, and otherwise
    /// whatever else was counted as well.
    fn follow(&mut self, packets: &[Packet]) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        let before = self.port_counters()?;
        self.exchange(packets, &mut Quiet)?;
        Ok(ports_since(&self.port_counters()?, &before))
    }

    /// Reads the counters of every port only, which may be cheaper.
    fn port_counters(&mut self) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        Ok(self.counters()?.ports)
    }

    /// Returns how many packets may be under way at once without any being lost for it, besides those of one NIC.
    fn burst(&self) -> usize {
        1
    }

    /// Tells whether switches drop packets under load, as processes do: a loss is then no fault before it has happened
    /// again.
    fn drops_under_load(&self) -> bool {
        false
    }

    /// Tells whether switches send errors about packets that they cannot forward, as kernels do.
    fn answers_losses(&self) -> bool {
        true
    }
}

/// Switches that choose the path.
pub(crate) trait Routed {
    /// Reads the routes of every device, in the order of the model.
    fn routes(&mut self) -> Result<Vec<Routes>, LabError>;

    /// Sends flows, those of a node together, and says what was seen of each.
    fn flows(&mut self, flows: &[Flow], watch: &Watch<'_>) -> Result<Vec<Seen>, LabError>;

    /// Waits until routers have found ways around cables that are not where they belong, as far as there are any. Where
    /// no neighbour discovery runs, there is nothing to wait for.
    fn reroute(&mut self, dead: &BTreeSet<CableId>, watch: &Watch<'_>) -> Result<(), LabError> {
        let _ = dead;
        watch.check()
    }
}

/// Ports and cables that are broken and repaired while packets flow, without a wait for silence.
pub(crate) trait Breakable {
    /// Sets ports down, or up again.
    fn set_ports(&mut self, ports: &[PortId], up: bool) -> Result<(), LabError>;

    /// Loses so many of a million of the packets that come in by ports; 0 for none.
    fn set_loss(&mut self, ports: &[PortId], ppm: u32) -> Result<(), LabError>;

    /// Loses packets that come in by ports and are longer than an MTU; none for all that pass.
    fn set_mtu(&mut self, ports: &[PortId], mtu: Option<u16>) -> Result<(), LabError>;

    /// Pulls cables and plugs them in elsewhere: pairs of ports that were never met before.
    fn replug(
        &mut self,
        cables: &[CableId],
        pairs: &[(PortId, PortId)],
        watch: &Watch<'_>,
    ) -> Result<(), LabError>;

    /// Configures devices again, whose ports were down or whose cables were moved.
    fn configure_again(&mut self, devices: &[DeviceId], watch: &Watch<'_>) -> Result<(), LabError>;

    /// Gives nodes their routes to other nodes again. Every port must have its carrier by now.
    fn spread_again(&mut self) -> Result<(), LabError>;

    /// Waits until no port speaks by itself any more.
    fn settle(&mut self) -> Result<(), LabError>;

    /// Opens sockets for datagrams in the namespace of a device; several may have one address and port.
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
    /// The node that is to receive.
    pub(crate) to: DeviceId,
    /// Its address.
    pub(crate) destination: Address,
}

/// Observations of a flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Ports it left by.
    pub(crate) left: Vec<PortId>,
    /// Ports it came in by.
    pub(crate) entered: Vec<PortId>,
    /// Nodes that accepted it, each time.
    pub(crate) accepted: Vec<DeviceId>,
    /// Whether its node had no route for it.
    pub(crate) unsent: bool,
    /// Times it was sent again, after it was lost.
    pub(crate) again: u32,
}

/// Something that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// An encapsulated packet came in at a NIC port.
    Wire {
        /// The port.
        port: PortId,
        /// Rest of the segment list.
        destination: Ipv6Addr,
        /// The inner packet.
        inner: &'a [u8],
    },
    /// A node took the outer header off and delivered the payload.
    Accepted {
        /// The node.
        node: DeviceId,
        /// The UDP payload.
        payload: &'a [u8],
    },
}

/// Retransmissions of lost packets on switches that drop packets under load.
pub(crate) const RETRIES: u32 = 2;

/// Takes arrivals.
pub trait Sink {
    /// Takes one.
    fn arrived(&mut self, arrival: Arrival<'_>);

    /// Tells that a packet could not even be sent, because its node has no way for it.
    fn unsent(&mut self, packet: usize);

    /// Tells whether everything has come that can come.
    fn is_complete(&self) -> bool;
}

/// Takes nothing: what became of the packets is known by where they passed.
pub(crate) struct Quiet;

impl Sink for Quiet {
    fn arrived(&mut self, _: Arrival<'_>) {}

    fn unsent(&mut self, _: usize) {}

    fn is_complete(&self) -> bool {
        false
    }
}

/// Counters of a data plane.
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
    /// Came in.
    pub received: u64,
    /// Went out.
    pub sent: u64,
}

/// Packets of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentCounter {
    /// Were handled.
    pub packets: u64,
    /// Could not be handled.
    pub errors: u64,
}

impl PortCounter {
    /// Returns what came after an earlier reading.
    #[must_use]
    pub fn since(self, earlier: PortCounter) -> PortCounter {
        PortCounter {
            received: self.received.wrapping_sub(earlier.received),
            sent: self.sent.wrapping_sub(earlier.sent),
        }
    }
}

impl SegmentCounter {
    /// Returns what came after an earlier reading.
    #[must_use]
    pub fn since(self, earlier: SegmentCounter) -> SegmentCounter {
        SegmentCounter {
            packets: self.packets.wrapping_sub(earlier.packets),
            errors: self.errors.wrapping_sub(earlier.errors),
        }
    }
}

/// Returns what came after an earlier reading, port by port.
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
    /// Returns what came after an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        let segments = self.segments.iter().map(|(key, counter)| {
            (*key, counter.since(earlier.segments.get(key).copied().unwrap_or_default()))
        });
        Counters { ports: ports_since(&self.ports, &earlier.ports), segments: segments.collect() }
    }
}

/// Makes the folder of a lab, for its owner alone.
fn make_folder(folder: &Utf8Path) -> Result<(), LabError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(LabError::io(format!("make `{folder}`")))
}

/// Removes the folder of a lab; fine where it is gone.
pub(crate) fn remove_folder(folder: &Utf8Path) -> Result<(), LabError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::io(format!("remove `{folder}`"))(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
