//! Steps of v1model around the two control flows: parse, clone, learn, resubmit, replicate, queue, deparse,
//! recirculate, send. The order is that of simple_switch.

use std::collections::VecDeque;

use super::control::{KeyRoom, Lookups};
use super::frame::{Frame, PacketState, Surroundings, load, store};
use super::parse::report;
use super::queue::{Departure, QueuedPacket, Queues};
use super::{Engine, PACKETS, Sink};
use crate::program::Program;
use crate::state::{Arrays, Profile, Replica, Table, ValueSet};

/// Packet kinds for the program, with the numbers of simple_switch.
mod instance {
    /// Received from a port.
    pub(super) const NORMAL: u128 = 0;
    /// Cloned from ingress to egress.
    pub(super) const INGRESS_CLONE: u128 = 1;
    /// Cloned from egress to egress.
    pub(super) const EGRESS_CLONE: u128 = 2;
    /// Sent through the switch again.
    pub(super) const RECIRCULATED: u128 = 4;
    /// Replicated for a multicast group.
    pub(super) const REPLICATED: u128 = 5;
    /// Sent through ingress again.
    pub(super) const RESUBMITTED: u128 = 6;
}

/// Maximum number of passes per received packet. A program that recirculates or clones forever must not block the
/// switch.
const MOST_PASSES: usize = 4096;

/// A packet that re-enters ingress.
#[derive(Debug)]
struct RecirculatedPacket {
    words: Box<[u64]>,
    data: Vec<u8>,
    packet: PacketState,
}

/// Pending work for a received packet.
#[derive(Debug)]
enum Task {
    Ingress(RecirculatedPacket),
    Egress(QueuedPacket),
}

/// Buffers, reused for all packets.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    words: Vec<u64>,
    copy: Vec<u64>,
    out: Vec<u8>,
    key_buffers: KeyRoom,
    tasks: VecDeque<Task>,
}

/// The parts of a switch that packet processing uses.
struct Parts<'p> {
    program: &'p Program,
    arrays: &'p mut Arrays,
    tables: &'p mut [Table],
    profiles: &'p [Profile],
    sets: &'p [ValueSet],
    key_buffers: &'p mut KeyRoom,
    surroundings: Surroundings,
}

impl Parts<'_> {
    fn frame<'f>(
        &'f mut self,
        words: &'f mut [u64],
        packet: &'f mut PacketState,
        payload: &'f [u8],
    ) -> Frame<'f> {
        let (program, around) = (self.program, self.surroundings);
        Frame { program, words, args: &[], arrays: self.arrays, packet, payload, surroundings: around }
    }

    /// Parses a packet, verifies its checksums, and returns the payload.
    fn parse<'d>(&mut self, words: &mut [u64], packet: &mut PacketState, data: &'d [u8]) -> &'d [u8] {
        let sets = self.sets;
        let at = self.frame(words, packet, &[]).parse(data, sets);
        let payload = &data[at..];
        self.frame(words, packet, payload).verify_checksums();
        payload
    }

    fn control(&mut self, egress: bool, words: &mut [u64], packet: &mut PacketState, payload: &[u8]) {
        let (program, around) = (self.program, self.surroundings);
        let mut frame =
            Frame { program, words, args: &[], arrays: self.arrays, packet, payload, surroundings: around };
        let mut lookups =
            Lookups { tables: self.tables, profiles: self.profiles, key_buffers: self.key_buffers };
        if egress {
            frame.control(program.egress, &mut lookups);
        } else {
            report(&mut frame);
            frame.control(program.ingress, &mut lookups);
        }
    }
}

impl Engine {
    /// Processes a packet from a port.
    pub fn receive(&mut self, now_ns: u64, port: u32, data: &[u8], sink: &mut impl Sink) {
        self.advance(now_ns, sink);
        tracing::debug!(target: PACKETS, port, bytes = data.len(), "packet in");
        let mut words = std::mem::take(&mut self.work.words);
        words.clear();
        words.resize(self.program.words, 0);
        let standard = &self.program.standard;
        store(&mut words, &standard.ingress_port, u128::from(port));
        store(&mut words, &standard.packet_length, data.len() as u128);
        if let Some(field) = &standard.ingress_timestamp {
            store(&mut words, field, u128::from(now_ns / 1000));
        }
        let packet = PacketState::new(port, data.len());
        self.ingress(now_ns, &mut words, packet, data, sink);
        self.work.words = words;
        self.finish(now_ns, sink);
    }

