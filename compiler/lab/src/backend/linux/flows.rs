//! Flows between NICs: sent from sockets of their nodes, and observed at every port.
//!
//! In: flows. Out: the observations of each. Invariants: a flow is one datagram from its own socket, as from any
//! program, so the node's kernel hashes it. Ports are only observed. Packets are identified by their number.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{LinkAddr, recvfrom, setsockopt, sockopt};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::carriers::{Carriers, PACED, queues_are_empty};
use super::faults::open;
use super::namespace::Namespace;
use crate::LabError;
use crate::backend::{Flow, FlowObservations};
use crate::model::{DeviceId, Model, PortId};
use crate::packet::{self, InnerPacket, Tag};
use crate::progress::Watch;
use crate::tree::DeviceKind;

/// UDP destination port of flows: that of RoCE (RFC 6335 registry, service `roce`).
const UDP_PORT: u16 = 4791;
/// Flag: the datagram continues (`include/linux/socket.h`).
const MSG_MORE: i32 = 0x8000;
/// Size of a datagram's first part.
const PART: usize = 8;
/// Number of flows sent before all sockets are read.
const BURST: usize = 256;
const BUFFER: usize = 16 << 20;
const PATIENCE_MS: u16 = 100;
const TRIES: u32 = 20_000;
const PAUSE: Duration = Duration::from_millis(1);

/// Sockets that observe flows, on all devices.
#[derive(Debug)]
pub(super) struct Watchers {
    all: Vec<Watcher>,
    buffer: Vec<u8>,
    batch: u32,
}

#[derive(Debug)]
struct Watcher {
    device: DeviceId,
    /// Receives all incoming and outgoing frames. The kernel passes outgoing frames only to sockets for all
    /// protocols.
    wire: Socket,
    /// Receives datagrams that a node accepts.
    accepted: Option<UdpSocket>,
    ports: BTreeMap<usize, PortId>,
}

impl Watchers {
    /// Opens the sockets of every device.
    pub(super) fn open(model: &Model, namespaces: &[Namespace]) -> Result<Self, LabError> {
        let mut all = Vec::with_capacity(namespaces.len());
        for (at, namespace) in namespaces.iter().enumerate() {
            let what = format!("open sockets on `{}`", namespace.device);
            let open = || Watcher::open(model, DeviceId(at));
            all.push(namespace.run(move || open().map_err(LabError::io(what)))?);
        }
        Ok(Watchers { all, buffer: vec![0; 1 << 16], batch: 0 })
    }

    /// Sends flows and returns the observations of each.
    pub(super) fn exchange(
        &mut self,
        namespaces: &[Namespace],
        flows: &[Flow],
        carriers: &Carriers,
        watch: &Watch<'_>,
    ) -> Result<Vec<FlowObservations>, LabError> {
        self.batch += 1;
        let batch = self.batch;
        let mut seen = vec![FlowObservations::default(); flows.len()];
        let (mut sent, started) = (0, Instant::now());
        let burst = if carriers.is_kernel() { BURST } else { PACED };
        for some in flows.chunk_by(|a, b| a.from == b.from).flat_map(|of_one| of_one.chunks(burst)) {
            watch.check()?;
            watch.step("send flows", sent as u64, flows.len() as u64);
            let unsent = namespaces[some[0].from.0].run(|| send(some, batch, sent as u32))?;
            for number in unsent {
                seen[number].unsent = true;
            }
            sent += some.len();
            carriers.pace(started, sent);
            for _ in 0..TRIES {
                self.listen(&mut seen)?;
                if queues_are_empty() {
                    break;
                }
                sleep(PAUSE);
            }
        }
        watch.step("send flows", flows.len() as u64, flows.len() as u64);
        loop {
            self.listen(&mut seen)?;
            if seen.iter().all(|seen| seen.unsent || !seen.accepted.is_empty()) {
                // Sockets are read device by device. A switch may forward a packet after its socket was read, and a
                // node that is read later has already accepted it. Read again to get the switch's observation.
                self.listen(&mut seen)?;
                return Ok(seen);
            }
            if !self.wait(PATIENCE_MS)? {
                carriers.rest();
                if !self.listen(&mut seen)? {
                    return Ok(seen);
                }
            }
        }
    }

    /// Reads everything that has arrived; returns whether any of it was a flow.
    fn listen(&mut self, seen: &mut [FlowObservations]) -> Result<bool, LabError> {
        let mut any = false;
        for watcher in &self.all {
            any |= watcher
                .listen(&mut self.buffer, self.batch, seen)
                .map_err(LabError::io("receive a packet"))?;
        }
        Ok(any)
    }

