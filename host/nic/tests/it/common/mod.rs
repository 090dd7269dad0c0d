//! Two groups of NICs and a network between agents, in memory and in virtual time.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::{BTreeMap, VecDeque};

use closc_nic::agent::{Agent, AgentContext, Options};
use closc_nic::batch::{BATCH, Batch};
use closc_nic::region::Region;
use closc_nic::wire::{self, Identity, NextHeader, Sequence};
use closc_paths::write::{Body, write};
use closc_paths::{Header, Kind, PlaneAt, Reason, Scope, Table, TableDenial};

pub(crate) const PLANES: u8 = 4;
pub(crate) const UPLINKS: u16 = 4;
const POOL: u128 = 0xfd00_c105_0001 << 80;
const BLOCK: u128 = 0xfcbb_bbbb << 96;

/// Returns the identity of the fabric of these tables.
pub(crate) fn identity() -> Identity {
    Identity {
        block: 0xfcbb_bbbb,
        blocks: 1,
        pool: 0xfd00_c105_0001 << 80,
        pool_len: 48,
        udp_port: 49791,
        // For a fabric without a secret, the cookie is derived from its addresses.
        cookie: (0xfd00_c105_0001_u64 << 16) ^ 0xfcbb_bbbb_u64.rotate_left(17) ^ 0x9e37_79b9_7f4a_7c15,
    }
}

/// Makes a frame that is valid except for the parts that a test fills in.
pub(crate) fn frame(
    source: [u8; 16],
    sequence: Option<Sequence>,
    next: NextHeader,
    payload: &[u8],
) -> Vec<u8> {
    let own = identity();
    let mut room = vec![0; 80];
    let mut to = [0; 16];
    to[..6].copy_from_slice(&[0xfc, 0xbb, 0xbb, 0xbb, 0x80, 0x01]);
    let sequence = sequence.as_ref().map(|sequence| (sequence, own.tag()));
    let start = wire::write_outer(
        &mut room,
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd],
        (&source, &to),
        (0, 0),
        sequence,
        (next, payload.len()),
    );
    let mut frame = [&room[start..], payload].concat();
    if next == NextHeader::Udp {
        wire::seal(&mut frame);
    }
    frame
}

/// Returns the address of the first NIC of a group, from 0.
pub(crate) fn nic(group: u16) -> [u8; 16] {
    (POOL | u128::from(group + 1) << 64 | 1).to_be_bytes()
}

/// Returns the table of a group: two groups of two NICs, four planes, four uplinks.
pub(crate) fn table(group: u16) -> Vec<u8> {
    drained(group, &[])
}

/// Returns the table of the first group, with `nics` NICs.
pub(crate) fn crowded(nics: u16) -> Vec<u8> {
    written(0, &[], "pair", nics)
}

/// Returns the table of a group with drained planes.
pub(crate) fn drained(group: u16, planes: &[u8]) -> Vec<u8> {
    written(group, planes, "pair", 2)
}

/// Returns the table of a group of another fabric; without a fabric's name if `fabric` is empty.
pub(crate) fn table_of(group: u16, fabric: &str) -> Vec<u8> {
    written(group, &[], fabric, 2)
}