    /// Sends the queued packets and digest lists that are due.
    pub(crate) fn advance(&mut self, now_ns: u64, sink: &mut impl Sink) {
        while let Some(Departure { packet, at_ns, remaining: left }) = self.queues.pop(now_ns) {
            sink.clock(at_ns);
            self.leave(at_ns, packet, left, sink);
            self.finish(at_ns, sink);
        }
        sink.clock(now_ns);
        self.tick_digests(now_ns, sink);
    }

    /// Performs the pending work of a received packet.
    fn finish(&mut self, now_ns: u64, sink: &mut impl Sink) {
        let mut passes = 0;
        while let Some(task) = self.work.tasks.pop_front() {
            passes += 1;
            if passes > MOST_PASSES {
                tracing::error!(
                    "one packet caused {MOST_PASSES} passes through the switch; the rest is dropped"
                );
                self.work.tasks.clear();
                return;
            }
            match task {
                Task::Ingress(mut again) => {
                    self.ingress(now_ns, &mut again.words, again.packet, &again.data, sink);
                }
                Task::Egress(queued) => self.leave(now_ns, queued, 0, sink),
            }
        }
    }

    fn leave(&mut self, now_ns: u64, mut queued: QueuedPacket, left: usize, sink: &mut impl Sink) {
        let wait = Wait {
            port: queued.port,
            priority: queued.priority,
            enqueued_ns: queued.enqueued_ns,
            remaining: left,
        };
        self.egress(now_ns, &mut queued.words, queued.packet, &queued.payload, &wait, sink);
    }

    fn parts(&mut self, now_ns: u64) -> (Parts<'_>, &mut Queues) {
        let around = Surroundings { now_ns, drop_port: self.config.drop_port };
        let parts = Parts {
            program: &self.program,
            arrays: &mut self.arrays,
            tables: &mut self.tables,
            profiles: &self.profiles,
            sets: &self.sets,
            key_buffers: &mut self.work.key_buffers,
            surroundings: around,
        };
        (parts, &mut self.queues)
    }

    fn ingress(
        &mut self,
        now_ns: u64,
        words: &mut [u64],
        mut packet: PacketState,
        data: &[u8],
        sink: &mut impl Sink,
    ) {
        let arrived = packet.length;
        let (mut parts, _) = self.parts(now_ns);
        let payload = parts.parse(words, &mut packet, data);
        parts.control(false, words, &mut packet, payload);
        packet.exit = false;
        if packet.aborted {
            sink.discard(data);
            return;
        }
        if let Some((session, list)) = packet.clone.take() {
            self.clone_ingress(now_ns, words, &packet, data, (session, list, arrived), sink);
        }
        if packet.digest > 0 {
            self.learn(now_ns, words, packet.digest, sink);
        }
        if packet.resubmit > 0 {
            let list = packet.resubmit;
            let again = PacketState {
                ingress_length: packet.ingress_length,
                ..PacketState::new(packet.ingress_port, 0)
            };
            let again = PacketState { length: arrived, ..again };
            self.reenter_ingress(words, list, instance::RESUBMITTED, again, data.to_vec());
            return;
        }
        let standard = &self.program.standard;
        let group = standard.mcast_grp.as_ref().map_or(0, |field| load(words, field) as u32);
        if group != 0 {
            store(words, &standard.instance_type, instance::REPLICATED);
            let replicas = self.replication.replicas(group).to_vec();
            self.replicate(now_ns, words, &packet, payload, &replicas, sink);
            return;
        }
        let port = load(words, &standard.egress_spec) as u32;
        if port == self.config.drop_port {
            sink.discard(data);
            return;
        }
        store(words, &standard.instance_type, instance::NORMAL);
        if !self.enqueue(now_ns, words, packet, payload, port, sink) {
            sink.discard(data);
        }
    }

    /// Lets a packet re-enter ingress, keeping the metadata of a field list.
    fn reenter_ingress(&mut self, words: &[u64], list: u16, kind: u128, packet: PacketState, data: Vec<u8>) {
        let program = &self.program;
        let mut fresh = vec![0; program.words].into_boxed_slice();
        self.arrays_frame(&mut fresh, |frame| {
            if let Some(fields) = frame.program.field_lists.get(&u32::from(list)) {
                frame.take_fields(fields, words);
            }
        });
        let standard = &self.program.standard;
        store(&mut fresh, &standard.instance_type, kind);
        store(&mut fresh, &standard.packet_length, u128::from(packet.length));
        self.work.tasks.push_back(Task::Ingress(RecirculatedPacket { words: fresh, data, packet }));
    }

