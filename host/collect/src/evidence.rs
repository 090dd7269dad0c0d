//! Probe results: the last counts of each agent and, for each cable with losses, a tally per prober.
//!
//! In: reports, the time. Out: tallies, ports without carrier, the time of the last good probe over each cable.
//! Invariants: a cable without losses needs eight bytes, for two times. The number of tallies is limited, and losses
//! without a tally are counted. Decreasing counters mean that the agent was restarted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_nic::agent::{Ban, T0Port};
use closc_nic::long_probes::LongProbeView;
use closc_nic::schedule::TurnPoint;
use closc_plan::Plan;
use closc_topology::{Link, Nic, PlaneId, TierId, Topology};

use crate::coincidence::Coincidences;
use crate::corruption::CorruptionLog;
use crate::element::{Element, Places, last_link, links};
use crate::repair::{Repairs, adjacent_links};
use crate::report::{Report, ReportFault};

/// Number of consecutive lost probes after which a cable is dead.
pub(crate) const DEAD_RUN: u32 = 5;
/// Number of probes in one half of a tally. When the newer half is full, the older one is discarded.
const HALF: u64 = 1 << 13;
/// Maximum number of tallies.
pub(crate) const TALLIES_MAX: usize = 1 << 18;

/// Full-length probes for one [`TurnPoint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LongState {
    /// Number of consecutive lost ones; 0 if there is no result yet.
    pub(crate) lost: u32,
    /// When the first of them was reported.
    pub(crate) since_ms: u64,
    /// Lengths of the longest packet that passed, and of the shortest that did not.
    pub(crate) passes: u16,
    pub(crate) loses: u16,
}

/// Damaged probes by turn point.
type DamagedProbes = BTreeMap<TurnPoint, u64>;

/// The agent of a NIC.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) last_seen_ms: u64,
    /// Bit masks of the NIC's planes, and of those whose port has no carrier.
    pub(crate) planes: u32,
    pub(crate) down: u32,
    pub(crate) denials: Vec<Ban>,
    /// Number of faults that the agent found itself.
    pub(crate) findings: usize,
    /// Per plane, the number of frames received for other NICs, and the time of its last increase.
    strays: Vec<(u64, Option<u64>)>,
    /// Ports that are plugged into a wrong T0 port, and that T0 port.
    actual_ports: BTreeMap<u8, T0Port>,
    /// Shared by all agents with the same turn points.
    turn_points: Arc<[TurnPoint]>,
    counts: Box<[(u32, u32)]>,
    /// Number of damaged probes, for turn points with any.
    damaged_probes: DamagedProbes,
    /// Turns for which full-length probes are lost or untested; `None` if the agent sends none.
    pub(crate) long: Option<BTreeMap<TurnPoint, LongState>>,
    /// Its clock, and the time during which it could run, in nanoseconds.
    clock: Option<(u64, u64)>,
    /// Since when each port without a carrier has had none, by plane.
    dark_since_ms: BTreeMap<u8, u64>,
    /// Per plane, probes sent and lost that count as evidence, over all of its turn points. Turns without any
    /// answer are not counted.
    pub(crate) totals: Box<[(u64, u64)]>,
    /// When the interval of the last report began.
    pub(crate) interval_from_ms: u64,
    /// Whether the next report covers a time that the collector knows nothing about.
    has_gap: bool,
}

impl Agent {
    /// Returns since when the port of a plane has had no carrier.
    pub(crate) fn dark_since_ms(&self, plane: PlaneId) -> Option<u64> {
        self.dark_since_ms.get(&plane.0).copied()
    }

    /// Returns when frames for other NICs were last received in a plane.
    pub(crate) fn strays_ms(&self, plane: PlaneId) -> Option<u64> {
        self.strays.get(usize::from(plane.0)).and_then(|(_, last_ms)| *last_ms)
    }

    /// Returns the turn points of its probes.
    pub(crate) fn turn_points(&self) -> &[TurnPoint] {
        &self.turn_points
    }

    /// Returns whether the port of a plane has no carrier.
    pub(crate) fn is_dark(&self, plane: PlaneId) -> bool {
        self.down >> plane.0 & 1 == 1
    }

    /// Returns the T0 port into which the port of a plane is plugged, if it is known to be the wrong one.
    pub(crate) fn actual_port(&self, plane: PlaneId) -> Option<T0Port> {
        self.actual_ports.get(&plane.0).copied()
    }
}

