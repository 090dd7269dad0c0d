//! A data plane in memory, for tests without root.
//!
//! Switches act on their segments; cables can be swapped and cut, and switches can be silenced. Tests and diagnoses
//! therefore do not depend on the kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use closc_lab::LabError;
use closc_lab::backend::{Arrival, Backend, Counters, Sink};
use closc_lab::model::{CableId, DeviceId, Model, PortId};
use closc_lab::packet::Packet;
use closc_lab::segment::Segment;
use closc_lab::tree::{Nic, Tree};
use closc_lab::{packet, traffic};

pub(crate) struct SimulatedBackend<'a> {
    model: &'a Model,
    /// Actual far end of a port's cable, if it differs from the configured one.
    mates: BTreeMap<PortId, Option<PortId>>,
    silent: BTreeSet<usize>,
    /// Node of each inner address.
    locals: BTreeMap<Ipv6Addr, DeviceId>,
    counters: Counters,
    /// One in this number of packets is lost at its second device on the first attempt; 0 for none.
    pub(crate) drops_one_of: usize,
    carried: usize,
    /// Frames on wires that are reported after their acceptance, as some kernels do.
    wires: Vec<(PortId, Ipv6Addr, Vec<u8>)>,
}

impl<'a> SimulatedBackend<'a> {
    pub(crate) fn new(tree: &Tree, model: &'a Model) -> Self {
        let node = |nic: &Nic| model.device(nic.port(0).unwrap().0).unwrap();
        let locals = traffic::nics(tree).map(|(_, nic)| (nic.address, node(nic))).collect();
        SimulatedBackend {
            model,
            mates: BTreeMap::new(),
            silent: BTreeSet::new(),
            locals,
            counters: Counters::default(),
            drops_one_of: 0,
            carried: 0,
            wires: Vec::new(),
        }
    }

    pub(crate) fn cable(&self, name: &str) -> CableId {
        self.model.cable(name).unwrap()
    }

    pub(crate) fn swap(&mut self, first: &str, second: &str) {
        let (a, b) = (self.cable(first), self.cable(second));
        for (x, y) in [(a.lower(), b.upper()), (b.lower(), a.upper())] {
            self.mates.insert(x, Some(y));
            self.mates.insert(y, Some(x));
        }
    }

    pub(crate) fn cut(&mut self, cable: &str) {
        let cable = self.cable(cable);
        self.mates.insert(cable.lower(), None);
        self.mates.insert(cable.upper(), None);
    }

    pub(crate) fn silence(&mut self, device: &str) {
        self.silent.insert(self.model.device(device).unwrap().0);
    }

    fn carry(&mut self, packet: &Packet, sink: &mut dyn Sink) {
        self.carried += 1;
        let dropped = self.drops_one_of > 0 && self.carried.is_multiple_of(self.drops_one_of);
        let (mut leaves, mut destination) = (packet.from, packet.destination);
        // The limit is above the length of any path, so a packet in a loop is lost.
        for _ in 0..16 {
            self.counters.ports.entry(leaves).or_default().sent += 1;
            let Some(enters) = self.mates.get(&leaves).copied().unwrap_or(Some(leaves.peer())) else {
                return;
            };
            self.counters.ports.entry(enters).or_default().received += 1;
            let (device, _) = self.model.end(enters);
            let segment = Segment::of(destination);
            let own = self.model.devices[device.0].segments.contains(&segment);
            if self.model.nic_segment(enters).is_some() {
                self.wires.push((enters, destination, packet.inner.clone()));
                if own {
                    self.counters.segments.entry((device, segment)).or_default().packets += 1;
                    let to = <[u8; 16]>::try_from(&packet.inner[24..40]).unwrap();
                    if self.locals.get(&Ipv6Addr::from(to)) == Some(&device) {
                        sink.report_arrival(Arrival::Accepted {
                            node: device,
                            payload: packet::payload(&packet.inner),
                        });
                    }
                }
                return;
            }
            if !own || self.silent.contains(&device.0) {
                return;
            }
            self.counters.segments.entry((device, segment)).or_default().packets += 1;
            destination = shift(destination);
            let Some(next) = self.model.towards(device, Segment::of(destination)) else { return };
            if dropped {
                return;
            }
            leaves = next;
        }
    }
}

impl Backend for SimulatedBackend<'_> {
    fn exchange(&mut self, packets: &[Packet], sink: &mut dyn Sink) -> Result<(), LabError> {
        for packet in packets {
            self.carry(packet, sink);
        }
        for (port, destination, inner) in std::mem::take(&mut self.wires) {
            if sink.is_complete() {
                break;
            }
            sink.report_arrival(Arrival::Wire { port, destination, inner: &inner });
        }
        Ok(())
    }

    fn drops_under_load(&self) -> bool {
        self.drops_one_of > 0
    }

    fn counters(&mut self) -> Result<Counters, LabError> {
        Ok(self.counters.clone())
    }
}

fn shift(address: Ipv6Addr) -> Ipv6Addr {
    let bits = u128::from(address);
    let block = bits >> 96 << 96;
    Ipv6Addr::from(block | (bits << 48) >> 32)
}
