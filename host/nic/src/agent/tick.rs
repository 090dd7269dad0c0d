//! Timer work: probes, retransmission timeouts, reordering deadlines, acknowledgements.

use closc_paths::{Choice, Destination, Kind};
use closc_paths_engine::{PathId, State, ValueView};

use crate::agent::{Agent, AgentContext, place_of, record};
use crate::batch::Batch;
use crate::channel::{Channel, SUSPECTS};
use crate::localise::{Finding, Record, localise};
use crate::probes::Target;
use crate::schedule::TurnPoint;
use crate::sent_log::Cargo;
use crate::wire::{Message, PairProbe, RANGES_MAX, SelfProbe, Status};

/// Maximum delay of an acknowledgement if ports have no rate limit.
const OWED_NS: u64 = 200_000;
/// Maximum delay on ports with a rate, where acknowledgements wait for their share of it. The sender measures this
/// delay and extends its timeouts.
const OWED_MAX_NS: u64 = 50_000_000;
/// Interval between probes of unused paths, and the maximum number of probes each time.
const BAD_PERIOD_NS: u64 = 10_000_000;
const BAD_AT_A_TIME: usize = 8;
/// A path that does not answer is probed half as often each time, down to once in 2^RARELY periods. Probes take
/// bandwidth from data. All ports carry equal shares, so bandwidth missing on one port is lost on all.
const RARELY: u32 = 4;
/// Number of rounds after an outage of all paths in which every bad path is probed. The outage is over for most of them,
/// and a silent path is not used until it answers.
const EAGER_ROUNDS: u32 = 16;
/// Interval between probes over paths in use. Without other traffic, only these probes exchange the state of
/// ports.
const LOOK_PERIOD_NS: u64 = 50_000_000;
/// One in this many of these probes is a long one.
const LONG_LOOKS: usize = 16;
/// With many far NICs, this is the minimum interval between these probes, which limits them to 1 % of a core.
const LOOK_LEAST_NS: u64 = 1_000_000;
/// Number of consecutive answers after which a T0 is used again.
const T0_ANSWERS: u8 = 4;
/// Frames of a batch that are reserved for answers.
const SPARE: usize = 4;

impl Agent {
    /// Does the work that is due. Work whose frames do not fit into the batch stays due.
    pub fn tick(&mut self, at: &AgentContext<'_>, batch: &mut Batch, node: &mut impl FnMut(&[u8])) {
        self.clock.advance(at.now_ns);
        let ran_ns = self.clock.ran_ns();
        if self.engine.tick(at.now_ns) > 0 {
            self.bans_expired();
        }
        self.probe_switches(at, batch);
        while let Some((target, sent_ns)) = self.probes.pop_expired(ran_ns) {
            self.probe_missed(at, target, sent_ns);
        }
        let ports = self.engine.local_ports();
        let count = (0..self.ports.len()).map(|plane| ports >> plane & 1).sum();
        self.shares.set_capacity(self.pace.capacity(count));
        let is_shared = self.shares.has_several_senders();
        self.pace.earn_acknowledgements(|plane| ports >> plane & 1 == 1, is_shared, at.now_ns);
        // Acknowledge every peer that is owed one, not only the first.
        let [affords_usual, affords_news] =
            [false, true].map(|is_news| self.pace.acknowledge_at(is_news) <= at.now_ns);
        let mut from = 0;
        while let Some(channel) = self.channels.next_due_channel(from, at.now_ns) {
            from = channel + 1;
            self.channels[channel].reorder.tick(ran_ns, node);
            if let Some(plane) = self.overdue(channel)
                && batch.free_frames() > SPARE
            {
                self.send_after(at, channel, batch, plane);
            }
            let c = &self.channels[channel];
            let affords = if c.has_news() { affords_news } else { affords_usual };
            let wait_ns = if affords { OWED_NS } else { OWED_MAX_NS };
            let owes = c.pending_acks > 0 && at.now_ns.saturating_sub(c.pending_acks_since_ns) >= wait_ns;
            if owes && batch.free_frames() > SPARE {
                self.acknowledge(at, channel, batch);
            }
            self.ask(at, channel, batch);
            self.probe_paths(at, channel, batch);
            self.channels.rest(channel);
        }
        self.collect_events();
    }

