//! Status of an agent.

use std::net::Ipv6Addr;

use closc_paths::Table;
use closc_paths_engine::{PathId, State};
use serde::{Deserialize, Serialize};

use crate::agent::control::Ban;
use crate::agent::{Agent, AgentContext, T0Port};
use crate::choose::Transport;
use crate::localise::Finding;
use crate::long_probes::LongProbeView;
use crate::region::Region;
use crate::schedule::TurnPoint;
use crate::writes::{OutgoingWrite, Tally};

/// Maximum number of events that are kept.
pub(super) const EVENTS_MAX: usize = 1024;

/// Counters of the agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Packets of the node that are not IPv6 or go to addresses outside the fabric.
    pub not_ours: u64,
    /// Packets without a usable path: every path was denied, or no port was up.
    pub no_path: u64,
    /// Packets and messages that were dropped because all channels had pending traffic.
    pub no_room: u64,
    /// Far NICs whose channel was closed to make room for another.
    pub made_room: u64,
    /// Frames from outside the fabric: ignored.
    pub outside: u64,
    /// Frames with another fabric's cookie: ignored.
    pub wrong_cookie: u64,
    /// Frames that cannot be read: ignored.
    pub malformed: u64,
    /// Messages with a wrong checksum: ignored, so their sender treats them as lost.
    pub damaged: u64,
    /// Messages of agents of another version: ignored.
    pub other_version: u64,
    /// Answers to an earlier process, and duplicate answers: ignored.
    pub stale: u64,
    /// Rejected pieces of writes: outside the region, too many, or not written because of an error.
    pub refused_writes: u64,
    /// Failed reads and writes of the local memory region.
    pub region_faults: u64,
    /// Received packets that were trimmed to their headers because a queue was full.
    pub cut: u64,
    /// Bytes of writes received.
    pub written_bytes: u64,
    /// Pieces of writes received more than once, because they were retransmitted without need.
    pub repeated: u64,
    /// Writes received completely.
    pub writes_taken: u64,
    /// Probes sent.
    pub probes: u64,
    /// Long probes to switches, which `probes` does not include.
    pub long_probes: u64,
    /// Probes that were answered.
    pub probe_answers: u64,
    /// Messages sent, including probes.
    pub messages: u64,
}

/// A path's change of state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeView {
    /// The NIC that the path goes to.
    pub to: Ipv6Addr,
    /// Its entropy value.
    pub entropy: u32,
    /// Previous state.
    pub from: String,
    /// New state.
    pub now: String,
    /// Cause.
    pub cause: String,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventView {
    /// Number, from 1.
    pub number: u64,
    /// Time, by the agent's clock.
    pub at_ns: u64,
    /// Description.
    pub text: String,
    /// The state change, if the event is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeView>,
}

/// A plane.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlaneView {
    /// Its number.
    pub plane: u8,
    /// Whether the port has a carrier.
    pub carrier: bool,
    /// Whether the neighbour is known.
    pub neighbour: bool,
    /// Whether the T0 answers probes; `None` without a carrier, since no probes are sent then.
    pub t0_answers: Option<bool>,
    /// Round trip to the T0 and back; `None` if it does not answer.
    pub t0_rtt_us: Option<f64>,
    /// Milliseconds since the last answer of the T0; `None` if it has never answered.
    pub t0_answered_ms_ago: Option<f64>,
    /// Frames addressed to other NICs, which indicate swapped cables. They are ignored.
    pub strays: u64,
    /// The T0 port to which the port is cabled, if its own T0 is dead and received frames show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_at: Option<T0Port>,
}

