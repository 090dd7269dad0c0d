//! A fabric of agents in virtual time: probes, faults, denials.
#![allow(dead_code, reason = "each test file uses some of it")]

pub(crate) mod cases;

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_collect::{Collector, Count, Denials, Options, Order, Report};
use closc_nic::agent::{Ban, T0Port};
use closc_nic::long_probes::LongProbeView;
use closc_nic::schedule::TurnPoint;
use closc_plan::Plan;
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId};

/// Probes of a turn point between two reports.
pub(crate) const PROBES: u64 = 20;
/// Time between two reports.
pub(crate) const POLL_MS: u64 = 2_000;
/// Share of damaged probes whose addresses are changed, so that they do not return.
const ADDRESSES_CHANGED: f64 = 0.2;

pub(crate) fn eight_planes() -> Arc<Plan> {
    Arc::new(closc_tests::shape::plan(include_str!("../../../../../topologies/lab/eight-planes.yaml")))
}

/// A fabric with four NICs at each T0, and no more groups than necessary.
pub(crate) fn crowded_planes() -> Arc<Plan> {
    let text = include_str!("../../../../../topologies/lab/eight-planes.yaml");
    Arc::new(closc_tests::shape::plan(
        &text.replace("per_group: 2", "per_group: 4").replace("groups: 4", "groups: 2"),
    ))
}

/// A fabric with T0s that discover their neighbours.
pub(crate) fn sonic() -> Arc<Plan> {
    let text = "fabric: sonic\nplanes: 8\nrouting: srv6-static\n\
        hosts: { groups: 2, per_group: 2, nic: { speed: 800G, lanes: 8 } }\n\
        tiers:\n  t0: { platform: spectrum4-sn5600-256x100g, os: sonic, up: 2 }\n  \
        t1: { platform: spectrum4-sn5600-256x100g, os: sonic }\n";
    Arc::new(closc_tests::shape::plan(text))
}

pub(crate) fn three_tiers() -> Arc<Plan> {
    Arc::new(closc_tests::shape::plan(include_str!("../../../../../topologies/examples/three-tiers.yaml")))
}

/// Pseudo-random numbers.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(crate) fn chance(&mut self, share: f64) -> bool {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64 <= share && share > 0.0
    }

    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// A fault of the fabric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// The cable passes nothing, but ports keep their carrier.
    Cut(Link),
    /// The cable loses a share of the packets in both directions.
    Gray(Link, f64),
    /// The switch forwards nothing.
    Switch(Switch),
    /// The switch loses a share of the packets.
    GraySwitch(Switch, f64),
    /// The T1s lack a route to the NIC, so its probes beyond the T0s are lost.
    NoRoute(Nic),
    /// The cable changes bytes of a share of the packets. Most of them arrive, and the others are lost.
    Corrupt(Link, f64),
    /// The cable loses packets longer than this many bytes.
    Narrow(Link, u16),
    /// All cables of the switch lose such packets.
    NarrowSwitch(Switch, u16),
    /// A port has no carrier.
    Port(NicPort),
    /// Two cables are swapped at their NIC ends.
    Swapped(NicPort, NicPort),
    /// Three cables of a NIC are swapped in a cycle.
    Round([NicPort; 3]),
}

struct Agent {
    counts: BTreeMap<TurnPoint, (u64, u64)>,
    bans: Vec<Ban>,
    next_ban: u64,
    strays: BTreeMap<u8, u64>,
    damaged: BTreeMap<TurnPoint, u64>,
    /// Number of consecutive lost full-length probes, for turn points whose last one was lost or that have no
    /// result yet.
    long: BTreeMap<TurnPoint, u32>,
    /// Number of polls that it will not answer.
    silent: usize,
    /// Probes sent and lost that it counts only in its next report.
    delayed: BTreeMap<TurnPoint, (u64, u64)>,
}

/// Intervals of probes and polls, and the load of their machines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Time between two reports.
    pub(crate) poll_ms: u64,
    /// Probes of a turn between two reports.
    pub(crate) probes: u64,
    /// Whether agents have no processor for up to two seconds at a time. They then answer late, or do not probe.
    /// Occasionally, several probes sent together return too late to count.
    pub(crate) is_busy: bool,
}

