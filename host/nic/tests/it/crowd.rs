//! More NICs than an agent has channels. Idle channels are replaced, writes finish, and restarted packet numbers are
//! not mistaken for duplicates.

use std::collections::{BTreeMap, BTreeSet};

use closc_nic::agent::{Agent, AgentContext, Options, channel_bytes, channels_of};
use closc_nic::batch::Batch;
use closc_nic::region::Region;
use closc_nic::wire::Segment;
use closc_paths::Table;
use closc_paths_engine::{Capacity, VALUES_PER_PLANE_MAX};

use crate::nic_common as common;

const MS: u64 = 1_000_000;
const STEP_NS: u64 = 20_000;
const UNIT: u64 = 1000;

/// Returns the address of a NIC of the group.
fn nic(downlink: usize) -> [u8; 16] {
    (u128::from_be_bytes(common::nic(0)) + downlink as u128).to_be_bytes()
}

/// The agents of one group, and T0s between them.
struct Crowd<'a> {
    table: &'a Table<'a>,
    agents: Vec<Agent>,
    /// The NIC of each segment.
    segments: BTreeMap<(u32, u16), usize>,
    in_flight: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    count: u64,
    now_ns: u64,
    batch: Batch,
    received_packets: Vec<Vec<Vec<u8>>>,
}

impl<'a> Crowd<'a> {
    fn new(table: &'a Table<'a>, nics: usize, channels: usize) -> Crowd<'a> {
        let at = AgentContext { table, now_ns: 1 };
        let agents: Vec<Agent> = (0..nics)
            .map(|n| {
                let options = Options { downlink: n as u16, channels: Some(channels), ..Options::default() };
                let mut agent =
                    Agent::new(&at, options, Region::Pattern { wrong: 0 }, 100 * n as u16).unwrap();
                for plane in 0..common::PLANES {
                    let ethernet = [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, plane, 0x86, 0xdd];
                    agent.port(&at, plane, Some(ethernet), true);
                }
                agent
            })
            .collect();
        let of = |(n, agent): (usize, &Agent)| -> Vec<((u32, u16), usize)> {
            agent.segments().iter().map(|Segment { block, usid }| ((*block, *usid), n)).collect()
        };
        let segments = agents.iter().enumerate().flat_map(of).collect();
        let got = vec![Vec::new(); nics];
        let (batch, under_way) = (Batch::new(9600), BTreeMap::new());
        Crowd {
            table,
            agents,
            segments,
            in_flight: under_way,
            count: 0,
            now_ns: 1,
            batch,
            received_packets: got,
        }
    }

    fn at(&self) -> AgentContext<'a> {
        AgentContext { table: self.table, now_ns: self.now_ns }
    }

    /// Delivers frames to the NIC of their last segment.
    fn leave(&mut self) {
        for frame in self.batch.ready() {
            let mut bytes = frame.bytes().to_vec();
            let usid = |n: usize| u16::from_be_bytes([bytes[42 + 2 * n], bytes[43 + 2 * n]]);
            let last = (0..6).map(usid).take_while(|usid| *usid != 0).last().unwrap();
            let block = u32::from_be_bytes([bytes[38], bytes[39], bytes[40], bytes[41]]);
            bytes[42..44].copy_from_slice(&last.to_be_bytes());
            bytes[44..54].fill(0);
            let Some(to) = self.segments.get(&(block, last)) else { continue };
            self.count += 1;
            self.in_flight.insert((self.now_ns + 30_000, self.count), (*to, bytes));
        }
        self.batch.clear();
    }

    fn run(&mut self, ns: u64) {
        let end = self.now_ns + ns;
        while self.now_ns < end {
            self.now_ns += STEP_NS;
            let at = self.at();
            while self.in_flight.first_key_value().is_some_and(|((when, _), _)| *when <= self.now_ns) {
                let (_, (to, frame)) = self.in_flight.pop_first().unwrap();
                let got = &mut self.received_packets[to];
                let node = &mut |packet: &[u8]| got.push(packet[40..].to_vec());
                self.agents[to].receive(&at, &frame, &mut self.batch, node);
                self.leave();
            }
            for n in 0..self.agents.len() {
                let got = &mut self.received_packets[n];
                let node = &mut |packet: &[u8]| got.push(packet[40..].to_vec());
                self.agents[n].tick(&at, &mut self.batch, node);
                self.agents[n].pump(&at, &mut self.batch);
                self.leave();
            }
        }
    }

    /// Passes a packet of the node to an agent.
    fn say(&mut self, from: usize, to: usize, word: u8) {
        let mut packet = vec![0u8; 41];
        (packet[0], packet[5], packet[40]) = (0x60, 1, word);
        packet[8..24].copy_from_slice(&nic(from));
        packet[24..40].copy_from_slice(&nic(to));
        let at = self.at();
        self.batch.free().unwrap().payload()[..packet.len()].copy_from_slice(&packet);
        self.agents[from].spray(&at, &mut self.batch, packet.len());
        self.leave();
    }

    /// Makes every NIC write to every other one, with as many writes at a time as there are channels. Returns how long
    /// it took.
    fn all_to_all(&mut self, bytes: u64, patience_ns: u64) -> u64 {
        let (nics, since_ns) = (self.agents.len(), self.now_ns);
        let mut rest: Vec<Vec<usize>> =
            (0..nics).map(|n| (1..nics).rev().map(|step| (n + step) % nics).collect()).collect();
        let mut open = vec![BTreeSet::new(); nics];
        while rest.iter().any(|rest| !rest.is_empty()) || open.iter().any(|open| !open.is_empty()) {
            assert!(self.now_ns - since_ns < patience_ns, "left over: {rest:?}, under way: {open:?}");
            let at = self.at();
            for n in 0..nics {
                open[n].retain(|id| self.agents[n].write_tally(*id).is_none());
                while let Some(to) = rest[n].last() {
                    let order = (0, 0, bytes, Some(UNIT as u32));
                    let Ok(id) = self.agents[n].write(&at, nic(*to), order) else { break };
                    open[n].insert(id);
                    rest[n].pop();
                }
            }
            self.run(MS);
        }
        self.now_ns - since_ns
    }
}

