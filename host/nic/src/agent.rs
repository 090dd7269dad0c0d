//! The agent of one NIC, without sockets.
//!
//! In: packets of the node, frames from the ports, requests, the time. Out: frames to send, packets for the node.
//! Invariants: nothing here waits, reads a clock, or opens a file or socket, so all of it is tested without a network.
//! A received packet changes no state before its source, segment and cookie have been checked.

mod acknowledgements;
mod channel_memory;
mod channels;
mod control;
mod cookies;
mod groups;
mod guard;
mod long_probes;
mod metrics;
mod receive;
mod send;
mod tick;
mod view;

use std::collections::{HashMap, VecDeque};

use closc_paths::{PlaneAt, Table};
use closc_paths_engine::{Capacity, DenialId, Engine, OpenFault, ReloadFault, Settings};

use channel_memory::ChannelMemory;
use channels::Channels;
use cookies::Cookies;
use groups::Groups;

pub use crate::pace::PortBurst;
pub use crate::search::T0Port;
pub use channel_memory::{channel_bytes, channels_of};
pub use control::{Ban, BanFault, Bans, PIECE_HEADERS, unit_max};
pub use view::{
    ChangeView, ChannelView, Counters, EventView, PathView, PlaneView, StatusView, TableView, WriteView,
};

use crate::choose::{Transport, flow_hash};
use crate::localise::Record;
use crate::losses::{Loss, Losses, Silence, UnansweredPacket};
use crate::pace::{Pace, Rate};
use crate::probes::Probes;
use crate::region::Region;
use crate::run_clock::RunClock;
use crate::schedule::{Schedule, TurnPoint};
use crate::search::Search;
use crate::sent_log::Cargo;
use crate::share::Shares;
use crate::wire::{Identity, Segment};

/// Number of path state changes per far NIC that the engine stores at most. They are read in each turn of the event
/// loop, and fewer paths change in one turn.
const EVENTS_PER_CHANNEL: usize = 128;

/// Setup of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Downlink of the NIC, from 0.
    pub downlink: u16,
    /// Maximum number of far NICs at a time; `None` for as many as fit into a fixed amount of memory.
    pub channels: Option<usize>,
    /// Longest time that a packet waits for an earlier one.
    pub reorder_ns: u64,
    /// Maximum bytes of waiting packets per far NIC.
    pub reorder_bytes: usize,
    /// Period in which a NIC sends each of its switch probes once.
    pub probe_period_ns: u64,
    /// Reach of switch probes: 0 for T0s, 1 for T1s, 2 for T2s.
    pub probe_tiers: u8,
    /// Time after which a probe without an answer counts as lost.
    pub probe_timeout_ns: u64,
    /// Length of a long probe's IP packet, in bytes. `None`: the MTU of the ports. 0: no long probes.
    pub long_probe_bytes: Option<u16>,
    /// Maximum number of packets in flight to one NIC that carry writes.
    pub window: u32,
    /// Path selection.
    pub transport: Transport,
    /// Rate of a port, in Mb/s; `None` for no limit.
    pub port_mbps: Option<u32>,
    /// Burst of a port after an idle period.
    pub port_burst: PortBurst,
    /// Bytes per frame that the port transmits in addition to those written by the agent.
    pub port_besides: u16,
    /// DSCP of packets.
    pub dscp: Dscp,
    /// Time without traffic after which a far NIC is idle. The agent then expects nothing more from it, and does not
    /// probe its good paths.
    pub idle_ns: u64,
    /// UDP port of messages.
    pub udp_port: u16,
    /// The secret shared by all agents of the fabric. Without it, message cookies are derived from the table's
    /// addresses.
    pub secret: Option<[u8; 32]>,
    /// A secret of this process only.
    pub process_secret: [u8; 32],
    /// Thresholds at which the path engine changes a path's state.
    pub engine: Settings,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            downlink: 0,
            channels: None,
            reorder_ns: 3_000_000,
            reorder_bytes: 1 << 20,
            probe_period_ns: 100_000_000,
            probe_tiers: 2,
            probe_timeout_ns: 50_000_000,
            long_probe_bytes: None,
            window: 192,
            transport: Transport::Spray,
            port_mbps: None,
            port_burst: PortBurst::default(),
            port_besides: 0,
            dscp: Dscp::default(),
            idle_ns: 10_000_000_000,
            udp_port: 49791,
            secret: None,
            process_secret: [0; 32],
            engine: Settings::default(),
        }
    }
}

/// DSCP values of the agent's packets, and of packets trimmed by switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dscp {
    /// Pieces of writes.
    pub data: u8,
    /// Retransmitted pieces.
    pub retransmit: u8,
    /// Acknowledgements, probes and answers.
    pub control: u8,
    /// DSCP of packets trimmed at the port to the receiver; `None` if switches do not trim there.
    pub cut_at_last_hop: Option<u8>,
}

/// The table, and the time.
#[derive(Debug, Clone, Copy)]
pub struct AgentContext<'a> {
    /// The table in use.
    pub table: &'a Table<'a>,
    /// Nanoseconds of a monotonic clock.
    pub now_ns: u64,
}