    /// Runs a function on a frame with these words but without a packet.
    fn arrays_frame(&mut self, words: &mut [u64], work: impl FnOnce(&mut Frame)) {
        let mut packet = PacketState::new(0, 0);
        let (mut parts, _) = self.parts(0);
        work(&mut parts.frame(words, &mut packet, &[]));
    }

    /// Clones the packet as it entered ingress: parses it again, and preserves the fields of a list.
    fn clone_ingress(
        &mut self,
        now_ns: u64,
        words: &[u64],
        packet: &PacketState,
        data: &[u8],
        (session, list, arrived): (u16, u16, u64),
        sink: &mut impl Sink,
    ) {
        let Some(session) = self.replication.sessions.get(&u32::from(session)).cloned() else { return };
        let data = &data[..clone_length(session.length, data.len())];
        let mut copy = std::mem::take(&mut self.work.copy);
        copy.clear();
        copy.resize(self.program.words, 0);
        store(&mut copy, &self.program.standard.ingress_port, u128::from(packet.ingress_port));
        let mut state = PacketState::new(packet.ingress_port, 0);
        (state.ingress_length, state.length) = (packet.ingress_length, arrived.min(data.len() as u64));
        let (mut parts, _) = self.parts(now_ns);
        let payload = parts.parse(&mut copy, &mut state, data);
        self.keep_fields(&mut copy, words, list, instance::INGRESS_CLONE);
        self.classify(&mut copy, session.class_of_service);
        self.replicate(now_ns, &mut copy, &state, payload, &session.replicas, sink);
        self.work.copy = copy;
    }

    /// Clears metadata except for the fields of a list.
    fn keep_fields(&mut self, copy: &mut [u64], words: &[u64], list: u16, kind: u128) {
        copy[self.program.metadata.clone()].fill(0);
        self.arrays_frame(copy, |frame| {
            if let Some(fields) = frame.program.field_lists.get(&u32::from(list)) {
                frame.take_fields(fields, words);
            }
        });
        store(copy, &self.program.standard.instance_type, kind);
    }

    /// Sets the queue of a clone from the class of service of its session. For class 0, the queue is the one
    /// that the field list preserves, or queue 0.
    fn classify(&self, copy: &mut [u64], class: u32) {
        if let (Some(field), 1..) = (&self.program.standard.priority, class) {
            store(copy, field, u128::from(class));
        }
    }

    /// Makes copies of a packet for replicas.
    fn replicate(
        &mut self,
        now_ns: u64,
        words: &mut [u64],
        packet: &PacketState,
        payload: &[u8],
        replicas: &[Replica],
        sink: &mut impl Sink,
    ) {
        for replica in replicas {
            if let Some(field) = &self.program.standard.egress_rid {
                store(words, field, u128::from(replica.instance));
            }
            let mut state = PacketState::new(packet.ingress_port, 0);
            (state.ingress_length, state.length) = (packet.ingress_length, packet.length);
            let mut copy: Box<[u64]> = (&*words).into();
            self.enqueue(now_ns, &mut copy, state, payload, replica.port, sink);
        }
    }

    /// Puts a packet into the queue of a port, or processes it at once if the port has none. Returns `false` if the
    /// queue is full or does not exist.
    fn enqueue(
        &mut self,
        now_ns: u64,
        words: &mut [u64],
        packet: PacketState,
        payload: &[u8],
        port: u32,
        sink: &mut impl Sink,
    ) -> bool {
        let standard = &self.program.standard;
        let priority = standard.priority.as_ref().map_or(0, |field| load(words, field) as usize);
        if priority >= self.queues.priorities() {
            tracing::error!("priority {priority} is out of range, the packet is dropped");
            return false;
        }
        if let Some(queueing) = &standard.queueing {
            store(words, &queueing.enq_timestamp, u128::from(now_ns / 1000));
            store(words, &queueing.enq_qdepth, self.queues.depth(port, priority) as u128);
        }
        if self.queues.has(port) {
            let (words, payload) = ((&*words).into(), payload.to_vec());
            let queued = QueuedPacket { words, payload, packet, port, priority, enqueued_ns: now_ns };
            return self.queues.push(port, priority, queued);
        }
        let wait = Wait { port, priority, enqueued_ns: now_ns, remaining: 0 };
        self.egress(now_ns, words, packet, payload, &wait, sink);
        true
    }

