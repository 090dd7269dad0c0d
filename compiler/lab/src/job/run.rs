//! Runs a job: one thread submits messages, one samples agents, and the calling thread breaks and repairs the fabric.
//!
//! In: a lab that is up, a scenario, orders. Out: a report. Invariants: agents are stopped and the fabric is repaired
//! when this returns, even after errors and interruptions. Measurements come from the counters and clocks of agents.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use closc_artefacts::Routing;
use closc_nic::agent::{EventView, unit_max};
use closc_nic::api::Request;
use closc_nic::losses::{ANSWER_MAX, Loss as AgentLoss, Silence, UnansweredPacket};
use closc_paths::Table;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::agents::{Agents, SendOptions};
use super::ask::{CompletedWrite, Line, Status};
use super::charge::{StepFaults, Witness};
use super::course::{Course, LOOK, join};
use super::endpoint::{JobEndpoint, seats};
use super::orders::{Orders, PACKET_NS_MAX, PLACES, SAMPLE};
use super::pattern::Work;
use super::record::{Change, Loss, LossReport, Message, Record, Sample};
use super::report::{Report, Setting};
use super::scenario::{Scenario, ScenarioFault};
use super::spread::Spread;
use super::timeline::Timeline;
use super::verdict::judge;
use crate::model::CableId;
use crate::name::FabricName;
use crate::progress::Watch;
use crate::tree::Tree;
use crate::{Lab, LabError};

/// Maximum number of NICs on one machine.
const NICS_MAX: usize = 256;

/// Errors of a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The lab returned an error.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The scenario does not fit the fabric.
    #[error(transparent)]
    Scenario(#[from] ScenarioFault),
    /// An action does not fit the fabric or the current faults.
    #[error("{0}")]
    Action(String),
    /// The fabric has too many NICs.
    #[error(
        "this fabric has {nics} NICs, but a job on this target supports 2 to {max}: use a fabric with fewer \
         `hosts.groups`, such as those in `topologies/lab`"
    )]
    Nics {
        /// NICs of the fabric.
        nics: u64,
        /// Maximum number of NICs of a job.
        max: usize,
    },
    /// A packet is too large for the cables.
    #[error(
        "a packet of {unit} bytes does not fit into the MTU of this fabric with its headers: set `--unit` to \
         at most {max}"
    )]
    Unit {
        /// Bytes of a packet.
        unit: u32,
        /// The maximum.
        max: u32,
    },
    /// Switches choose the path in this fabric, so hosts cannot spray.
    #[error(
        "hosts of fabric `{fabric}` (`routing: {routing}`) cannot spray, because switches choose the path: \
         use `--transport flow` (own ports for each pair of NICs) or `static` (the same ports for all)"
    )]
    NoSpray {
        /// The fabric.
        fabric: FabricName,
        /// Its routing.
        routing: Routing,
    },
    /// The serialisation time of a packet is too long for the timeouts of agents.
    #[error(
        "a packet of {unit} bytes takes {:.1} ms to leave a port of {port_mbps} Mb/s, but agents time out \
         after some milliseconds: set `--port-mbps` to at least {}, or send smaller packets (`--unit`)",
        *packet_ns as f64 / 1e6,
        (u64::from(*port_mbps) * packet_ns).div_ceil(PACKET_NS_MAX)
    )]
    Slow {
        /// Bytes of a packet.
        unit: u32,
        /// Rate of a port.
        port_mbps: u32,
        /// The serialisation time.
        packet_ns: u64,
    },
}