/// A port of the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Port {
    /// The first bytes of every frame: destination, source, EtherType. `None` until the neighbour is known.
    pub ethernet: Option<[u8; 14]>,
    /// Whether it has a carrier.
    pub carrier: bool,
    /// Whether its T0 does not answer probes.
    pub(crate) t0_dead: bool,
    /// Number of consecutive answers from the T0 since the neighbour last changed.
    pub(crate) t0_answers: u8,
    /// Time of the last answer from its T0.
    pub(crate) t0_answered_ns: Option<u64>,
    /// MAC address of the last answer from its T0. If the port was moved, the neighbour table may already contain the
    /// address of another T0.
    pub(crate) t0_mac: Option<[u8; 6]>,
    /// Frames received that were addressed to other NICs.
    pub(crate) strays: u64,
    /// Search for the T0 port that this port is plugged into, if its own T0 does not answer.
    pub(crate) search: Search,
}

impl Port {
    /// Returns whether its T0 does not answer although the port has a carrier.
    pub(crate) fn is_silent(&self) -> bool {
        self.carrier && self.t0_dead
    }
}

/// The agent.
#[derive(Debug)]
pub struct Agent {
    options: Options,
    identity: Identity,
    cookies: Cookies,
    address: [u8; 16],
    /// The segment of this NIC in each plane.
    segments: Vec<Segment>,
    epoch: u16,
    engine: Engine,
    ports: Vec<Port>,
    channels: Channels,
    by_address: HashMap<[u8; 16], usize>,
    channel_memory: ChannelMemory,
    schedule: Schedule,
    records: Vec<(TurnPoint, Record)>,
    probes: Probes,
    /// When each port may send a long probe to a switch again.
    long_ready_ns: Vec<u64>,
    region: Region,
    bans: Vec<(Ban, DenialId)>,
    next_ban: u64,
    next_write: u64,
    pace: Pace,
    /// Rate granted to each NIC that sends to this one.
    shares: Shares,
    /// Clock for packet and probe timeouts.
    clock: RunClock,
    /// Time that the current frame waited in the socket.
    wait_ns: u64,
    /// Bytes that the current frame took at its port.
    frame_bytes: u64,
    /// Time at which the next piece of a write may leave its port.
    next_send_ns: Option<u64>,
    /// The next channel that may send a piece.
    pump_turn: usize,
    losses: Losses,
    groups: Groups,
    counters: Counters,
    events: VecDeque<EventView>,
    n_events: u64,
}

impl Agent {
    /// Makes an agent. `epoch` must differ from that of the previous process.
    pub fn new(
        at: &AgentContext<'_>,
        options: Options,
        region: Region,
        epoch: u16,
    ) -> Result<Agent, OpenFault> {
        let room = ChannelMemory::new(at.table, &options);
        let mut capacity = Capacity::of(at.table, room.channels);
        capacity.events = capacity.events.min(EVENTS_PER_CHANNEL * room.channels);
        let engine = Engine::new(at.table, options.downlink, options.engine, capacity)?;
        let schedule = schedule(at, &options);
        let records =
            schedule.turn_points().iter().zip(0..).map(|(turn, at)| (*turn, Record::at(at))).collect();
        let (identity, cookies) = identity(at.table, &options);
        Ok(Agent {
            identity,
            cookies,
            address: nic_address(at.table, options.downlink),
            segments: segments(at.table, options.downlink),
            epoch,
            engine,
            ports: vec![Port::default(); usize::from(at.table.header().planes)],
            channels: Channels::new(room.channels),
            by_address: HashMap::with_capacity(room.channels),
            channel_memory: room,
            schedule,
            records,
            probes: Probes::new(options.probe_timeout_ns),
            long_ready_ns: vec![0; usize::from(at.table.header().planes)],
            region,
            bans: Vec::new(),
            next_ban: 1,
            next_write: u64::from(epoch) << 48,
            pace: Pace::new(
                usize::from(at.table.header().planes),
                options.port_mbps.map(|mbps| Rate {
                    mbps,
                    burst: options.port_burst,
                    overhead_bytes: options.port_besides,
                }),
                at.now_ns,
            ),
            shares: Shares::new(at.now_ns),
            clock: RunClock::new(at.now_ns),
            wait_ns: 0,
            frame_bytes: 0,
            next_send_ns: None,
            pump_turn: 0,
            losses: Losses::default(),
            groups: Groups::new(usize::from(at.table.header().planes)),
            counters: Counters::default(),
            events: VecDeque::new(),
            n_events: 0,
            options,
        })
    }