    fn egress(
        &mut self,
        now_ns: u64,
        words: &mut [u64],
        mut packet: PacketState,
        payload: &[u8],
        wait: &Wait,
        sink: &mut impl Sink,
    ) {
        let drop_port = self.config.drop_port;
        wait.report(now_ns, &self.program, words, drop_port);
        store(words, &self.program.standard.packet_length, u128::from(packet.length));
        let (mut parts, _) = self.parts(now_ns);
        parts.control(true, words, &mut packet, payload);
        if packet.aborted {
            return;
        }
        if let Some((session, list)) = packet.clone.take() {
            self.clone_egress(now_ns, words, &packet, payload, session, list);
        }
        let is_dropped = load(words, &self.program.standard.egress_spec) == u128::from(drop_port);
        let mut out = std::mem::take(&mut self.work.out);
        let (mut parts, _) = self.parts(now_ns);
        parts.frame(words, &mut packet, payload).deparse(&mut out);
        if is_dropped {
            sink.discard(&out);
        } else if packet.recirculate > 0 {
            let again = PacketState::new(packet.ingress_port, out.len());
            self.reenter_ingress(words, packet.recirculate, instance::RECIRCULATED, again, out.clone());
        } else if !packet.aborted {
            let length = out.len().min(packet.truncate);
            tracing::debug!(target: PACKETS, port = wait.port, bytes = length, "packet out");
            sink.transmit(wait.port, &out[..length]);
        }
        self.work.out = out;
    }

    /// Clones the packet at the end of egress; the clones enter egress afterwards.
    fn clone_egress(
        &mut self,
        now_ns: u64,
        words: &[u64],
        packet: &PacketState,
        payload: &[u8],
        session: u16,
        list: u16,
    ) {
        let Some(session) = self.replication.sessions.get(&u32::from(session)).cloned() else { return };
        let mut copy: Box<[u64]> = words.into();
        self.keep_fields(&mut copy, words, list, instance::EGRESS_CLONE);
        self.classify(&mut copy, session.class_of_service);
        let mut state = PacketState::new(packet.ingress_port, 0);
        (state.ingress_length, state.length) = (packet.ingress_length, packet.length);
        if session.length > 0 {
            state.truncate = session.length as usize;
        }
        for replica in &session.replicas {
            let mut words = copy.clone();
            if let Some(field) = &self.program.standard.egress_rid {
                store(&mut words, field, u128::from(replica.instance));
            }
            self.park(now_ns, words, state.clone(), payload, replica.port);
        }
    }

    /// Puts a packet into the queue of a port, or into pending work if the port has none.
    fn park(&mut self, now_ns: u64, mut words: Box<[u64]>, packet: PacketState, payload: &[u8], port: u32) {
        let standard = &self.program.standard;
        let priority = standard.priority.as_ref().map_or(0, |field| load(&words, field) as usize);
        if priority >= self.queues.priorities() {
            return;
        }
        if let Some(queueing) = &standard.queueing {
            store(&mut words, &queueing.enq_timestamp, u128::from(now_ns / 1000));
            store(&mut words, &queueing.enq_qdepth, self.queues.depth(port, priority) as u128);
        }
        let queued =
            QueuedPacket { words, payload: payload.to_vec(), packet, port, priority, enqueued_ns: now_ns };
        if self.queues.has(port) {
            self.queues.push(port, priority, queued);
        } else {
            self.work.tasks.push_back(Task::Egress(queued));
        }
    }
}

/// Queueing metadata of a packet.
struct Wait {
    port: u32,
    priority: usize,
    enqueued_ns: u64,
    remaining: usize,
}

impl Wait {
    /// Writes the queueing metadata into the program's fields.
    fn report(&self, now_ns: u64, program: &Program, words: &mut [u64], drop_port: u32) {
        let standard = &program.standard;
        if let Some(field) = &standard.egress_timestamp {
            store(words, field, u128::from(now_ns / 1000));
        }
        if let Some(queueing) = &standard.queueing {
            let waited = (now_ns / 1000).saturating_sub(self.enqueued_ns / 1000);
            store(words, &queueing.deq_timedelta, u128::from(waited));
            store(words, &queueing.deq_qdepth, self.remaining as u128);
            if let Some(field) = &queueing.qid {
                store(words, field, self.priority as u128);
            }
        }
        store(words, &standard.egress_port, u128::from(self.port));
        // Any port except the drop port, so that only egress itself can request a drop.
        store(words, &standard.egress_spec, u128::from(drop_port) + 1);
    }
}

/// Returns how many bytes of a clone a session keeps.
fn clone_length(limit: u32, length: usize) -> usize {
    if limit == 0 { length } else { length.min(limit as usize) }
}