/// Probes of one agent over one cable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    now: (u64, u64),
    before: (u64, u64),
    /// Probes lost since the last one that returned.
    pub(crate) run: u32,
    /// When the first of them was reported.
    pub(crate) run_since_ms: u64,
    pub(crate) last_seen_ms: u64,
    /// Start of the interval of the last report with losses. The losses are not older, but may all date from
    /// that moment.
    pub(crate) lost_from_ms: u64,
    /// Lost probes of both halves whose peers in other planes mostly returned.
    alone: (u64, u64),
    /// Whether earlier results were discarded.
    is_partial: bool,
}

impl Tally {
    fn add(&mut self, (sent, lost, is_shared): (u64, u64, bool), (before_ms, now_ms): (u64, u64)) {
        // Losses of an outage do not count as gray loss after it.
        let is_back = self.run >= DEAD_RUN && lost < sent;
        if is_back {
            (self.before, self.now, self.alone) = ((0, 0), (sent - lost, 0), (0, 0));
        } else {
            self.now = (self.now.0 + sent, self.now.1 + lost);
            self.alone.0 += if is_shared { 0 } else { lost };
        }
        self.is_partial |= is_back;
        if self.now.0 >= HALF {
            self.is_partial |= self.before.0 > 0;
            (self.before, self.now) = (self.now, (0, 0));
            self.alone = (0, self.alone.0);
        }
        let run = u32::try_from(lost).unwrap_or(u32::MAX);
        if self.run == 0 {
            self.run_since_ms = now_ms;
        }
        self.run = if lost >= sent { self.run.saturating_add(run) } else { 0 };
        if lost > 0 {
            self.lost_from_ms = before_ms;
        }
        self.last_seen_ms = now_ms;
    }

    pub(crate) fn sent(&self) -> u64 {
        self.now.0 + self.before.0
    }

    pub(crate) fn lost(&self) -> u64 {
        self.now.1 + self.before.1
    }

    /// Returns how many were lost while most of their peers in other planes returned.
    pub(crate) fn lost_alone(&self) -> u64 {
        self.alone.0 + self.alone.1
    }

    /// Returns whether no probes return any more.
    pub(crate) fn is_dead(&self) -> bool {
        self.run >= DEAD_RUN
    }

    /// Returns how many of `sent` probes this tally covers. A tally without discarded results covers all, because it
    /// begins with the first loss.
    pub(crate) fn covered_probes(&self, sent: u64) -> u64 {
        if self.is_partial { sent.min(self.sent()) } else { sent }
    }
}

/// A cable that has lost probes, or is watched for another reason.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suspect {
    pub(crate) since_ms: u64,
    /// Probes that returned since the last loss.
    pub(crate) good: u64,
    /// Tallies by prober and turn point.
    pub(crate) tallies: BTreeMap<(Nic, TurnPoint), Tally>,
    /// Probes sent and lost that count as evidence, since it became a suspect. Turns without any answer are
    /// not counted.
    pub(crate) totals: (u64, u64),
    /// Losses that were not followed by enough good probes.
    pub(crate) recent_losses: u64,
    /// Whether it is watched only for comparison with another suspect.
    pub(crate) is_reference: bool,
    /// Counts at the time when comparison with the other cables of its upper switch began.
    pub(crate) contest: Option<Contest>,
}

impl Suspect {
    /// Discards losses, except those of a current outage.
    pub(crate) fn begin_anew(&mut self) {
        for tally in self.tallies.values_mut().filter(|tally| !tally.is_dead()) {
            *tally = Tally { last_seen_ms: tally.last_seen_ms, is_partial: true, ..Tally::default() };
        }
        self.contest = None;
    }

    pub(crate) fn sums(&self) -> (u64, u64) {
        self.tallies.values().fold((0, 0), |(lost, sent), t| (lost + t.lost(), sent + t.sent()))
    }
}

/// Start of a comparison of a cable with the other cables below the same switch. All are counted from the same time.
#[derive(Debug, Clone)]
pub(crate) struct Contest {
    pub(crate) since_ms: u64,
    pub(crate) own: ProbeTotals,
    /// The other cables below its upper switch.
    pub(crate) below: BTreeMap<Link, ProbeTotals>,
    /// Cables that its probers compare it with. Their losses are kept while this cable is a suspect.
    pub(crate) rivals: Vec<Link>,
}