/// Runs a job with agents.
pub(super) fn run(
    lab: &mut Lab,
    scenario: &Scenario,
    orders: &Orders,
    watch: &Watch<'_>,
) -> Result<Report, JobError> {
    lab.breakable()?;
    let seats = seats(lab.tree(), lab.model());
    fits(seats.len() as u64)?;
    unit_fits(lab.tree(), orders)?;
    let work = orders.work(seats.len());
    let timeline = {
        // Switches of the kernel have no rate limit; only ports of NICs have one.
        let spread = Spread::new(lab.tree(), lab.model(), &seats, false);
        Timeline::bind(scenario, lab.model(), &spread, &work)?
    };
    lab.restore(watch)?;
    let transport = orders.transport.name();
    let how = SendOptions {
        program: &orders.program,
        transport,
        port_mbps: orders.port_mbps,
        packet_bytes: orders.packet_bytes(),
    };
    let agents = Agents::start(lab, &seats, how, watch)?;
    let seen = perform(lab, scenario, orders, &seats, &timeline, &agents, work, watch);
    drop(agents);
    lab.restore(watch)?;
    // Wait, so that packets that ports send when they come up are not counted in the next test.
    lab.breakable()?.settle()?;
    let mut record = seen?;
    charge(lab, &seats, &timeline, &mut record)?;
    let names: Vec<String> = seats.into_iter().map(|seat| seat.name).collect();
    let setting = Setting::of(orders, names.len(), false);
    let mut report = Report::of(setting, &names, &timeline, &record);
    report.unmet = judge(&report, &timeline, &scenario.expect);
    Ok(report)
}

/// Rejects a fabric with too many NICs, before it is compiled.
pub fn fits(nics: u64) -> Result<(), JobError> {
    if (2..=NICS_MAX as u64).contains(&nics) {
        return Ok(());
    }
    Err(JobError::Nics { nics, max: NICS_MAX })
}

/// Rejects packets that are too large for the cables.
pub(super) fn unit_fits(tree: &Tree, orders: &Orders) -> Result<(), JobError> {
    let most = tree.tables.iter().map(|table| unit_max(&table.table())).min().unwrap_or(u32::MAX);
    if orders.unit <= most { Ok(()) } else { Err(JobError::Unit { unit: orders.unit, max: most }) }
}

/// Attributes each lost packet to a step, by its path.
fn charge(
    lab: &Lab,
    seats: &[JobEndpoint],
    timeline: &Timeline,
    record: &mut Record,
) -> Result<(), LabError> {
    let (tree, model) = (lab.tree(), lab.model());
    let tables: Vec<Table<'_>> = tree.tables.iter().map(|table| table.table()).collect();
    let cables = |_, loss: &Loss| -> Vec<CableId> {
        let Some(word) = &loss.report else { return Vec::new() };
        let (seat, table) = (&seats[word.from], &tables[seats[word.from].table]);
        let Some(to) = table.destination(seats[word.to].address.octets()) else { return Vec::new() };
        let outer = table.outer(&to, word.entropy);
        let port = seat.ports.get(usize::from(outer.port)).copied().flatten();
        let path = port.and_then(|port| model.walk(port, outer.address.into()).ok());
        path.map_or_else(Vec::new, |path| path.crossings.iter().map(|port| port.cable()).collect())
    };
    StepFaults::of(&timeline.steps, model)?.charge(
        &mut record.losses,
        &record.marks,
        Witness::Senders,
        cables,
    );
    Ok(())
}

/// State that the threads share.
struct Stage<'a> {
    agents: &'a Agents,
    seats: &'a [JobEndpoint],
    orders: &'a Orders,
    course: Course,
}

#[expect(clippy::too_many_arguments, reason = "what a job consists of, once")]
fn perform(
    lab: &mut Lab,
    scenario: &Scenario,
    orders: &Orders,
    seats: &[JobEndpoint],
    timeline: &Timeline,
    agents: &Agents,
    work: Work,
    watch: &Watch<'_>,
) -> Result<Record, LabError> {
    let stage = Stage { agents, seats, orders, course: Course::begin(scenario.duration, timeline) };
    let stage = &stage;
    thread::scope(|scope| {
        let course = &stage.course;
        let sampler = scope.spawn(move || course.part(|| Sampler::new(stage)?.watch(stage)));
        let driver = scope.spawn(move || {
            let sent = course.part(|| Driver::new(work).drive(stage, watch));
            course.finished.store(true, Ordering::SeqCst);
            sent
        });
        let marks = course.part(|| course.follow(lab, timeline, watch));
        let (sent, seen) = (join(driver), join(sampler));
        let (messages, end_ns) = sent?;
        let mut record = seen?;
        record.marks = marks?;
        (record.messages, record.end_ns) = (messages, end_ns);
        Ok(record)
    })
}