    /// Loads another table of the same group. Denials that would remove the last path to a NIC under the new
    /// table are ended, and returned with the reason.
    pub fn reload(
        &mut self,
        old: &AgentContext<'_>,
        new: &AgentContext<'_>,
    ) -> Result<Vec<(u64, BanFault)>, ReloadFault> {
        let mut gone = Vec::new();
        self.engine.reload(old.table, new.table, new.now_ns, |path| gone.push(path))?;
        for channel in &mut self.channels {
            if let Some((to, _)) = self.engine.destination(channel.path) {
                channel.to = to;
                channel.group = self.groups.place((to.zone, to.group));
            }
        }
        for path in gone {
            if let Some(at) = self.channels.iter().position(|channel| channel.path == path) {
                self.drop_channel(at);
            }
        }
        (self.identity, self.cookies) = identity(new.table, &self.options);
        self.segments = segments(new.table, self.options.downlink);
        self.schedule = schedule(new, &self.options);
        let known = std::mem::take(&mut self.records);
        let of = |turn: &TurnPoint, at| record(&known, *turn).copied().unwrap_or_else(|| Record::at(at));
        self.records =
            self.schedule.turn_points().iter().zip(0..).map(|(turn, at)| (*turn, of(turn, at))).collect();
        Ok(self.guard_again(new))
    }

    /// Passes all packets that wait for earlier ones to the node.
    pub(crate) fn flush(&mut self, node: &mut impl FnMut(&[u8])) {
        for channel in &mut self.channels {
            channel.reorder.flush(node);
        }
    }

    /// Returns the address of the NIC.
    pub fn address(&self) -> [u8; 16] {
        self.address
    }

    /// Returns the identity that incoming packets must match.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the segments of the NIC, plane by plane.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Returns lost packets with a number above the given one.
    pub fn losses_after(&self, number: u64) -> Vec<Loss> {
        self.losses.losses_after(number)
    }

    /// Returns the packets of unfinished writes that are neither acknowledged nor lost. Also counts such
    /// packets of ended writes, and all packets that left the log without an answer.
    pub fn silence(&self) -> Silence {
        let mut silence = Silence { others: self.groups.forgotten(), ..Silence::default() };
        for channel in &self.channels {
            silence.others += channel.sent.forgotten();
            let is_open =
                |id: u64| channel.outgoing_writes.iter().any(|l| l.id == id && l.ended_ns.is_none());
            for sent in channel.sent.undecided_packets() {
                let Cargo::Chunk { write, .. } = sent.cargo else { continue };
                if is_open(write) {
                    silence.take(UnansweredPacket::of(channel.address.into(), sent));
                } else {
                    silence.others += 1;
                }
            }
        }
        silence
    }

    /// The identity that messages to a NIC carry.
    fn identity_to(&self, address: &[u8; 16]) -> Identity {
        Identity { cookie: self.cookies.pair_cookie(&self.address, address), ..self.identity }
    }

    /// The identity that messages from a NIC must carry.
    fn identity_from(&self, address: &[u8; 16]) -> Identity {
        Identity { cookie: self.cookies.pair_cookie(address, &self.address), ..self.identity }
    }

    /// The flow of all messages and writes to a NIC: one per pair of NICs, like a queue pair. Packets of the node have
    /// their own flows.
    fn flow(&self, channel: usize) -> u64 {
        flow_hash([&self.address[..], &self.channels[channel].address[..]])
    }
}

/// Finds the index of a switch in the records, which are sorted in the order of the schedule.
fn place_of(records: &[(TurnPoint, Record)], turn: TurnPoint) -> Option<usize> {
    records.binary_search_by_key(&turn.order(), |(other, _)| other.order()).ok()
}

/// Finds the record of a switch.
fn record(records: &[(TurnPoint, Record)], turn: TurnPoint) -> Option<&Record> {
    place_of(records, turn).map(|place| &records[place].1)
}

fn schedule(at: &AgentContext<'_>, options: &Options) -> Schedule {
    Schedule::new(at.table, options.downlink, (options.probe_tiers, options.probe_period_ns), at.now_ns)
}

fn identity(table: &Table<'_>, options: &Options) -> (Identity, Cookies) {
    let h = table.header();
    let block = (u128::from_be_bytes(table.t0_probe(0, 0)) >> 96) as u32;
    // Without a secret, the cookie is computed from addresses. It separates fabrics, but does not prevent attacks.
    let public = (h.pool >> 64) as u64 ^ u64::from(block).rotate_left(17) ^ 0x9e37_79b9_7f4a_7c15;
    let blocks = match h.plane {
        PlaneAt::Usids { .. } => 1,
        PlaneAt::Block => h.planes,
    };
    let cookies = Cookies::new(public, options.secret, options.process_secret);
    let identity = Identity {
        block,
        blocks,
        pool: h.pool,
        pool_len: h.pool_len,
        udp_port: options.udp_port,
        cookie: cookies.of_fabric(),
    };
    (identity, cookies)
}

fn nic_address(table: &Table<'_>, downlink: u16) -> [u8; 16] {
    let h = table.header();
    h.nic((h.zone, h.group), downlink)
}

/// Returns the segments of the NIC on a downlink, one per plane.
pub(crate) fn segments(table: &Table<'_>, downlink: u16) -> Vec<Segment> {
    // The outer address of a T0 probe lists two segments: the T0, then this NIC.
    let of = |plane| {
        let probe = u128::from_be_bytes(table.t0_probe(plane, downlink));
        Segment { block: (probe >> 96) as u32, usid: (probe >> 64) as u16 }
    };
    (0..table.header().planes).map(of).collect()
}