fn written(group: u16, planes: &[u8], fabric: &str, nics: u16) -> Vec<u8> {
    let header = Header {
        planes: PLANES,
        plane: PlaneAt::Usids { shift: 11 },
        uplink_bits: 11,
        plane_bits: 3,
        t1_uplink_bits: 0,
        pool_len: 48,
        pool: POOL,
        parallel0: 1,
        parallel1: 1,
        per_t1: 1,
        t0_uplinks: UPLINKS,
        t1_uplinks: 0,
        t2_step: 0,
        t2_row: 0,
        t2_rows: 0,
        zone_bits: 4,
        zone: 0,
        group,
        zones: 1,
        groups: 2,
        nics,
        active: UPLINKS,
        backup: 0,
        min_active: 8,
        udp_port: 4791,
        mtu: 9000,
        t1_start: 0,
        t2_usid: 0,
    };
    let own = u128::from(group) + 1;
    let to = |other: u16| {
        if other == group {
            (Some(Kind::Local), BLOCK | own << 80 | 0x8001 << 64)
        } else {
            (
                Some(Kind::Zone),
                BLOCK | own << 80 | 0x4001 << 64 | (u128::from(other) + 1) << 48 | 0x8001 << 32,
            )
        }
    };
    let body = Body {
        destinations: vec![to(0), to(1)],
        orders: vec![(0..UPLINKS).collect(); usize::from(PLANES)],
        denied: planes.iter().map(|plane| of_plane(*plane)).collect(),
        fabric: fabric.into(),
        t0_probe: BLOCK | own << 80 | 0x8001 << 64,
        t1_probe: BLOCK | own << 80 | 0x4001 << 64 | own << 48 | 0x8001 << 32,
    };
    write(&header, &body)
}

fn of_plane(plane: u8) -> TableDenial {
    TableDenial { plane, reason: Reason::Drained, scope: Scope::default() }
}

/// A cable between switches, by plane, group of the T0 and uplink; or the cable of a NIC, by plane and group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cable {
    Nic(u8, u16),
    Uplink(u8, u16, u16),
}

/// Two agents, which are the first NICs of two groups.
pub(crate) struct Net<'a> {
    pub(crate) tables: [&'a Table<'a>; 2],
    pub(crate) agents: Vec<Agent>,
    pub(crate) now_ns: u64,
    /// Loss rate of each cable, in thousandths.
    pub(crate) loss: BTreeMap<Cable, u32>,
    /// Share of frames of each cable in which bytes are changed, in hundred-thousandths.
    pub(crate) corrupt: BTreeMap<Cable, u32>,
    /// Version that is written into messages in transit.
    pub(crate) version: Option<u8>,
    /// Share of numbered packets that switches trim to their headers, in thousandths.
    pub(crate) cut: u64,
    /// Ports of agents that are plugged into the T0 of another plane.
    pub(crate) swapped: BTreeMap<(usize, u8), u8>,
    /// Planes whose T0 was replaced by one with another MAC address.
    pub(crate) replaced: Vec<u8>,
    /// Packets received by each node.
    pub(crate) got: [Vec<Vec<u8>>; 2],
    /// Agents without processor time. Frames for them wait in their sockets.
    frozen: [bool; 2],
    /// Frames, with their times of arrival.
    sockets: [VecDeque<(u64, Vec<u8>)>; 2],
    under_way: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    count: u64,
    batch: Batch,
    options: Options,
}

/// Size of a trimmed packet.
const CUT_BYTES: usize = 128;
const STEP_NS: u64 = 20_000;