/// A far NIC.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChannelView {
    /// Its address.
    pub to: Ipv6Addr,
    /// Whether an agent has answered from there.
    pub agent: bool,
    /// Planes in use.
    pub planes_in_use: u32,
    /// Paths that are good.
    pub good: usize,
    /// Paths whose state is unknown.
    pub unknown: usize,
    /// Paths that are skipped once.
    pub skip: usize,
    /// Paths that are bad.
    pub assumed_bad: usize,
    /// Paths that are denied.
    pub denied: usize,
    /// Packets sent over each plane.
    pub sent: Vec<u64>,
    /// Packets received.
    pub received: u64,
    /// Packets sent and lost.
    pub lost: u64,
    /// Packets that were declared lost but arrived.
    pub late: u64,
    /// Packets that were trimmed to their headers.
    pub cut: u64,
    /// Time of the last loss, by the agent's clock.
    pub last_lost_ns: u64,
    /// Packets that waited for an earlier one.
    pub reordered: u64,
    /// Packets that were waited for but did not arrive.
    pub missed: u64,
    /// Packets received more than once.
    pub duplicates: u64,
    /// Paths from that NIC whose packets were overtaken; most affected first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overtaken: Vec<OvertakenPathView>,
    /// Smoothed round trip of packets until their acknowledgement.
    pub rtt_us: f64,
    /// Round trips of probes over the paths to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths_rtt_us: Option<RttView>,
}

/// A path from a NIC whose packets arrived after later ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OvertakenPathView {
    /// Its entropy value in the sender's table.
    pub entropy: u32,
    /// Its plane.
    pub plane: u8,
    /// Packets that arrived after a later one.
    pub packets: u32,
    /// Maximum number of these that may belong to other paths.
    pub uncertain: u32,
    /// Maximum number of later packets that arrived before one of them.
    pub behind_most: u32,
}

/// Round trips of probes to a NIC. Probes use the path, answers use any path. Time spent waiting in sockets
/// is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RttView {
    /// The shortest.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The longest.
    pub most: f64,
}

impl RttView {
    /// Summarises measured round trips in nanoseconds, without zeros; `None` if none remain.
    fn of(rtts_ns: impl Iterator<Item = u32>) -> Option<RttView> {
        let us: Vec<f64> =
            rtts_ns.filter(|rtt_ns| *rtt_ns > 0).map(|rtt_ns| f64::from(rtt_ns) / 1e3).collect();
        let least = us.iter().copied().reduce(f64::min)?;
        let most = us.iter().copied().reduce(f64::max)?;
        Some(RttView { least, mean: us.iter().sum::<f64>() / us.len() as f64, most })
    }
}

/// The path table in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableView {
    /// The fabric named in the table; tables of older compilers do not name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric: Option<String>,
    /// Its checksum, eight hexadecimal digits. Tables of another plan have another checksum.
    pub checksum: String,
}

impl TableView {
    /// Describes a table.
    pub fn of(table: &Table<'_>) -> TableView {
        let fabric = table.fabric().map(str::to_owned);
        TableView { fabric, checksum: format!("{:08x}", table.checksum()) }
    }
}

/// The agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatusView {
    /// The address of the NIC.
    pub nic: Ipv6Addr,
    /// The path table in use.
    pub table: TableView,
    /// Path selection.
    pub transport: Transport,
    /// Current time, by the agent's clock.
    pub now_ns: u64,
    /// Time during which the agent could run. It falls behind the clock while other processes use the processor.
    pub ran_ns: u64,
    /// Planes.
    pub planes: Vec<PlaneView>,
    /// Maximum number of far NICs at a time.
    pub channels_max: usize,
    /// Far NICs.
    pub channels: Vec<ChannelView>,
    /// Faults.
    pub findings: Vec<Finding>,
    /// Switches to which the last full-length probe was lost, or has not been answered yet. All others pass full-length
    /// packets. Absent if long probes are disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long: Option<Vec<LongProbeView>>,
    /// Denials.
    pub denials: Vec<Ban>,
    /// Counters.
    pub counters: Counters,
    /// Bytes received with a wrong value, if the region is a pattern.
    pub wrong_bytes: u64,
}

/// A path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathView {
    /// The entropy value.
    pub entropy: u32,
    /// Its plane.
    pub plane: u8,
    /// The T0's uplink.
    pub uplink: u16,
    /// The outer address.
    pub outer: Ipv6Addr,
    /// Its state.
    pub state: &'static str,
    /// Whether packets are sent over it.
    pub in_use: bool,
    /// Packets lost.
    pub lost: u32,
    /// Smoothed round trip of probes over it; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<f64>,
    /// Successful answers that a bad path still needs.
    pub answers_wanted: u16,
}

/// A write.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WriteView {
    /// Its identifier.
    pub write: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether the far NIC has reported it complete.
    pub done: bool,
    /// The reason why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Duration, or the time so far.
    pub elapsed_us: f64,
    /// Pieces sent.
    pub sent: u64,
    /// Pieces retransmitted.
    pub resent: u64,
}

