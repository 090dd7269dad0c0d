//! Incoming traffic: sprayed packets, pieces of writes, messages.

use closc_paths::PlaneAt;

use crate::agent::{Agent, AgentContext, T0Port};
use crate::batch::Batch;
use crate::probes::Target;
use crate::reorder::ReceiveOutcome;
use crate::wire::{
    self, Chunk, Fault, Message, Packet, PairProbe, Payload, Segment, SelfProbe, Sequence, Status, TrimReport,
};
use crate::writes::Place;

/// Returns the first segment of the outer destination address, and whether it is the only one.
fn segment_of(frame: &[u8]) -> Option<(Segment, bool)> {
    let address = frame.get(38..54)?;
    let block = u32::from_be_bytes([address[0], address[1], address[2], address[3]]);
    let segment = Segment { block, usid: u16::from_be_bytes([address[4], address[5]]) };
    Some((segment, address[6..].iter().all(|byte| *byte == 0)))
}

/// Number of packets after which an acknowledgement is sent without further delay.
const OWED_MAX: u32 = 32;

impl Agent {
    /// Handles a frame from a port. Packets for the node are passed to `node` in order. At most four frames are added
    /// to the batch.
    pub fn receive(
        &mut self,
        at: &AgentContext<'_>,
        frame: &[u8],
        batch: &mut Batch,
        node: &mut impl FnMut(&[u8]),
    ) {
        self.receive_late(at, 0, frame, batch, node);
    }

    /// As [`Self::receive`], for a frame that waited in the socket. The waiting time is subtracted from round trips.
    pub fn receive_late(
        &mut self,
        at: &AgentContext<'_>,
        waited_ns: u64,
        frame: &[u8],
        batch: &mut Batch,
        node: &mut impl FnMut(&[u8]),
    ) {
        self.clock.advance(at.now_ns);
        self.wait_ns = waited_ns;
        self.frame_bytes = self.pace.bytes_of(frame.len());
        let packet = match wire::parse(frame, &self.identity) {
            Ok(packet) if self.is_mine(frame) => packet,
            Ok(packet) => return self.stray(at, frame, &packet),
            Err(Fault::Damaged) => return self.handle_damaged_frame(at, frame),
            Err(fault) => return self.refuse(fault),
        };
        if packet.sequence.is_none() || packet.cut {
            self.shares.took_overhead(self.frame_bytes);
        }
        if packet.cut {
            match packet.sequence {
                Some(sequence) => self.cut(at, &packet, sequence, batch),
                None => self.counters.malformed += 1,
            }
            return;
        }
        match (packet.payload, packet.sequence) {
            (Payload::Inner(inner), Some(sequence)) => self.inner(at, &packet, sequence, inner, batch, node),
            (Payload::Inner(_), None) => self.counters.malformed += 1,
            (Payload::Message(bytes), sequence) => {
                match wire::read(bytes, &self.identity_from(&packet.source)) {
                    Ok(Message::Chunk(chunk)) => match sequence {
                        Some(sequence) => self.chunk(at, &packet, sequence, &chunk, batch, node),
                        None => self.counters.malformed += 1,
                    },
                    Ok(message) => {
                        // A numbered probe also requests an acknowledgement of the packets before it.
                        let asked = matches!(message, Message::PairProbe(_)) && packet.source != self.address;
                        if let Some(sequence) = sequence.filter(|_| asked) {
                            self.handle_numbered_packet(at, &packet, sequence, None, batch, node);
                            if let Some(channel) = self.by_address.get(&packet.source).copied() {
                                self.acknowledge_twice(at, channel, batch);
                            }
                        }
                        self.message(at, (packet.source, asked && sequence.is_some()), &message, batch);
                    }
                    Err(fault) => self.refuse(fault),
                }
            }
        }
    }

    /// Returns whether the outer address of a frame consists of one segment of this NIC.
    pub fn is_mine(&self, frame: &[u8]) -> bool {
        segment_of(frame).is_some_and(|(segment, is_last)| is_last && self.segments.contains(&segment))
    }

