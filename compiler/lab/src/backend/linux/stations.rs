//! Sockets in the namespaces of nodes, for sending and receiving.
//!
//! In: packets. Out: arrivals. Invariants: a packet is passed to the kernel with its outer destination only, so the
//! node's own routes add the rest. The sending socket is bound to the port of the packet. One thread serves all
//! sockets, because a socket stays in the namespace in which it was created.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv6Addr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{LinkAddr, recvfrom, setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};

use super::carriers::{Carriers, PACED, queues_are_empty};
use super::namespace::Namespace;
use super::sightings::{CaptureDirection, wire};
use crate::LabError;
use crate::backend::{Arrival, Sink};
use crate::model::{DeviceId, Model, PortId};
use crate::packet::{self, Packet};
use crate::tree::DeviceKind;

/// Buffer of every listening socket.
const BUFFER: usize = 16 << 20;
/// Number of packets sent before all sockets are read.
const BURST: usize = 256;
/// Time to wait for packets in flight, in milliseconds of silence. Afterwards, the queues must also be empty.
const PATIENCE_MS: u16 = 100;
/// Maximum number of attempts while the kernel has no buffer for a packet, and the pause between attempts.
const TRIES: u32 = 20_000;
const PAUSE: Duration = Duration::from_millis(1);
/// Hop limit of the outer header. A path has at most five switches.
const HOP_LIMIT: u32 = 64;
const IPPROTO_IPV6: i32 = 41;

/// The sockets of all nodes.
#[derive(Debug)]
pub(super) struct Stations {
    all: Vec<Station>,
    /// Station of each port.
    of_port: BTreeMap<PortId, usize>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Station {
    node: DeviceId,
    /// Receives incoming packets of labs.
    wire: Socket,
    /// Receives packets that were decapsulated and accepted.
    accepted: UdpSocket,
    ports: BTreeMap<usize, PortId>,
    senders: BTreeMap<PortId, Sender>,
}

#[derive(Debug)]
struct Sender {
    socket: Socket,
    source: Option<Ipv6Addr>,
}

impl Stations {
    /// Opens the sockets of every node.
    pub(super) fn open(model: &Model, namespaces: &[Namespace], udp_port: u16) -> Result<Self, LabError> {
        let mut stations = Vec::new();
        for (at, device) in model.devices.iter().enumerate() {
            if device.kind == DeviceKind::Node {
                let open = || station(model, DeviceId(at), udp_port);
                let what = format!("open sockets on `{}`", device.name);
                stations.push(namespaces[at].run(move || open().map_err(LabError::io(what)))?);
            }
        }
        let of_port = stations
            .iter()
            .enumerate()
            .flat_map(|(at, station)| station.senders.keys().map(move |port| (*port, at)))
            .collect();
        Ok(Stations { all: stations, of_port, buffer: vec![0; 1 << 16] })
    }

    /// Sends packets and reports arrivals. Returns once no packets of labs have arrived for a while and queues are
    /// empty. Other packets are ignored, because agents and routers send all the time.
    pub(super) fn exchange(
        &mut self,
        packets: &[Packet],
        sink: &mut dyn Sink,
        carriers: &Carriers,
    ) -> Result<(), LabError> {
        self.listen(&mut DiscardSink)?;
        let started = Instant::now();
        for (number, packet) in packets.iter().enumerate() {
            if !self.send(packet, sink)? {
                sink.unsent(number);
            }
            if number % BURST == BURST - 1 {
                self.make_room(sink)?;
            }
            if number % PACED == PACED - 1 {
                carriers.pace(started, number + 1);
            }
        }
        loop {
            self.listen(sink)?;
            if sink.is_complete() {
                return self.listen(sink);
            }
            if !self.wait(PATIENCE_MS)? {
                carriers.rest();
                if !self.wait(0)? {
                    return Ok(());
                }
            }
        }
    }

    /// Sends one packet; returns false if the node has no route for it.
    fn send(&mut self, packet: &Packet, sink: &mut dyn Sink) -> Result<bool, LabError> {
        let Some(at) = self.of_port.get(&packet.from).copied() else { return Ok(false) };
        let what = "send a packet";
        for _ in 0..TRIES {
            let Some(sender) = self.all[at].senders.get_mut(&packet.from) else { return Ok(false) };
            match sender.send(packet) {
                Ok(()) => return Ok(true),
                Err(error) if is_full(&error) => {
                    self.listen(sink)?;
                    sleep(PAUSE);
                }
                Err(error) if has_no_way(&error) => return Ok(false),
                Err(error) => return Err(LabError::io(what)(error)),
            }
        }
        Err(LabError::io(what)(Errno::ENOBUFS.into()))
    }

    /// Lets the kernel process its queues, because a full queue drops packets.
    fn make_room(&mut self, sink: &mut dyn Sink) -> Result<(), LabError> {
        for _ in 0..TRIES {
            self.listen(sink)?;
            if queues_are_empty() {
                break;
            }
            sleep(PAUSE);
        }
        Ok(())
    }

    /// Reads everything that has arrived.
    fn listen(&mut self, sink: &mut dyn Sink) -> Result<(), LabError> {
        for station in &self.all {
            station.listen(&mut self.buffer, sink).map_err(LabError::io("receive a packet"))?;
        }
        Ok(())
    }