/// Probes sent and lost over a cable that count as evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProbeTotals {
    /// Those that turn at its upper switch.
    pub(crate) direct: (u64, u64),
    /// For NIC cables, also those that turn at a later switch. All of them pass the cable and the T0.
    pub(crate) all: (u64, u64),
}

/// All probe results.
#[derive(Debug)]
pub(crate) struct Evidence {
    places: Places,
    pub(crate) agents: BTreeMap<Nic, Agent>,
    turn_point_lists: BTreeSet<Arc<[TurnPoint]>>,
    pub(crate) suspects: BTreeMap<Link, Suspect>,
    /// Cables that are watched even without losses.
    pinned_links: BTreeSet<Link>,
    n_tallies: usize,
    /// Losses that were not recorded, because the maximum number of tallies was reached.
    pub(crate) untracked_losses: u64,
    /// When a probe last returned over each cable, in tenths of a second since the start, counted from 1; 0 for never.
    good_at: Vec<u32>,
    /// The start of the interval of that report, in the same unit. The probe was sent after it.
    good_from: Vec<u32>,
    started_ms: u64,
    /// Reports further apart than this are not compared.
    fresh_ms: u64,
    /// Cables near recently repaired elements.
    pub(crate) repairs: Repairs,
    /// Probes sent and lost, by plane and by tier of the turn point.
    probes: Vec<[(u64, u64); 3]>,
    /// Damaged probes, and the others over the same elements.
    pub(crate) corruption: CorruptionLog,
}

/// Returns the probes sent and lost since the last report, by turn. For a new turn there are no earlier counts.
fn changes(old: &Agent, turns: &[TurnPoint], counts: &[(u32, u32)]) -> Vec<(TurnPoint, (u64, u64))> {
    let change = |(at, (turn, count)): (usize, (&TurnPoint, &(u32, u32)))| {
        let place = match old.turn_points.get(at) {
            Some(same) if same == turn => Some(at),
            Some(_) | None => old.turn_points.binary_search(turn).ok(),
        };
        let before = old.counts[place?];
        let restarted = count.0 < before.0 || count.1 < before.1;
        let (sent, lost) = if restarted { *count } else { (count.0 - before.0, count.1 - before.1) };
        Some((*turn, (u64::from(sent), u64::from(lost).min(sent.into()))))
    };
    turns.iter().zip(counts).enumerate().filter_map(change).collect()
}

/// Returns the probes damaged since the last report, by turn. Without an earlier report there are none.
fn damaged_since(old: Option<&DamagedProbes>, new: &DamagedProbes) -> DamagedProbes {
    let more = |(turn, count): (&TurnPoint, &u64)| {
        let before = old?.get(turn).copied().unwrap_or(0);
        // A lower number means that the agent was restarted.
        let more = if *count < before { *count } else { count - before };
        (more > 0).then_some((*turn, more))
    };
    new.iter().filter_map(more).collect()
}

/// Rejects counts that are impossible for a NIC.
fn check_counts(topology: &Topology, nic: Nic, report: &Report) -> Result<(), ReportFault> {
    let mut counts = report.counts.iter();
    if let Some(count) = counts.clone().find(|count| last_link(topology, nic, count.turn_point).is_none()) {
        return Err(ReportFault::Turn(count.turn_point));
    }
    match counts.find(|count| count.lost > count.sent) {
        Some(count) => Err(ReportFault::Counts(count.turn_point)),
        None => Ok(()),
    }
}

impl Evidence {
    pub(crate) fn new(topology: &Topology, now_ms: u64, fresh_ms: u64) -> Self {
        let places = Places::new(topology);
        Evidence {
            places,
            agents: BTreeMap::new(),
            turn_point_lists: BTreeSet::new(),
            suspects: BTreeMap::new(),
            pinned_links: BTreeSet::new(),
            n_tallies: 0,
            untracked_losses: 0,
            good_at: vec![0; places.count()],
            good_from: vec![0; places.count()],
            started_ms: now_ms,
            fresh_ms,
            repairs: Repairs::default(),
            probes: vec![[(0, 0); 3]; topology.planes.into()],
            corruption: CorruptionLog::default(),
        }
    }