impl<'a> Net<'a> {
    pub(crate) fn new(tables: [&'a Table<'a>; 2]) -> Net<'a> {
        Net::with(tables, Options::default())
    }

    pub(crate) fn with(tables: [&'a Table<'a>; 2], options: Options) -> Net<'a> {
        let mut net = Net {
            tables,
            agents: Vec::new(),
            now_ns: 1,
            loss: BTreeMap::new(),
            corrupt: BTreeMap::new(),
            version: None,
            cut: 0,
            swapped: BTreeMap::new(),
            replaced: Vec::new(),
            got: [Vec::new(), Vec::new()],
            frozen: [false; 2],
            sockets: [VecDeque::new(), VecDeque::new()],
            under_way: BTreeMap::new(),
            count: 0,
            batch: Batch::new(9600),
            options,
        };
        for n in 0..2 {
            let agent = net.agent(n, 7 + n as u16, Region::Pattern { wrong: 0 });
            net.agents.push(agent);
            net.plug(n);
        }
        net
    }

    fn agent(&self, n: usize, epoch: u16, region: Region) -> Agent {
        let at = AgentContext { table: self.tables[n], now_ns: self.now_ns };
        Agent::new(&at, self.options, region, epoch).unwrap()
    }

    fn plug(&mut self, n: usize) {
        for plane in 0..PLANES {
            self.port(n, plane, true);
        }
    }

    /// Kills an agent and starts another in its place.
    pub(crate) fn restart(&mut self, n: usize, epoch: u16) {
        self.restart_with(n, epoch, Region::Pattern { wrong: 0 });
    }

    /// Restarts an agent with a given region.
    pub(crate) fn restart_with(&mut self, n: usize, epoch: u16, region: Region) {
        self.agents[n] = self.agent(n, epoch, region);
        self.plug(n);
    }

    pub(crate) fn port(&mut self, n: usize, plane: u8, up: bool) {
        self.neighbour(n, plane, plane, up);
        let lost = if up { 0 } else { 1000 };
        self.loss.insert(Cable::Nic(plane, n as u16), lost);
    }

    /// Reports a port's state to an agent, with the T0 of a plane as its neighbour.
    pub(crate) fn neighbour(&mut self, n: usize, plane: u8, t0: u8, up: bool) {
        let mut ethernet = [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, plane, 0x86, 0xdd];
        ethernet[..6].copy_from_slice(&self.mac(t0));
        let at = self.at(n);
        self.agents[n].port(&at, plane, Some(ethernet), up);
    }

    pub(crate) fn at(&self, n: usize) -> AgentContext<'a> {
        AgentContext { table: self.tables[n], now_ns: self.now_ns }
    }

    /// Freezes an agent that was about to sleep, or resumes it.
    pub(crate) fn freeze(&mut self, n: usize, frozen: bool) {
        if frozen {
            let wait_ns = self.agents[n].next_due_ns(self.now_ns).saturating_sub(self.now_ns);
            self.agents[n].waits(wait_ns);
        }
        self.frozen[n] = frozen;
    }

    /// Passes a packet from an agent's node to the other node.
    pub(crate) fn say(&mut self, from: usize, words: &[u8]) {
        let mut packet = vec![0u8; 40];
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&(words.len() as u16).to_be_bytes());
        packet[8..24].copy_from_slice(&nic(from as u16));
        packet[24..40].copy_from_slice(&nic(1 - from as u16));
        packet.extend_from_slice(words);
        let at = self.at(from);
        self.batch.free().unwrap().payload()[..packet.len()].copy_from_slice(&packet);
        self.agents[from].spray(&at, &mut self.batch, packet.len());
        self.leave(from);
    }

    /// Runs for a duration.
    pub(crate) fn run(&mut self, ns: u64) {
        let end = self.now_ns + ns;
        while self.now_ns < end {
            self.now_ns += STEP_NS;
            while let Some(first) = self.under_way.first_entry() {
                if first.key().0 > self.now_ns {
                    break;
                }
                let ((came_ns, _), (to, frame)) = first.remove_entry();
                self.sockets[to].push_back((came_ns, frame));
            }
            for n in 0..2 {
                if self.frozen[n] {
                    continue;
                }
                // A turn of the loop reads a batch from the socket, at most.
                for _ in 0..BATCH {
                    let Some((came_ns, frame)) = self.sockets[n].pop_front() else { break };
                    self.deliver_late(n, self.now_ns - came_ns, &frame);
                }
                let at = self.at(n);
                let got = &mut self.got[n];
                self.agents[n].tick(&at, &mut self.batch, &mut |packet| got.push(packet[40..].to_vec()));
                self.agents[n].pump(&at, &mut self.batch);
                self.leave(n);
            }
        }
    }

    pub(crate) fn deliver(&mut self, to: usize, frame: &[u8]) {
        self.deliver_late(to, 0, frame);
    }

    fn deliver_late(&mut self, to: usize, waited_ns: u64, frame: &[u8]) {
        let at = self.at(to);
        let (got, batch) = (&mut self.got[to], &mut self.batch);
        let node = &mut |packet: &[u8]| got.push(packet[40..].to_vec());
        self.agents[to].receive_late(&at, waited_ns, frame, batch, node);
        self.leave(to);
    }

    /// Returns the MAC address of the T0 of a plane.
    fn mac(&self, plane: u8) -> [u8; 6] {
        [2, 0, 0, u8::from(self.replaced.contains(&plane)), 0, plane]
    }

    /// Sends the frames in an agent's batch.
    fn leave(&mut self, from: usize) {
        let frames: Vec<(u8, Vec<u8>)> =
            self.batch.ready().iter().map(|f| (f.plane, f.bytes().to_vec())).collect();
        self.batch.clear();
        for (plane, mut frame) in frames {
            self.count += 1;
            let there = self.swapped.get(&(from, plane)).copied().unwrap_or(plane);
            let is_for_another = frame[..6] != self.mac(there);
            if is_for_another || usids(&frame).iter().any(|usid| (usid >> 11 & 7) as u8 != there) {
                // A T0 drops packets that are not for it or for which it has no segment. Agents send such packets to
                // find out where they are plugged in.
                assert!(self.agents[from].ports()[usize::from(plane)].carrier, "a port without a carrier");
                continue;
            }
            let Some((to, cables)) = way(plane, from as u16, &frame) else {
                panic!("a path that leads nowhere")
            };
            let dice = (self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 1000;
            if cables.iter().any(|cable| u64::from(self.loss.get(cable).copied().unwrap_or(0)) > dice) {
                continue;
            }
            let segment = last(&frame);
            frame[42..44].copy_from_slice(&segment.to_be_bytes());
            frame[44..54].fill(0);
            if frame[20] == 60 && frame.len() > CUT_BYTES && self.cut > (dice * 7 + 3) % 1000 {
                frame.truncate(CUT_BYTES);
                frame[18..20].copy_from_slice(&(CUT_BYTES as u16 - 54).to_be_bytes());
            }
            if let Some(version) = self.version.filter(|_| frame[20] == 17) {
                frame[64] = version;
            }
            let noise = mix(self.count);
            let share = |cable: &Cable| u64::from(self.corrupt.get(cable).copied().unwrap_or(0));
            if cables.iter().any(|cable| share(cable) > noise % 100_000) {
                damage(&mut frame, noise >> 20);
            }
            // Delays of planes differ by more than the gap between two packets, so packets are reordered.
            let arrives = self.now_ns + 30_000 + u64::from(plane) * 45_000;
            self.under_way.insert((arrives, self.count), (usize::from(to), frame));
        }
    }
}