/// Agents on all NICs.
pub(crate) struct Fabric {
    pub(crate) plan: Arc<Plan>,
    pub(crate) now_ms: u64,
    pub(crate) faults: Vec<Fault>,
    pub(crate) pace: Pace,
    /// Share of the time during which agents run, if they report it.
    pub(crate) runs: Option<f64>,
    /// Share of probes that later ones overtake: their results are in the next report.
    pub(crate) reordered: f64,
    agents: BTreeMap<Nic, Agent>,
    numbers: Numbers,
}

/// Returns the turn points of a NIC: its T0s, its share of the T0 uplinks, and its share of the T1 uplinks.
/// Each uplink is probed by two NICs.
fn turns(plan: &Plan, nic: Nic) -> Vec<TurnPoint> {
    let topology = plan.topology();
    let (nics, uplinks) = (topology.hosts.per_group, topology.t0.up.count);
    let shared = |at: u16, of: u16, own: u16| (0..2.min(of)).any(|n| (at % of + n) % of == own);
    let mut out = Vec::new();
    for plane in 0..topology.planes {
        out.push(TurnPoint::T0 { plane });
        let own = topology.t2.as_ref().map_or(0, |_| topology.t1.up.count);
        for uplink in 0..uplinks {
            let zone = nics * topology.hosts.groups;
            let mine = nic.group * nics + nic.downlink;
            let beyond: Vec<u16> = (0..own).filter(|m| shared(uplink * own + m, zone, mine)).collect();
            if shared(uplink, nics, nic.downlink) || !beyond.is_empty() {
                out.push(TurnPoint::T1 { plane, uplink });
            }
            out.extend(beyond.into_iter().map(|t1_uplink| TurnPoint::T2 { plane, uplink, t1_uplink }));
        }
    }
    out
}

impl Fabric {
    pub(crate) fn new(plan: Arc<Plan>, seed: u64) -> Self {
        let agent = |nic| {
            let counts = turns(&plan, nic).into_iter().map(|turn| (turn, (0, 0))).collect();
            (
                nic,
                Agent {
                    counts,
                    bans: Vec::new(),
                    next_ban: 1,
                    strays: BTreeMap::new(),
                    damaged: BTreeMap::new(),
                    long: turns(&plan, nic).into_iter().map(|turn| (turn, 0)).collect(),
                    silent: 0,
                    delayed: BTreeMap::new(),
                },
            )
        };
        let agents = plan.fabric().nics().map(agent).collect();
        let pace = Pace { poll_ms: POLL_MS, probes: PROBES, is_busy: false };
        // 2026-11-22 12:00:00 UTC.
        let now_ms = 1_795_348_800_000;
        Fabric {
            agents,
            plan,
            now_ms,
            faults: Vec::new(),
            pace,
            runs: None,
            reordered: 0.0,
            numbers: Numbers(seed),
        }
    }

    pub(crate) fn collector(&self, options: Options) -> Collector {
        Collector::new(self.plan.clone(), options, Denials::default(), self.now_ms).0
    }

    /// Returns the cables on the path of a probe, and the switches above them.
    fn way(&self, nic: Nic, turn: TurnPoint) -> (Vec<Link>, Vec<Switch>) {
        let plane = PlaneId(turn.plane());
        let mut cables = vec![Link::Host(NicPort { plane, nic })];
        if let TurnPoint::T1 { uplink, .. } | TurnPoint::T2 { uplink, .. } = turn {
            cables.push(Link::Fabric { lower: nic.t0(plane), up: uplink });
        }
        if let TurnPoint::T2 { uplink, t1_uplink, .. } = turn {
            let index = uplink / self.plan.topology().t0.parallel;
            let lower = Switch { plane, tier: TierId::T1, zone: nic.zone, index };
            cables.push(Link::Fabric { lower, up: t1_uplink });
        }
        let upper = |link: &Link| self.plan.fabric().upper_end(*link).expect("a cable has an upper end").0;
        let switches = cables.iter().map(upper).collect();
        (cables, switches)
    }