    /// Returns whether only answers to probes are expected, so that reading a frame may be delayed.
    pub fn is_quiet(&self) -> bool {
        self.next_send_ns.is_none() && !self.channels.awake().any(Channel::is_awaited)
    }

    /// Records that the event loop will sleep for at most `wait_ns`.
    pub fn waits(&mut self, wait_ns: u64) {
        self.clock.wait(wait_ns);
    }

    /// Returns the time of the next work.
    pub fn next_due_ns(&self, now_ns: u64) -> u64 {
        let mut due = self.schedule.next_due_ns();
        let look_ns = now_ns + 1_000_000;
        if let Some(rested_ns) = self.channels.earliest_due_ns() {
            due = due.min(rested_ns.max(look_ns));
        }
        for c in self.channels.awake() {
            if c.pending_acks > 0 {
                let affords_ns = self.pace.acknowledge_at(c.has_news());
                let wanted_ns = (c.pending_acks_since_ns + OWED_NS).max(affords_ns);
                due = due.min(wanted_ns.min(c.pending_acks_since_ns + OWED_MAX_NS));
            }
            if c.reorder.is_waiting() {
                due = due.min(now_ns + self.options.reorder_ns / 8);
            }
            if c.sent.in_flight() > 0 {
                due = due.min(now_ns + c.sent.late_ns() / 2);
            }
            due = due.min(c.probe_at_ns.max(look_ns));
        }
        self.next_send_ns.map_or(due, |paced_ns| due.min(paced_ns))
    }

    fn probe_switches(&mut self, at: &AgentContext<'_>, batch: &mut Batch) {
        let downlink = self.options.downlink;
        while batch.free_frames() > SPARE {
            let Some((place, turn)) = self.schedule.pop_due(at.now_ns) else { return };
            let plane = turn.plane();
            let port = self.ports.get(usize::from(plane)).copied().unwrap_or_default();
            if !port.carrier || port.ethernet.is_none() {
                continue;
            }
            let Some(id) = self.probes.register(Target::Switch(turn, place), self.clock.ran_ns(), at.now_ns)
            else {
                return;
            };
            let (tier, uplink, t1_uplink, outer) = match turn {
                TurnPoint::T0 { .. } => (0, 0, 0, Some(at.table.t0_probe(plane, downlink))),
                TurnPoint::T1 { uplink, .. } => {
                    (1, uplink, 0, Some(at.table.t1_probe(plane, uplink, downlink)))
                }
                TurnPoint::T2 { uplink, t1_uplink, .. } => {
                    (2, uplink, t1_uplink, at.table.t2_probe(plane, uplink, t1_uplink, downlink))
                }
            };
            let Some(outer) = outer else { continue };
            let probe = SelfProbe { id, tier, plane, uplink, t1_uplink, epoch: self.epoch };
            self.counters.probes += 1;
            let own = self.address;
            self.send_message(batch, (plane, u32::from(uplink), &outer), (&own, &Message::SelfProbe(probe)));
            self.probe_long(at, (turn, place), (&outer, probe), batch);
            if port.t0_dead && tier == 0 {
                self.search(at, plane, batch);
            }
        }
    }

    /// Probes T0s of other planes over a port whose own T0 does not answer. If cables of the NIC are swapped, one of
    /// them answers.
    fn search(&mut self, at: &AgentContext<'_>, port: u8, batch: &mut Batch) {
        let Some(own) = self.ports.get_mut(usize::from(port)) else { return };
        for plane in own.search.next(port, at.table.header().planes) {
            if batch.free_frames() <= SPARE {
                return;
            }
            let target = Target::Other { port, plane };
            let Some(id) = self.probes.register(target, self.clock.ran_ns(), at.now_ns) else { return };
            let probe = SelfProbe { id, tier: 0, plane, uplink: 0, t1_uplink: 0, epoch: self.epoch };
            let outer = at.table.t0_probe(plane, self.options.downlink);
            self.counters.probes += 1;
            self.send_by(batch, (port, plane), &outer, &Message::SelfProbe(probe));
        }
    }