impl WriteView {
    pub(super) fn of(write: &OutgoingWrite, now_ns: u64) -> WriteView {
        WriteView {
            write: write.id,
            bytes: write.order.total,
            done: write.is_done(),
            failed: write.failure.map(|failure| failure.to_string()),
            elapsed_us: write.ended_ns.unwrap_or(now_ns).saturating_sub(write.since_ns) as f64 / 1e3,
            sent: write.tally.sent,
            resent: write.tally.resent,
        }
    }
}

impl Agent {
    /// Returns the agent's status.
    pub fn status(&self, at: &AgentContext<'_>) -> StatusView {
        StatusView {
            nic: Ipv6Addr::from(self.address),
            table: TableView::of(at.table),
            transport: self.options.transport,
            now_ns: at.now_ns,
            ran_ns: self.clock.ran_ns(),
            planes: (0..self.ports.len() as u8).map(|plane| self.plane_view(at, plane)).collect(),
            channels_max: self.channel_memory.channels,
            channels: (0..self.channels.len()).map(|n| self.channel_view(at, n)).collect(),
            findings: self.findings(at),
            long: self.long_view(at),
            denials: self.bans().bans,
            counters: self.counters,
            wrong_bytes: self.wrong_bytes(),
        }
    }

    fn plane_view(&self, at: &AgentContext<'_>, plane: u8) -> PlaneView {
        let port = self.ports[usize::from(plane)];
        let record = self.records.iter().find(|(turn, _)| *turn == TurnPoint::T0 { plane });
        let record = record.map(|(_, record)| *record).unwrap_or_default();
        // Without a carrier no probe is sent, so earlier results do not apply.
        let t0_answers = port.carrier.then_some(!port.t0_dead && record.sent > record.lost);
        let age_ns = port.t0_answered_ns.map(|answered_ns| at.now_ns.saturating_sub(answered_ns));
        PlaneView {
            plane,
            carrier: port.carrier,
            neighbour: port.ethernet.is_some(),
            t0_answers,
            t0_rtt_us: t0_answers.filter(|answers| *answers).map(|_| record.rtt_ns as f64 / 1e3),
            t0_answered_ms_ago: age_ns.map(|age_ns| age_ns as f64 / 1e6),
            strays: port.strays,
            found_at: port.search.place().filter(|_| port.t0_dead && port.carrier),
        }
    }

    fn channel_view(&self, at: &AgentContext<'_>, n: usize) -> ChannelView {
        let c = &self.channels[n];
        let overtaken = |path: crate::reordered_paths::Path| OvertakenPathView {
            entropy: path.entropy,
            plane: at.table.choice(path.entropy).plane,
            packets: path.packets,
            uncertain: path.uncertain,
            behind_most: path.max_reorder_distance,
        };
        let count = |state: State| self.engine.values(c.path).filter(|v| v.state == state).count();
        ChannelView {
            to: Ipv6Addr::from(c.address),
            agent: c.alive_ns.is_some(),
            planes_in_use: self.engine.planes_in_use(c.path).count_ones(),
            good: count(State::Good),
            unknown: count(State::Unknown),
            skip: count(State::Skip),
            assumed_bad: count(State::AssumedBad),
            denied: count(State::Denied),
            sent: c.tally.sent[..self.ports.len().min(32)].to_vec(),
            received: c.tally.received,
            lost: c.tally.lost,
            late: c.tally.late,
            cut: c.tally.cut,
            last_lost_ns: c.tally.last_lost_ns,
            reordered: c.reorder.reordered,
            missed: c.reorder.missed,
            duplicates: c.reorder.duplicates,
            overtaken: c.overtaken.paths().into_iter().map(overtaken).collect(),
            rtt_us: c.sent.rtt_ns() as f64 / 1e3,
            paths_rtt_us: RttView::of(self.engine.values(c.path).map(|value| value.rtt_ns)),
        }
    }