    /// Sends a long probe for one turn point. It is lost over a narrow element, by chance over a gray one, or
    /// if it is late.
    fn probe_long(&mut self, nic: Nic, turn: TurnPoint, is_late: bool) {
        let ((cables, switches), faults) = (self.way(nic, turn), self.on_the_way(nic, turn));
        let is_narrow = |fault: &Fault| match fault {
            Fault::Narrow(link, _) => cables.contains(link),
            Fault::NarrowSwitch(switch, _) => switches.contains(switch),
            _ => false,
        };
        // An agent does not count it if the short probe sent with it is lost too.
        if faults.iter().any(|(share, _)| share.is_none()) {
            return;
        }
        let numbers = &mut self.numbers;
        let is_gray = faults.iter().any(|(share, _)| share.is_some_and(|share| numbers.chance(share)));
        let lost = is_late || is_gray || self.faults.iter().any(is_narrow);
        let long = &mut self.agents.get_mut(&nic).expect("it is a NIC").long;
        if lost {
            *long.entry(turn).or_default() += 1;
        } else {
            long.remove(&turn);
        }
    }

    /// Returns the faults on the path of a probe; for swapped cables, also the NIC that receives it instead.
    fn on_the_way(&self, nic: Nic, turn: TurnPoint) -> Vec<(Option<f64>, Option<Nic>)> {
        let own = NicPort { plane: PlaneId(turn.plane()), nic };
        let (cables, switches) = self.way(nic, turn);
        let of = |fault: &Fault| match *fault {
            Fault::Cut(link) => cables.contains(&link).then_some((None, None)),
            Fault::Switch(switch) => switches.contains(&switch).then_some((None, None)),
            Fault::Gray(link, share) => cables.contains(&link).then_some((Some(share), None)),
            Fault::GraySwitch(switch, share) => switches.contains(&switch).then_some((Some(share), None)),
            Fault::Port(port) => (port == own).then_some((None, None)),
            Fault::Swapped(a, b) if a == own || b == own => {
                let other = if a == own { b } else { a };
                // In another plane the T0 drops it; in the same plane the other NIC receives it.
                Some((None, (other.plane == own.plane).then_some(other.nic)))
            }
            Fault::Round(ports) => ports.contains(&own).then_some((None, None)),
            Fault::NoRoute(other) => {
                (other == nic && !matches!(turn, TurnPoint::T0 { .. })).then_some((None, None))
            }
            Fault::Swapped(..) | Fault::Corrupt(..) | Fault::Narrow(..) | Fault::NarrowSwitch(..) => None,
        };
        self.faults.iter().filter_map(of).collect()
    }

    /// Waits for one poll interval.
    pub(crate) fn pass(&mut self) {
        self.now_ms += self.pace.poll_ms;
        for nic in self.nics() {
            let (runs, late) = self.busy(nic);
            let turns: Vec<TurnPoint> = self.agents[&nic].counts.keys().copied().filter(|_| runs).collect();
            for turn in turns {
                self.probe(nic, turn, &late);
            }
            let until = self.now_ms as f64 / 1e3;
            let agent = self.agents.get_mut(&nic).expect("it is a NIC");
            agent.bans.retain(|ban| ban.until.is_none_or(|end| end > until));
        }
    }

    /// Returns the effect of a busy machine on an agent: whether it runs, and the uplinks for which one probe per plane
    /// returns too late. The first number of the range stands for T0s.
    fn busy(&mut self, nic: Nic) -> (bool, std::ops::Range<usize>) {
        if !self.pace.is_busy {
            return (true, 0..0);
        }
        let numbers = &mut self.numbers;
        let agent = self.agents.get_mut(&nic).expect("it is a NIC");
        agent.silent = agent.silent.saturating_sub(1);
        if agent.silent == 0 && numbers.below(12) == 0 {
            agent.silent = 1 + numbers.below(7);
        }
        let first = numbers.below(5);
        let late = if numbers.below(100) == 0 { first..first + 1 + numbers.below(3) } else { 0..0 };
        (agent.silent == 0 || numbers.below(2) == 0, late)
    }