    fn probe_missed(&mut self, at: &AgentContext<'_>, target: Target, sent_ns: u64) {
        match target {
            Target::Switch(turn, place) => self.handle_probe_result(at, (turn, place), None),
            Target::Long(turn, place, len) => self.long_result(at, (turn, place, len), false),
            Target::Other { port, plane } => {
                if let Some(port) = self.ports.get_mut(usize::from(port)) {
                    port.search.record_miss(plane);
                }
            }
            Target::Path { address, plane, entropy, is_long } => {
                let Some(channel) = self.by_address.get(&address) else { return };
                let c = &mut self.channels[*channel];
                // A NIC without a running agent does not answer, so the loss proves nothing about the path.
                if c.alive_ns.is_none_or(|alive_ns| alive_ns <= sent_ns) {
                    return;
                }
                if is_long {
                    self.engine.record_long_miss(c.path, plane, entropy, at.now_ns);
                } else {
                    self.engine.record_miss(c.path, plane, entropy, at.now_ns);
                }
                // Perhaps only the answer was lost. Repeat the probe, and request answers over two planes.
                if self.engine.is_suspect(c.path, plane, entropy) && c.suspects.len() < SUSPECTS {
                    c.suspects.push((plane, entropy, is_long));
                    c.probe_at_ns = at.now_ns;
                }
            }
        }
    }

    /// Handles a damaged answer of a switch probe, which counts as lost.
    pub(super) fn handle_damaged_answer(&mut self, at: &AgentContext<'_>, (turn, place): (TurnPoint, usize)) {
        if let Some((_, record)) = self.records.get_mut(place).filter(|(other, _)| *other == turn) {
            record.damaged += 1;
        }
        self.handle_probe_result(at, (turn, place), None);
    }

    /// Handles the result of a switch probe, by its index in the schedule.
    pub(super) fn handle_probe_result(
        &mut self,
        at: &AgentContext<'_>,
        (turn, place): (TurnPoint, usize),
        rtt_ns: Option<u64>,
    ) {
        // The schedule may have changed if a table was loaded since the probe was sent.
        let is_there = self.records.get(place).is_some_and(|(other, _)| *other == turn);
        let Some(place) = (if is_there { Some(place) } else { place_of(&self.records, turn) }) else {
            return;
        };
        let record = &mut self.records[place].1;
        let was_dead = record.is_dead();
        record.result(rtt_ns);
        let (dead, plane) = (record.is_dead(), turn.plane());
        match turn {
            TurnPoint::T0 { .. } => {
                let Some(port) = self.ports.get_mut(usize::from(plane)) else { return };
                port.t0_answered_ns = rtt_ns.map(|_| at.now_ns).or(port.t0_answered_ns);
                port.t0_answers = if rtt_ns.is_some() { port.t0_answers.saturating_add(1) } else { 0 };
                if port.t0_answers >= T0_ANSWERS {
                    port.t0_mac = port.ethernet.and_then(|ethernet| ethernet.first_chunk().copied());
                }
                let t0_dead = dead || port.t0_dead && port.t0_answers < T0_ANSWERS;
                if port.t0_dead != t0_dead {
                    port.t0_dead = t0_dead;
                    port.search.end();
                    self.port_changed(at, plane, if t0_dead { "T0 does not answer" } else { "T0 answers" });
                }
            }
            TurnPoint::T1 { uplink, .. } if dead && !was_dead && self.t0_is_good(plane) => {
                self.engine.fail_uplink(plane, uplink, at.now_ns);
                let text = format!("plane {plane} uplink {uplink}: T1 does not answer, but the T0 does");
                self.event(at.now_ns, text);
            }
            TurnPoint::T1 { uplink, .. } if was_dead && !dead => {
                self.event(at.now_ns, format!("plane {plane} uplink {uplink}: T1 answers"));
            }
            TurnPoint::T2 { uplink, t1_uplink, .. }
                if dead && !was_dead && self.t1_is_good(plane, uplink) =>
            {
                let parallel = at.table.header().parallel0.max(1);
                let first = uplink - uplink % parallel;
                self.engine.fail_t1_uplink(plane, (first, first + parallel - 1), t1_uplink, at.now_ns);
                let text = format!(
                    "plane {plane} uplink {uplink} T1 uplink {t1_uplink}: T2 does not answer, but the T1 does"
                );
                self.event(at.now_ns, text);
            }
            TurnPoint::T2 { uplink, t1_uplink, .. } if was_dead && !dead => {
                let text = format!("plane {plane} uplink {uplink} T1 uplink {t1_uplink}: T2 answers");
                self.event(at.now_ns, text);
            }
            TurnPoint::T1 { .. } | TurnPoint::T2 { .. } => {}
        }
    }