    /// Lists the paths to a NIC. Returns `None` if the address does not belong to another NIC, or if all
    /// channels have pending traffic. A NIC without a channel is added to the engine temporarily. The request
    /// opens a channel only if the engine is full.
    pub fn paths(&mut self, at: &AgentContext<'_>, address: [u8; 16]) -> Option<Vec<PathView>> {
        if address == self.address {
            return None;
        }
        if let Some(channel) = self.by_address.get(&address) {
            return Some(self.paths_of(at, self.channels[*channel].path));
        }
        let Ok(path) = self.engine.open(at.table, address, at.now_ns) else {
            let channel = self.channel_of_probe(at, address).ok()?;
            return Some(self.paths_of(at, self.channels[channel].path));
        };
        self.repeat_dead(at, path);
        let paths = self.paths_of(at, path);
        self.engine.close(path);
        Some(paths)
    }

    fn paths_of(&self, at: &AgentContext<'_>, path: PathId) -> Vec<PathView> {
        let Some((to, _)) = self.engine.destination(path) else { return Vec::new() };
        let view = |v: closc_paths_engine::ValueView| PathView {
            entropy: v.entropy,
            plane: v.plane,
            uplink: at.table.choice(v.entropy).t0_uplink,
            outer: Ipv6Addr::from(at.table.outer(&to, v.entropy).address),
            state: v.state.name(),
            in_use: v.in_use,
            lost: v.lost,
            rtt_us: (v.rtt_ns > 0).then(|| f64::from(v.rtt_ns) / 1e3),
            answers_wanted: v.answers_wanted,
        };
        self.engine.values(path).map(view).collect()
    }

    /// Returns the progress of a write.
    pub fn write_view(&self, at: &AgentContext<'_>, id: u64) -> Option<WriteView> {
        let write = self.channels.iter().flat_map(|c| &c.outgoing_writes).find(|write| write.id == id);
        let gone = || self.channel_memory.closed_write(id).map(|(view, _)| view.clone());
        write.map(|write| WriteView::of(write, at.now_ns)).or_else(gone)
    }

    /// Returns counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the number of bytes received with a wrong value.
    pub fn wrong_bytes(&self) -> u64 {
        match &self.region {
            Region::Pattern { wrong } => *wrong,
            Region::File(..) => 0,
        }
    }

    /// Returns the smoothed round trips to NICs that received packets.
    pub fn round_trips(&self) -> impl Iterator<Item = u64> {
        self.channels.iter().map(|channel| channel.sent.rtt_ns()).filter(|rtt_ns| *rtt_ns > 0)
    }

    /// Returns the counters of a write that the far NIC has reported complete.
    pub fn write_tally(&self, id: u64) -> Option<Tally> {
        let mut writes = self.channels.iter().flat_map(|channel| &channel.outgoing_writes);
        let write = writes.find(|write| write.id == id && write.is_done()).map(|write| write.tally);
        write.or_else(|| {
            self.channel_memory.closed_write(id).filter(|(view, _)| view.done).map(|(_, tally)| *tally)
        })
    }

    /// Returns events after a number.
    pub fn events_after(&self, number: u64) -> impl Iterator<Item = &EventView> {
        self.events.iter().filter(move |event| event.number > number)
    }

    pub(super) fn event(&mut self, at_ns: u64, text: String) {
        self.note(at_ns, text, None);
    }

    fn note(&mut self, at_ns: u64, text: String, change: Option<ChangeView>) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.n_events += 1;
        self.events.push_back(EventView { number: self.n_events, at_ns, text, change });
    }

    /// Handles the engine's events. The first answer over a path is not reported.
    pub(super) fn collect_events(&mut self) {
        while let Some(event) = self.engine.next_event() {
            if event.from == State::Unknown && event.to == State::Good {
                continue;
            }
            self.groups.record_change(event.to, event.cause.name());
            let to = self.engine.destination(event.path).map(|(_, inner)| Ipv6Addr::from(inner));
            let name = to.map_or_else(|| "closed destination".to_owned(), |to| to.to_string());
            let (from, now, cause) = (event.from.name(), event.to.name(), event.cause.name());
            let text = format!("{name} value {}: {from} -> {now} ({cause})", event.entropy);
            let change = to.map(|to| ChangeView {
                to,
                entropy: event.entropy,
                from: from.to_owned(),
                now: now.to_owned(),
                cause: cause.to_owned(),
            });
            self.note(event.at_ns, text, change);
        }
    }
}
