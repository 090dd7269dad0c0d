//! Queue pairs on sockets of the nodes, all served by one thread.
//!
//! In: the work and the course of a job. Out: a [`Record`]. Invariants: data and acknowledgements go to the UDP port of
//! RoCE from the source port of their flow, so switches hash them like the observed datagram. Flows over the same port
//! of a NIC share its rate. Losses cannot be observed. A retransmitted packet counts as lost, unless its first
//! transmission is acknowledged later.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{SocketAddrV6, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::super::course::{Course, LOOK};
use super::super::orders::{Orders, SAMPLE};
use super::super::pattern::Work;
use super::super::queue_pair::{Receiver, Sender};
use super::super::record::{Loss, LossReport, Message, Record, Sample};
use super::Pair;
use crate::backend::linux::connectivity::NodeNic;
use crate::progress::Watch;
use crate::{Lab, LabError};

/// UDP destination port: that of RoCE (RFC 6335 registry, service `roce`).
const PORT: u16 = 4791;
/// First bytes of the datagrams of a job.
const MAGIC: [u8; 4] = *b"clfl";
/// Size of the header before the bytes of the message.
const HEADER: usize = 28;
/// Headers of Ethernet, IPv6 and UDP.
const WIRE: u64 = 14 + 40 + 8;
/// Maximum burst after a pause, as a duration, because a sleeping thread wakes up milliseconds late.
const CATCH_UP_NS: u64 = 20_000_000;
/// Maximum size of a datagram.
const BUFFER: usize = 1 << 16;

/// Nodes with their sockets.
pub(super) struct Nodes {
    orders: Orders,
    flows: Vec<FlowState>,
    /// Flows by sender and receiver.
    places: BTreeMap<(usize, usize), usize>,
    /// A socket for each NIC, for all received datagrams.
    inboxes: Vec<UdpSocket>,
    /// Time until which each port of a NIC is busy.
    free_ns: Vec<u64>,
    /// Flows that may have packets to send.
    active: BTreeSet<usize>,
    messages: Vec<Message>,
    /// Number of each message within its sender.
    numbers: Vec<u64>,
    received: Vec<u64>,
    /// Retransmitted packets: flow, number and time of transmission.
    losses: BTreeMap<(usize, u64, u64), u64>,
    record: Record,
}

/// State of a flow.
struct FlowState {
    pair: Pair,
    sender: Sender,
    receiver: Receiver,
    /// Source and destination of data, and of acknowledgements.
    sockets: [(UdpSocket, SocketAddrV6); 2],
    /// Egress port of the NIC, by its index in `free_ns`, and its plane.
    port: usize,
    plane: usize,
}

/// Header of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    is_data: bool,
    flow: u32,
    number: u64,
    sent_ns: u64,
}

impl Header {
    fn bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = u8::from(self.is_data);
        bytes[8..12].copy_from_slice(&self.flow.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.number.to_be_bytes());
        bytes[20..].copy_from_slice(&self.sent_ns.to_be_bytes());
        bytes
    }

    /// Reads a header and the rest of the datagram.
    fn read(bytes: &[u8]) -> Option<(Header, &[u8])> {
        let (own, rest) = bytes.split_first_chunk::<HEADER>()?;
        let long = |at: usize| u64::from_be_bytes(own[at..at + 8].try_into().expect("eight bytes"));
        let is_ours = own[..4] == MAGIC && own[4] < 2;
        let flow = u32::from_be_bytes(own[8..12].try_into().expect("four bytes"));
        is_ours.then(|| (Header { is_data: own[4] == 1, flow, number: long(12), sent_ns: long(20) }, rest))
    }
}

/// Expected byte at a position of a packet.
fn content(number: u64, at: usize) -> u8 {
    (number as u8).wrapping_mul(31).wrapping_add(at as u8)
}

