//! Outgoing traffic: packets of the node, pieces of writes, messages.

use closc_paths_engine::Pick;

use crate::agent::channel_memory::NoChannel;
use crate::agent::{Agent, AgentContext};
use crate::batch::Batch;
use crate::choose::{Transport, flow_of_packet};
use crate::probes::Target;
use crate::sent_log::Cargo;
use crate::wire::{
    self, Chunk, ETHERNET_LEN, HEADER_LEN, MESSAGE_LEN_MAX, Message, NextHeader, PairProbe, Sequence, UDP_LEN,
};
use crate::writes::Failure;

/// ECN-capable transport: switches may mark these packets.
const ECT0: u8 = 0b10;

impl Agent {
    /// Encapsulates a packet of the node. The caller has written it into the payload of the batch's next frame.
    pub fn spray(&mut self, at: &AgentContext<'_>, batch: &mut Batch, len: usize) {
        self.clock.advance(at.now_ns);
        let Some(frame) = batch.free() else { return };
        let inner = frame.payload_prefix(len);
        let (Some(head), true) = (inner.get(..40), inner.first().is_some_and(|first| first >> 4 == 6)) else {
            self.counters.not_ours += 1;
            return;
        };
        let mut address = [0; 16];
        address.copy_from_slice(&head[24..40]);
        let class = head[0] << 4 | head[1] >> 4;
        let flow = if self.options.transport == Transport::Flow { flow_of_packet(inner) } else { 0 };
        let channel = match self.channel(at, address) {
            Ok(channel) => channel,
            Err(NoChannel::Stranger) => {
                self.counters.not_ours += 1;
                return;
            }
            // `no_room` has counted the packet.
            Err(NoChannel::Crowded) => return,
        };
        if !self.send(at, channel, batch, (NextHeader::Ipv6, len, class), (Cargo::Inner, flow), None) {
            self.counters.no_path += 1;
        }
    }

    /// Sends the payload of the batch's next frame over the next path. A retransmission avoids the plane that lost the
    /// packet.
    fn send(
        &mut self,
        at: &AgentContext<'_>,
        channel: usize,
        batch: &mut Batch,
        (next, len, class): (NextHeader, usize, u8),
        (cargo, flow): (Cargo, u64),
        not_over: Option<u8>,
    ) -> bool {
        let Some(pick) = self.pick(channel, flow, not_over) else { return false };
        self.send_over(at, channel, batch, pick, (next, len, class), cargo)
    }

    /// Chooses the next path whose port has a neighbour, in a plane other than `not_over` if possible.
    fn pick(&mut self, channel: usize, flow: u64, not_over: Option<u8>) -> Option<Pick> {
        let (transport, path) = (self.options.transport, self.channels[channel].path);
        let mut pick = transport.next(&mut self.engine, path, flow)?;
        for _ in 0..self.ports.len() {
            let known = self.ports.get(usize::from(pick.plane)).is_some_and(|port| port.ethernet.is_some());
            if known && Some(pick.plane) != not_over {
                break;
            }
            pick = transport.next(&mut self.engine, path, flow)?;
        }
        Some(pick)
    }