    /// Returns the number of cables of the full fabric.
    pub(crate) fn n_cables(&self) -> usize {
        self.good_at.len()
    }

    fn tenth(&self, now_ms: u64) -> u32 {
        u32::try_from(now_ms.saturating_sub(self.started_ms) / 100 + 1).unwrap_or(u32::MAX)
    }

    /// Returns whether a probe has returned over a cable since a time.
    pub(crate) fn is_good_since(&self, link: Link, since_ms: u64) -> bool {
        let at = self.good_at[self.places.of(link)];
        at > 0 && at >= self.tenth(since_ms)
    }

    /// Returns whether a probe that was sent after a time has returned over a cable.
    pub(crate) fn is_good_after(&self, link: Link, after_ms: u64) -> bool {
        let from = self.good_from[self.places.of(link)];
        from > 0 && u64::from(from - 1) * 100 + self.started_ms >= after_ms
    }

    /// Returns the number of cables below the switches of a tier over which a probe has returned since a time.
    pub(crate) fn good_since(&self, plane: u8, tier: TierId, since_ms: u64) -> usize {
        let least = self.tenth(since_ms).max(1);
        self.good_at[self.places.downlink_range(plane, tier)].iter().filter(|at| **at >= least).count()
    }

    /// Returns when a probe last returned over a cable, to a tenth of a second; 0 for never.
    pub(crate) fn good_ms(&self, link: Link) -> u64 {
        let at = u64::from(self.good_at[self.places.of(link)]);
        at.checked_sub(1).map_or(0, |tenths| self.started_ms + tenths * 100)
    }

    /// Returns the numbers of probes that turned at a tier, and of lost ones among them.
    pub(crate) fn probes(&self, plane: u8, tier: TierId) -> (u64, u64) {
        self.probes.get(usize::from(plane)).map_or((0, 0), |tiers| tiers[usize::from(tier.level())])
    }

    /// Handles a report, whose contents must fit this NIC.
    pub(crate) fn take(
        &mut self,
        plan: &Plan,
        nic: Nic,
        report: Report,
        now_ms: u64,
    ) -> Result<(), ReportFault> {
        let topology = plan.topology();
        check_counts(topology, nic, &report)?;
        let old = self.agents.remove(&nic);
        let all: Arc<[TurnPoint]> = report.counts.iter().map(|count| count.turn_point).collect();
        let turns = self.intern(all);
        let lacks_time = lacks_time(old.as_ref(), report.clock);
        let counts: Box<[(u32, u32)]> =
            report.counts.iter().map(|count| (narrow(count.sent), narrow(count.lost))).collect();
        let damaged: DamagedProbes = report.damaged_probes.into_iter().collect();
        let news = damaged_since(old.as_ref().map(|old| &old.damaged_probes), &damaged);
        let times = (now_ms, lacks_time);
        let totals = self.add_results(topology, nic, old.as_ref(), (&turns, &counts, &news), times);
        self.corruption.forget(topology);
        let bit = |plane: u8| 1u32.checked_shl(plane.into()).unwrap_or_default();
        let known = |plane: &&(u8, bool)| plane.0 < topology.planes;
        let planes = report.carriers.iter().filter(known).fold(0, |all, (plane, _)| all | bit(*plane));
        let down = report.carriers.iter().filter(known).filter(|(_, up)| !up);
        let strays = strays(topology.planes, old.as_ref(), &report.strays, now_ms);
        let long = long(old.as_ref(), report.long, now_ms);
        let agent = Agent {
            last_seen_ms: now_ms,
            planes,
            down: down.fold(0, |all, (plane, _)| all | bit(*plane)),
            denials: report.denials,
            findings: report.findings,
            strays,
            actual_ports: report.actual_ports.into_iter().collect(),
            turn_points: turns,
            counts,
            damaged_probes: damaged,
            long,
            clock: report.clock,
            dark_since_ms: dark_since_ms(old.as_ref(), &report.carriers, now_ms),
            totals,
            interval_from_ms: old.as_ref().map_or(now_ms, |old| old.last_seen_ms),
            has_gap: false,
        };
        self.agents.insert(nic, agent);
        Ok(())
    }