    /// Counts a packet addressed to another NIC, which indicates swapped cables. It counts for the plane of its
    /// destination segment.
    fn stray(&mut self, at: &AgentContext<'_>, frame: &[u8], packet: &Packet<'_>) {
        // Its cookie is for the other NIC, so it cannot be checked here.
        if let Payload::Message(bytes) = packet.payload
            && let Err(fault @ (Fault::Short | Fault::Kind)) = wire::read(bytes, &self.identity)
        {
            return self.refuse(fault);
        }
        let to = segment_of(frame).filter(|(_, is_last)| *is_last).map(|(segment, _)| segment);
        let differs = |own: &Segment, other: Segment| match at.table.header().plane {
            PlaneAt::Usids { shift } => u32::from(own.usid ^ other.usid).checked_shr(shift.into()) != Some(0),
            PlaneAt::Block => false,
        };
        let of = |own: &Segment| to.is_some_and(|to| own.block == to.block && !differs(own, to));
        let plane = self.segments.iter().position(of).filter(|plane| *plane < self.ports.len());
        let (Some(plane), Some(to)) = (plane, to) else {
            self.counters.outside += 1;
            return;
        };
        let port = &mut self.ports[plane];
        port.strays += 1;
        // The downlink in the destination segment shows where the cable is plugged in.
        let first = u128::from_be_bytes(at.table.t0_probe(plane as u8, 0)) >> 64;
        let downlink = to.usid.wrapping_sub(first as u16);
        if port.t0_dead && downlink < at.table.header().nics {
            self.is_at(at, plane as u8, T0Port { plane: plane as u8, downlink });
        }
    }

    /// Ignores a message with corrupted bytes; its sender treats it as lost. A damaged probe to a switch counts as lost
    /// immediately.
    fn handle_damaged_frame(&mut self, at: &AgentContext<'_>, frame: &[u8]) {
        self.refuse(Fault::Damaged);
        if !self.is_mine(frame) || frame[22..38] != self.address {
            return;
        }
        let Some((id, epoch)) = wire::damaged_probe(frame) else { return };
        if epoch != self.epoch {
            return;
        }
        let answered = self.probes.record_answer(id, at.now_ns.saturating_sub(self.wait_ns));
        match answered {
            Some((Target::Switch(turn, place), _)) => self.handle_damaged_answer(at, (turn, place)),
            // The packet was damaged, but packets of this length pass.
            Some((Target::Long(turn, place, len), _)) => self.long_result(at, (turn, place, len), true),
            Some((Target::Other { .. } | Target::Path { .. }, _)) | None => {}
        }
    }

    fn refuse(&mut self, fault: Fault) {
        match fault {
            Fault::Outside => self.counters.outside += 1,
            Fault::Cookie => self.counters.wrong_cookie += 1,
            Fault::Short | Fault::Kind => self.counters.malformed += 1,
            Fault::Damaged => self.counters.damaged += 1,
            Fault::Version => self.counters.other_version += 1,
        }
    }

    fn inner(
        &mut self,
        at: &AgentContext<'_>,
        packet: &Packet<'_>,
        sequence: Sequence,
        inner: &[u8],
        batch: &mut Batch,
        node: &mut impl FnMut(&[u8]),
    ) {
        if inner[24..40] != self.address || !self.identity.holds(&packet.source) {
            self.counters.outside += 1;
            return;
        }
        self.handle_numbered_packet(at, packet, sequence, Some(inner), batch, node);
    }

    fn handle_numbered_packet(
        &mut self,
        at: &AgentContext<'_>,
        packet: &Packet<'_>,
        sequence: Sequence,
        inner: Option<&[u8]>,
        batch: &mut Batch,
        node: &mut impl FnMut(&[u8]),
    ) {
        let Ok(channel) = self.channel(at, packet.source) else { return };
        let numbers = (sequence.epoch, sequence.number);
        self.widen_reorder(at, channel, numbers);
        let c = &mut self.channels[channel];
        (c.alive_ns, c.last_use_ns) = (Some(self.clock.ran_ns()), at.now_ns);
        self.shares.took(self.frame_bytes, &mut c.usage, at.now_ns.saturating_sub(self.wait_ns));
        let behind = c.reorder.reorder_distance(numbers);
        let taken = c.reorder.take(numbers, inner, self.clock.ran_ns(), node);
        if behind > 0 && taken != ReceiveOutcome::Duplicate {
            c.overtaken.take(sequence.entropy, behind);
        }
        c.owe(packet.marked.then_some(sequence.entropy), at.now_ns);
        if c.pending_acks >= OWED_MAX || taken == ReceiveOutcome::Duplicate {
            self.acknowledge(at, channel, batch);
        }
    }

    /// Reports a trimmed packet to its sender, so that the sender does not wait for a timeout.
    fn cut(&mut self, at: &AgentContext<'_>, packet: &Packet<'_>, sequence: Sequence, batch: &mut Batch) {
        self.counters.cut += 1;
        let Ok(channel) = self.channel(at, packet.source) else { return };
        self.channels[channel].alive_ns = Some(self.clock.ran_ns());
        let cut = TrimReport {
            epoch: sequence.epoch,
            number: sequence.number,
            entropy: sequence.entropy,
            at_last_hop: self.options.dscp.cut_at_last_hop == Some(packet.dscp),
            ports: self.engine.local_ports(),
        };
        self.answer(at, batch, channel, &Message::Cut(cut));
    }

