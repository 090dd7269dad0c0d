//! Embedded switches, all in one process; the test simulates the nodes.
//!
//! In: a tree, and a folder for the files of the lab. Out: packets carried and counters read. Invariants: switches
//! are programmed and their counters read over P4Runtime, as on any other target. Packets enter and leave through a
//! socket. No privileges are needed. The only listening sockets are two in the folder of the lab, unless a network
//! address is requested.

mod hosts;
mod nodes;
pub(crate) mod process;
mod server;
mod wire;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

pub use server::{SwitchServer, serve};

use super::p4::{self, Readers};
use super::{Backend, Counters, Flow, FlowObservations, PortCounter, RoutedBackend, Routes, Sink};
use crate::LabError;
use crate::backend::site::{LinkLayer, Moves, Site};
use crate::model::{Model, PortId};
use crate::options::{Life, Options};
use crate::packet::{Packet, Tag};
use crate::progress::Watch;
use crate::tree::{Digests, Tree};
use hosts::Hosts;
use nodes::Nodes;
use wire::{Answer, Frame, Request};

/// Name of the socket in the folder of a lab.
const SOCKET: &str = "control.sock";
/// Maximum number of packets in flight.
const BURST: usize = 16_384;
/// Ethernet header.
const ETHERNET: usize = 14;
/// EtherType of IPv6.
const IPV6: [u8; 2] = [0x86, 0xdd];
/// Name of the log of the lab's process.
const LOG: &str = "log";

/// A lab of embedded switches.
#[derive(Debug)]
pub struct Embedded {
    tree: Arc<Tree>,
    model: Arc<Model>,
    folder: Utf8PathBuf,
    life: Life,
    digests: Digests,
    /// Address at which P4Runtime is served; `None` for a Unix socket.
    listen: Option<SocketAddr>,
    nodes: Nodes,
    /// Nodes, if switches choose the path; created on demand.
    hosts: Option<Hosts>,
    /// Number of the last batch of flows.
    batch: u32,
    stream: Option<UnixStream>,
    readers: Option<Readers>,
    /// The switches, if they run in this process.
    running: Option<SwitchServer>,
}

impl Embedded {
    /// Creates the lab from its options. Its folder need not exist yet; `changed` states whether cables have been
    /// moved.
    pub(crate) fn new(tree: Arc<Tree>, model: Arc<Model>, options: &Options, changed: bool) -> Self {
        let folder = options.folder(&tree.fabric);
        let (life, digests, listen) = (options.life.clone(), options.digests, options.listen);
        let mut nodes = Nodes::new(&tree, Arc::clone(&model));
        nodes.strict = !changed;
        Embedded {
            tree,
            model,
            folder,
            life,
            digests,
            listen,
            nodes,
            hosts: None,
            batch: 0,
            stream: None,
            readers: None,
            running: None,
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, LabError> {
        let socket = self.folder.join(SOCKET);
        let what = || format!("speak with the lab over `{socket}`");
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(UnixStream::connect(&socket).map_err(LabError::io(what()))?),
        };
        request.write(stream).map_err(LabError::io(what()))?;
        match Answer::read(stream).map_err(LabError::io(what()))? {
            Answer::Failed(message) => Err(LabError::Process(message)),
            answer => Ok(answer),
        }
    }

    fn readers(&mut self) -> Result<&Readers, LabError> {
        let readers = match self.readers.take() {
            Some(readers) => readers,
            None => Readers::open(&self.tree, &self.model, &self.folder.join(p4::INVENTORY))?,
        };
        Ok(self.readers.insert(readers))
    }

    /// Records at which ports the frames of each flow were observed.
    fn take(
        &self,
        frames: &[Frame],
        seen: &mut [FlowObservations],
        mut take: impl FnMut(&mut FlowObservations, PortId, &[u8]),
    ) {
        for frame in frames {
            let tag = hosts::tag(&frame.bytes).filter(|tag| tag.batch == self.batch);
            let flow = tag.and_then(|tag| seen.get_mut(tag.number as usize));
            if let (Some(port), Some(flow)) = (self.model.port_of(frame.port), flow) {
                take(flow, port, &frame.bytes);
            }
        }
    }
}

impl RoutedBackend for Embedded {
    fn routes(&mut self) -> Result<Vec<Routes>, LabError> {
        if self.hosts.is_none() {
            self.hosts = Some(Hosts::new(&self.tree, Arc::clone(&self.model))?);
        }
        let mut routes = self.hosts.as_ref().map_or_else(Vec::new, |hosts| hosts.routes().to_vec());
        let model = Arc::clone(&self.model);
        for (device, found) in self.readers()?.routes(&model)? {
            routes[device.0] = found;
        }
        Ok(routes)
    }