    /// Records the probes of all turn points since the last report. Returns the totals per plane of those
    /// that count as evidence.
    fn add_results(
        &mut self,
        topology: &Topology,
        nic: Nic,
        old: Option<&Agent>,
        (turns, counts, damaged): (&[TurnPoint], &[(u32, u32)], &DamagedProbes),
        (now_ms, lacks_time): (u64, bool),
    ) -> Box<[(u64, u64)]> {
        let none = || vec![(0, 0); topology.planes.into()].into_boxed_slice();
        let mut totals = old.map_or_else(none, |old| old.totals.clone());
        // Counts that span a time without reports mix results before, during and after it. They only serve as
        // the base of the next interval.
        let is_near = |old: &&Agent| !old.has_gap && now_ms.saturating_sub(old.last_seen_ms) <= self.fresh_ms;
        let Some(old) = old.filter(is_near) else { return totals };
        let changes = changes(old, turns, counts);
        let coincidences = Coincidences::of(&changes);
        for (turn, (sent, lost)) in changes {
            let damaged = damaged.get(&turn).copied().unwrap_or(0).min(lost);
            self.corruption.record(topology, (nic, turn), (sent, damaged), now_ms);
            // Agents count damaged probes as lost. They are evidence of another kind, unless nothing else returns.
            let lost = if lost == sent { lost } else { lost - damaged };
            let counted = (sent, lost, lost > 0 && coincidences.is_shared(turn));
            let times = (now_ms, old.last_seen_ms, lacks_time);
            let (sent, lost) = self.result(topology, nic, turn, counted, times);
            if let Some(total) = totals.get_mut(usize::from(turn.plane())) {
                *total = (total.0 + sent, total.1 + lost);
            }
        }
        totals
    }

    /// Records that a probe returned over all cables of its path.
    fn record_good(
        &mut self,
        topology: &Topology,
        nic: Nic,
        turn: TurnPoint,
        (before_ms, now_ms): (u64, u64),
    ) {
        let (now, from) = (self.tenth(now_ms), self.tenth(before_ms));
        for link in links(topology, nic, turn).into_iter().flatten() {
            let place = self.places.of(link);
            (self.good_at[place], self.good_from[place]) = (now, from.max(self.good_from[place]));
        }
    }

    fn intern(&mut self, turns: Arc<[TurnPoint]>) -> Arc<[TurnPoint]> {
        if let Some(known) = self.turn_point_lists.get(&turns) {
            return known.clone();
        }
        // Drop unused lists before adding new ones.
        if self.turn_point_lists.len().is_power_of_two() {
            self.turn_point_lists.retain(|turns| Arc::strong_count(turns) > 1);
        }
        self.turn_point_lists.insert(turns.clone());
        turns
    }

    /// Records the probes of one turn since the last report. Takes the numbers of sent and lost probes, whether most
    /// peers lost some too, the times of this and the last report, and whether the agent had little processor time.
    /// Returns the numbers that count as
    /// evidence of partial loss.
    fn result(
        &mut self,
        topology: &Topology,
        nic: Nic,
        turn: TurnPoint,
        (sent, lost, is_shared): (u64, u64, bool),
        (now_ms, before_ms, lacks_time): (u64, u64, bool),
    ) -> (u64, u64) {
        let Some(last) = last_link(topology, nic, turn) else { return (0, 0) };
        if sent == 0 {
            return (0, 0);
        }
        let tier = match turn {
            TurnPoint::T0 { .. } => 0,
            TurnPoint::T1 { .. } => 1,
            TurnPoint::T2 { .. } => 2,
        };
        if let Some(tiers) = self.probes.get_mut(usize::from(turn.plane())) {
            tiers[tier] = (tiers[tier].0 + sent, tiers[tier].1 + lost);
        }
        if lost < sent {
            self.record_good(topology, nic, turn, (before_ms, now_ms));
        }
        // Partial losses do not count near a repair, or if the agent had too little processor time. Total losses always
        // do.
        let is_evidence = lost == sent || !lacks_time && !self.repairs.is_near(last, before_ms);
        let partial = if is_evidence && lost < sent { (sent, lost) } else { (0, 0) };
        let (sent, lost) = if is_evidence { (sent, lost) } else { (sent - lost, 0) };
        if lost == 0 && !self.suspects.contains_key(&last) {
            return partial;
        }
        let room = self.n_tallies < TALLIES_MAX;
        let suspect = match self.suspects.get_mut(&last) {
            Some(suspect) => suspect,
            None if room => self.suspects.entry(last).or_default(),
            None => {
                self.untracked_losses += lost;
                return partial;
            }
        };
        suspect.totals = (suspect.totals.0 + partial.0, suspect.totals.1 + partial.1);
        if lost > 0 {
            suspect.good = 0;
            suspect.recent_losses += lost;
            if suspect.since_ms == 0 {
                suspect.since_ms = now_ms;
            }
        } else {
            suspect.good += sent;
        }
        if let Some(tally) = suspect.tallies.get_mut(&(nic, turn)) {
            tally.add((sent, lost, is_shared), (before_ms, now_ms));
        } else if room {
            suspect.tallies.entry((nic, turn)).or_default().add((sent, lost, is_shared), (before_ms, now_ms));
            self.n_tallies += 1;
        } else {
            self.untracked_losses += lost;
        }
        partial
    }

