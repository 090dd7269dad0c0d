//! A NIC: its agent, and the transmission rate of its ports.
//!
//! In: received frames, messages to send. Out: frames with the end of their transmission, completed messages.
//! Invariants: stations do not influence each other within a window, so each runs independently. A port sends one frame
//! at a time, at its rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::Ipv6Addr;

use closc_nic::agent::{Agent, AgentContext, Counters, Options, PathView, PortBurst};
use closc_nic::api;
use closc_nic::batch::Batch;
use closc_nic::region::Region;
use closc_paths::Table;

use super::super::endpoint::JobEndpoint;
use super::super::orders::Orders;
use super::deaths::Packet;
use super::stalls::Stalls;
use super::{inner_header, switches};
use crate::LabError;
use crate::model::{Model, PortId};
use crate::tree::{GroupTable, Mac, Tree};

/// An unconfigured node sends from a locally administered address.
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Space in a batch for the answers to one frame.
const SPARE: usize = 4;
/// Number of frames that a port may send back to back after it was idle.
const BURST_FRAMES: u64 = 2;
/// Next-header value of numbered frames.
const NUMBERED: u8 = 60;

/// Maximum number of NICs whose agents have the same limits as on hosts.
const WHOLE_NICS: usize = 256;

/// Limits of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentLimits {
    channels: Option<usize>,
    window: u32,
    idle_ns: u64,
}

impl AgentLimits {
    /// Returns the limits of agents: those of hosts, or smaller ones in a large job, where thousands of agents share
    /// one machine's memory. They then keep fewer channels, which they replace with the same rule as on hosts.
    pub(super) fn of(nics: usize) -> AgentLimits {
        let Options { channels, window, idle_ns, .. } = Options::default();
        if nics <= WHOLE_NICS {
            AgentLimits { channels, window, idle_ns }
        } else {
            AgentLimits { channels: Some(32), window: 32, idle_ns: 50_000_000 }
        }
    }
}

/// A sent frame.
#[derive(Debug)]
pub(super) struct FrameDeparture {
    pub(super) at_ns: u64,
    pub(super) plane: u8,
    pub(super) frame: Vec<u8>,
}

/// A completed message.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteCompletion {
    /// Its number within the station.
    pub(super) number: u64,
    /// Its index among all messages.
    pub(super) message: usize,
    pub(super) at_ns: u64,
    pub(super) packets: (u64, u64),
}

#[derive(Debug, Clone, Copy)]
struct WriteInProgress {
    write: u64,
    number: u64,
    message: usize,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FrameArrival {
    at_ns: u64,
    count: u64,
    plane: u8,
    /// The packet, if it has a number.
    packet: Option<Packet>,
    frame: Vec<u8>,
}

/// The station of a NIC.
pub(super) struct Station<'a> {
    table: &'a Table<'a>,
    pub(super) agent: Agent,
    ethernet: Vec<Option<[u8; 14]>>,
    carrier: Vec<bool>,
    port_mbps: u32,
    unit: usize,
    /// Time until which each port is transmitting.
    free_ns: Vec<u64>,
    incoming: BinaryHeap<Reverse<FrameArrival>>,
    count: u64,
    due_ns: u64,
    /// Pauses of the agent; `None` if it always runs.
    stalls: Option<Stalls>,
    busy: Vec<WriteInProgress>,
    sent: Vec<FrameDeparture>,
    completions: Vec<WriteCompletion>,
    /// Packets lost at ports without carrier, and packets for other NICs, with the time of the loss.
    lost: Vec<(u64, Packet)>,
    /// Number of numbered packets sent by each port.
    planes: Vec<u64>,
}