impl Nodes {
    /// Opens the sockets of all NICs, each in its node.
    pub(super) fn open(
        lab: &mut Lab,
        seats: &[NodeNic],
        pairs: &[Pair],
        orders: &Orders,
    ) -> Result<Nodes, LabError> {
        let (inboxes, mut open) = sockets(lab, seats, pairs)?;
        let mut ports = BTreeMap::new();
        let mut flows = Vec::with_capacity(pairs.len());
        for (flow, pair) in pairs.iter().enumerate() {
            let first = pair.egress_ports[0].first().copied();
            let count = ports.len();
            let port = *ports.entry(first).or_insert(count);
            let plane = first.map_or(0, |port| lab.model().cables[port.cable().0].plane);
            let mut socket = |side| open.remove(&(flow, side)).expect("each was opened at its node");
            flows.push(FlowState {
                pair: pair.clone(),
                sender: Sender::new(orders.unit),
                receiver: Receiver::default(),
                sockets: [socket(0), socket(1)],
                port,
                plane: usize::from(plane),
            });
        }
        let places = pairs.iter().enumerate().map(|(at, pair)| ((pair.from, pair.to), at)).collect();
        let record = Record { planes: vec![0; lab.model().planes()], ..Record::default() };
        Ok(Nodes {
            orders: orders.clone(),
            flows,
            places,
            inboxes,
            free_ns: vec![0; ports.len()],
            active: BTreeSet::new(),
            messages: Vec::new(),
            numbers: Vec::new(),
            received: vec![0; seats.len()],
            losses: BTreeMap::new(),
            record,
        })
    }

    /// Sends and receives until the job is over.
    pub(super) fn drive(
        mut self,
        mut work: Work,
        course: &Course,
        watch: &Watch<'_>,
    ) -> Result<Record, LabError> {
        let by_number = self.orders.messages.is_some();
        let duration_ns = course.duration.as_nanos() as u64;
        self.record.stop_ns = (!by_number).then_some(duration_ns);
        let patience_ns = self.orders.patience.as_nanos() as u64;
        let (mut moved_ns, mut sample_ns) = (0, 0);
        loop {
            watch.check()?;
            let now_ns = course.now_ns();
            let sending = by_number || course.lasts();
            if let Some(every) = self.orders.burst_interval {
                work.allow_bursts(now_ns / (every.as_nanos() as u64).max(1) + 1);
            }
            let mut moves = sending && self.order(&mut work, now_ns);
            self.send(now_ns)?;
            if now_ns >= sample_ns {
                self.sample(now_ns, course);
                sample_ns = now_ns + SAMPLE.as_nanos() as u64;
            }
            moves |= self.receive(&mut work, course)?;
            moved_ns = if moves { now_ns } else { moved_ns };
            let over = if by_number { work.is_done() } else { !sending && work.in_flight() == 0 };
            let given_up = now_ns - moved_ns > patience_ns && (by_number || !sending);
            if over || given_up || course.failed.load(Ordering::SeqCst) {
                self.sample(course.now_ns(), course);
                return Ok(self.finish(course.now_ns()));
            }
            self.wait(course, sample_ns)?;
        }
    }

    /// Starts every message that may be sent; returns whether there was any.
    fn order(&mut self, work: &mut Work, now_ns: u64) -> bool {
        let mut any = false;
        for from in 0..self.inboxes.len() {
            while let Some(next) = work.take(from) {
                let flow = self.places[&(from, next.to)];
                self.flows[flow].sender.order(self.messages.len(), self.orders.message_bytes);
                self.active.insert(flow);
                self.numbers.push(next.number);
                self.messages.push(Message {
                    from,
                    to: next.to,
                    at_ns: now_ns,
                    took_ns: None,
                    packets: (0, 0),
                });
                any = true;
            }
        }
        any
    }

    /// Sends all packets that are due, one flow after another.
    fn send(&mut self, now_ns: u64) -> Result<(), LabError> {
        let mut packet = Vec::with_capacity(HEADER + self.orders.unit as usize);
        let mut waiting: Vec<usize> = self.active.iter().copied().collect();
        while !waiting.is_empty() {
            let mut more = Vec::with_capacity(waiting.len());
            for at in waiting {
                let flow = &mut self.flows[at];
                let free_ns = &mut self.free_ns[flow.port];
                if *free_ns > now_ns {
                    continue;
                }
                let Some(own) = flow.sender.take(now_ns) else {
                    if flow.sender.next_ns().is_none() {
                        self.active.remove(&at);
                    }
                    continue;
                };
                if let Some(lost_ns) = own.lost {
                    self.losses.insert((at, own.number, lost_ns), now_ns);
                }
                let header = Header { is_data: true, flow: at as u32, number: own.number, sent_ns: now_ns };
                packet.clear();
                packet.extend(header.bytes());
                packet.extend((0..own.bytes as usize).map(|at| content(own.number, at)));
                send(&flow.sockets[0], &packet)?;
                let bits = 8 * (WIRE + packet.len() as u64);
                let took_ns = bits * 1000 / u64::from(self.orders.port_mbps.max(1));
                *free_ns = (*free_ns).max(now_ns.saturating_sub(CATCH_UP_NS)) + took_ns;
                self.record.planes[flow.plane] += 1;
                more.push(at);
            }
            waiting = more;
        }
        Ok(())
    }

