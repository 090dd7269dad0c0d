//! The agent of one NIC, without sockets.
//!
//! In: packets of the node, frames of the ports, requests, the time. Out: frames to send, packets for the node.
//! Invariants: nothing here waits, reads a clock or opens anything, so all of it is tested without a network; what
//! comes from the network changes nothing before source, segment and cookie were checked.

mod acknowledged;
mod channels;
mod control;
mod cookies;
mod groups;
mod guard;
mod long;
mod metrics;
mod receive;
mod room;
mod send;
mod tick;
mod view;

use std::collections::{HashMap, VecDeque};

use closc_paths::{PlaneAt, Table};
use closc_paths_engine::{Capacity, DenialId, Engine, OpenFault, ReloadFault, Settings};

use channels::Channels;
use cookies::Cookies;
use groups::Groups;
use room::Room;

pub use crate::pace::PortBurst;
pub use crate::search::T0Port;
pub use control::{Ban, BanFault, Bans, PIECE_HEADERS, unit_max};
pub use room::{channel_bytes, channels_of};
pub use view::{
    ChangeView, ChannelView, Counters, EventView, PathView, PlaneView, StatusView, TableView, WriteView,
};

use crate::choose::{Transport, flow_hash};
use crate::localise::Record;
use crate::losses::{Loss, Losses, Silence, Unanswered};
use crate::pace::{Pace, Rate};
use crate::probes::Probes;
use crate::region::Region;
use crate::run_clock::RunClock;
use crate::schedule::{Schedule, Turn};
use crate::search::Search;
use crate::sent::Cargo;
use crate::wire::{Identity, Segment};

/// Changes of state between two turns, for each far NIC: more than it has paths that change at once.
const EVENTS_PER_CHANNEL: usize = 128;

/// Setup of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Downlink of the NIC, from 0.
    pub downlink: u16,
    /// Far NICs at a time; none: as many as some memory holds.
    pub channels: Option<usize>,
    /// Time that a packet waits for one before it.
    pub reorder_ns: u64,
    /// Bytes that wait, of one NIC.
    pub reorder_bytes: usize,
    /// Every cable is probed once in this time.
    pub probe_period_ns: u64,
    /// Reach of switch probes: 0 for T0s, 1 for T1s, 2 for T2s.
    pub probe_tiers: u8,
    /// A probe that takes longer is lost.
    pub probe_timeout_ns: u64,
    /// Bytes of the IP packet of a long probe: by default the MTU of ports; 0 for no long probes.
    pub long_probe_bytes: Option<u16>,
    /// Packets of writes under way to one NIC.
    pub window: u32,
    /// Path selection.
    pub transport: Transport,
    /// Rate of a port, in Mb/s; none: as fast as the machine goes.
    pub port_mbps: Option<u32>,
    /// Burst of a port after it was idle.
    pub port_burst: PortBurst,
    /// Bytes that a port carries of each frame besides those that the agent writes.
    pub port_besides: u16,
    /// DSCP of packets.
    pub dscp: Dscp,
    /// Of a far NIC that nothing was sent to or came from for so long nothing is waited for, and it is looked at no more.
    pub idle_ns: u64,
    /// UDP port of messages.
    pub udp_port: u16,
    /// The secret of all agents of the fabric. Without it the cookies of messages follow from the table's addresses.
    pub secret: Option<[u8; 32]>,
    /// A secret of this process alone.
    pub own_secret: [u8; 32],
    /// Patience of the engine.
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
            own_secret: [0; 32],
            engine: Settings::default(),
        }
    }
}

/// DSCP of the packets of an agent, and of those that switches cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dscp {
    /// Pieces of writes.
    pub data: u8,
    /// Pieces that are sent again.
    pub again: u8,
    /// Acknowledgements, probes and answers.
    pub control: u8,
    /// Mark of packets trimmed at the port to the receiver; none, if switches trim none there.
    pub cut_at_last_hop: Option<u8>,
}