impl<'a> Station<'a> {
    pub(super) fn new(
        (at, seat): (usize, &JobEndpoint),
        tree: &Tree,
        model: &Model,
        (group, table): (&GroupTable, &'a Table<'a>),
        orders: &Orders,
        room: AgentLimits,
    ) -> Result<Station<'a>, LabError> {
        let nic = group.nics.iter().find(|nic| nic.address == seat.address);
        let fault = |what: String| LabError::Agent { nic: seat.name.clone(), failure: what };
        let nic = nic.ok_or_else(|| fault("is in no path table".to_owned()))?;
        let frame_bytes = u64::from(orders.unit) + super::HEADERS;
        let options = Options {
            downlink: nic.downlink,
            channels: room.channels,
            window: room.window,
            idle_ns: room.idle_ns,
            transport: orders.transport,
            port_mbps: Some(orders.port_mbps),
            port_burst: PortBurst { ns: 0, bytes: BURST_FRAMES * frame_bytes },
            port_besides: inner_header::INNER as u16,
            dscp: group.dscp,
            // Long probes have the size of data packets. Larger ones would occupy slow ports for too long.
            long_probe_bytes: u16::try_from(orders.packet_bytes()).ok(),
            ..Options::default()
        };
        let now = AgentContext { table, now_ns: 0 };
        let agent = Agent::new(&now, options, Region::Pattern { wrong: 0 }, at as u16 ^ 1);
        let agent = agent.map_err(|error| fault(error.to_string()))?;
        let ethernet = ethernet(seat, tree, model, group);
        let planes = ethernet.len();
        let mut station = Station {
            table,
            agent,
            ethernet,
            carrier: vec![false; planes],
            port_mbps: orders.port_mbps,
            unit: orders.unit as usize,
            free_ns: vec![0; planes],
            incoming: BinaryHeap::new(),
            count: 0,
            due_ns: 0,
            stalls: orders.stall.map(|most| Stalls::new(most, orders.seed, at)),
            busy: Vec::new(),
            sent: Vec::new(),
            completions: Vec::new(),
            lost: Vec::new(),
            planes: vec![0; planes],
        };
        for plane in 0..planes {
            station.set_carrier(plane as u8, true, 0);
        }
        Ok(station)
    }

    /// Sends a request to the agent, as over its socket.
    pub(super) fn ask(&mut self, now_ns: u64, line: &[u8], unix: f64) -> (api::Answer, Option<api::Change>) {
        let answer = api::answer(&mut self.agent, &AgentContext { table: self.table, now_ns }, line, unix);
        self.due_ns = self.due_ns.min(now_ns);
        answer
    }

    /// Returns the paths to a NIC.
    pub(super) fn paths(&mut self, now_ns: u64, to: Ipv6Addr) -> Vec<PathView> {
        self.agent.paths(&AgentContext { table: self.table, now_ns }, to.octets()).unwrap_or_default()
    }

    /// Sets or removes the carrier of a port.
    pub(super) fn set_carrier(&mut self, plane: u8, up: bool, now_ns: u64) {
        let place = usize::from(plane);
        let ethernet = self.ethernet[place];
        let up = up && ethernet.is_some();
        if self.carrier[place] != up {
            self.carrier[place] = up;
            self.agent.port(&AgentContext { table: self.table, now_ns }, plane, ethernet, up);
            self.due_ns = self.due_ns.min(now_ns);
        }
    }

    /// Submits a message: receiver, offset, length, packet size. Returns whether the agent had room for it.
    pub(super) fn order(
        &mut self,
        (to, place, bytes, unit): ([u8; 16], u64, u64, u32),
        (number, message): (u64, usize),
        now_ns: u64,
    ) -> bool {
        let at = AgentContext { table: self.table, now_ns };
        let Ok(write) = self.agent.write(&at, to, (place, place, bytes, Some(unit))) else { return false };
        self.busy.push(WriteInProgress { write, number, message });
        self.due_ns = self.due_ns.min(now_ns);
        true
    }

    /// Queues a frame that arrives at `at_ns`.
    pub(super) fn arrive(&mut self, at_ns: u64, plane: u8, mut frame: Vec<u8>) {
        let packet = Packet::of(&frame);
        inner_header::unwrap(&mut frame);
        self.count += 1;
        self.incoming.push(Reverse(FrameArrival { at_ns, count: self.count, plane, packet, frame }));
    }

    /// Returns the time of the next work.
    pub(super) fn next_ns(&self) -> u64 {
        let coming = self.incoming.peek().map_or(u64::MAX, |Reverse(coming)| coming.at_ns);
        let wanted_ns = coming.min(self.due_ns);
        match self.stalls {
            Some(stalls) if wanted_ns < u64::MAX => stalls.runs_at(wanted_ns),
            _ => wanted_ns,
        }
    }

    /// Does all work before a time.
    pub(super) fn run(&mut self, end_ns: u64) {
        if self.next_ns() >= end_ns {
            return;
        }
        let mut batch = Batch::new(self.unit + super::HEADERS as usize + 512);
        while self.next_ns() < end_ns {
            self.step(self.next_ns(), &mut batch);
        }
    }

    fn step(&mut self, now_ns: u64, batch: &mut Batch) {
        let at = AgentContext { table: self.table, now_ns };
        if self.stalls.is_none() {
            // Without pauses, the agent is never late.
            self.agent.waits(u64::MAX);
        }
        while self.incoming.peek().is_some_and(|Reverse(coming)| coming.at_ns <= now_ns) {
            let Some(Reverse(coming)) = self.incoming.pop() else { break };
            // Packets that arrive at a port without carrier are lost, and so are packets for other NICs.
            let is_here = self.carrier[usize::from(coming.plane)];
            if !is_here || !self.agent.is_mine(&coming.frame) {
                self.lost.extend(coming.packet.map(|packet| (coming.at_ns, packet)));
            }
            if is_here {
                let waited_ns = now_ns - coming.at_ns;
                self.agent.receive_late(&at, waited_ns, &coming.frame, batch, &mut |_| {});
            }
            if batch.free_frames() < SPARE {
                self.leave(now_ns, batch);
            }
        }
        if self.due_ns <= now_ns {
            self.agent.tick(&at, batch, &mut |_| {});
            self.leave(now_ns, batch);
        }
        while self.agent.pump(&at, batch) {
            self.leave(now_ns, batch);
        }
        self.leave(now_ns, batch);
        self.due_ns = self.agent.next_due_ns(now_ns).max(now_ns + 1);
        if self.stalls.is_some() {
            self.agent.waits(self.due_ns - now_ns);
        }
        self.look(now_ns);
    }

    /// Transmits frames.
    fn leave(&mut self, now_ns: u64, batch: &mut Batch) {
        for frame in batch.ready() {
            let place = usize::from(frame.plane);
            if !self.carrier[place] {
                let packet = Packet::of(&inner_header::wrap(frame.bytes()));
                self.lost.extend(packet.map(|packet| (now_ns, packet)));
                continue;
            }
            self.planes[place] += u64::from(frame.bytes()[20] == NUMBERED);
            let bytes = inner_header::wrap(frame.bytes());
            let line_ns = switches::packet_ns(bytes.len() as u64, self.port_mbps);
            let at_ns = self.free_ns[place].max(now_ns) + line_ns;
            self.free_ns[place] = at_ns;
            self.sent.push(FrameDeparture { at_ns, plane: frame.plane, frame: bytes });
        }
        batch.clear();
    }

    /// Collects completed messages.
    fn look(&mut self, now_ns: u64) {
        let (agent, arrived) = (&self.agent, &mut self.completions);
        self.busy.retain(|busy| {
            let done = agent.write_tally(busy.write);
            if let Some(tally) = done {
                let packets = (tally.sent, tally.resent);
                arrived.push(WriteCompletion {
                    number: busy.number,
                    message: busy.message,
                    at_ns: now_ns,
                    packets,
                });
            }
            done.is_none()
        });
    }

    /// Removes and returns the sent frames.
    pub(super) fn take_sent_frames(&mut self) -> Vec<FrameDeparture> {
        std::mem::take(&mut self.sent)
    }

    /// Removes and returns the packets lost at the ports of this NIC, with the times of the losses.
    pub(super) fn take_lost_packets(&mut self) -> Vec<(u64, Packet)> {
        std::mem::take(&mut self.lost)
    }

    /// Returns the segment list of a path to a NIC.
    pub(super) fn list(&self, to: Ipv6Addr, entropy: u32) -> Option<[u8; 16]> {
        let to = self.table.destination(to.octets())?;
        Some(self.table.outer(&to, entropy).address)
    }

    /// Removes and returns the completed messages.
    pub(super) fn take_completions(&mut self) -> Vec<WriteCompletion> {
        std::mem::take(&mut self.completions)
    }

    fn counters(&self) -> &Counters {
        self.agent.counters()
    }

    /// Returns the number of message bytes received.
    pub(super) fn received_bytes(&self) -> u64 {
        self.counters().written_bytes
    }

    /// Returns the number of bytes with wrong contents.
    pub(super) fn wrong_bytes(&self) -> u64 {
        self.agent.wrong_bytes()
    }

    /// Returns the number of duplicate packets.
    pub(super) fn repeated(&self) -> u64 {
        self.counters().repeated
    }

    /// Returns the number of numbered packets sent by each port.
    pub(super) fn planes(&self) -> &[u64] {
        &self.planes
    }
}

/// Returns the Ethernet header for each port: MAC addresses of the T0 and of the port, and the EtherType. `None` for a
/// port without a cable.
fn ethernet(seat: &JobEndpoint, tree: &Tree, model: &Model, group: &GroupTable) -> Vec<Option<[u8; 14]>> {
    let head = |(port, t0): (&Option<PortId>, &Mac)| {
        let (device, name) = model.end((*port)?);
        let device = tree.devices.get(&model.devices[device.0].name);
        let own = device.and_then(|device| device.batch.macs.get(name)).map_or(MAC, |mac| mac.0);
        let mut head = [0; 14];
        head[..6].copy_from_slice(&t0.0);
        head[6..12].copy_from_slice(&own);
        head[12..].copy_from_slice(&[0x86, 0xdd]);
        Some(head)
    };
    seat.ports.iter().zip(&group.t0_macs).map(head).collect()
}