    /// Drops an agent and its tallies, because several sources claim its NIC.
    pub(crate) fn quarantine(&mut self, nic: Nic) {
        self.agents.remove(&nic);
        let (pinned, mut gone) = (&self.pinned_links, 0);
        self.suspects.retain(|link, suspect| {
            let before = suspect.tallies.len();
            suspect.tallies.retain(|(prober, _), _| *prober != nic);
            gone += before - suspect.tallies.len();
            pinned.contains(link) || !suspect.tallies.is_empty()
        });
        self.n_tallies -= gone;
    }

    /// Records the repair of an element. Cables with another known fault keep their evidence.
    pub(crate) fn record_repair(&mut self, plan: &Plan, element: Element, known: &[Element], until_ms: u64) {
        let is_known = |link: Link| known.iter().any(|other| other.covers(plan.topology(), link));
        let links: BTreeSet<Link> =
            adjacent_links(plan, element).into_iter().filter(|link| !is_known(*link)).collect();
        for link in &links {
            if let Some(suspect) = self.suspects.get_mut(link) {
                suspect.begin_anew();
            }
        }
        self.repairs.note(&links, until_ms);
    }

    /// Replaces the set of cables that are watched even without losses.
    pub(crate) fn pin(&mut self, links: BTreeSet<Link>) {
        for link in links.difference(&self.pinned_links) {
            self.suspects.entry(*link).or_default();
        }
        self.pinned_links = links;
    }

    /// Moves all recorded times, because the clock was set. The next interval of each agent is not evidence, because
    /// its length is unknown.
    pub(crate) fn shift(&mut self, by_ms: i64) {
        let shift = |at_ms: &mut u64| *at_ms = at_ms.saturating_add_signed(by_ms);
        shift(&mut self.started_ms);
        for agent in self.agents.values_mut() {
            agent.has_gap = true;
            shift(&mut agent.last_seen_ms);
            shift(&mut agent.interval_from_ms);
            agent.dark_since_ms.values_mut().for_each(shift);
            agent.strays.iter_mut().filter_map(|(_, at_ms)| at_ms.as_mut()).for_each(shift);
            agent.long.iter_mut().flatten().for_each(|(_, state)| shift(&mut state.since_ms));
        }
        for suspect in self.suspects.values_mut() {
            if suspect.since_ms > 0 {
                shift(&mut suspect.since_ms);
            }
            suspect.contest.iter_mut().for_each(|contest| shift(&mut contest.since_ms));
            for tally in suspect.tallies.values_mut() {
                shift(&mut tally.last_seen_ms);
                shift(&mut tally.run_since_ms);
                shift(&mut tally.lost_from_ms);
            }
        }
        self.repairs.shift(by_ms);
        self.corruption.shift(by_ms);
    }