/// The table, and the time.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    /// The table that is in force.
    pub table: &'a Table<'a>,
    /// Nanoseconds of a clock that does not go back.
    pub now_ns: u64,
}

/// A port of the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Port {
    /// Destination, source and type: what every frame begins with. Unknown until the neighbour is.
    pub ethernet: Option<[u8; 14]>,
    /// Whether it has a carrier.
    pub carrier: bool,
    /// Whether its T0 answers no probe.
    pub(crate) t0_dead: bool,
    /// Good answers of the T0 in a row, from the neighbour that it has now.
    pub(crate) t0_answers: u8,
    /// When its T0 answered last.
    pub(crate) t0_answered_ns: Option<u64>,
    /// The neighbour that its T0 answered from last. The neighbour table of a port that was plugged in elsewhere may have
    /// another one by now.
    pub(crate) t0_mac: Option<[u8; 6]>,
    /// Frames for other NICs that came.
    pub(crate) strays: u64,
    /// Where it is plugged in, if not where it belongs.
    pub(crate) search: Search,
}

impl Port {
    /// Tells whether its T0 does not answer, though it has a carrier.
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
    own: [u8; 16],
    /// The segment of this NIC in each plane.
    segments: Vec<Segment>,
    epoch: u16,
    engine: Engine,
    ports: Vec<Port>,
    channels: Channels,
    by_address: HashMap<[u8; 16], usize>,
    room: Room,
    schedule: Schedule,
    records: Vec<(Turn, Record)>,
    probes: Probes,
    /// When each port may send a long probe to a switch again.
    long_ready_ns: Vec<u64>,
    region: Region,
    bans: Vec<(Ban, DenialId)>,
    next_ban: u64,
    next_write: u64,
    pace: Pace,
    /// Unit of patience with packets and probes.
    clock: RunClock,
    /// Time that the current frame had waited.
    waited_ns: u64,
    /// When a piece that waits for its port may leave.
    paced_ns: Option<u64>,
    /// The channel that sends the next piece.
    pump_turn: usize,
    losses: Losses,
    groups: Groups,
    counters: Counters,
    events: VecDeque<EventView>,
    n_events: u64,
}