    /// Sends the probes for one turn point.
    fn probe(&mut self, nic: Nic, turn: TurnPoint, late: &std::ops::Range<usize>) {
        let own = NicPort { plane: PlaneId(turn.plane()), nic };
        if self.faults.contains(&Fault::Port(own)) {
            return;
        }
        let kind = match turn {
            TurnPoint::T0 { .. } => 0,
            TurnPoint::T1 { uplink, .. } | TurnPoint::T2 { uplink, .. } => 1 + usize::from(uplink),
        };
        let (faults, probes) = (self.on_the_way(nic, turn), self.pace.probes);
        let mut lost = 0;
        for n in 0..if faults.is_empty() { 0 } else { probes } {
            let numbers = &mut self.numbers;
            let is_late = n == 0 && late.contains(&kind);
            lost += u64::from(
                is_late || faults.iter().any(|(share, _)| share.is_none_or(|share| numbers.chance(share))),
            );
        }
        if faults.is_empty() {
            lost += u64::from(late.contains(&kind));
        }
        let (damaged, unaddressed) = self.corrupt(nic, turn, probes.saturating_sub(lost));
        for other in faults.iter().filter_map(|(_, other)| *other) {
            let other = self.agents.get_mut(&other).expect("it is a NIC");
            *other.strays.entry(turn.plane()).or_default() += lost;
        }
        self.probe_long(nic, turn, late.contains(&kind));
        let (late_sent, late_lost) = self.overtaken(probes, lost);
        let agent = self.agents.get_mut(&nic).expect("it is a NIC");
        let earlier = agent.delayed.insert(turn, (late_sent, late_lost)).unwrap_or_default();
        let count = agent.counts.get_mut(&turn).expect("it is a turn");
        *count = (count.0 + probes - late_sent + earlier.0, count.1 + lost - late_lost + earlier.1);
        count.1 += damaged + unaddressed;
        if damaged > 0 {
            *agent.damaged.entry(turn).or_default() += damaged;
        }
    }

    /// Returns how many probes return with changed bytes, and how many are lost because their addresses are changed.
    fn corrupt(&mut self, nic: Nic, turn: TurnPoint, probes: u64) -> (u64, u64) {
        let (cables, _) = self.way(nic, turn);
        let share = |fault: &Fault| match fault {
            Fault::Corrupt(link, share) if cables.contains(link) => Some(*share),
            _ => None,
        };
        let shares: Vec<f64> = self.faults.iter().filter_map(share).collect();
        let (mut damaged, mut lost) = (0, 0);
        for _ in 0..if shares.is_empty() { 0 } else { probes } {
            if shares.iter().any(|share| self.numbers.chance(*share)) {
                if self.numbers.chance(ADDRESSES_CHANGED) { lost += 1 } else { damaged += 1 }
            }
        }
        (damaged, lost)
    }

    /// Returns how many probes, and how many of the lost ones, are overtaken by the next report.
    fn overtaken(&mut self, sent: u64, lost: u64) -> (u64, u64) {
        if self.reordered <= 0.0 {
            return (0, 0);
        }
        let mut draw = |of: u64| (0..of).filter(|_| self.numbers.chance(self.reordered)).count() as u64;
        let late_lost = draw(lost);
        (late_lost + draw(sent - lost), late_lost)
    }

    /// Lets one of the last probes over an uplink return too late in every plane.
    pub(crate) fn delay_answers(&mut self, nic: Nic, late_uplink: u16) {
        let counts = &mut self.agents.get_mut(&nic).expect("it is a NIC").counts;
        for (turn, (sent, lost)) in counts {
            let is_late = matches!(turn, TurnPoint::T1 { uplink, .. } if *uplink == late_uplink);
            *lost += u64::from(is_late && lost < sent);
        }
    }

    /// Freezes an agent for a number of polls.
    pub(crate) fn freeze(&mut self, nic: Nic, polls: usize) {
        self.agents.get_mut(&nic).expect("it is a NIC").silent = polls;
    }

    pub(crate) fn report(&self, nic: Nic) -> Report {
        let agent = &self.agents[&nic];
        let up = |plane| !self.faults.contains(&Fault::Port(NicPort { plane: PlaneId(plane), nic }));
        Report {
            nic: self.plan.addresses().nic(nic).to_ipv6(),
            table: None,
            carriers: (0..self.plan.topology().planes).map(|plane| (plane, up(plane))).collect(),
            counts: agent
                .counts
                .iter()
                .map(|(turn, (sent, lost))| Count { turn_point: *turn, sent: *sent, lost: *lost })
                .collect(),
            damaged_probes: agent.damaged.iter().map(|(turn, count)| (*turn, *count)).collect(),
            long: Some(agent.long.iter().map(|(turn, lost)| (*turn, self.long_view(*turn, *lost))).collect()),
            clock: self
                .runs
                .map(|share| (self.now_ms * 1_000_000, (self.now_ms as f64 * 1e6 * share) as u64)),
            findings: 0,
            denials: agent.bans.clone(),
            strays: agent.strays.iter().map(|(plane, count)| (*plane, *count)).collect(),
            actual_ports: self.found_at(nic),
        }
    }