    /// Reports to the engine the T1s and T2s that are dead or pass only short packets, for a newly opened
    /// destination.
    pub(super) fn repeat_dead(&mut self, at: &AgentContext<'_>, path: PathId) {
        let is_shut = |record: &Record| record.is_dead() || record.long.is_narrow();
        if !self.records.iter().any(|(_, record)| is_shut(record)) {
            return;
        }
        let parallel = at.table.header().parallel0.max(1);
        let Agent { engine, records, .. } = self;
        engine.fail_dead_paths(path, at.now_ns, |to, choice| {
            let Choice { plane, t0_uplink: uplink, t1_uplink } = choice;
            let first = uplink - uplink % parallel;
            let is_dead = |turn| record(records, turn).is_some_and(is_shut);
            let is_good = |turn| record(records, turn).is_some_and(Record::is_good);
            let by_t1 = || is_dead(TurnPoint::T1 { plane, uplink }) && is_good(TurnPoint::T0 { plane });
            let t2 = TurnPoint::T2 { plane, uplink: first, t1_uplink };
            let by_t2 = || is_dead(t2) && is_good(TurnPoint::T1 { plane, uplink: first });
            match to.kind {
                Kind::Local => false,
                Kind::Zone => by_t1(),
                Kind::Far => by_t1() || by_t2(),
            }
        });
    }

    fn t0_is_good(&self, plane: u8) -> bool {
        record(&self.records, TurnPoint::T0 { plane }).is_some_and(Record::is_good)
    }

    fn t1_is_good(&self, plane: u8, uplink: u16) -> bool {
        record(&self.records, TurnPoint::T1 { plane, uplink }).is_some_and(Record::is_good)
    }

    /// Updates a port: its neighbour and whether it has a carrier.
    pub fn port(&mut self, at: &AgentContext<'_>, plane: u8, ethernet: Option<[u8; 14]>, carrier: bool) {
        let Some(port) = self.ports.get_mut(usize::from(plane)) else { return };
        if ethernet.is_some() && port.ethernet != ethernet {
            // Answers in flight may be from the previous neighbour.
            (port.ethernet, port.t0_answers) = (ethernet, 0);
        }
        if port.carrier != carrier {
            port.carrier = carrier;
            port.search.end();
            self.port_changed(at, plane, if carrier { "port up" } else { "port down" });
        } else if ethernet.is_some() {
            self.update_port(at, plane);
        }
    }

    /// Reports to the engine whether a port is up. After a recovery its paths are in doubt, because a
    /// restarted switch has a link and answers probes before it has all routes. Switches behind it may not
    /// have theirs either.
    fn update_port(&mut self, at: &AgentContext<'_>, plane: u8) {
        let (was_up, is_up) = (self.engine.local_ports() >> plane & 1 == 1, self.is_up(plane));
        if is_up && !was_up {
            // A NIC without an agent does not answer probes, so its paths would stay in doubt.
            for c in self.channels.iter().filter(|c| c.alive_ns.is_some()) {
                self.engine.doubt(c.path, plane, at.now_ns);
            }
        }
        self.engine.set_local_port(plane, is_up);
    }