/// Returns a hash of a number (SplitMix64).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Changes one to four bytes of a frame, but keeps the outer address, because switches forward by it.
fn damage(frame: &mut [u8], noise: u64) {
    for n in 0..=noise % 4 {
        let noise = mix(noise + n);
        let place = 22 + (noise >> 8) as usize % (frame.len() - 22);
        if !(38..54).contains(&place) {
            frame[place] ^= 1 + (noise % 255) as u8;
        }
    }
}

fn usids(frame: &[u8]) -> Vec<u16> {
    let words = frame[42..54].chunks(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
    words.take_while(|usid| *usid != 0).collect()
}

fn last(frame: &[u8]) -> u16 {
    *usids(frame).last().unwrap()
}

/// Follows a list of segments. Returns the group where it ends, and the cables on the path.
fn way(plane: u8, from: u16, frame: &[u8]) -> Option<(u16, Vec<Cable>)> {
    let list = usids(frame);
    let t0 = |usid: u16| (usid & 0x7ff) - 1;
    let mut cables = vec![Cable::Nic(plane, from)];
    let to = match list.as_slice() {
        [first, _nic] => t0(*first),
        [first, t1, second, _nic] => {
            let uplink = (t1 & 0x7ff) - 1;
            cables.push(Cable::Uplink(plane, t0(*first), uplink));
            cables.push(Cable::Uplink(plane, t0(*second), uplink));
            t0(*second)
        }
        _ => return None,
    };
    cables.push(Cable::Nic(plane, to));
    Some((to, cables))
}