    fn long_view(&self, turn: TurnPoint, lost: u32) -> LongProbeView {
        let limit = self.faults.iter().find_map(|fault| match fault {
            Fault::Narrow(_, bytes) | Fault::NarrowSwitch(_, bytes) => Some(*bytes),
            _ => None,
        });
        let limit = limit.filter(|_| lost > 0);
        LongProbeView {
            plane: turn.plane(),
            tier: 0,
            uplink: None,
            t1_uplink: None,
            lost,
            passes_bytes: limit.map(|bytes| bytes - 4),
            loses_bytes: limit.map(|bytes| bytes + 4),
        }
    }

    /// Discards the results of an agent's long probes, as after a restart.
    pub(crate) fn restart(&mut self, nic: Nic) {
        let plan = self.plan.clone();
        self.agents.get_mut(&nic).expect("it is a NIC").long =
            turns(&plan, nic).into_iter().map(|turn| (turn, 0)).collect();
    }

    /// Returns the T0 ports into which the ports of a NIC are plugged. Only T0s that answer any port reveal it.
    fn found_at(&self, nic: Nic) -> Vec<(u8, T0Port)> {
        let answers =
            |at: &NicPort| self.plan.topology().hardware(at.nic.t0(at.plane)).1.has_static_neighbours();
        let place = |own: NicPort| {
            let of = |fault: &Fault| match *fault {
                Fault::Swapped(a, b) if a == own => Some(b),
                Fault::Swapped(a, b) if b == own => Some(a),
                Fault::Round(ports) => {
                    ports.iter().position(|port| *port == own).map(|at| ports[(at + 1) % 3])
                }
                _ => None,
            };
            let place = self.faults.iter().find_map(of)?;
            // Frames for the other NIC show the place.
            let strays = self.agents[&nic].strays.contains_key(&own.plane.0);
            (if place.nic == nic { answers(&place) } else { strays })
                .then_some((own.plane.0, T0Port { plane: place.plane.0, downlink: place.nic.downlink }))
        };
        let planes = self.plan.topology().plane_ids();
        planes.filter_map(|plane| place(NicPort { plane, nic })).collect()
    }

    pub(crate) fn nics(&self) -> Vec<Nic> {
        self.agents.keys().copied().collect()
    }

    pub(crate) fn bans(&self, nic: Nic) -> &[Ban] {
        &self.agents[&nic].bans
    }

    /// Carries out an order for an agent.
    pub(crate) fn order(&mut self, nic: Nic, order: &Order) -> Result<u64, String> {
        let agent = self.agents.get_mut(&nic).expect("it is a NIC");
        match order {
            Order::Deny(_, ban) => {
                let id = agent.next_ban;
                agent.next_ban += 1;
                agent.bans.push(Ban { id: Some(id), ..ban.clone() });
                Ok(id)
            }
            Order::Allow(_, id) => {
                let before = agent.bans.len();
                agent.bans.retain(|ban| ban.id != Some(*id));
                if agent.bans.len() < before { Ok(*id) } else { Err(format!("no denial {id} is in force")) }
            }
        }
    }

    /// Every agent reports and receives its orders.
    pub(crate) fn round(&mut self, collector: &mut Collector) {
        for (at, nic) in self.nics().into_iter().enumerate() {
            if self.agents[&nic].silent > 0 {
                continue;
            }
            let source = collector.source(&format!("/run/{at}"));
            collector.take(source, self.report(nic), self.now_ms).expect("it is a report");
            for order in collector.orders(nic, self.now_ms) {
                let answer = self.order(nic, &order);
                collector.handle_answer(nic, &order, answer);
            }
        }
        collector.judge(self.now_ms);
        if let Some(next) = collector.next(self.now_ms) {
            collector.commit(next.denials);
        }
    }

    pub(crate) fn rounds(&mut self, collector: &mut Collector, n: usize) {
        for _ in 0..n {
            self.pass();
            self.round(collector);
        }
    }
}