    fn flows(&mut self, flows: &[Flow], watch: &Watch<'_>) -> Result<Vec<FlowObservations>, LabError> {
        let hosts = match self.hosts.take() {
            Some(hosts) => hosts,
            None => Hosts::new(&self.tree, Arc::clone(&self.model))?,
        };
        self.batch += 1;
        let mut seen = vec![FlowObservations::default(); flows.len()];
        let mut first = 0;
        for some in flows.chunks(BURST) {
            watch.check()?;
            watch.step("send flows", first as u64, flows.len() as u64);
            let mut frames = Vec::with_capacity(some.len());
            for (number, flow) in (first..).zip(some) {
                match hosts.send(flow, Tag { batch: self.batch, number: number as u32 }) {
                    Some(frame) => frames.push(frame),
                    None => seen[number].unsent = true,
                }
            }
            self.take(&frames, &mut seen, |flow, port, _| flow.egress_ports.push(port));
            let Answer::Passed { left, entered } = self.ask(&Request::Follow(frames))? else {
                return Err(LabError::Process("unexpected answer to a request to send flows".to_owned()));
            };
            self.take(&left, &mut seen, |flow, port, _| flow.egress_ports.push(port));
            self.take(&entered, &mut seen, |flow, port, bytes| {
                flow.ingress_ports.push(port);
                flow.accepted.extend(hosts.accept(port, bytes));
            });
            first += some.len();
        }
        watch.step("send flows", first as u64, flows.len() as u64);
        self.hosts = Some(hosts);
        Ok(seen)
    }
}

impl Backend for Embedded {
    fn exchange(&mut self, packets: &[Packet], sink: &mut dyn Sink) -> Result<(), LabError> {
        let mut frames = Vec::with_capacity(packets.len());
        for (number, packet) in packets.iter().enumerate() {
            match self.nodes.send(packet) {
                Some(frame) => frames.push(frame),
                None => sink.unsent(number),
            }
        }
        let Answer::Frames(frames) = self.ask(&Request::Exchange(frames))? else {
            return Err(LabError::Process("unexpected answer to a request to send packets".to_owned()));
        };
        for frame in &frames {
            self.nodes.receive(frame, sink);
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters, LabError> {
        let mut counters = self.readers()?.read(p4::Reading::All)?;
        counters.ports.extend(self.nodes.ports());
        counters.segments.extend(self.nodes.segments());
        Ok(counters)
    }

    fn port_counters(&mut self) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
        let mut ports = self.readers()?.read(p4::Reading::Ports)?.ports;
        ports.extend(self.nodes.ports());
        Ok(ports)
    }

    /// Switches have no queues here, so a burst needs only memory. Its packets are processed on all CPUs.
    fn burst(&self) -> usize {
        BURST
    }

    fn answers_losses(&self) -> bool {
        false
    }
}

impl Site for Embedded {
    fn leave(&mut self) {
        (self.stream, self.readers, self.running) = (None, None, None);
    }

    fn make(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        watch.check()?;
        super::make_folder(&self.folder)?;
        let socket = self.folder.join(SOCKET);
        match &self.life {
            Life::Within => {
                self.running = Some(server::run(&self.tree, &self.model, &socket, self.listen)?);
            }
            Life::Process(words) => {
                let mut words = words.clone();
                words.extend((self.digests == Digests::Ignored).then(|| "--no-digests".to_owned()));
                words.extend(self.listen.map(|address| format!("--listen={address}")));
                process::start(&words, &self.tree.folder, &socket, &self.folder.join(LOG))?;
            }
        }
        let Answer::Address(address) = self.ask(&Request::Where)? else {
            return Err(LabError::Process("it does not report where it listens".to_owned()));
        };
        p4::write_inventory(&self.tree, &self.folder, |_| address.clone())
    }

    fn routed_backend(&mut self) -> Option<&mut dyn RoutedBackend> {
        Some(self)
    }

    /// Switches keep their configuration; the caller has already restored the cables.
    fn configure(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        watch.check()
    }

    fn rewire(&mut self, moves: &Moves, watch: &Watch<'_>) -> Result<(), LabError> {
        watch.check()?;
        self.nodes.strict = moves.link_layer == LinkLayer::AsConfigured;
        let out = moves.ends.iter().map(|port| port.number()).collect();
        let met = moves.pairs.iter().filter_map(|(from, to)| Some((from.number(), (*to)?.number())));
        self.ask(&Request::Plug { out, pairs: met.collect() }).map(drop)
    }
}

/// Returns the missing parts of a lab.
pub(crate) fn missing(folder: &Utf8Path) -> Vec<String> {
    let alive = process::is_alive(&folder.join(SOCKET));
    if alive { Vec::new() } else { vec!["the process of its switches".to_owned()] }
}

/// Stops the process of a lab; returns whether there was one.
pub(crate) fn end(folder: &Utf8Path) -> Result<bool, LabError> {
    process::end(&folder.join(SOCKET))
}