    fn is_up(&self, plane: u8) -> bool {
        let port = self.ports.get(usize::from(plane));
        port.is_some_and(|port| port.carrier && !port.t0_dead && port.ethernet.is_some())
    }

    fn port_changed(&mut self, at: &AgentContext<'_>, plane: u8, why: &str) {
        self.update_port(at, plane);
        self.event(at.now_ns, format!("plane {plane}: {why}"));
        // Inform far NICs at once: make the next probe due now.
        for c in &mut self.channels {
            c.look_at_ns = at.now_ns;
            c.probe_at_ns = at.now_ns;
        }
    }

    /// Retransmits the contents of packets whose acknowledgement is overdue. Only the acknowledgement of a
    /// later packet decides whether the path is at fault. Returns the plane of one of these packets. The
    /// caller also probes the far NIC, because the acknowledgement of a retransmission might take a dead
    /// path.
    fn overdue(&mut self, channel: usize) -> Option<u8> {
        let c = &mut self.channels[channel];
        let (leaving, mut silent) = (&mut c.outgoing_writes, None);
        c.sent.overdue(self.clock.ran_ns(), |sent| {
            if let Cargo::Chunk { write, offset, .. } = sent.cargo
                && let Some(leaving) = leaving.iter_mut().find(|leaving| leaving.id == write)
            {
                leaving.record_loss(offset, sent.plane);
            }
            silent = Some(sent.plane);
        });
        silent.filter(|_| c.sent.is_worth_asking())
    }

    fn ask(&mut self, at: &AgentContext<'_>, channel: usize, batch: &mut Batch) {
        for n in 0..self.channels[channel].outgoing_writes.len() {
            let leaving = &mut self.channels[channel].outgoing_writes[n];
            if batch.free_frames() > SPARE && leaving.wants_to_ask(at.now_ns) {
                let (write, total) = (leaving.id, leaving.order.total);
                let missing = [(0, 0); RANGES_MAX];
                let status = Status {
                    write,
                    complete: false,
                    question: true,
                    refused: false,
                    total,
                    missing,
                    n_missing: 0,
                };
                self.answer(at, batch, channel, &Message::Status(status));
            }
        }
    }

    /// Probes bad and denied paths, and sometimes a path in use.
    fn probe_paths(&mut self, at: &AgentContext<'_>, channel: usize, batch: &mut Batch) {
        let look_period_ns = LOOK_PERIOD_NS.max(self.channels.len() as u64 * LOOK_LEAST_NS);
        if at.now_ns < self.channels[channel].probe_at_ns {
            return;
        }
        let is_eager = self.is_after_outage(channel);
        let c = &mut self.channels[channel];
        c.probe_at_ns = at.now_ns + BAD_PERIOD_NS;
        // Bad paths are probed even without traffic, so that they are available when traffic starts.
        let look = at.now_ns >= c.look_at_ns && !c.is_idle(at.now_ns, self.options.idle_ns);
        if look {
            c.look_at_ns = at.now_ns + look_period_ns;
        }
        let (path, to, address, round) = (c.path, c.to, c.address, c.probe_round);
        c.probe_round = round.wrapping_add(1);
        let mut wanted = [(0u8, 0u32, false); SUSPECTS + BAD_AT_A_TIME + 1];
        let mut n = 0;
        for suspect in c.suspects.drain(..) {
            wanted[n] = suspect;
            n += 1;
        }
        // If the far NIC has reported all of its ports down, it may be unable to report that they are up again.
        let is_cut_off = self.engine.planes_in_use(path) == 0;
        let due = |(place, v): &(usize, ValueView)| {
            (v.ports_up || is_cut_off)
                && self.is_probed(at, to.kind, v, (round.wrapping_add(*place), is_eager))
        };
        let out = || self.engine.values_out(path).filter(due);
        let count = out().count();
        // If more paths are due than can be probed at once, each round starts at a different one.
        let from = if count > BAD_AT_A_TIME { round.wrapping_mul(BAD_AT_A_TIME) % count } else { 0 };
        for (_, (_, v)) in (0..).zip(out()).filter(|(nth, _)| (nth + count - from) % count < BAD_AT_A_TIME) {
            // The last answer that a path needs must be to a long probe.
            let is_last = v.state == State::AssumedBad && v.answers_wanted <= 1;
            wanted[n] = (v.plane, v.entropy, is_last);
            n += 1;
        }
        // The probes so far are over paths in doubt. They request two answers, because a lost answer counts
        // against the path.
        let in_doubt = n;
        if look {
            let pick = self.engine.pick(path).map(|pick| (pick.plane, pick.entropy));
            let any = || {
                let all = self.engine.values(path).count();
                self.engine.values(path).nth(round % all.max(1)).map(|v| (v.plane, v.entropy))
            };
            if let Some((plane, entropy)) = pick.or_else(any) {
                wanted[n] = (plane, entropy, round.is_multiple_of(LONG_LOOKS));
                n += 1;
            }
        }
        for (place, value) in wanted.into_iter().take(n).enumerate() {
            if batch.free_frames() > SPARE {
                self.probe_path(at, batch, (address, &to), value, place < in_doubt);
            }
        }
    }