/// A message in flight.
struct MessageInFlight {
    line: Line,
    number: u64,
    /// Its index among all messages.
    at: usize,
}

/// Submits messages and processes their arrival.
struct Driver {
    work: Work,
    idle: Vec<Vec<Line>>,
    busy: Vec<Vec<MessageInFlight>>,
    messages: Vec<Message>,
}

impl Driver {
    fn new(work: Work) -> Driver {
        Driver { work, idle: Vec::new(), busy: Vec::new(), messages: Vec::new() }
    }

    fn drive(mut self, stage: &Stage<'_>, watch: &Watch<'_>) -> Result<(Vec<Message>, u64), LabError> {
        let nics = stage.seats.len();
        self.idle.resize_with(nics, Vec::new);
        self.busy.resize_with(nics, Vec::new);
        let mut moved = Instant::now();
        loop {
            watch.check()?;
            let by_number = stage.orders.messages.is_some();
            let sending = by_number || stage.course.lasts();
            if let Some(every) = stage.orders.burst_interval {
                let passed = stage.course.start.elapsed().as_nanos() / every.as_nanos().max(1);
                self.work.allow_bursts(passed as u64 + 1);
            }
            for from in 0..nics {
                while sending && let Some(next) = self.work.take(from) {
                    self.order(stage, from, next.number, next.to)?;
                    moved = Instant::now();
                }
            }
            let over = if by_number { self.work.is_done() } else { !sending && self.work.in_flight() == 0 };
            let quiet = moved.elapsed() > stage.orders.patience;
            let given_up = quiet && (by_number || !sending);
            if over || given_up || stage.course.failed.load(Ordering::SeqCst) {
                return Ok((self.messages, stage.course.now_ns()));
            }
            self.wait()?;
            for from in 0..nics {
                if self.collect(stage, from)? {
                    moved = Instant::now();
                }
            }
        }
    }

    fn order(&mut self, stage: &Stage<'_>, from: usize, number: u64, to: usize) -> Result<(), LabError> {
        let bytes = stage.orders.message_bytes;
        // The contents depend on the offset in the region, so both ends use the same offset.
        let place = number % PLACES * bytes;
        let mut line = match self.idle[from].pop() {
            Some(line) => line,
            None => stage.agents.line(from)?,
        };
        let at_ns = stage.course.now_ns();
        let to_address = stage.seats[to].address;
        let request = Request::Write {
            to: to_address,
            bytes,
            local: place,
            target: place,
            unit: Some(stage.orders.unit),
        };
        line.send(&request).map_err(|error| stage.agents.fault(from, error))?;
        self.busy[from].push(MessageInFlight { line, number, at: self.messages.len() });
        self.messages.push(Message { from, to, at_ns, took_ns: None, packets: (0, 0) });
        Ok(())
    }

    /// Waits briefly for answers.
    fn wait(&self) -> Result<(), LabError> {
        let busy = self.busy.iter().flatten();
        let mut polls: Vec<PollFd<'_>> =
            busy.map(|busy| PollFd::new(busy.line.stream().as_fd(), PollFlags::POLLIN)).collect();
        let timeout = PollTimeout::try_from(LOOK).unwrap_or(PollTimeout::ZERO);
        match poll(&mut polls, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(errno) => Err(LabError::os("wait for agents")(errno)),
        }
    }

    /// Processes answers to a NIC's messages; returns whether there were any.
    fn collect(&mut self, stage: &Stage<'_>, from: usize) -> Result<bool, LabError> {
        let mut any = false;
        let mut at = 0;
        while at < self.busy[from].len() {
            let answer = self.busy[from][at].line.answer().map_err(|e| stage.agents.fault(from, e))?;
            let Some(answer) = answer else {
                at += 1;
                continue;
            };
            let done = self.busy[from].swap_remove(at);
            let written: CompletedWrite = serde_json::from_value(answer.clone())
                .map_err(|_| stage.agents.fault(from, format_args!("unexpected answer: {answer}")))?;
            let message = &mut self.messages[done.at];
            message.took_ns = Some((written.elapsed_us * 1e3) as u64);
            message.packets = (written.sent, written.resent);
            self.work.record_arrival(from, done.number);
            self.idle[from].push(done.line);
            any = true;
        }
        Ok(any)
    }
}