    /// Reads everything that has arrived; returns whether a message was completed.
    fn receive(&mut self, work: &mut Work, course: &Course) -> Result<bool, LabError> {
        let mut buffer = vec![0; BUFFER];
        let mut any = false;
        for seat in 0..self.inboxes.len() {
            loop {
                let length = match self.inboxes[seat].recv(&mut buffer) {
                    Ok(length) => length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(LabError::io("receive a packet")(error)),
                };
                let Some((header, rest)) = Header::read(&buffer[..length]) else { continue };
                if header.flow as usize >= self.flows.len() {
                    continue;
                }
                if header.is_data {
                    self.take(seat, header, rest)?;
                } else {
                    any |= self.handle_ack(work, header, course.now_ns());
                }
            }
        }
        Ok(any)
    }

    /// Processes data, and acknowledges it.
    fn take(&mut self, seat: usize, header: Header, bytes: &[u8]) -> Result<(), LabError> {
        let flow = &mut self.flows[header.flow as usize];
        if flow.pair.to != seat {
            self.record.wrong_bytes += bytes.len() as u64;
            return Ok(());
        }
        if flow.receiver.take(header.number) {
            self.received[seat] += bytes.len() as u64;
            let wrong = bytes.iter().enumerate().filter(|(at, byte)| **byte != content(header.number, *at));
            self.record.wrong_bytes += wrong.count() as u64;
        } else {
            self.record.repeated += 1;
        }
        send(&flow.sockets[1], &Header { is_data: false, ..header }.bytes())
    }

    /// Processes an acknowledgement; returns whether it completes a message.
    fn handle_ack(&mut self, work: &mut Work, header: Header, now_ns: u64) -> bool {
        let at = header.flow as usize;
        // The packet was late, not lost.
        self.losses.remove(&(at, header.number, header.sent_ns));
        self.active.insert(at);
        let flow = &mut self.flows[at];
        let Some(done) = flow.sender.handle_ack(header.number, header.sent_ns, now_ns) else {
            return false;
        };
        let message = &mut self.messages[done.message];
        message.took_ns = Some(now_ns - message.at_ns);
        message.packets = done.packets;
        work.record_arrival(flow.pair.from, self.numbers[done.message]);
        true
    }

    fn sample(&mut self, at_ns: u64, course: &Course) {
        self.record.samples.push(Sample { at_ns, received: self.received.clone() });
        if at_ns < course.first_step.as_nanos() as u64 {
            let times: Vec<u64> = self.flows.iter().filter_map(|flow| flow.sender.round_trip_ns()).collect();
            self.record.rtt_ns = times.iter().sum::<u64>() / times.len().max(1) as u64;
        }
    }