    /// Counts a round of probes. Returns whether it is one of the first after an outage of all paths.
    fn is_after_outage(&mut self, channel: usize) -> bool {
        let c = &mut self.channels[channel];
        let is_lost =
            self.engine.values(c.path).all(|v| matches!(v.state, State::AssumedBad | State::Denied));
        if c.was_lost && !is_lost {
            c.eager_rounds = EAGER_ROUNDS;
        }
        c.was_lost = is_lost;
        let is_eager = c.eager_rounds > 0;
        c.eager_rounds = c.eager_rounds.saturating_sub(1);
        is_eager
    }

    /// Probes a path to a NIC.
    fn probe_path(
        &mut self,
        at: &AgentContext<'_>,
        batch: &mut Batch,
        (address, to): ([u8; 16], &Destination),
        (plane, entropy, is_long): (u8, u32, bool),
        twice: bool,
    ) {
        let target = Target::Path { address, plane, entropy, is_long };
        let Some(id) = self.probes.register(target, self.clock.ran_ns(), at.now_ns) else { return };
        let ports = self.engine.local_ports();
        let probe = PairProbe { id, epoch: self.epoch, entropy, plane, twice, ports, hold_ns: 0 };
        let outer = at.table.outer(to, entropy);
        self.counters.probes += 1;
        let message = (&address, &Message::PairProbe(probe));
        let by = (plane, entropy, &outer.address);
        match self.long_len(at).filter(|_| is_long) {
            Some(len) => self.send_padded(batch, by, message, len),
            None => self.send_message(batch, by, message),
        };
    }

    /// Returns whether an unused path is probed in this round. It is not probed while its first T1 is dead,
    /// because probes of the T1 will show its recovery.
    fn is_probed(
        &self,
        at: &AgentContext<'_>,
        kind: Kind,
        v: &ValueView,
        (round, is_eager): (usize, bool),
    ) -> bool {
        let rarely = match v.state {
            State::AssumedBad if is_eager => 0,
            State::AssumedBad => u32::from(v.silent.max(v.relapses)).min(RARELY),
            State::Denied => RARELY,
            State::Good | State::Skip | State::Unknown => return false,
        };
        let is_turn = round & ((1 << rarely) - 1) == 0;
        is_turn && (kind == Kind::Local || !self.t1_is_dead(v.plane, at.table.choice(v.entropy).t0_uplink))
    }

    fn t1_is_dead(&self, plane: u8, uplink: u16) -> bool {
        record(&self.records, TurnPoint::T1 { plane, uplink }).is_some_and(Record::is_dead)
    }

    /// Returns the faults that this NIC can detect.
    pub fn findings(&self, at: &AgentContext<'_>) -> Vec<Finding> {
        let up = |plane: u8| self.ports.get(usize::from(plane)).is_some_and(|port| port.carrier);
        localise(&self.records, up, at.table.header().parallel0)
    }
}