/// An agent with its clock offset, and the state of requests to it.
struct AgentMonitor {
    line: Line,
    /// Offset of its clock, and the precision of the offset.
    offset: (i128, u64),
    event: u64,
    loss: u64,
    events: Vec<EventView>,
    losses: Vec<AgentLoss>,
    /// Packets without an answer at the end of the job.
    silence: Silence,
    forgotten: u64,
}

/// Samples agents periodically.
struct Sampler {
    monitors: Vec<AgentMonitor>,
    samples: Vec<Sample>,
    wrong_bytes: u64,
    repeated: u64,
    planes: Vec<u64>,
    /// Mean round-trip time before the first step.
    rtt_ns: u64,
}

impl Sampler {
    fn new(stage: &Stage<'_>) -> Result<Sampler, LabError> {
        let watched = |at| {
            let line = stage.agents.line(at)?;
            Ok(AgentMonitor {
                line,
                offset: (0, u64::MAX),
                event: 0,
                loss: 0,
                events: Vec::new(),
                losses: Vec::new(),
                silence: Silence::default(),
                forgotten: 0,
            })
        };
        let watched = (0..stage.seats.len()).map(watched).collect::<Result<Vec<_>, LabError>>()?;
        let (samples, planes) = (Vec::new(), Vec::new());
        Ok(Sampler { monitors: watched, samples, wrong_bytes: 0, repeated: 0, planes, rtt_ns: 0 })
    }

    fn watch(mut self, stage: &Stage<'_>) -> Result<Record, LabError> {
        loop {
            let over = stage.course.is_over();
            let began = Instant::now();
            if over {
                // Read the unanswered packets before the last sample, so that every packet is in at least one
                // of the two.
                for (at, agent) in self.monitors.iter_mut().enumerate() {
                    let silence = agent.line.ask(&Request::Unanswered {});
                    agent.silence = silence.map_err(|error| stage.agents.fault(at, error))?;
                }
            }
            self.sample(stage)?;
            if over {
                return Ok(self.record(stage));
            }
            thread::sleep(SAMPLE.saturating_sub(began.elapsed()));
        }
    }

    fn sample(&mut self, stage: &Stage<'_>) -> Result<(), LabError> {
        let mut received = Vec::with_capacity(self.monitors.len());
        let began_ns = stage.course.now_ns();
        (self.wrong_bytes, self.repeated, self.planes) = (0, 0, Vec::new());
        let mut rtts = Vec::new();
        for (at, agent) in self.monitors.iter_mut().enumerate() {
            let fault = |error: std::io::Error| stage.agents.fault(at, error);
            let asked_ns = stage.course.now_ns();
            let status: Status = agent.line.ask(&Request::Status {}).map_err(fault)?;
            let took_ns = stage.course.now_ns() - asked_ns;
            if took_ns < agent.offset.1 {
                let middle = i128::from(asked_ns + took_ns / 2);
                agent.offset = (middle - i128::from(status.now_ns), took_ns);
            }
            received.push(status.counters.written_bytes);
            self.wrong_bytes += status.wrong_bytes;
            self.repeated += status.counters.repeated;
            for channel in &status.channels {
                rtts.extend((channel.rtt_us > 0.0).then_some(channel.rtt_us));
                self.planes.resize(self.planes.len().max(channel.sent.len()), 0);
                self.planes.iter_mut().zip(&channel.sent).for_each(|(sum, sent)| *sum += sent);
            }
        }
        if stage.course.start.elapsed() < stage.course.first_step && !rtts.is_empty() {
            self.rtt_ns = (rtts.iter().sum::<f64>() * 1e3 / rtts.len() as f64) as u64;
        }
        let at_ns = began_ns.midpoint(stage.course.now_ns());
        self.samples.push(Sample { at_ns, received });
        for (at, agent) in self.monitors.iter_mut().enumerate() {
            agent.listen().map_err(|error| stage.agents.fault(at, error))?;
        }
        Ok(())
    }