    /// Sends the payload of the batch's next frame over a path, with the next packet number.
    fn send_over(
        &mut self,
        at: &AgentContext<'_>,
        channel: usize,
        batch: &mut Batch,
        pick: Pick,
        (next, len, class): (NextHeader, usize, u8),
        cargo: Cargo,
    ) -> bool {
        let Some(ethernet) = self.ports.get(usize::from(pick.plane)).and_then(|port| port.ethernet) else {
            return false;
        };
        self.widen_sent(at, channel);
        let c = &mut self.channels[channel];
        let outer = at.table.outer(&c.to, pick.entropy);
        let sequence = Sequence { epoch: c.epoch, number: c.sent.next_number(), entropy: pick.entropy };
        let overtakes = cargo != Cargo::Inner && class >> 2 != self.options.dscp.data;
        let times = (at.now_ns, self.clock.ran_ns());
        let pushed_out = c.sent.push((pick.entropy, pick.plane), (cargo, overtakes), times);
        if let Some(Cargo::Chunk { write, offset, .. }) = pushed_out.map(|sent| sent.cargo)
            && let Some(leaving) = c.outgoing_writes.iter_mut().find(|leaving| leaving.id == write)
        {
            leaving.record_loss(offset, u8::MAX);
        }
        c.tally.sent[usize::from(pick.plane)] += 1;
        if cargo != Cargo::Probe {
            c.last_use_ns = at.now_ns;
        }
        let (own, tag) = (self.address, self.identity.tag());
        let Some(frame) = batch.free() else { return false };
        frame.finish(pick.plane, len, |room| {
            let addresses = (&own, &outer.address);
            let label = (pick.entropy, class);
            wire::write_outer(room, &ethernet, addresses, label, Some((&sequence, tag)), (next, len))
        });
        if next == NextHeader::Udp {
            wire::seal(frame.bytes_mut());
        }
        self.channels[channel].grant.took(self.pace.bytes_of(frame.bytes().len()));
        self.pace.took(pick.plane, frame.bytes().len());
        batch.push();
        true
    }