    /// Removes cables with enough good probes since their last loss, except those in use by a verdict.
    pub(crate) fn forget(&mut self, enough: u64, in_use: &BTreeSet<Link>) {
        let is_suspect = |suspect: &Suspect| {
            let (lost, sent) = suspect.sums();
            !suspect.is_reference && suspect.good < required_good_probes(enough, lost, sent)
        };
        let contests = self.suspects.iter().filter(|(link, own)| in_use.contains(link) || is_suspect(own));
        let contests = contests.filter_map(|(_, suspect)| suspect.contest.as_ref());
        let compared = contests.flat_map(|own| own.below.keys().chain(&own.rivals).copied());
        let compared: BTreeSet<Link> = compared.collect();
        let (pinned, mut gone) = (&self.pinned_links, 0);
        self.suspects.retain(|link, suspect| {
            let is_own = pinned.contains(link) || in_use.contains(link) || is_suspect(suspect);
            let kept = is_own || compared.contains(link);
            gone += if kept { 0 } else { suspect.tallies.len() };
            if suspect.good >= enough {
                suspect.recent_losses = 0;
            }
            if !is_own {
                (suspect.is_reference, suspect.contest) = (true, None);
            }
            if suspect.sums().0 == 0 || !is_own && suspect.recent_losses == 0 {
                suspect.since_ms = 0;
            }
            kept
        });
        self.n_tallies -= gone;
    }
}

/// A loss is forgotten after this many good probes at the latest. Otherwise losses by chance, which never
/// stop, would be added to those of a later fault, and hide its beginning and its rate. A fault that loses
/// 0.2 % has an interval of this length between two losses with a probability of 2 %.
pub(crate) const REMEMBERED_MAX: u64 = 2_000;

/// Returns the number of consecutive good probes after which a cable with these losses counts as recovered.
/// If the loss rate were unchanged, the probability of that many good probes would be about 1 in 3,000 at most.
/// For rates below 0.4 % it would be larger, because [`REMEMBERED_MAX`] limits the number of probes.
pub(crate) fn required_good_probes(enough: u64, lost: u64, sent: u64) -> u64 {
    (8 * sent).checked_div(lost).map_or(enough, |worst| enough.max(worst.min(REMEMBERED_MAX)))
}

/// Updates, for ports without a carrier, since when they have had none.
fn dark_since_ms(old: Option<&Agent>, carriers: &[(u8, bool)], now_ms: u64) -> BTreeMap<u8, u64> {
    let before = |plane: u8| old.and_then(|old| old.dark_since_ms.get(&plane)).copied();
    let dark = carriers.iter().filter(|(_, is_up)| !is_up);
    dark.map(|(plane, _)| (*plane, before(*plane).unwrap_or(now_ms))).collect()
}

/// Updates, per plane, the number of frames received for other NICs, and the time of its last increase.
fn strays(planes: u8, old: Option<&Agent>, counts: &[(u8, u64)], now_ms: u64) -> Vec<(u64, Option<u64>)> {
    let mut out = vec![(0, None); usize::from(planes)];
    for (plane, count) in counts {
        let Some(place) = out.get_mut(usize::from(*plane)) else { continue };
        let before = old.and_then(|old| old.strays.get(usize::from(*plane))).copied();
        // Frames counted before the first report may be old.
        let (known, last_ms) = before.unwrap_or((*count, None));
        *place = (*count, if *count > known { Some(now_ms) } else { last_ms });
    }
    out
}

/// Minimum share of the time between two reports that an agent must have run for partial losses to be evidence.
const RUNS_MIN: f64 = 0.5;

/// Returns whether an agent had too little processor time since its last report. Older agents do not report it.
fn lacks_time(old: Option<&Agent>, clock: Option<(u64, u64)>) -> bool {
    let (Some((before, ran_before)), Some((now, ran))) = (old.and_then(|old| old.clock), clock) else {
        return false;
    };
    let (passed, ran) = (now.saturating_sub(before), ran.saturating_sub(ran_before));
    passed > 0 && (ran as f64) < RUNS_MIN * passed as f64
}

/// Updates the full-length probes for each turn point, with the time of the first loss.
fn long(
    old: Option<&Agent>,
    report: Option<Vec<(TurnPoint, LongProbeView)>>,
    now_ms: u64,
) -> Option<BTreeMap<TurnPoint, LongState>> {
    let before = |turn: &TurnPoint| old?.long.as_ref()?.get(turn).filter(|state| state.lost > 0);
    let state = |(turn, own): (TurnPoint, LongProbeView)| {
        let since_ms = before(&turn).map_or(now_ms, |state| state.since_ms);
        let (passes, loses) = (own.passes_bytes.unwrap_or(0), own.loses_bytes.unwrap_or(u16::MAX));
        (turn, LongState { lost: own.lost, since_ms, passes, loses })
    };
    report.map(|report| report.into_iter().map(state).collect())
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