impl Agent {
    /// Makes an agent. `epoch` differs from that of the process before.
    pub fn new(at: &At<'_>, options: Options, region: Region, epoch: u16) -> Result<Agent, OpenFault> {
        let room = Room::new(at.table, &options);
        let mut capacity = Capacity::of(at.table, room.channels);
        capacity.events = capacity.events.min(EVENTS_PER_CHANNEL * room.channels);
        let engine = Engine::new(at.table, options.downlink, options.engine, capacity)?;
        let schedule = schedule(at, &options);
        let records = schedule.turns().iter().zip(0..).map(|(turn, at)| (*turn, Record::at(at))).collect();
        let (identity, cookies) = identity(at.table, &options);
        Ok(Agent {
            identity,
            cookies,
            own: own_address(at.table, options.downlink),
            segments: segments(at.table, options.downlink),
            epoch,
            engine,
            ports: vec![Port::default(); usize::from(at.table.header().planes)],
            channels: Channels::new(room.channels),
            by_address: HashMap::with_capacity(room.channels),
            room,
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
                    besides: options.port_besides,
                }),
                at.now_ns,
            ),
            clock: RunClock::new(at.now_ns),
            waited_ns: 0,
            paced_ns: None,
            pump_turn: 0,
            losses: Losses::default(),
            groups: Groups::new(usize::from(at.table.header().planes)),
            counters: Counters::default(),
            events: VecDeque::new(),
            n_events: 0,
            options,
        })
    }

    /// Takes another table of the same group. Returns denials that end since they would take the last path to a NIC with it, and
    /// why.
    pub fn reload(&mut self, old: &At<'_>, new: &At<'_>) -> Result<Vec<(u64, BanFault)>, ReloadFault> {
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
        let of = |turn: &Turn, at| record(&known, *turn).copied().unwrap_or_else(|| Record::at(at));
        self.records =
            self.schedule.turns().iter().zip(0..).map(|(turn, at)| (*turn, of(turn, at))).collect();
        Ok(self.guard_again(new))
    }

    /// Returns the address of the NIC.
    pub fn own(&self) -> [u8; 16] {
        self.own
    }

    /// Returns what packets have to be to be taken.
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

    /// Returns packets lost after a number.
    pub fn losses_after(&self, number: u64) -> Vec<Loss> {
        self.losses.after(number)
    }

    /// Returns packets of writes of which nothing is known: which ones of those that are not done, and how many others.
    pub fn silence(&self) -> Silence {
        let mut silence = Silence { others: self.groups.forgotten(), ..Silence::default() };
        for channel in &self.channels {
            silence.others += channel.sent.forgotten();
            let is_open = |id: u64| channel.leaving.iter().any(|l| l.id == id && l.ended_ns.is_none());
            for sent in channel.sent.without_verdict() {
                let Cargo::Chunk { write, .. } = sent.cargo else { continue };
                if is_open(write) {
                    silence.take(Unanswered::of(channel.address.into(), sent));
                } else {
                    silence.others += 1;
                }
            }
        }
        silence
    }

    /// What messages to a NIC carry.
    fn identity_to(&self, address: &[u8; 16]) -> Identity {
        Identity { cookie: self.cookies.between(&self.own, address), ..self.identity }
    }

    /// What messages from a NIC have to carry.
    fn identity_from(&self, address: &[u8; 16]) -> Identity {
        Identity { cookie: self.cookies.between(address, &self.own), ..self.identity }
    }

    /// The flow of everything that is not a packet of the node: one queue pair for each two NICs.
    fn flow(&self, channel: usize) -> u64 {
        flow_hash([&self.own[..], &self.channels[channel].address[..]])
    }
}

/// Finds the place of a switch among those that are probed, which are in the order of the schedule.
fn place_of(records: &[(Turn, Record)], turn: Turn) -> Option<usize> {
    records.binary_search_by_key(&turn.order(), |(other, _)| other.order()).ok()
}

/// Finds what is known of a switch.
fn record(records: &[(Turn, Record)], turn: Turn) -> Option<&Record> {
    place_of(records, turn).map(|place| &records[place].1)
}

fn schedule(at: &At<'_>, options: &Options) -> Schedule {
    Schedule::new(at.table, options.downlink, (options.probe_tiers, options.probe_period_ns), at.now_ns)
}

fn identity(table: &Table<'_>, options: &Options) -> (Identity, Cookies) {
    let h = table.header();
    let block = (u128::from_be_bytes(table.t0_probe(0, 0)) >> 96) as u32;
    // Without a secret, a fabric is distinguished by its addresses: against accidents, not against attackers.
    let public = (h.pool >> 64) as u64 ^ u64::from(block).rotate_left(17) ^ 0x9e37_79b9_7f4a_7c15;
    let blocks = match h.plane {
        PlaneAt::Usids { .. } => 1,
        PlaneAt::Block => h.planes,
    };
    let cookies = Cookies::new(public, options.secret, options.own_secret);
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

fn own_address(table: &Table<'_>, downlink: u16) -> [u8; 16] {
    let h = table.header();
    h.nic((h.zone, h.group), downlink)
}

/// The segments of the NIC on a downlink, plane by plane.
pub(crate) fn segments(table: &Table<'_>, downlink: u16) -> Vec<Segment> {
    // A T0 probe is a list of two: the T0, and this NIC.
    let of = |plane| {
        let probe = u128::from_be_bytes(table.t0_probe(plane, downlink));
        Segment { block: (probe >> 96) as u32, usid: (probe >> 64) as u16 }
    };
    (0..table.header().planes).map(of).collect()
}