    /// Sends a message to a NIC, given its port and outer address.
    pub(super) fn send_message(
        &mut self,
        batch: &mut Batch,
        (plane, entropy, outer): (u8, u32, &[u8; 16]),
        (to, message): (&[u8; 16], &Message<'_>),
    ) -> bool {
        let Some(ethernet) = self.ports.get(usize::from(plane)).and_then(|port| port.ethernet) else {
            return false;
        };
        self.send_to(batch, (plane, &ethernet), (entropy, outer), (to, message), 0)
    }

    /// Sends a message padded to a given length of the IP packet.
    pub(super) fn send_padded(
        &mut self,
        batch: &mut Batch,
        (plane, entropy, outer): (u8, u32, &[u8; 16]),
        (to, message): (&[u8; 16], &Message<'_>),
        len: u16,
    ) -> bool {
        let Some(ethernet) = self.ports.get(usize::from(plane)).and_then(|port| port.ethernet) else {
            return false;
        };
        self.send_to(batch, (plane, &ethernet), (entropy, outer), (to, message), len)
    }

    /// Sends a message through a port to the T0 of another plane. The T0 may have one of three MAC addresses:
    /// that of its last answer, that of the plane's current neighbour, or that of this port's neighbour. One
    /// copy goes to each.
    pub(super) fn send_by(
        &mut self,
        batch: &mut Batch,
        (port, plane): (u8, u8),
        outer: &[u8; 16],
        message: &Message<'_>,
    ) {
        let ethernet = |plane: u8| self.ports.get(usize::from(plane)).and_then(|port| port.ethernet);
        let (Some(own), nic) = (ethernet(port), self.address) else { return };
        let answered = self.ports.get(usize::from(plane)).and_then(|port| port.t0_mac);
        let known = ethernet(plane).and_then(|ethernet| ethernet.first_chunk().copied());
        let mut sent = [own.first_chunk().copied(), known, answered];
        for n in 0..sent.len() {
            if sent[..n].contains(&sent[n]) {
                sent[n] = None;
            }
            let Some(to) = sent[n] else { continue };
            let mut ethernet = own;
            ethernet[..6].copy_from_slice(&to);
            self.send_to(batch, (port, &ethernet), (0, outer), (&nic, message), 0);
        }
    }

    fn send_to(
        &mut self,
        batch: &mut Batch,
        (plane, ethernet): (u8, &[u8; 14]),
        (entropy, outer): (u32, &[u8; 16]),
        (to, message): (&[u8; 16], &Message<'_>),
        packet_len: u16,
    ) -> bool {
        let (own, identity, class) = (self.address, self.identity_to(to), self.options.dscp.control << 2);
        let Some(frame) = batch.free() else { return false };
        let payload = &mut frame.payload()[UDP_LEN..];
        let short = wire::write(&mut payload[..MESSAGE_LEN_MAX], message, &identity);
        let wanted = usize::from(packet_len).saturating_sub(HEADER_LEN - ETHERNET_LEN + UDP_LEN);
        let len = wanted.clamp(short, payload.len().max(short));
        payload[short..len].fill(0);
        wire::write_udp(frame.payload(), &identity, entropy, len);
        frame.finish(plane, len + UDP_LEN, |room| {
            wire::write_outer(
                room,
                ethernet,
                (&own, outer),
                (entropy, class),
                None,
                (NextHeader::Udp, len + UDP_LEN),
            )
        });
        wire::seal(frame.bytes_mut());
        self.pace.took(plane, frame.bytes().len());
        batch.push();
        self.counters.messages += 1;
        true
    }

    /// Sends a message to a NIC over the next good path.
    pub(super) fn answer(
        &mut self,
        at: &AgentContext<'_>,
        batch: &mut Batch,
        channel: usize,
        message: &Message<'_>,
    ) -> bool {
        self.answer_by(at, batch, channel, message, None).is_some()
    }

    /// Sends a message to a NIC over good paths of two planes, so that one copy may be lost.
    pub(super) fn answer_twice(
        &mut self,
        at: &AgentContext<'_>,
        batch: &mut Batch,
        channel: usize,
        message: &Message<'_>,
    ) -> bool {
        let first = self.answer_by(at, batch, channel, message, None);
        // If no other plane is available, use another path of the same plane.
        if first.is_some() && self.answer_by(at, batch, channel, message, first).is_none() {
            self.answer(at, batch, channel, message);
        }
        first.is_some()
    }

    /// Sends a message to a NIC over the next good path, in a plane other than `not_over`. Returns its plane.
    fn answer_by(
        &mut self,
        at: &AgentContext<'_>,
        batch: &mut Batch,
        channel: usize,
        message: &Message<'_>,
        not_over: Option<u8>,
    ) -> Option<u8> {
        let flow = self.flow(channel);
        let c = &self.channels[channel];
        let (path, to, address) = (c.path, c.to, c.address);
        for _ in 0..=self.ports.len() {
            let pick = self.options.transport.next(&mut self.engine, path, flow)?;
            let outer = at.table.outer(&to, pick.entropy);
            if Some(pick.plane) != not_over
                && self.send_message(batch, (pick.plane, pick.entropy, &outer.address), (&address, message))
            {
                return Some(pick.plane);
            }
        }
        None
    }

    /// Sends a numbered probe after unacknowledged packets, over another plane. The peer acknowledges it immediately
    /// and over two planes, and so reports which of the packets arrived.
    pub(super) fn send_after(
        &mut self,
        at: &AgentContext<'_>,
        channel: usize,
        batch: &mut Batch,
        not_over: u8,
    ) {
        let (flow, address) = (self.flow(channel), self.channels[channel].address);
        let Some(pick) = self.pick(channel, flow, Some(not_over)) else { return };
        let Pick { plane, entropy } = pick;
        let target = Target::Path { address, plane, entropy, is_long: false };
        let Some(id) = self.probes.register(target, self.clock.ran_ns(), at.now_ns) else { return };
        let (identity, class) = (self.identity_to(&address), self.options.dscp.control << 2);
        let ports = self.engine.local_ports();
        let probe = PairProbe { id, epoch: self.epoch, entropy, plane, twice: false, ports, hold_ns: 0 };
        let Some(frame) = batch.free() else { return };
        let room = &mut frame.payload()[UDP_LEN..][..MESSAGE_LEN_MAX];
        let len = wire::write(room, &Message::PairProbe(probe), &identity);
        wire::write_udp(frame.payload(), &identity, entropy, len);
        self.counters.probes += 1;
        self.send_over(at, channel, batch, pick, (NextHeader::Udp, len + UDP_LEN, class), Cargo::Probe);
    }

    /// Sends pieces of writes while windows and the batch have room. Returns whether more can be sent at once.
    pub fn pump(&mut self, at: &AgentContext<'_>, batch: &mut Batch) -> bool {
        self.clock.advance(at.now_ns);
        let mut sent = true;
        self.next_send_ns = None;
        while sent && batch.free_frames() > 4 {
            sent = false;
            let (count, first) = (self.channels.len(), self.pump_turn);
            for turn in 0..count {
                let channel = (first + turn) % count;
                if batch.free_frames() > 4
                    && self.channels.is_awake(channel)
                    && self.send_piece(at, channel, batch)
                {
                    sent = true;
                    // Round robin, even if the ports accept only one piece at a time.
                    self.pump_turn = (channel + 1) % count;
                }
            }
        }
        sent
    }

    /// Returns whether a channel's next piece may leave: a path exists, its port is ready, and the far NIC grants it.
    /// Otherwise records when it may leave.
    fn can_send(&mut self, at: &AgentContext<'_>, channel: usize) -> bool {
        let (path, flow) = (self.channels[channel].path, self.flow(channel));
        let Some(plane) = self.options.transport.next_plane(&self.engine, path, flow) else { return false };
        let port_ns = if self.options.port_mbps.is_none() { 0 } else { self.pace.ready_at(plane, at.now_ns) };
        let planes = self.engine.planes_in_use(path).count_ones();
        let granted_ns = self.channels[channel].grant.ready_at(&self.pace, planes, at.now_ns);
        let ready_ns = granted_ns.max(port_ns);
        if ready_ns > at.now_ns {
            self.next_send_ns = Some(self.next_send_ns.map_or(ready_ns, |known| known.min(ready_ns)));
        }
        ready_ns <= at.now_ns
    }

    fn send_piece(&mut self, at: &AgentContext<'_>, channel: usize, batch: &mut Batch) -> bool {
        let c = &self.channels[channel];
        if c.outgoing_writes.is_empty() || c.sent.in_flight() >= c.window(at.now_ns) {
            return false;
        }
        if !c.sent.has_room() {
            self.widen_sent(at, channel);
            if !self.channels[channel].sent.has_room() {
                return false;
            }
        }
        if !self.can_send(at, channel) {
            return false;
        }
        let c = &mut self.channels[channel];
        let mut next = c.outgoing_writes.iter_mut().filter(|leaving| leaving.ended_ns.is_none());
        let Some((id, order, piece)) = next.find_map(|l| l.next_piece().map(|piece| (l.id, l.order, piece)))
        else {
            return false;
        };
        let identity = self.identity_to(&self.channels[channel].address);
        let Some(frame) = batch.free() else { return false };
        let chunk = Chunk {
            write: id,
            total: order.total,
            target: order.target,
            offset: piece.offset,
            unit: order.unit,
            data: &[],
        };
        let payload = frame.payload();
        let head = wire::write(&mut payload[UDP_LEN..][..MESSAGE_LEN_MAX], &Message::Chunk(chunk), &identity);
        let data = &mut payload[UDP_LEN + head..][..piece.len as usize];
        if self.region.read(order.local + piece.offset, data).is_err() {
            self.counters.region_faults += 1;
            if let Some(leaving) =
                self.channels[channel].outgoing_writes.iter_mut().find(|leaving| leaving.id == id)
            {
                leaving.unsent(&piece);
                leaving.fail(Failure::Unreadable, at.now_ns);
            }
            return false;
        }
        let len = head + piece.len as usize;
        wire::write_udp(payload, &self.identity, 0, len);
        let cargo = Cargo::Chunk { write: id, offset: piece.offset, len: piece.len };
        let dscp = if piece.again { self.options.dscp.retransmit } else { self.options.dscp.data };
        let packet = (NextHeader::Udp, len + UDP_LEN, dscp << 2 | ECT0);
        let flow = self.flow(channel);
        let sent = self.send(at, channel, batch, packet, (cargo, flow), piece.not_over);
        if !sent {
            self.counters.no_path += 1;
            if let Some(leaving) =
                self.channels[channel].outgoing_writes.iter_mut().find(|leaving| leaving.id == id)
            {
                leaving.unsent(&piece);
            }
        }
        sent
    }
}