    fn chunk(
        &mut self,
        at: &AgentContext<'_>,
        packet: &Packet<'_>,
        sequence: Sequence,
        chunk: &Chunk<'_>,
        batch: &mut Batch,
        node: &mut impl FnMut(&[u8]),
    ) {
        let Ok(channel) = self.channel(at, packet.source) else { return };
        let place = if self.region.holds(chunk.target, chunk.total) {
            // No memory is left. Without an acknowledgement, the sender retransmits it later.
            let Some(place) = self.take_piece(at, channel, chunk) else { return };
            place
        } else {
            Place::Refused
        };
        let (place, done) = match place {
            Place::Put { at, done } => (Some(at), done),
            Place::Known => {
                self.counters.repeated += 1;
                (None, false)
            }
            Place::Refused => return self.refuse_write(at, (packet, sequence), chunk, batch, node),
        };
        if place.is_some_and(|place| self.region.write(place, chunk.data).is_err()) {
            self.counters.region_faults += 1;
            return self.refuse_write(at, (packet, sequence), chunk, batch, node);
        }
        self.counters.written_bytes += place.map_or(0, |_| chunk.data.len() as u64);
        self.handle_numbered_packet(at, packet, sequence, None, batch, node);
        if done {
            self.counters.writes_taken += 1;
            let status = self.channels[channel].incoming_writes.status(chunk.write, chunk.total);
            self.answer(at, batch, channel, &Message::Status(status));
        }
    }