    /// Waits until a datagram arrives or can be sent.
    fn wait(&self, course: &Course, sample_ns: u64) -> Result<(), LabError> {
        let now_ns = course.now_ns();
        let at = |flow: &usize| {
            let flow = &self.flows[*flow];
            Some(flow.sender.next_ns()?.max(self.free_ns[flow.port]))
        };
        let next_ns = self.active.iter().filter_map(at).min().unwrap_or(u64::MAX).min(sample_ns);
        let pause = std::time::Duration::from_nanos(next_ns.saturating_sub(now_ns)).min(LOOK);
        let mut polls: Vec<PollFd<'_>> =
            self.inboxes.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
        match poll(&mut polls, PollTimeout::try_from(pause).unwrap_or(PollTimeout::ZERO)) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(LabError::os("wait for packets")(errno)),
        }
    }

    fn finish(mut self, end_ns: u64) -> Record {
        let words = |(at, sent_ns, known_ns): (usize, u64, Option<u64>)| {
            let pair = &self.flows[at].pair;
            let entropy = u32::from(pair.source_port);
            let word = LossReport { from: pair.from, to: pair.to, entropy, sent_ns, known_ns };
            Loss { lost_ns: sent_ns, step: None, in_switch: false, is_probe: false, report: Some(word) }
        };
        let known = self.losses.iter().map(|((at, _, sent_ns), known_ns)| (*at, *sent_ns, Some(*known_ns)));
        let silent = self.flows.iter().enumerate();
        let silent = silent.flat_map(|(at, flow)| flow.sender.send_times().map(move |sent| (at, sent, None)));
        let mut losses: Vec<Loss> = known.chain(silent).map(words).collect();
        losses.sort_by_key(|loss| loss.lost_ns);
        self.record.losses = losses;
        self.record.messages = self.messages;
        self.record.end_ns = end_ns;
        self.record
    }
}

/// A socket with its destination, by flow and kind: data, or acknowledgements.
type Outboxes = BTreeMap<(usize, usize), (UdpSocket, SocketAddrV6)>;

/// Opens the sockets of all NICs: one for received datagrams, and one for each flow that leaves it.
fn sockets(lab: &mut Lab, seats: &[NodeNic], pairs: &[Pair]) -> Result<(Vec<UdpSocket>, Outboxes), LabError> {
    let address = |seat: usize, port: u16| SocketAddrV6::new(seats[seat].address.to_ipv6(), port, 0, 0);
    let mut inboxes = Vec::with_capacity(seats.len());
    let mut open = Outboxes::new();
    for (at, seat) in seats.iter().enumerate() {
        // One end of a pair sends data, the other one acknowledgements.
        let own: Vec<(usize, usize, usize)> = pairs
            .iter()
            .enumerate()
            .flat_map(|(flow, pair)| [(flow, 0, pair.from, pair.to), (flow, 1, pair.to, pair.from)])
            .filter(|(_, _, from, _)| *from == at)
            .map(|(flow, side, _, to)| (flow, side, to))
            .collect();
        let source = |(flow, _, _): &(usize, usize, usize)| address(at, pairs[*flow].source_port);
        let ends: Vec<SocketAddrV6> =
            std::iter::once(address(at, PORT)).chain(own.iter().map(source)).collect();
        let mut sockets = lab.breakable()?.sockets(seat.node, &ends)?.into_iter();
        inboxes.extend(sockets.next());
        for ((flow, side, to), socket) in own.into_iter().zip(sockets) {
            open.insert((flow, side), (socket, address(to, PORT)));
        }
    }
    Ok((inboxes, open))
}

/// Sends a datagram. If its node has no route or no buffer, it is lost like any other.
fn send((socket, to): &(UdpSocket, SocketAddrV6), bytes: &[u8]) -> Result<(), LabError> {
    let lost = [
        Errno::ENETUNREACH,
        Errno::EHOSTUNREACH,
        Errno::ENETDOWN,
        Errno::EACCES,
        Errno::EINVAL,
        Errno::ENOBUFS,
        Errno::EAGAIN,
        Errno::ECONNREFUSED,
        Errno::EPERM,
        Errno::EINTR,
        Errno::ENODEV,
        Errno::EADDRNOTAVAIL,
    ];
    match socket.send_to(bytes, *to) {
        Err(error) if !lost.iter().any(|errno| error.raw_os_error() == Some(*errno as i32)) => {
            Err(LabError::io("send a packet")(error))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let header = Header { is_data: true, flow: 7, number: 1 << 40, sent_ns: 3 };
        let bytes = [&header.bytes()[..], b"abc"].concat();
        assert_eq!(Header::read(&bytes), Some((header, &b"abc"[..])));
        assert_eq!(Header::read(&bytes[..HEADER - 1]), None);
        let mut other = bytes.clone();
        other[0] = 0;
        assert_eq!(Header::read(&other), None);
        other = bytes;
        other[4] = 2;
        assert_eq!(Header::read(&other), None);
    }
}