    /// Waits for accepted datagrams; returns false after a silence.
    fn wait(&self, milliseconds: u16) -> Result<bool, LabError> {
        let accepted = self.all.iter().filter_map(|watcher| watcher.accepted.as_ref());
        let mut descriptors: Vec<PollFd<'_>> =
            accepted.map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
        match poll(&mut descriptors, PollTimeout::from(milliseconds)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::EINTR) => Ok(true),
            Err(errno) => Err(LabError::os("wait for packets")(errno)),
        }
    }
}

/// Sends the flows of one node from its namespace; returns the numbers of those without a route.
fn send(flows: &[Flow], batch: u32, first: u32) -> Result<Vec<usize>, LabError> {
    let mut unsent = Vec::new();
    for (number, flow) in (first..).zip(flows) {
        let inner = InnerPacket {
            source: flow.source.to_ipv6(),
            destination: flow.destination.to_ipv6(),
            entropy: u32::from(flow.source_port),
            port: UDP_PORT,
            tag: Tag { batch, number },
        };
        let datagram = inner.bytes();
        let one = || -> io::Result<()> {
            // This is a dual-stack socket, which sends IPv4 between mapped addresses.
            let socket = open(&SocketAddrV6::new(flow.source.to_ipv6(), flow.source_port, 0, 0))?;
            let to = SocketAddr::from((flow.destination.to_ipv6(), UDP_PORT));
            // Send the datagram in two parts, so that the kernel computes the checksum, not the device (RFC 768 over
            // RFC 8200 section 8.1). veth devices do not compute it, and a switch process would receive an incomplete
            // one.
            let (first, rest) = packet::payload(&datagram).split_at(PART);
            SockRef::from(&socket).send_to_with_flags(first, &to.into(), MSG_MORE)?;
            socket.send_to(rest, to).map(drop)
        };
        match one() {
            Ok(()) => {}
            Err(error) if is_unreachable(&error) => unsent.push(number as usize),
            Err(error) => return Err(LabError::io("send a flow")(error)),
        }
    }
    Ok(unsent)
}

fn is_unreachable(error: &io::Error) -> bool {
    let codes = [Errno::ENETUNREACH, Errno::EHOSTUNREACH, Errno::EINVAL, Errno::EACCES, Errno::ENETDOWN];
    error.raw_os_error().is_some_and(|code| codes.iter().any(|errno| *errno as i32 == code))
}

impl Watcher {
    fn open(model: &Model, device: DeviceId) -> io::Result<Watcher> {
        let protocol = Protocol::from(i32::from((libc::ETH_P_ALL as u16).to_be()));
        let wire = Socket::new(Domain::PACKET, Type::DGRAM, Some(protocol))?;
        wire.set_nonblocking(true)?;
        setsockopt(&wire, sockopt::RcvBufForce, &BUFFER)?;
        let accepted = match model.devices[device.0].kind {
            DeviceKind::Switch => None,
            DeviceKind::Node => {
                let socket = open(&SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, UDP_PORT, 0, 0))?;
                setsockopt(&socket, sockopt::RcvBufForce, &BUFFER)?;
                Some(socket)
            }
        };
        let mut ports = BTreeMap::new();
        for port in &model.devices[device.0].ports {
            ports.insert(if_nametoindex(model.end(*port).1)? as usize, *port);
        }
        Ok(Watcher { device, wire, accepted, ports })
    }

    fn listen(&self, buffer: &mut [u8], batch: u32, seen: &mut [FlowObservations]) -> io::Result<bool> {
        let mut any = false;
        loop {
            match recvfrom::<LinkAddr>(self.wire.as_raw_fd(), buffer) {
                Ok((length, from)) => {
                    let port = from.and_then(|address| Some((self.ports.get(&address.ifindex())?, address)));
                    let flow = number(packet::payload_of_either(&buffer[..length]), batch);
                    if let (Some((port, from)), Some(flow)) = (port, flow.and_then(|at| seen.get_mut(at))) {
                        let leaves = from.pkttype() == libc::PACKET_OUTGOING;
                        if leaves { &mut flow.egress_ports } else { &mut flow.ingress_ports }.push(*port);
                        any = true;
                    }
                }
                Err(Errno::EAGAIN) => break,
                Err(Errno::EINTR | Errno::ENETDOWN) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let Some(accepted) = &self.accepted else { return Ok(any) };
        loop {
            match accepted.recv(buffer) {
                Ok(length) => {
                    let flow = number(&buffer[..length], batch);
                    if let Some(flow) = flow.and_then(|number| seen.get_mut(number)) {
                        flow.accepted.push(self.device);
                        any = true;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(any),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The number of a flow of this exchange.
fn number(payload: &[u8], batch: u32) -> Option<usize> {
    packet::tag(payload).filter(|tag| tag.batch == batch).map(|tag| tag.number as usize)
}