    /// Waits for more; returns false after a silence.
    fn wait(&self, milliseconds: u16) -> Result<bool, LabError> {
        let mut descriptors: Vec<PollFd<'_>> = self
            .all
            .iter()
            .flat_map(|station| [station.wire.as_fd(), station.accepted.as_fd()])
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
            .collect();
        match poll(&mut descriptors, PollTimeout::from(milliseconds)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::EINTR) => Ok(true),
            Err(errno) => Err(LabError::os("wait for packets")(errno)),
        }
    }
}

/// Discards late packets of an earlier exchange.
struct DiscardSink;

impl Sink for DiscardSink {
    fn report_arrival(&mut self, _: Arrival<'_>) {}

    fn unsent(&mut self, _: usize) {}

    fn is_complete(&self) -> bool {
        true
    }
}

impl Station {
    fn listen(&self, buffer: &mut [u8], sink: &mut dyn Sink) -> io::Result<()> {
        loop {
            match recvfrom::<LinkAddr>(self.wire.as_raw_fd(), buffer) {
                Ok((length, from)) => {
                    let port = from.and_then(|address| self.ports.get(&address.ifindex()));
                    if let (Some(port), Some((destination, inner))) =
                        (port, packet::decapsulate(&buffer[..length]))
                    {
                        sink.report_arrival(Arrival::Wire { port: *port, destination, inner });
                    }
                }
                Err(Errno::EAGAIN) => break,
                // A removed port returns `ENETDOWN` once.
                Err(Errno::EINTR | Errno::ENETDOWN) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        loop {
            match self.accepted.recv(buffer) {
                Ok(length) => {
                    sink.report_arrival(Arrival::Accepted { node: self.node, payload: &buffer[..length] });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Sender {
    fn send(&mut self, packet: &Packet) -> io::Result<()> {
        if self.source != Some(packet.source) {
            self.socket.bind(&SocketAddrV6::new(packet.source, 0, 0, 0).into())?;
            self.source = Some(packet.source);
        }
        let to = SocketAddrV6::new(packet.destination, 0, 0, 0);
        self.socket.send_to(&packet.inner, &to.into())?;
        Ok(())
    }
}

/// Opens the sockets of a node in the namespace of the calling thread.
fn station(model: &Model, node: DeviceId, udp_port: u16) -> io::Result<Station> {
    let wire = wire(CaptureDirection::In)?;
    setsockopt(&wire, sockopt::RcvBufForce, &BUFFER)?;
    let accepted = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, udp_port))?;
    accepted.set_nonblocking(true)?;
    setsockopt(&accepted, sockopt::RcvBufForce, &BUFFER)?;
    let mut station = Station { node, wire, accepted, ports: BTreeMap::new(), senders: BTreeMap::new() };
    for port in &model.devices[node.0].ports {
        let (_, name) = model.end(*port);
        station.ports.insert(if_nametoindex(name)? as usize, *port);
        station.senders.insert(*port, Sender { socket: sender(name)?, source: None });
    }
    Ok(station)
}

fn sender(port: &str) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV6, Type::RAW, Some(Protocol::from(IPPROTO_IPV6)))?;
    socket.set_unicast_hops_v6(HOP_LIMIT)?;
    socket.bind_device(Some(port.as_bytes()))?;
    socket.set_nonblocking(true)?;
    // This socket is only for sending. It would also receive encapsulated packets, so its small buffer discards them.
    socket.set_recv_buffer_size(1)?;
    Ok(socket)
}

fn is_full(error: &io::Error) -> bool {
    let codes = [Errno::EAGAIN, Errno::ENOBUFS, Errno::EINTR].map(|errno| errno as i32);
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

fn has_no_way(error: &io::Error) -> bool {
    let codes = [
        Errno::ENETUNREACH,
        Errno::EHOSTUNREACH,
        Errno::ENETDOWN,
        Errno::EINVAL,
        Errno::ENODEV,
        Errno::ENXIO,
        Errno::EADDRNOTAVAIL,
        Errno::EACCES,
    ];
    error.raw_os_error().is_some_and(|code| codes.iter().any(|errno| *errno as i32 == code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::linux::carriers::tests::{recorder, waits};
    use crate::model::CableId;

    struct CompleteSink;

    impl Sink for CompleteSink {
        fn report_arrival(&mut self, _: Arrival<'_>) {}

        fn unsent(&mut self, _: usize) {}

        fn is_complete(&self) -> bool {
            true
        }
    }

    #[test]
    fn packets_over_switch_processes_are_paced() {
        let packet = Packet {
            from: CableId(0).lower(),
            source: Ipv6Addr::UNSPECIFIED,
            destination: Ipv6Addr::UNSPECIFIED,
            inner: Vec::new(),
        };
        let packets = vec![packet; 64];
        for (words, expected) in [(&["switch"][..], 64 / PACED), (&[], 0)] {
            let mut none = Stations { all: Vec::new(), of_port: BTreeMap::new(), buffer: Vec::new() };
            none.exchange(&packets, &mut CompleteSink, &recorder(words)).expect("no socket fails");
            assert_eq!(waits().len(), expected, "{words:?}");
        }
    }
}