    /// Reports to the sender that a write is rejected. The packet is still acknowledged, because its path is good.
    fn refuse_write(
        &mut self,
        at: &AgentContext<'_>,
        (packet, sequence): (&Packet<'_>, Sequence),
        chunk: &Chunk<'_>,
        batch: &mut Batch,
        node: &mut impl FnMut(&[u8]),
    ) {
        self.counters.refused_writes += 1;
        self.handle_numbered_packet(at, packet, sequence, None, batch, node);
        let Ok(channel) = self.channel(at, packet.source) else { return };
        let status = self.channels[channel].incoming_writes.refuse(chunk.write, chunk.total);
        self.settle_arriving(channel);
        self.answer(at, batch, channel, &Message::Status(status));
    }

    /// Sends an acknowledgement of recently received packets.
    pub(super) fn acknowledge(&mut self, at: &AgentContext<'_>, channel: usize, batch: &mut Batch) {
        let ports = self.engine.local_ports();
        let c = &mut self.channels[channel];
        let Some(mut sack) = c.reorder.acknowledge(ports) else { return c.acknowledges_later(at.now_ns) };
        (sack.marks, sack.n_marks, sack.kbps) = (c.marks, c.n_marks, self.shares.kbps());
        if self.answer(at, batch, channel, &Message::Sack(sack)) {
            self.pace.charge_ack(batch.ready().last().map_or(0, |frame| frame.bytes().len()));
            self.channels[channel].record_ack();
        } else {
            self.channels[channel].acknowledges_later(at.now_ns);
        }
    }

    /// Sends an acknowledgement over two planes. The peer asked for it, so an earlier one may have been lost.
    fn acknowledge_twice(&mut self, at: &AgentContext<'_>, channel: usize, batch: &mut Batch) {
        let ports = self.engine.local_ports();
        let c = &mut self.channels[channel];
        let Some(mut sack) = c.reorder.acknowledge(ports) else { return c.acknowledges_later(at.now_ns) };
        (sack.marks, sack.n_marks, sack.kbps) = (c.marks, c.n_marks, self.shares.kbps());
        let before = batch.ready().len();
        if self.answer_twice(at, batch, channel, &Message::Sack(sack)) {
            for frame in &batch.ready()[before..] {
                self.pace.charge_ack(frame.bytes().len());
            }
            self.channels[channel].record_ack();
        } else {
            self.channels[channel].acknowledges_later(at.now_ns);
        }
    }

    fn message(
        &mut self,
        at: &AgentContext<'_>,
        (source, is_numbered): ([u8; 16], bool),
        message: &Message<'_>,
        batch: &mut Batch,
    ) {
        match message {
            Message::SelfProbe(probe) if source == self.address => self.self_probe(at, probe),
            Message::SelfProbe(_) => self.counters.outside += 1,
            // A NIC sends no such messages to itself, so this one is forged.
            _ if source == self.address => self.counters.outside += 1,
            Message::PairProbe(probe) => {
                let Ok(channel) = self.channel_of_probe(at, source) else { return };
                self.mark_alive(at, channel, probe.ports);
                let held_ns = self.wait_ns.min(u64::from(u32::MAX)) as u32;
                let answer = PairProbe { ports: self.engine.local_ports(), hold_ns: held_ns, ..*probe };
                let answer = Message::PairAnswer(answer);
                if probe.twice && !is_numbered {
                    self.answer_twice(at, batch, channel, &answer);
                } else {
                    self.answer(at, batch, channel, &answer);
                }
            }
            Message::PairAnswer(probe) => self.pair_answer(at, source, probe),
            Message::Sack(sack) => self.sack(at, source, sack),
            Message::Status(status) => self.status_message(at, source, status, batch),
            Message::Cut(cut) => self.handle_trim(at, source, cut),
            Message::Chunk(_) => self.counters.malformed += 1,
        }
    }

    pub(super) fn mark_alive(&mut self, at: &AgentContext<'_>, channel: usize, ports: u32) {
        let c = &mut self.channels[channel];
        c.alive_ns = Some(self.clock.ran_ns());
        let mut back = self.engine.set_far_ports(c.path, ports);
        while back != 0 {
            self.engine.doubt(c.path, back.trailing_zeros() as u8, at.now_ns);
            back &= back - 1;
        }
    }

    fn self_probe(&mut self, at: &AgentContext<'_>, probe: &SelfProbe) {
        if probe.epoch != self.epoch {
            self.counters.stale += 1;
            return;
        }
        let answered = self.probes.record_answer(probe.id, at.now_ns.saturating_sub(self.wait_ns));
        self.counters.probe_answers += u64::from(answered.is_some());
        match answered {
            Some((Target::Switch(turn, place), rtt_ns)) => {
                self.handle_probe_result(at, (turn, place), Some(rtt_ns));
            }
            Some((Target::Long(turn, place, len), _)) => self.long_result(at, (turn, place, len), true),
            Some((Target::Other { port, plane }, _)) => {
                self.is_at(at, port, T0Port { plane, downlink: self.options.downlink });
            }
            Some((Target::Path { .. }, _)) | None => self.counters.stale += 1,
        }
    }

    /// Records the T0 port to which a port is cabled, if the port's own T0 is dead.
    fn is_at(&mut self, at: &AgentContext<'_>, port: u8, found: T0Port) {
        let Some(known) = self.ports.get_mut(usize::from(port)) else { return };
        if known.t0_dead && known.search.record_port(found) {
            let T0Port { plane, downlink } = found;
            let text = format!("plane {port}: cabled to downlink {downlink} of the T0 of plane {plane}");
            self.event(at.now_ns, text);
        }
    }

    fn pair_answer(&mut self, at: &AgentContext<'_>, source: [u8; 16], probe: &PairProbe) {
        let known = self.by_address.get(&source).copied();
        let (Some(channel), true) = (known, probe.epoch == self.epoch) else {
            self.counters.stale += 1;
            return;
        };
        let answered = self.probes.record_answer(probe.id, at.now_ns.saturating_sub(self.wait_ns));
        self.counters.probe_answers += u64::from(answered.is_some());
        match answered {
            Some((Target::Path { address, plane, entropy, is_long }, rtt_ns)) if address == source => {
                self.mark_alive(at, channel, probe.ports);
                self.channels[channel].sent.probe_answered(self.clock.ran_ns().saturating_sub(rtt_ns));
                let path = self.channels[channel].path;
                self.path_answered(at, (address, plane, entropy), is_long);
                self.engine.record_rtt(path, plane, entropy, rtt_ns.saturating_sub(u64::from(probe.hold_ns)));
            }
            Some(_) | None => self.counters.stale += 1,
        }
    }

    fn status_message(
        &mut self,
        at: &AgentContext<'_>,
        source: [u8; 16],
        status: &Status,
        batch: &mut Batch,
    ) {
        let Ok(channel) = self.channel_of_probe(at, source) else { return };
        let c = &mut self.channels[channel];
        c.alive_ns = Some(self.clock.ran_ns());
        if status.question {
            // The report of completion was lost, or this agent was restarted.
            let answer = c.incoming_writes.status(status.write, status.total);
            self.answer_twice(at, batch, channel, &Message::Status(answer));
        } else if let Some(leaving) = c.outgoing_writes.iter_mut().find(|leaving| leaving.id == status.write)
        {
            leaving.acknowledge(status, at.now_ns);
        }
    }
}