fn with(nics: usize, channels: usize, test: impl FnOnce(&mut Crowd<'_>)) {
    let bytes = common::crowded(nics as u16);
    let table = Table::open(&bytes).unwrap();
    test(&mut Crowd::new(&table, nics, channels));
}

/// Every NIC writes to all 59 others at once, but has channels for only eight. If outgoing writes took all
/// channels, no NIC could receive and no write would finish.
#[test]
fn all_to_all_of_many_more_nics_than_there_is_room_for() {
    with(60, 8, |crowd| {
        let bytes = 5 * UNIT;
        crowd.all_to_all(bytes, 20_000 * MS);
        for agent in &crowd.agents {
            let (counters, status) = (agent.counters(), agent.status(&crowd.at()));
            assert_eq!(counters.written_bytes, 59 * bytes, "all of it, and nothing twice");
            assert_eq!((agent.wrong_bytes(), status.channels_max), (0, 8));
            assert!(status.channels.len() <= 8 && counters.made_room >= 51, "{counters:?}");
        }
        // Repeat, with the state left by the first run.
        crowd.all_to_all(bytes, 20_000 * MS);
        assert!(crowd.agents.iter().all(|agent| agent.counters().written_bytes == 2 * 59 * bytes));
    });
}

/// After a NIC was replaced, packet numbers to it restart. The far NIC, which still has a channel, must not mistake
/// them for duplicates, and receives each packet once.
#[test]
fn packets_to_a_nic_that_made_room_are_no_repeated_ones() {
    with(6, 2, |crowd| {
        for word in 0..40 {
            for to in 1..6 {
                crowd.say(0, to, word);
                crowd.run(200_000);
            }
        }
        crowd.run(20 * MS);
        let words: Vec<Vec<u8>> = (0..40).map(|word| vec![word]).collect();
        for to in 1..6 {
            assert_eq!(crowd.received_packets[to], words, "NIC {to}");
            let status = crowd.agents[to].status(&crowd.at());
            let from = &status.channels[0];
            assert_eq!((from.duplicates, from.missed), (0, 0), "NIC {to}");
        }
        let counters = crowd.agents[0].counters();
        assert!(counters.made_room >= 190, "{counters:?}");
        assert_eq!((counters.no_room, counters.not_ours), (0, 0));
    });
}

/// If all channels have pending traffic, other NICs are rejected. This is counted and reported.
#[test]
fn what_finds_no_room_is_counted_apart() {
    with(6, 2, |crowd| {
        let at = crowd.at();
        // The network does not run, so nothing is answered and no write finishes.
        crowd.agents[0].write(&at, nic(1), (0, 0, UNIT, None)).unwrap();
        let fault = crowd.agents[0].write(&at, nic(2), (0, 0, UNIT, None)).unwrap_err();
        assert!(fault.to_string().contains("the limit of 1 NICs"), "{fault}: the second is for what comes");
        crowd.say(0, 3, 7);
        crowd.say(0, 4, 7);
        crowd.say(0, 60, 7);
        let counters = crowd.agents[0].counters();
        assert_eq!((counters.not_ours, counters.made_room, counters.no_room), (1, 1, 0), "{counters:?}");
        // An unfinished write keeps its channel, even if the far NIC has answered.
        crowd.agents[4].write(&at, nic(0), (0, 0, 9 * UNIT, Some(UNIT as u32))).unwrap();
        crowd.agents[4].pump(&at, &mut crowd.batch);
        let frames: Vec<Vec<u8>> = crowd.batch.ready().iter().map(|f| f.bytes().to_vec()).collect();
        crowd.leave();
        assert!(frames.len() > 3);
        crowd.in_flight.pop_last();
        let coming: Vec<Vec<u8>> = crowd.in_flight.values().map(|(_, frame)| frame.clone()).collect();
        for frame in coming.iter().take(3) {
            crowd.agents[0].receive(&at, frame, &mut crowd.batch, &mut |_| {});
        }
        crowd.batch.clear();
        crowd.say(0, 5, 7);
        let counters = crowd.agents[0].counters();
        assert_eq!((counters.no_room, counters.not_ours), (1, 1), "{counters:?}");
        let metrics = crowd.agents[0].metrics(&at);
        for line in ["closc_nic_no_room_total 1", "closc_nic_far_nics_max 2", "closc_nic_far_nics 2"] {
            assert!(metrics.lines().any(|own| own == line), "{line} in {metrics}");
        }
    });
}

#[test]
fn the_number_of_far_nics_follows_from_memory() {
    let bytes = common::crowded(60);
    let table = Table::open(&bytes).unwrap();
    let (each, count) = (channel_bytes(&table), channels_of(&table));
    assert!(each * count <= 3 << 20 && each * (count + 1) > 3 << 20, "{count} of {each} bytes");
    assert!(count > 200, "{count} of {each} bytes");
    // The example of the documentation: eight planes with 16 values each.
    let capacity = Capacity { planes: 8, values_per_plane: 16, ..Capacity::of(&table, 1) };
    let more = capacity.destination_bytes() - Capacity::of(&table, 1).destination_bytes();
    println!("8 planes of 16 values: {} far NICs of {} bytes", (3 << 20) / (each + more), each + more);
}

/// The compiler warns about tables that the agent would reject.
#[test]
fn the_compiler_knows_how_many_values_an_agent_takes() {
    assert_eq!(closc_topology::checks::AGENT_VALUES, VALUES_PER_PLANE_MAX as u64);
}