    fn record(self, stage: &Stage<'_>) -> Record {
        let number = |address| stage.seats.iter().position(|seat| seat.address == address);
        let mut record = Record {
            samples: self.samples,
            wrong_bytes: self.wrong_bytes,
            repeated: self.repeated,
            planes: self.planes,
            rtt_ns: self.rtt_ns,
            stop_ns: stage.orders.messages.is_none().then_some(stage.course.duration.as_nanos() as u64),
            ..Record::default()
        };
        for (from, agent) in self.monitors.into_iter().enumerate() {
            let ours = |ns: u64| u64::try_from(i128::from(ns) + agent.offset.0).ok();
            record.forgotten += agent.forgotten + agent.silence.count - agent.silence.packets.len() as u64;
            record.unanswered += agent.silence.others;
            for MissingPacket { to, entropy, sent_ns, known_ns, is_probe } in agent.missing_packets() {
                if let (Some(to), Some(sent_ns)) = (number(to), ours(sent_ns)) {
                    let known_ns = known_ns.and_then(ours);
                    let word = LossReport { from, to, entropy, sent_ns, known_ns };
                    record.losses.push(Loss {
                        lost_ns: sent_ns,
                        step: None,
                        in_switch: false,
                        is_probe,
                        report: Some(word),
                    });
                }
            }
            for event in &agent.events {
                let Some(change) = &event.change else { continue };
                if let (Some(to), Some(at_ns)) = (number(change.to), ours(event.at_ns)) {
                    let states = (change.from.clone(), change.now.clone());
                    record.changes.push(Change { from, to, entropy: change.entropy, states, at_ns });
                }
            }
        }
        record
    }
}

/// A packet that did not arrive. Times are those of its sender's clock.
struct MissingPacket {
    to: Ipv6Addr,
    entropy: u32,
    sent_ns: u64,
    /// Time at which the sender detected the loss; `None` if it did not.
    known_ns: Option<u64>,
    is_probe: bool,
}

impl AgentMonitor {
    /// Returns the packets that did not arrive: those marked lost that did not arrive late, and those without an
    /// answer.
    fn missing_packets(&self) -> impl Iterator<Item = MissingPacket> {
        let came: BTreeSet<(Ipv6Addr, u32, u64)> = self
            .losses
            .iter()
            .filter(|loss| loss.came)
            .map(|loss| (loss.to, loss.packet, loss.sent_ns))
            .collect();
        let is_lost =
            move |loss: &&AgentLoss| !loss.came && !came.contains(&(loss.to, loss.packet, loss.sent_ns));
        let lost = self.losses.iter().filter(is_lost).map(|loss| MissingPacket {
            to: loss.to,
            entropy: loss.entropy,
            sent_ns: loss.sent_ns,
            known_ns: Some(loss.known_ns),
            is_probe: loss.probe,
        });
        let missed = |UnansweredPacket { to, entropy, sent_ns, .. }: UnansweredPacket| MissingPacket {
            to,
            entropy,
            sent_ns,
            known_ns: None,
            is_probe: false,
        };
        // Some packets have been answered in the meantime.
        let known: BTreeSet<(Ipv6Addr, u32, u64)> =
            self.losses.iter().map(|loss| (loss.to, loss.packet, loss.sent_ns)).collect();
        let is_silent =
            move |packet: &UnansweredPacket| !known.contains(&(packet.to, packet.packet, packet.sent_ns));
        let silent = self.silence.packets.iter().copied().filter(is_silent).map(missed);
        lost.chain(silent)
    }

    /// Reads the events since the last call.
    fn listen(&mut self) -> std::io::Result<()> {
        let events: Vec<EventView> = self.line.ask(&Request::Events { after: self.event })?;
        if let Some(first) = events.first() {
            self.forgotten += first.number - self.event - 1;
        }
        self.event = events.last().map_or(self.event, |event| event.number);
        self.events.extend(events);
        loop {
            let losses: Vec<AgentLoss> = self.line.ask(&Request::Losses { after: self.loss })?;
            if let Some(first) = losses.first() {
                self.forgotten += first.number - self.loss - 1;
            }
            self.loss = losses.last().map_or(self.loss, |loss| loss.number);
            let more = losses.len() == ANSWER_MAX;
            self.losses.extend(losses);
            if !more {
                return Ok(());
            }
        }
    }
}
